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

use super::wire::{self, LineKind, WireLine};
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
    pub(super) past: PriorChats,
    /// We wrote it.
    pub(super) carried_over: Option<CarriedOver>,
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

/// How much a chat knows of the chats before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum PriorChats {
    #[default]
    Nothing,
    /// The client loaded everything before it.
    Restored,
    /// The same, and what it loaded is one session, which goes on here.
    Continued,
}

/// Our notes about a chat that we carried over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CarriedOver {
    /// When its session began, exactly.
    pub(super) started_at: Option<Timestamp>,
    pub(super) title: Option<String>,
}

impl Chat {
    pub(super) fn is_carried_over(&self) -> bool {
        self.carried_over.is_some()
    }

    /// The title that its session had, else the first prompt.
    pub(super) fn title(&self) -> Option<&str> {
        self.carried_over.as_ref().and_then(|ours| ours.title.as_deref()).or(self.prompt.as_deref())
    }

    /// Whether a line counts as the user's or the client's, and not as a heading or a quotation of the model's.
    pub(super) fn counts_as_marked(&self, line: &WireLine) -> bool {
        line.ends_with_blanks || !self.strict
    }

    fn take_line(&mut self, line: &WireLine) {
        match &line.kind {
            // Where the client's output goes on over several lines, the first has no blanks.
            LineKind::Console(text) if !self.spoken => self.read_announcement(text),
            LineKind::User(text) if self.counts_as_marked(line) => self.note_prompt(text),
            LineKind::Text if self.opening == Opening::None => self.opening = Opening::Unasked,
            _ => {}
        }
    }

    /// Reads a line that the client prints before the first prompt.
    fn read_announcement(&mut self, text: &str) {
        if text == wire::RESTORED_NOTICE {
            self.past = PriorChats::Restored;
        } else if let Some(rest) = text.strip_prefix(wire::CARRIED_NOTICE) {
            let begun = rest.split_whitespace().last().and_then(Timestamp::parse);
            self.carried_over = Some(CarriedOver { started_at: begun, title: None });
        } else if let (Some(title), Some(ours)) = (text.strip_prefix(wire::TITLE_START), &mut self.carried_over) {
            ours.title = Some(title.to_owned());
        } else if let Some(version) = text.strip_prefix("Aider v") {
            self.version = Some(version.to_owned());
        } else if let Some(model) = text.strip_prefix("Main model: ").or_else(|| text.strip_prefix("Model: ")) {
            self.model = Some(model.split(" with ").next().unwrap_or(model).to_owned());
        } else if self.version.is_none() && text.split(' ').any(|word| word == "--yes" || word == "--yes-always") {
            self.permission = Permission::AcceptEdits;
        }
    }

    fn note_prompt(&mut self, text: &str) {
        if self.opening == Opening::None {
            self.opening = Opening::Asked;
        }
        if !self.is_carried_over() && wire::is_command(text) {
            return;
        }
        self.spoken = true;
        let is_title = !text.trim().is_empty() && text != wire::SUMMARY_START;
        if self.prompt.is_none() && is_title {
            self.prompt = Some(one_line(text, 200));
        }
    }
}

/// The chats of a file, in their order, from its structure alone.
pub(super) fn read_chats(path: &Path) -> io::Result<Vec<Chat>> {
    scan_lines(path, |_| {})
}

/// The same, and the lines by which they are told apart, for who goes through them at once. None where there are so
/// many that it is better to look at the file again.
pub(super) fn read_with_lines(path: &Path) -> io::Result<(Vec<Chat>, Option<Vec<WireLine>>)> {
    const MAX_KEPT_LINES: usize = 1 << 16;
    let mut lines = Vec::new();
    let chats = scan_lines(path, |line| {
        if lines.len() <= MAX_KEPT_LINES {
            lines.push(line.shorten());
        }
    })?;
    Ok((chats, Some(lines).filter(|lines| lines.len() <= MAX_KEPT_LINES)))
}

