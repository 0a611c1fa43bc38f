//! The chats of a history file.
//!
//! A file holds every chat of its project, one after the other, without ids. A chat is known by the file and by the
//! local time at which it started.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{Permission, SessionId};

use super::wire::{self, Kind, WireLine};
use crate::formats::jsonl;

/// One chat of a file, as far as its lines tell without being understood.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Chat {
    pub(super) offset: u64,
    pub(super) end: u64,
    /// When it started, local time; none for what stands before the first start.
    pub(super) started: Option<String>,
    /// Names it among the chats of its file.
    pub(super) key: String,
    pub(super) past: Past,
    /// We wrote it.
    pub(super) ours: Option<Ours>,
    /// Its lines still have the two blanks at their end. Editors like to remove them.
    pub(super) strict: bool,
    /// The user said something to the model.
    pub(super) spoken: bool,
    /// How it begins, behind what the client says of itself.
    pub(super) opening: Opening,
    /// The first prompt.
    prompt: Option<String>,
    pub(super) model: Option<String>,
    pub(super) version: Option<String>,
    /// The client may have been told to take every question of its own for answered.
    pub(super) permission: Permission,
}

/// Who speaks first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Opening {
    #[default]
    None,
    /// The user, to the model or to the client.
    Asked,
    /// Lines come first that neither the client nor the user marked as theirs, which no client writes.
    Unasked,
}

/// What a chat knows of the chats before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Past {
    #[default]
    Nothing,
    /// The client loaded everything before it.
    Restored,
    /// The same, and what it loaded is one session, which goes on here.
    Continued,
}

/// What we wrote down about a chat that we carried over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Ours {
    /// When its session began, exactly.
    pub(super) begun: Option<Timestamp>,
    pub(super) title: Option<String>,
}

impl Chat {
    pub(super) fn is_ours(&self) -> bool {
        self.ours.is_some()
    }

    /// The title that its session had, else the first prompt.
    pub(super) fn title(&self) -> Option<&str> {
        self.ours.as_ref().and_then(|ours| ours.title.as_deref()).or(self.prompt.as_deref())
    }

    /// Whether a line counts as the user's or the client's, and not as a heading or a quotation of the model's.
    pub(super) fn counts(&self, line: &WireLine) -> bool {
        line.ended || !self.strict
    }

    fn take(&mut self, line: &WireLine) {
        match &line.kind {
            // Where the client's output goes on over several lines, the first has no blanks.
            Kind::Console(text) if !self.spoken => self.announce(text),
            Kind::User(text) if self.counts(line) => self.say(text),
            Kind::Text if self.opening == Opening::None => self.opening = Opening::Unasked,
            _ => {}
        }
    }

    /// What the client says before the first prompt.
    fn announce(&mut self, text: &str) {
        if text == wire::RESTORED {
            self.past = Past::Restored;
        } else if let Some(rest) = text.strip_prefix(wire::CARRIED) {
            let begun = rest.split_whitespace().last().and_then(Timestamp::parse);
            self.ours = Some(Ours { begun, title: None });
        } else if let (Some(title), Some(ours)) = (text.strip_prefix(wire::TITLE), &mut self.ours) {
            ours.title = Some(title.to_owned());
        } else if let Some(version) = text.strip_prefix("Aider v") {
            self.version = Some(version.to_owned());
        } else if let Some(model) = text.strip_prefix("Main model: ").or_else(|| text.strip_prefix("Model: ")) {
            self.model = Some(model.split(" with ").next().unwrap_or(model).to_owned());
        } else if self.version.is_none() && text.split(' ').any(|word| word == "--yes" || word == "--yes-always") {
            self.permission = Permission::AcceptEdits;
        }
    }

    fn say(&mut self, text: &str) {
        if self.opening == Opening::None {
            self.opening = Opening::Asked;
        }
        if !self.is_ours() && wire::is_command(text) {
            return;
        }
        self.spoken = true;
        let is_title = !text.trim().is_empty() && text != wire::SUMMARY;
        if self.prompt.is_none() && is_title {
            self.prompt = Some(one_line(text, 200));
        }
    }
}

/// The chats of a file, in their order, from its structure alone.
pub(super) fn chats(path: &Path) -> io::Result<Vec<Chat>> {
    each_line(path, |_| {})
}

