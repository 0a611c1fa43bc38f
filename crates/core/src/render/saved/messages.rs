//! `messages.jsonl`: a message a line, each a `role`, a `content` and a `timestamp`, and beside them what the event has
//! that it was made of.
//!
//! What was thought, states of files and the bytes of images are not kept, and long outputs lose their middle: the file
//! is committed.

use serde::{Deserialize, Serialize};

use crate::distill::clip_middle;
use crate::render::uasf::{Uasf, UasfEvent, kind};
use crate::tokens::estimate;
use crate::transcript::Origin;

/// Outputs of tools are kept up to so many characters.
const MAX_OUTPUT_CHARS: usize = 16_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SavedRole {
    User,
    Assistant,
    Tool,
    System,
}

/// A line.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedMessage {
    pub role: SavedRole,
    /// The words; of a call, what it was about.
    pub content: String,
    pub timestamp: Option<String>,
    /// The same as an event, with all that it has.
    pub event: UasfEvent,
}

/// What every line has.
#[derive(Serialize, Deserialize)]
struct LineHead {
    role: SavedRole,
    #[serde(default)]
    content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timestamp: Option<String>,
}

/// A line as it is written.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    head: LineHead,
    #[serde(flatten)]
    event: &'a UasfEvent,
}

/// The messages of a session, and what of it is not among them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SavedMessages {
    pub messages: Vec<SavedMessage>,
    /// Lines that a compaction took out of the context: the first, and the one after the last.
    pub compacted: Vec<(usize, usize)>,
    pub left_out: LeftOut,
}

/// What is not saved, each with how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeftOut {
    pub images: usize,
    pub clipped: usize,
}

/// Takes the messages out of a session.
pub fn save_messages(uasf: Uasf) -> SavedMessages {
    let mut saved = SavedMessages::default();
    for mut event in uasf.events {
        // More of the same call is told by the call itself.
        if event.same_call || matches!(event.kind.as_str(), kind::THINKING | kind::FILE_SNAPSHOT) {
            continue;
        }
        saved.left_out.take_images(&mut event);
        saved.left_out.clip_outputs(&mut event);
        if std::mem::take(&mut event.past) {
            let line = saved.messages.len();
            match saved.compacted.last_mut() {
                Some((_, end)) if *end == line => *end += 1,
                _ => saved.compacted.push((line, line + 1)),
            }
        }
        saved.messages.push(SavedMessage::from_event(event));
    }
    saved
}

impl LeftOut {
    fn take_images(&mut self, event: &mut UasfEvent) {
        let of_outcome = event.outcome.iter_mut().flat_map(|outcome| &mut outcome.parts);
        for part in event.parts.iter_mut().chain(of_outcome) {
            self.images += usize::from(part.data.take().is_some());
        }
    }

    fn clip_outputs(&mut self, event: &mut UasfEvent) {
        let read = if event.kind == kind::FILE_READ { event.content.as_mut() } else { None };
        let fields = [event.output.as_mut(), event.results.as_mut(), read].into_iter().flatten().flatten();
        let of_outcome = event.outcome.iter_mut().flat_map(|outcome| &mut outcome.parts);
        let texts = fields.chain(of_outcome.filter_map(|part| part.text.as_mut())).chain(event.message.as_mut());
        for text in texts.filter(|text| text.len() > MAX_OUTPUT_CHARS) {
            let clipped = clip_middle(text, MAX_OUTPUT_CHARS);
            self.clipped += usize::from(clipped != *text);
            *text = clipped;
        }
    }
}

impl SavedMessage {
    fn from_event(mut event: UasfEvent) -> Self {
        let (role, content) = match event.kind.as_str() {
            kind::USER_MESSAGE => (SavedRole::User, event.content.take().flatten()),
            kind::ASSISTANT_TEXT if event.summary => (SavedRole::System, event.content.take().flatten()),
            kind::ASSISTANT_TEXT => (SavedRole::Assistant, event.content.take().flatten()),
            kind::ERROR => (SavedRole::System, event.message.take()),
            kind::FILE_READ | kind::FILE_WRITE => (SavedRole::Tool, event.content.take().flatten()),
            _ => (SavedRole::Tool, Some(subject(&event).to_owned())),
        };
        let role = if event.origin.is_some_and(|origin| origin != Origin::User) && role == SavedRole::User {
            SavedRole::System
        } else {
            role
        };
        Self { role, content: content.unwrap_or_default(), timestamp: event.at.take(), event }
    }

    /// A line of the file; one that cannot be read is `None`. It may be no more than role, content and time.
    pub fn parse(line: &str) -> Option<Self> {
        let LineHead { role, content, timestamp } = serde_json::from_str(line).ok()?;
        let mut event: UasfEvent = serde_json::from_str(line).ok()?;
        if event.kind.is_empty() {
            event = UasfEvent { kind: default_kind(role).to_owned(), ..event };
            event.origin = (role == SavedRole::System).then_some(Origin::Hook);
            event.results = (role == SavedRole::Tool).then(|| Some(content.clone()));
        }
        event.content = None;
        Some(Self { role, content, timestamp, event })
    }

    pub fn to_line(&self) -> Option<String> {
        let head = LineHead { role: self.role, content: self.content.clone(), timestamp: self.timestamp.clone() };
        serde_json::to_string(&Line { head, event: &self.event }).ok()
    }

    /// The event that it was made of.
    pub fn into_event(self) -> UasfEvent {
        let Self { content, timestamp, mut event, .. } = self;
        event.at = timestamp;
        match event.kind.as_str() {
            kind::USER_MESSAGE | kind::ASSISTANT_TEXT | kind::FILE_WRITE => event.content = Some(Some(content)),
            // What was read may be nothing, and may not have come back yet.
            kind::FILE_READ => event.content = Some((!content.is_empty()).then_some(content)),
            kind::ERROR => event.message = Some(content),
            _ => {}
        }
        event
    }

    /// What a call was about.
    pub(super) fn subject(&self) -> &str {
        subject(&self.event)
    }

    /// What came back from a call.
    pub(super) fn output(&self) -> &str {
        let event = &self.event;
        let field = if event.kind == kind::SHELL_COMMAND { &event.output } else { &event.results };
        let said = field.as_ref().and_then(Option::as_deref);
        let part = || event.outcome.as_ref()?.parts.first()?.text.as_deref();
        match event.kind.as_str() {
            kind::FILE_READ => &self.content,
            _ => said.or_else(part).unwrap_or_default(),
        }
    }

    /// The agent's own account of what was before it.
    pub(super) fn is_summary(&self) -> bool {
        self.event.summary
    }

    /// About how many tokens it takes.
    pub fn tokens(&self) -> u64 {
        let output = if self.event.kind == kind::FILE_READ { "" } else { self.output() };
        estimate(&self.content) + estimate(output)
    }
}

fn default_kind(role: SavedRole) -> &'static str {
    match role {
        SavedRole::User | SavedRole::System => kind::USER_MESSAGE,
        SavedRole::Assistant => kind::ASSISTANT_TEXT,
        SavedRole::Tool => kind::CODE_SEARCH,
    }
}

fn subject(event: &UasfEvent) -> &str {
    let fields = [&event.command, &event.path, &event.query, &event.tool];
    fields.into_iter().flatten().map(String::as_str).find(|text| !text.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
