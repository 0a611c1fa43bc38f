//! One line of a session file, made into entries.

use std::borrow::Cow;

use carryover_core::json::Json;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Body, CallId, Compacted, Entry, EntryKey, Fact, Node, NodeId, Note, Origin, Outcome, Part, Place, SessionId,
    Status, TitleRank,
};

use super::edits::{Edit, Edits};
use super::outcome;
use crate::formats::jsonl::{self, Line};
use crate::formats::text::Text;
use crate::formats::tree::bodies::{self, Bodies, note, opaque, spoken, unknown};
use crate::formats::tree::brought;
use crate::formats::tree::wire::{Content, Message, Record};
use crate::formats::tree::words::{PassedOver, Words};

/// What a line says.
pub(super) type Parsed = jsonl::Parsed<More>;

/// What only lines of this client tell.
#[derive(Default)]
pub(super) struct More {
    /// Of a kind that we know.
    pub known: bool,
    /// The first record that a compaction keeps, in a file whose records have numbers only.
    pub first_kept: Option<u64>,
}

/// What the lines before have told, and need not be told again.
#[derive(Default)]
pub(super) struct Told {
    title: bool,
    model: String,
}

/// Reads a line. `None`: it ends without a line feed and is not whole.
pub(super) fn parse(told: &mut Told, line: Line<'_>, file: u16, edits: &Edits) -> Option<Parsed> {
    jsonl::parse_line(line, file, |key, record: Record<'_, Text<'_>>| {
        Reading { line: line.bytes, key, record, told }.parsed(edits)
    })
}

/// Reads a line from before the last compaction, of which kinds and places are told only. Most of a long session is of
/// that kind, and most of such a record is text that nobody will see.
pub(super) fn pass_over(told: &mut Told, line: Line<'_>, file: u16, edits: &Edits) -> Option<Parsed> {
    let mut parsed = match jsonl::deserialize::<Record<'_, PassedOver>>(line.bytes) {
        // What a prompt brings along is told by its words, and what is wrong with a line by who reads it whole.
        Ok(record) if !is_prompt(&record) => {
            Reading { line: line.bytes, key: line.key(file), record, told }.parsed(edits)
        }
        _ => parse(told, line, file, edits)?,
    };
    parsed.entries.iter_mut().for_each(Entry::reduce);
    Some(parsed)
}

fn is_prompt<W>(record: &Record<'_, W>) -> bool {
    record.message.as_ref().is_some_and(|message| &*message.role == "user")
}

/// A record in the course of being read.
struct Reading<'r, 'a, W> {
    line: &'a [u8],
    key: EntryKey,
    record: Record<'a, W>,
    told: &'r mut Told,
}

impl<'a, W: Words<'a>> Reading<'_, 'a, W> {
    fn parsed(mut self, edits: &Edits) -> Parsed {
        let mut facts = Vec::new();
        let edit = self.record.id.as_deref().and_then(|id| edits.of(id));
        let bodies = match edit {
            Some(Edit::Omitted) => vec![opaque("message/omitted")],
            Some(Edit::Replaced(content)) => self.replaced(content, &mut facts),
            None => self.bodies(&mut facts),
        };
        let known = bodies.iter().all(|(_, body)| !matches!(body, Body::Opaque(Cow::Owned(_))));
        let entries = bodies::entries(bodies, self.key, self.record.timestamp.as_deref(), self.node());
        let more = More { known, first_kept: self.record.first_kept_entry_index };
        Parsed { key: self.key, facts, entries, rejected: None, more }
    }

    /// Everything but the first line is part of the tree; the oldest files have no names in it.
    fn node(&self) -> Option<Node> {
        let id = self.record.id.as_deref().filter(|_| &*self.record.kind != "session")?;
        let parent = self.record.parent_id.as_deref().map(NodeId::of);
        Some(Node { id: NodeId::of(id), parent, group: None })
    }

    fn bodies(&mut self, facts: &mut Vec<Fact>) -> Bodies {
        let content = std::mem::take(&mut self.record.content);
        match &*self.record.kind {
            "session" => self.session(facts),
            "message" => match self.record.message.take() {
                Some(mut message) => {
                    let content = std::mem::take(&mut message.content);
                    self.message(&message, content, facts)
                }
                None => vec![bodies::wordless()],
            },
            "custom_message" => self.injected(content),
            "compaction" => self.compaction(),
            "branch_summary" => bodies::branch_left(self.record.summary.as_ref()),
            "session_info" => note(facts, bodies::title(TitleRank::Given, self.record.name.as_deref()), Note::Title),
            "model_change" => {
                let model = self.record.model_id.take();
                note(facts, model.and_then(|model| self.model(&model)), Note::Mode)
            }
            "thinking_level_change" => note(facts, None, Note::Mode),
            "usage" => note(facts, None, Note::Usage(Box::default())),
            "context_edit" => vec![opaque("context_edit")],
            "custom" => vec![opaque("custom")],
            "label" => vec![opaque("label")],
            kind => vec![unknown(kind.to_owned())],
        }
    }

    /// A record whose content was changed later on.
    fn replaced(&mut self, content: &Json, facts: &mut Vec<Fact>) -> Bodies {
        let Ok(content) = serde_json::from_str::<Content<'_, Text<'_>>>(content.as_str()) else {
            return self.bodies(facts);
        };
        match (&*self.record.kind, self.record.message.take()) {
            ("message", Some(message)) => self.message(&message, content, facts),
            ("custom_message", _) => self.injected(content),
            (_, message) => {
                self.record.message = message;
                self.bodies(facts)
            }
        }
    }

