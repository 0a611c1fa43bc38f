//! Reading a chat out of its history file.
//!
//! What the client would send is the chat itself and, where it was started with the history restored, everything that
//! stands before it in the file. A file that has grown is read again from its beginning: what its last lines mean may
//! depend on the ones that were written since.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::transcript::{Body, Entry, EntryKey, Fact, Header, Origin, Rejected, TitleRank};

use super::chats::{self, Chat};
use super::record::{self, Around};
use super::wire::{self, Kind, WireLine};
use super::{FACTS, clock};
use crate::formats::jsonl;
use crate::{AgentError, Bookmark, Sink, Source};

const BEGINNING: EntryKey = EntryKey { file: 0, offset: 0, part: 0, length: 0 };

/// Reads from a bookmark on.
pub(super) fn read(source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
    let path = source.path.as_path();
    let again = match *from {
        Bookmark::Start => false,
        Bookmark::Appended { offset, head } => {
            let size = fs_err::metadata(path)?.len();
            if size == offset && jsonl::head_digest(path, offset)? == head {
                return Ok(*from);
            }
            true
        }
    };
    let chats = chats::chats(path)?;
    let end = chats.last().map_or(0, |chat| chat.end);
    let bookmark = Bookmark::Appended { offset: end, head: jsonl::head_digest(path, end)? };
    if again && sink.retract(BEGINNING).is_break() {
        return Ok(*from);
    }
    let chat = match (chats::find(&chats, source.key.as_deref()), &source.key) {
        (Some(chat), _) => chat,
        (None, None) => return Ok(bookmark),
        (None, Some(_)) => {
            let reason = "it does not hold that chat any more";
            return Err(AgentError::NotASession { agent: FACTS.name, path: path.to_path_buf(), reason });
        }
    };
    if begin(path, chat, !again, sink).is_continue() {
        let first = if chat.restored { 0 } else { chat.offset };
        let live = chats.iter().filter(|other| other.offset >= first && other.offset <= chat.offset);
        hand_over(path, &live.collect::<Vec<_>>(), sink)?;
    }
    Ok(bookmark)
}

fn begin(path: &Path, chat: &Chat, first_time: bool, sink: &mut dyn Sink) -> ControlFlow<()> {
    if first_time {
        sink.learn(Fact::File(path.to_path_buf()))?;
    }
    sink.learn(Fact::Session(chats::id(path, &chat.key)))?;
    if let Some(project) = path.parent() {
        sink.learn(Fact::Project(project.to_path_buf()))?;
    }
    if let Some(at) = started_at(path, chat) {
        sink.learn(Fact::StartedAt(at))?;
    }
    if let Some(title) = chat.title() {
        // Not as a first prompt, of which the first would stay when a file with one more chat is read again.
        sink.learn(Fact::Title(TitleRank::Generated, title.to_owned()))?;
    }
    if let Some(model) = &chat.model {
        sink.learn(Fact::Model(model.clone()))?;
    }
    if let Some(version) = &chat.version {
        sink.learn(Fact::ClientVersion(version.clone()))?;
    }
    sink.learn(Fact::Permission(chat.permission))
}

/// When a chat began; in one that we wrote it stands exactly.
pub(super) fn started_at(path: &Path, chat: &Chat) -> Option<carryover_core::time::Timestamp> {
    let ahead = || path.parent().map_or(0, clock::ahead);
    chat.ours.as_ref().and_then(|ours| ours.begun).or_else(|| clock::moment(chat.started.as_deref()?, ahead()))
}

fn hand_over(path: &Path, live: &[&Chat], sink: &mut dyn Sink) -> Result<(), AgentError> {
    let (Some(first), Some(last)) = (live.first(), live.last()) else { return Ok(()) };
    let mut stretches =
        Stretches { path, live, at: 0, open: None, behind: first.offset, begun: false, after_summary: false, sink };
    jsonl::scan(path, first.offset, WireLine::parse, |line| {
        if line.offset >= last.end { ControlFlow::Break(()) } else { stretches.take(&line) }
    })?;
    // The verdict of a sink that wants no more is of no use at the end.
    let _ = stretches.close();
    Ok(())
}

/// Some lines of one voice.
struct Stretch {
    offset: u64,
    end: u64,
    /// Of the client or of the user, by its first line; else of the model.
    kind: Kind,
    /// Output of the client's that goes on until a line with two blanks at its end.
    goes_on: bool,
}

/// Puts lines together.
struct Stretches<'a> {
    path: &'a Path,
    live: &'a [&'a Chat],
    /// The chat that the lines are in.
    at: usize,
    open: Option<Stretch>,
    /// The end of the line before.
    behind: u64,
    /// The user has said something in this chat.
    begun: bool,
    after_summary: bool,
    sink: &'a mut dyn Sink,
}

