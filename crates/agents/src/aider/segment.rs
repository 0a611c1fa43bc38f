//! Putting the lines of one voice together.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;

use carryover_core::transcript::{Body, Entry, EntryKey, Origin, RejectedRecord};
use fs_err::File;

use super::chats::Chat;
use super::edits;
use super::read::{file_utc_offset, started_at};
use super::record::{self, SegmentContext};
use super::turn::Turn;
use super::wire::{self, LineKind, WireLine};
use crate::Sink;
use crate::formats::git::Repository;
use crate::formats::{file, jsonl};

/// Some lines of one voice.
struct Segment {
    offset: u64,
    end: u64,
    /// Of the client or of the user, by its first line; else of the model.
    kind: LineKind,
    /// Output of the client's that goes on until a line with two blanks at its end.
    goes_on: bool,
}

/// Puts lines together.
pub(super) struct SegmentReader<'a> {
    file: File,
    live: &'a [&'a Chat],
    utc_offset_seconds: i64,
    /// The chat that the lines are in.
    chat_index: usize,
    open: Option<Segment>,
    /// The end of the line before.
    last_end: u64,
    /// The user has said something in this chat.
    has_prompt: bool,
    after_summary: bool,
    /// The events since the user's last words.
    turn: Turn,
    /// Edits that the client told of: the commit of them tells more, where it comes next.
    held: Vec<Entry>,
    repository: Option<Repository>,
    /// The bytes of the last stretch.
    bytes: Vec<u8>,
    sink: &'a mut dyn Sink,
}

