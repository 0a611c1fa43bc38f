//! Putting the lines of one voice together.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;

use carryover_core::transcript::{Body, Entry, EntryKey, Origin, Rejected};
use fs_err::File;

use super::chats::Chat;
use super::edits;
use super::read::{ahead, started_at};
use super::record::{self, Around};
use super::turn::Turn;
use super::wire::{self, Kind, WireLine};
use crate::Sink;
use crate::formats::git::Repository;
use crate::formats::{file, jsonl};

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
pub(super) struct Stretches<'a> {
    file: File,
    live: &'a [&'a Chat],
    ahead: i64,
    /// The chat that the lines are in.
    at: usize,
    open: Option<Stretch>,
    /// The end of the line before.
    behind: u64,
    /// The user has said something in this chat.
    begun: bool,
    after_summary: bool,
    /// What has happened since the user's last words.
    turn: Turn,
    /// Edits that the client told of: the commit of them tells more, where it comes next.
    held: Vec<Entry>,
    repository: Option<Repository>,
    /// The bytes of the last stretch.
    bytes: Vec<u8>,
    sink: &'a mut dyn Sink,
}

impl<'a> Stretches<'a> {
    /// Begins at an offset of the file; `live` are the chats that count, in their order.
    pub(super) fn new(path: &Path, live: &'a [&'a Chat], behind: u64, sink: &'a mut dyn Sink) -> io::Result<Self> {
        let (file, ahead) = (file::open(path)?, ahead(path));
        let repository = path.parent().and_then(Repository::at);
        let (begun, after_summary, turn) = (false, false, Turn::default());
        let (held, bytes) = (Vec::new(), Vec::new());
        let (at, open) = (0, None);
        Ok(Self { file, live, ahead, at, open, behind, begun, after_summary, turn, held, repository, bytes, sink })
    }

    /// Takes in a line; lines come in their order.
    pub(super) fn take(&mut self, line: &WireLine) -> ControlFlow<()> {
        let between = line.offset.saturating_sub(self.behind);
        let joined = between == 0;
        let result = match &line.kind {
            Kind::Started(_) => self.start(line),
            Kind::TooLong => self.too_long(line),
            Kind::User(_) if self.chat().counts(line) && !self.is_heading(between) => {
                let joined = joined && matches!(&self.open, Some(open) if matches!(open.kind, Kind::User(_)));
                self.begun = true;
                self.add(line, joined, false)
            }
            Kind::Console(said) if self.is_console(line, said, joined) => {
                let joined = joined && self.is_thinking();
                self.add(line, joined, !self.chat().counts(line))
            }
            _ => self.words(line, between),
        };
        self.behind = line.end;
        result
    }

    fn chat(&self) -> &Chat {
        self.live[self.at]
    }

    fn start(&mut self, line: &WireLine) -> ControlFlow<()> {
        self.finish()?;
        while self.live.get(self.at + 1).is_some_and(|next| next.offset <= line.offset) {
            self.at += 1;
        }
        let at = started_at(self.chat(), self.ahead);
        (self.begun, self.after_summary, self.turn) = (false, false, Turn::default());
        self.put(Entry { at, ..opaque(key_of(line), "session") })
    }

    fn too_long(&mut self, line: &WireLine) -> ControlFlow<()> {
        self.finish()?;
        let key = key_of(line);
        self.sink.reject(Rejected { key, reason: "longer than any message" })?;
        self.put(opaque(key, "line"))
    }

    fn speaks(&self) -> bool {
        matches!(&self.open, Some(open) if open.kind == Kind::Text)
    }

    /// A heading in a file that the model shows may end with two blanks, too. The client leaves two empty lines between a
    /// reply and what the user says, and any other line of its own that comes in between ends the reply. Before the user
    /// has said something, no model has: what stands there is damage.
    fn is_heading(&self, between: u64) -> bool {
        self.begun && self.speaks() && self.chat().strict && between < 2
    }

    /// A quotation of the model's has no blanks at its end. Output of the client's that goes on over several lines has
    /// none either, but then no blank line stands before it, except at the start of a chat.
    fn is_console(&self, line: &WireLine, said: &str, joined: bool) -> bool {
        let speaks = self.speaks();
        let at_start = !self.begun && self.open.as_ref().is_none_or(|open| matches!(open.kind, Kind::Console(_)));
        let commits = said.strip_prefix("Commit ").is_some_and(is_commit);
        // An empty line stands between a reply and what the client says.
        let quoted = speaks && joined && self.chat().strict;
        commits || (self.chat().counts(line) && !quoted) || (!speaks && (joined || at_start))
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
    fn words(&mut self, line: &WireLine, between: u64) -> ControlFlow<()> {
        // What the client asks about is filled up with blanks, line by line and empty lines too. A reply has exactly one
        // empty line before it.
        let filled = self.chat().strict && (between == 0 || between > 2);
        match &mut self.open {
            Some(open) if open.goes_on || (filled && matches!(open.kind, Kind::Console(_))) => {
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

    /// Hands over all that is left.
    pub(super) fn finish(&mut self) -> ControlFlow<()> {
        self.close()?;
        self.release()
    }

    /// Hands over the stretch that the last line ended.
    fn close(&mut self) -> ControlFlow<()> {
        let Some(stretch) = self.open.take() else { return ControlFlow::Continue(()) };
        let length = stretch.end - stretch.offset;
        let key = EntryKey { file: 0, offset: stretch.offset, part: 0, length: u32::try_from(length).unwrap_or(0) };
        let is_there = self.fill(key.offset, length);
        let Some(text) = is_there.and_then(|()| simdutf8::basic::from_utf8(&self.bytes).ok()) else {
            self.release()?;
            self.sink.reject(Rejected { key, reason: "not UTF-8, or too long" })?;
            return self.put(opaque(key, "text"));
        };
        let around = Around {
            chat: self.chat(),
            going_on: self.at + 1 == self.live.len(),
            after_summary: self.after_summary,
            turn: &self.turn,
            applied: !self.held.is_empty(),
            repository: self.repository.as_ref(),
        };
        let entries = record::entries(text, key, around);
        record::follow(text, key, self.live[self.at], &mut self.turn, &entries);
        self.after_summary = entries.iter().any(|entry| matches!(entry.body, Body::Summary(_)));
        let is_applied = text.strip_prefix(wire::CONSOLE).is_some_and(|said| said.starts_with(edits::APPLIED));
        let is_committed = text.strip_prefix(wire::CONSOLE).is_some_and(|said| said.starts_with("Commit "));
        self.hand_on(entries, is_applied, is_committed)
    }

    /// Hands on what a stretch says; what it did to files, once it is known whether a commit tells that.
    fn hand_on(&mut self, entries: Vec<Entry>, is_applied: bool, is_committed: bool) -> ControlFlow<()> {
        if is_applied {
            self.held.extend(entries);
            return ControlFlow::Continue(());
        }
        if is_committed && entries.iter().any(is_deed) {
            self.held.retain(|entry| !is_deed(entry));
        }
        self.release()?;
        entries.into_iter().try_for_each(|entry| self.put(entry))
    }

    fn release(&mut self) -> ControlFlow<()> {
        let held = std::mem::take(&mut self.held);
        held.into_iter().try_for_each(|entry| self.put(entry))
    }

    /// Reads the bytes of a stretch; the room for them is used again, since what is kept of them is copied.
    fn fill(&mut self, offset: u64, length: u64) -> Option<()> {
        let length = usize::try_from(length).ok().filter(|length| *length <= jsonl::MAX_RECORD)?;
        self.bytes.resize(length, 0);
        self.file.seek(SeekFrom::Start(offset)).ok()?;
        self.file.read_exact(&mut self.bytes).ok()
    }

    fn put(&mut self, entry: Entry) -> ControlFlow<()> {
        self.sink.put(entry)
    }
}

fn is_deed(entry: &Entry) -> bool {
    matches!(entry.body, Body::Call(_) | Body::Outcome(_))
}

fn is_commit(words: &str) -> bool {
    let name = words.split(' ').next().unwrap_or_default();
    name.len() >= 7 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn key_of(line: &WireLine) -> EntryKey {
    let length = u32::try_from(line.end - line.offset).unwrap_or(u32::MAX);
    EntryKey { file: 0, offset: line.offset, part: 0, length }
}

fn opaque(key: EntryKey, kind: &'static str) -> Entry {
    Entry { key, at: None, origin: Origin::Harness, side: false, node: None, body: Body::Opaque(kind.into()) }
}