impl Stretches<'_> {
    fn take(&mut self, line: &WireLine) -> ControlFlow<()> {
        let joined = line.offset == self.behind;
        let result = match &line.kind {
            Kind::Started(_) => self.start(line),
            Kind::TooLong => self.too_long(line),
            Kind::User(_) if self.chat().counts(line) => {
                let joined = joined && matches!(&self.open, Some(open) if matches!(open.kind, Kind::User(_)));
                self.begun = true;
                self.add(line, joined, false)
            }
            Kind::Console(said) if self.is_console(line, said, joined) => {
                let joined = joined && self.is_thinking();
                self.add(line, joined, !self.chat().counts(line))
            }
            _ => self.words(line),
        };
        self.behind = line.end;
        result
    }

    fn chat(&self) -> &Chat {
        self.live[self.at]
    }

    fn start(&mut self, line: &WireLine) -> ControlFlow<()> {
        self.close()?;
        self.at = self.live.iter().rposition(|chat| chat.offset <= line.offset).unwrap_or(self.at);
        let at = started_at(self.path, self.chat());
        (self.begun, self.after_summary) = (false, false);
        self.put(Entry { at, ..opaque(line, "session") })
    }

    fn too_long(&mut self, line: &WireLine) -> ControlFlow<()> {
        self.close()?;
        let entry = opaque(line, "line");
        self.sink.reject(Rejected { key: entry.key, reason: "longer than any message" })?;
        self.put(entry)
    }

    /// A quotation of the model's has no blanks at its end. Output of the client's that goes on over several lines has
    /// none either, but then no blank line stands before it, except at the start of a chat.
    fn is_console(&self, line: &WireLine, said: &str, joined: bool) -> bool {
        let speaks = matches!(&self.open, Some(open) if open.kind == Kind::Text);
        let at_start = !self.begun && self.open.as_ref().is_none_or(|open| matches!(open.kind, Kind::Console(_)));
        let commits = said.strip_prefix("Commit ").is_some_and(is_commit);
        self.chat().counts(line) || commits || (!speaks && (joined || at_start))
    }

    /// Thoughts that we wrote are one entry, however many lines they have.
    fn is_thinking(&self) -> bool {
        let thoughts = |open: &Stretch| matches!(&open.kind, Kind::Console(said) if said == wire::THOUGHTS);
        self.chat().is_ours() && self.open.as_ref().is_some_and(thoughts)
    }

    fn add(&mut self, line: &WireLine, joined: bool, goes_on: bool) -> ControlFlow<()> {
        if let (Some(open), true) = (&mut self.open, joined) {
            open.end = line.end;
            return ControlFlow::Continue(());
        }
        self.close()?;
        self.open = Some(Stretch { offset: line.offset, end: line.end, kind: line.kind.clone(), goes_on });
        ControlFlow::Continue(())
    }

    /// The model's words, or the rest of what the client says.
    fn words(&mut self, line: &WireLine) -> ControlFlow<()> {
        match &mut self.open {
            Some(open) if open.goes_on => {
                open.end = line.end;
                open.goes_on = !line.ended;
                ControlFlow::Continue(())
            }
            Some(open) if open.kind == Kind::Text => {
                open.end = line.end;
                ControlFlow::Continue(())
            }
            _ => {
                self.close()?;
                self.open = Some(Stretch { offset: line.offset, end: line.end, kind: Kind::Text, goes_on: false });
                ControlFlow::Continue(())
            }
        }
    }

    fn close(&mut self) -> ControlFlow<()> {
        let Some(stretch) = self.open.take() else { return ControlFlow::Continue(()) };
        let length = stretch.end - stretch.offset;
        let key = EntryKey { file: 0, offset: stretch.offset, part: 0, length: u32::try_from(length).unwrap_or(0) };
        let text = (length <= jsonl::MAX_RECORD as u64).then(|| jsonl::record(self.path, key.offset, length).ok());
        let Some(text) = text.flatten() else {
            self.sink.reject(Rejected { key, reason: "not UTF-8, or too long" })?;
            let entry = Entry {
                key,
                at: None,
                origin: Origin::Harness,
                side: false,
                node: None,
                body: Body::Opaque("text".into()),
            };
            return self.put(entry);
        };
        let around =
            Around { chat: self.chat(), going_on: self.at + 1 == self.live.len(), after_summary: self.after_summary };
        let entries = record::entries(&text, key, around);
        self.after_summary = entries.iter().any(|entry| matches!(entry.body, Body::Summary(_)));
        entries.into_iter().try_for_each(|entry| self.put(entry))
    }

    fn put(&mut self, entry: Entry) -> ControlFlow<()> {
        self.sink.put(0, entry)
    }
}

fn is_commit(words: &str) -> bool {
    let name = words.split(' ').next().unwrap_or_default();
    name.len() >= 7 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn opaque(line: &WireLine, kind: &'static str) -> Entry {
    let length = u32::try_from(line.end - line.offset).unwrap_or(u32::MAX);
    Entry {
        key: EntryKey { file: 0, offset: line.offset, part: 0, length },
        at: None,
        origin: Origin::Harness,
        side: false,
        node: None,
        body: Body::Opaque(kind.into()),
    }
}

/// The entries of one stretch, read again.
pub(super) fn reload(header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
    let text = raw(header, key)?;
    let Some(path) = header.files.get(usize::from(key.file)) else { return Ok(Vec::new()) };
    let chats = chats::chats(path)?;
    let Some(chat) = chats.iter().rev().find(|chat| chat.offset <= key.offset) else { return Ok(Vec::new()) };
    let around = Around { chat, going_on: false, after_summary: false };
    Ok(record::entries(&text, EntryKey { part: 0, ..key }, around))
}

/// The text of one stretch.
pub(super) fn raw(header: &Header, key: EntryKey) -> Result<String, AgentError> {
    let moved = |path: PathBuf| AgentError::Moved { path, offset: key.offset };
    let path = header.files.get(usize::from(key.file)).ok_or_else(|| moved(PathBuf::new()))?;
    jsonl::record(path, key.offset, u64::from(key.length)).map_err(|_| moved(path.clone()))
}