    fn session(&self, facts: &mut Vec<Fact>) -> Bodies {
        let record = &self.record;
        facts.extend(record.id.as_deref().map(|id| Fact::Session(SessionId(id.to_owned()))));
        facts.extend(record.cwd.as_deref().filter(|cwd| !cwd.is_empty()).map(|cwd| Fact::Project(cwd.into())));
        facts.extend(record.timestamp.as_deref().and_then(Timestamp::parse).map(Fact::StartedAt));
        vec![opaque("session")]
    }

    fn message<'c, V: Words<'c>>(
        &mut self,
        message: &Message<'_, W>,
        content: Content<'c, V>,
        facts: &mut Vec<Fact>,
    ) -> Bodies {
        match &*message.role {
            "user" => {
                let parts = self.parts(content);
                facts.extend(self.title(&parts));
                brought::prompted(parts)
            }
            "assistant" => {
                facts.extend(message.model.as_deref().and_then(|model| self.model(model)));
                bodies::assistant(message, content, |signature| !signature.is_empty())
            }
            "toolResult" => vec![(Origin::Agent, self.outcome(message, content))],
            // Run with `!!`, it is not told to the model.
            "bashExecution" if message.exclude_from_context == Some(true) => vec![opaque("message/bashExecution")],
            "bashExecution" => bodies::ran(message),
            "custom" | "hookMessage" => self.injected(content),
            "system" => vec![opaque("message/system")],
            role => vec![unknown(format!("message/{role}"))],
        }
    }

    /// The model, where it is another one than before.
    fn model(&mut self, model: &str) -> Option<Fact> {
        if self.told.model == model {
            return None;
        }
        model.clone_into(&mut self.told.model);
        Some(Fact::Model(model.to_owned()))
    }

    fn title(&mut self, parts: &[Part]) -> Option<Fact> {
        let title = if self.told.title { None } else { bodies::first_prompt(parts) };
        self.told.title |= title.is_some();
        title
    }

    fn outcome<'c, V: Words<'c>>(&self, message: &Message<'_, W>, content: Content<'c, V>) -> Body {
        let parts = self.parts(content);
        let failed = message.is_error == Some(true);
        let status = match failed {
            true if outcome::is_interruption(&parts) => Status::Interrupted,
            true => Status::Failed,
            false => Status::Done,
        };
        let exit_code = if failed { outcome::exit_code(&parts) } else { None };
        let call = CallId(message.tool_call_id.as_deref().unwrap_or_default().into());
        Body::Outcome(Box::new(Outcome { call, status, exit_code, parts }))
    }

    /// What an extension of the user's told the model.
    fn injected<'c, V: Words<'c>>(&self, content: Content<'c, V>) -> Bodies {
        spoken(Origin::Hook, self.parts(content), "custom_message")
    }

    /// What stands between the first record that is kept and the compaction stays, behind the summary.
    fn compaction(&mut self) -> Bodies {
        let record = &mut self.record;
        let head = record.first_kept_entry_id.as_deref().filter(|head| Some(*head) != record.id.as_deref());
        let kept = head.zip(record.parent_id.as_deref()).map(|(head, tail)| (NodeId::of(head), NodeId::of(tail)));
        let barrier = Compacted { kept, ..Compacted::default() };
        let summary = record.summary.take().map(|summary| Part::Text(summary.into_string()));
        vec![
            (Origin::Harness, Body::Compacted(Box::new(barrier))),
            (Origin::Agent, Body::Summary(summary.into_iter().collect())),
        ]
    }

    fn parts<'c, V: Words<'c>>(&self, content: Content<'c, V>) -> Vec<Part> {
        bodies::parts(content, |data| self.place(data))
    }

    /// Base64 stands in the line as it is, so its place is enough.
    fn place<'c, V: Words<'c>>(&self, data: V) -> Place {
        match data.place_in(self.line) {
            Some(within) => Place::Encoded {
                file: self.key.file,
                offset: self.key.offset + within.start as u64,
                length: within.len() as u64,
            },
            None => Place::Inline(data.into_string().into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passing_over_tells_the_same_but_for_the_words() {
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/src/pi/fixtures");
        let odd = [r#"{"type":"message","message":{"role":"user","content":7}}"#, "{", "7", r#"{"type":"x\ud800"}"#];
        let mut lines: Vec<String> = odd.map(str::to_owned).to_vec();
        for file in fs_err::read_dir(fixtures).unwrap() {
            lines.extend(fs_err::read_to_string(file.unwrap().path()).unwrap().lines().map(str::to_owned));
        }
        for text in &lines {
            let line = Line::whole(9, text.as_bytes());
            let told = || Told { title: true, model: String::new() };
            let mut whole = parse(&mut told(), line, 0, &Edits::default()).unwrap();
            whole.entries.iter_mut().for_each(Entry::reduce);
            let passed = pass_over(&mut told(), line, 0, &Edits::default()).unwrap();
            assert_eq!((passed.entries, passed.facts), (whole.entries, whole.facts), "{text}");
            assert_eq!((passed.rejected, passed.more.known), (whole.rejected, whole.more.known), "{text}");
        }
    }
}