impl<'a> SegmentReader<'a> {
    /// Begins at an offset of the file; `live` are the chats that count, in their order.
    pub(super) fn new(path: &Path, live: &'a [&'a Chat], behind: u64, sink: &'a mut dyn Sink) -> io::Result<Self> {
        let (file, ahead) = (file::open_regular(path)?, file_utc_offset(path));
        let repository = path.parent().and_then(Repository::open_at);
        let (begun, after_summary, turn) = (false, false, Turn::default());
        let (held, bytes) = (Vec::new(), Vec::new());
        let (at, open) = (0, None);
        Ok(Self {
            file,
            live,
            utc_offset_seconds: ahead,
            chat_index: at,
            open,
            last_end: behind,
            has_prompt: begun,
            after_summary,
            turn,
            held,
            repository,
            bytes,
            sink,
        })
    }

    /// Takes in a line; lines come in their order.
    pub(super) fn take_line(&mut self, line: &WireLine) -> ControlFlow<()> {
        let between = line.offset.saturating_sub(self.last_end);
        let joined = between == 0;
        let result = match &line.kind {
            LineKind::Started(_) => self.start_chat(line),
            LineKind::TooLong => self.reject_line(line),
            LineKind::User(_) if self.current_chat().counts_as_marked(line) && !self.is_heading(between) => {
                let joined = joined && matches!(&self.open, Some(open) if matches!(open.kind, LineKind::User(_)));
                self.has_prompt = true;
                self.add_marked(line, joined, false)
            }
            LineKind::Console(said) if self.is_console(line, said, joined) => {
                let joined = joined && self.is_thinking();
                self.add_marked(line, joined, !self.current_chat().counts_as_marked(line))
            }
            _ => self.add_text(line, between),
        };
        self.last_end = line.end;
        result
    }

    fn current_chat(&self) -> &Chat {
        self.live[self.chat_index]
    }

    fn start_chat(&mut self, line: &WireLine) -> ControlFlow<()> {
        self.finish()?;
        while self.live.get(self.chat_index + 1).is_some_and(|next| next.offset <= line.offset) {
            self.chat_index += 1;
        }
        let at = started_at(self.current_chat(), self.utc_offset_seconds);
        (self.has_prompt, self.after_summary, self.turn) = (false, false, Turn::default());
        self.put_entry(Entry { at, ..opaque_entry(line_key(line), "session") })
    }

    fn reject_line(&mut self, line: &WireLine) -> ControlFlow<()> {
        self.finish()?;
        let key = line_key(line);
        self.sink.reject(RejectedRecord { key, reason: "longer than any message" })?;
        self.put_entry(opaque_entry(key, "line"))
    }

    fn is_model_open(&self) -> bool {
        matches!(&self.open, Some(open) if open.kind == LineKind::Text)
    }

    /// A heading in a file that the model shows may end with two blanks, too. The client leaves two empty lines between a
    /// reply and what the user says, and any other line of its own that comes in between ends the reply. Before the user
    /// has said something, no model has: what stands there is damage.
    fn is_heading(&self, between: u64) -> bool {
        self.has_prompt && self.is_model_open() && self.current_chat().strict && between < 2
    }

    /// A quotation of the model's has no blanks at its end. Output of the client's that goes on over several lines has
    /// none either, but then no blank line stands before it, except at the start of a chat.
    fn is_console(&self, line: &WireLine, said: &str, joined: bool) -> bool {
        let speaks = self.is_model_open();
        let at_start =
            !self.has_prompt && self.open.as_ref().is_none_or(|open| matches!(open.kind, LineKind::Console(_)));
        let commits = said.strip_prefix("Commit ").is_some_and(starts_with_commit);
        // An empty line stands between a reply and what the client says.
        let quoted = speaks && joined && self.current_chat().strict;
        commits || (self.current_chat().counts_as_marked(line) && !quoted) || (!speaks && (joined || at_start))
    }

    /// Thoughts that we wrote are one entry, however many lines they have.
    fn is_thinking(&self) -> bool {
        let thoughts = |open: &Segment| matches!(&open.kind, LineKind::Console(said) if said == wire::THOUGHTS_LINE);
        self.current_chat().is_carried_over() && self.open.as_ref().is_some_and(thoughts)
    }

    fn add_marked(&mut self, line: &WireLine, joined: bool, goes_on: bool) -> ControlFlow<()> {
        if let (Some(open), true) = (&mut self.open, joined) {
            open.end = line.end;
            return ControlFlow::Continue(());
        }
        self.close_segment()?;
        self.open = Some(Segment { offset: line.offset, end: line.end, kind: line.kind.clone(), goes_on });
        ControlFlow::Continue(())
    }

    /// The model's words, or the rest of what the client says.
    fn add_text(&mut self, line: &WireLine, between: u64) -> ControlFlow<()> {
        // A question of the client's is filled up with blanks, each line and empty lines too. A reply has exactly one
        // empty line before it.
        let filled = self.current_chat().strict && (between == 0 || between > 2);
        match &mut self.open {
            Some(open) if open.goes_on || (filled && matches!(open.kind, LineKind::Console(_))) => {
                open.end = line.end;
                open.goes_on = !line.ends_with_blanks;
                ControlFlow::Continue(())
            }
            Some(open) if open.kind == LineKind::Text => {
                open.end = line.end;
                ControlFlow::Continue(())
            }
            _ => {
                self.close_segment()?;
                self.open = Some(Segment { offset: line.offset, end: line.end, kind: LineKind::Text, goes_on: false });
                ControlFlow::Continue(())
            }
        }
    }

    /// Hands over all that is left.
    pub(super) fn finish(&mut self) -> ControlFlow<()> {
        self.close_segment()?;
        self.release_held()
    }

    /// Hands over the stretch that the last line ended.
    fn close_segment(&mut self) -> ControlFlow<()> {
        let Some(stretch) = self.open.take() else { return ControlFlow::Continue(()) };
        let length = stretch.end - stretch.offset;
        let key = EntryKey { file: 0, offset: stretch.offset, part: 0, length: u32::try_from(length).unwrap_or(0) };
        let is_there = self.read_bytes(key.offset, length);
        let Some(text) = is_there.and_then(|()| simdutf8::basic::from_utf8(&self.bytes).ok()) else {
            self.release_held()?;
            self.sink.reject(RejectedRecord { key, reason: "not UTF-8, or too long" })?;
            return self.put_entry(opaque_entry(key, "text"));
        };
        let around = SegmentContext {
            chat: self.current_chat(),
            is_current_chat: self.chat_index + 1 == self.live.len(),
            after_summary: self.after_summary,
            turn: &self.turn,
            applied: !self.held.is_empty(),
            repository: self.repository.as_ref(),
        };
        let entries = record::make_entries(text, key, around);
        record::update_turn(text, key, self.live[self.chat_index], &mut self.turn, &entries);
        self.after_summary = entries.iter().any(|entry| matches!(entry.body, Body::Summary(_)));
        let is_applied = text.strip_prefix(wire::CONSOLE).is_some_and(|said| said.starts_with(edits::APPLIED_START));
        let is_committed = text.strip_prefix(wire::CONSOLE).is_some_and(|said| said.starts_with("Commit "));
        self.send_or_hold(entries, is_applied, is_committed)
    }

    /// Hands on what a stretch says; what it did to files, once it is known whether a commit tells that.
    fn send_or_hold(&mut self, entries: Vec<Entry>, is_applied: bool, is_committed: bool) -> ControlFlow<()> {
        if is_applied {
            self.held.extend(entries);
            return ControlFlow::Continue(());
        }
        if is_committed && entries.iter().any(is_call_or_outcome) {
            self.held.retain(|entry| !is_call_or_outcome(entry));
        }
        self.release_held()?;
        entries.into_iter().try_for_each(|entry| self.put_entry(entry))
    }

    fn release_held(&mut self) -> ControlFlow<()> {
        let held = std::mem::take(&mut self.held);
        held.into_iter().try_for_each(|entry| self.put_entry(entry))
    }

    /// Reads the bytes of a stretch; the room for them is used again, since what is kept of them is copied.
    fn read_bytes(&mut self, offset: u64, length: u64) -> Option<()> {
        let length = usize::try_from(length).ok().filter(|length| *length <= jsonl::MAX_RECORD_BYTES)?;
        self.bytes.resize(length, 0);
        self.file.seek(SeekFrom::Start(offset)).ok()?;
        self.file.read_exact(&mut self.bytes).ok()
    }

    fn put_entry(&mut self, entry: Entry) -> ControlFlow<()> {
        self.sink.put(entry)
    }
}

fn is_call_or_outcome(entry: &Entry) -> bool {
    matches!(entry.body, Body::Call(_) | Body::Outcome(_))
}

fn starts_with_commit(words: &str) -> bool {
    let name = words.split(' ').next().unwrap_or_default();
    name.len() >= 7 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn line_key(line: &WireLine) -> EntryKey {
    let length = u32::try_from(line.end - line.offset).unwrap_or(u32::MAX);
    EntryKey { file: 0, offset: line.offset, part: 0, length }
}

fn opaque_entry(key: EntryKey, kind: &'static str) -> Entry {
    Entry { key, at: None, origin: Origin::Harness, side: false, node: None, body: Body::known(kind) }
}