/// The same, and the lines by which they are told apart, for who goes through them at once. None where there are so
/// many that it is better to look at the file again.
pub(super) fn with_lines(path: &Path) -> io::Result<(Vec<Chat>, Option<Vec<WireLine>>)> {
    const MOST: usize = 1 << 16;
    let mut lines = Vec::new();
    let chats = each_line(path, |line| {
        if lines.len() <= MOST {
            lines.push(line.shortened());
        }
    })?;
    Ok((chats, Some(lines).filter(|lines| lines.len() <= MOST)))
}

fn each_line(path: &Path, mut keep: impl FnMut(WireLine)) -> io::Result<Vec<Chat>> {
    let mut chats = Vec::new();
    let mut reading = Reading::of(Chat::default());
    jsonl::scan_with(path, 0, &wire::Joined, |line| {
        if let Kind::Started(time) = &line.kind {
            let chat = Chat { offset: line.offset, end: line.end, started: Some(time.clone()), ..Chat::default() };
            chats.extend(std::mem::replace(&mut reading, Reading::of(chat)).finish());
        } else {
            reading.take(&line);
        }
        keep(line);
        ControlFlow::Continue(())
    })?;
    chats.extend(reading.finish());
    name(&mut chats);
    join(&mut chats);
    Ok(chats)
}

/// A chat while its lines come: whether it has lost the blanks at their ends is known at its end only.
struct Reading {
    strict: Chat,
    loose: Chat,
    /// Some line that looks like the user's or the client's has the blanks.
    ended: bool,
}

impl Reading {
    fn of(chat: Chat) -> Self {
        Self { strict: Chat { strict: true, ..chat.clone() }, loose: chat, ended: false }
    }

    fn take(&mut self, line: &WireLine) {
        self.ended |= line.ended && matches!(line.kind, Kind::Console(_) | Kind::User(_));
        for chat in [&mut self.strict, &mut self.loose] {
            chat.end = line.end;
            chat.take(line);
        }
    }

    /// None where nothing stands before the first start.
    fn finish(self) -> Option<Chat> {
        let chat = if self.ended { self.strict } else { self.loose };
        (chat.end > 0).then_some(chat)
    }
}

/// Names chats by their start; two that started in the same second are counted.
fn name(chats: &mut [Chat]) {
    let mut counts: BTreeMap<Option<String>, usize> = BTreeMap::new();
    for chat in chats {
        let count = counts.entry(chat.started.clone()).or_default();
        *count += 1;
        let started = chat.started.as_deref().unwrap_or("start");
        chat.key = if *count == 1 { started.to_owned() } else { format!("{started} #{count}") };
    }
}

/// A file that we wrote holds one session: whoever restores it goes on with that, in a chat of its own.
fn join(chats: &mut [Chat]) {
    let mut ours = false;
    for chat in chats {
        if ours && chat.past == Past::Restored {
            chat.past = Past::Continued;
        }
        ours = chat.is_ours() || chat.past == Past::Continued;
    }
}

/// The chats of each session, in their order.
pub(super) fn sessions(chats: &[Chat]) -> impl Iterator<Item = &[Chat]> {
    chats.chunk_by(|_, next| next.past == Past::Continued)
}

/// The chats of the session that a source means: the one it names, or the last in which something was said.
pub(super) fn find<'a>(chats: &'a [Chat], key: Option<&str>) -> Option<&'a [Chat]> {
    let spoken = |session: &&[Chat]| session.iter().any(|chat| chat.spoken);
    match key {
        Some(key) => sessions(chats).find(|session| session.iter().any(|chat| chat.key == key)),
        None => sessions(chats).filter(spoken).last().or_else(|| sessions(chats).last()),
    }
}

/// The id of a chat: the client gives none, so it is made from what stays the same. `place` is its file, resolved.
pub(super) fn id(place: &Path, key: &str) -> SessionId {
    let text = format!("{}\n{key}", place.to_string_lossy());
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    // The first digits are what people type: they must depend on all of it.
    let mixed = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    SessionId(format!("{:016x}", mixed ^ (mixed >> 29)))
}

/// The file by the real name of its folder; it need not exist yet.
pub(super) fn resolved(path: &Path) -> PathBuf {
    let real = |folder: &Path| fs_err::canonicalize(folder).ok();
    match (path.parent().and_then(real), path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path.to_path_buf(),
    }
}