fn scan_lines(path: &Path, mut keep: impl FnMut(WireLine)) -> io::Result<Vec<Chat>> {
    let mut chats = Vec::new();
    let mut reading = ChatReader::new(Chat::default());
    jsonl::scan_with_parser(path, 0, &wire::HistoryParser, |line| {
        if let LineKind::Started(time) = &line.kind {
            let chat = Chat { offset: line.offset, end: line.end, started: Some(time.clone()), ..Chat::default() };
            chats.extend(std::mem::replace(&mut reading, ChatReader::new(chat)).finish());
        } else {
            reading.take_line(&line);
        }
        keep(line);
        ControlFlow::Continue(())
    })?;
    chats.extend(reading.finish());
    assign_keys(&mut chats);
    join_continued(&mut chats);
    Ok(chats)
}

/// A chat while its lines come: whether it has lost the blanks at their ends is known at its end only.
struct ChatReader {
    strict: Chat,
    loose: Chat,
    /// Some line that looks like the user's or the client's has the blanks.
    ended: bool,
}

impl ChatReader {
    fn new(chat: Chat) -> Self {
        Self { strict: Chat { strict: true, ..chat.clone() }, loose: chat, ended: false }
    }

    fn take_line(&mut self, line: &WireLine) {
        self.ended |= line.ends_with_blanks && matches!(line.kind, LineKind::Console(_) | LineKind::User(_));
        for chat in [&mut self.strict, &mut self.loose] {
            chat.end = line.end;
            chat.take_line(line);
        }
    }

    /// None where nothing stands before the first start.
    fn finish(self) -> Option<Chat> {
        let chat = if self.ended { self.strict } else { self.loose };
        (chat.end > 0).then_some(chat)
    }
}

/// Names chats by their start; two that started in the same second are counted.
fn assign_keys(chats: &mut [Chat]) {
    let mut counts: BTreeMap<Option<String>, usize> = BTreeMap::new();
    for chat in chats {
        let count = counts.entry(chat.started.clone()).or_default();
        *count += 1;
        let started = chat.started.as_deref().unwrap_or("start");
        chat.key = if *count == 1 { started.to_owned() } else { format!("{started} #{count}") };
    }
}

/// A file that we wrote holds one session: whoever restores it goes on with that, in a chat of its own.
fn join_continued(chats: &mut [Chat]) {
    let mut ours = false;
    for chat in chats {
        if ours && chat.past == PriorChats::Restored {
            chat.past = PriorChats::Continued;
        }
        ours = chat.is_carried_over() || chat.past == PriorChats::Continued;
    }
}

/// The chats of each session, in their order.
pub(super) fn split_sessions(chats: &[Chat]) -> impl Iterator<Item = &[Chat]> {
    chats.chunk_by(|_, next| next.past == PriorChats::Continued)
}

/// The chats of the session that a source means: the one it names, or the last in which something was said.
pub(super) fn find_session<'a>(chats: &'a [Chat], key: Option<&str>) -> Option<&'a [Chat]> {
    let spoken = |session: &&[Chat]| session.iter().any(|chat| chat.spoken);
    match key {
        Some(key) => split_sessions(chats).find(|session| session.iter().any(|chat| chat.key == key)),
        None => split_sessions(chats).filter(spoken).last().or_else(|| split_sessions(chats).last()),
    }
}

/// The id of a chat: the client gives none, so it is made from what stays the same. `place` is its file, resolved.
pub(super) fn session_id(place: &Path, key: &str) -> SessionId {
    let text = format!("{}\n{key}", place.to_string_lossy());
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    // The first digits are what people type: they must depend on all of it.
    let mixed = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    SessionId(format!("{:016x}", mixed ^ (mixed >> 29)))
}

/// The file by the real name of its folder; it need not exist yet.
pub(super) fn resolve_folder(path: &Path) -> PathBuf {
    let real = |folder: &Path| fs_err::canonicalize(folder).ok();
    match (path.parent().and_then(real), path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path.to_path_buf(),
    }
}
