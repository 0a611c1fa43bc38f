//! Reading a chat out of its history file.
//!
//! The client would send the chat itself and, where it was started with the history restored, everything that
//! stands before it in the file. A file that has grown is read again from its beginning: what its last lines mean may
//! depend on the ones that were written since.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Entry, EntryKey, Fact, Header, RejectedRecord, TitleRank};

use super::chats::{self, Chat, PriorChats};
use super::request_log::{self, ChatTexts, LogMerger};
use super::segment::SegmentReader;
use super::wire::{self, WireLine};
use super::{Aider, FACTS, clock};
use crate::formats::{file, jsonl};
use crate::{AgentError, Bookmark, ExportedSession, Reader, Sink, Source};

/// What the client calls the history of a project.
const HISTORY_NAME: &str = ".aider.chat.history.md";

impl Reader for Aider {
    fn read_session(&self, source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
        let path = source.path.as_path();
        let again = match *from {
            Bookmark::Start => false,
            Bookmark::Rows { .. } => true,
            Bookmark::Appended { offset, head } => {
                let size = fs_err::metadata(path)?.len();
                if size == offset && jsonl::digest_head(path, offset)? == head {
                    return Ok(*from);
                }
                true
            }
        };
        let (chats, lines) = chats::read_with_lines(path)?;
        let end = chats.last().map_or(0, |chat| chat.end);
        let bookmark = jsonl::make_bookmark(path, end, jsonl::digest_head)?;
        if again && sink.retract_all().is_break() {
            return Ok(*from);
        }
        let session = match (chats::find_session(&chats, source.key.as_deref()), &source.key) {
            (Some(session), _) => session,
            (None, None) => return Ok(bookmark),
            (None, Some(_)) => {
                let reason = "it does not hold that chat any more";
                return Err(AgentError::NotASession { agent: FACTS.name, path: path.to_path_buf(), reason });
            }
        };
        let (Some(chat), Some(last)) = (session.first(), session.last()) else { return Ok(bookmark) };
        if send_first_facts(path, chat, last, !again, sink).is_continue() {
            let first = if chat.past == PriorChats::Nothing { chat.offset } else { 0 };
            let live = chats.iter().filter(|other| other.offset >= first && other.offset <= last.offset);
            LiveChats { path, live: &live.collect::<Vec<_>>(), lines: lines.as_deref() }.pass_with_log(last, sink)?;
        }
        Ok(bookmark)
    }

    /// The chat's own part of the history, with what it restored. What only the log of requests holds stays there.
    fn export_session(&self, source: &Source) -> Result<Option<ExportedSession>, AgentError> {
        let chats = chats::read_chats(&source.path)?;
        let session = chats::find_session(&chats, source.key.as_deref());
        let Some((chat, last)) = session.and_then(|session| session.first().zip(session.last())) else {
            let (path, reason) = (source.path.clone(), "it does not hold that chat any more");
            return Err(AgentError::NotASession { agent: FACTS.name, path, reason });
        };
        let is_alone = chat.past == PriorChats::Nothing;
        let start = if is_alone { chat.offset } else { 0 };
        // A line that is being written is behind the last chat's end.
        let is_last = chats.last().is_some_and(|newest| newest.offset == last.offset);
        let length = if is_last { u64::MAX } else { last.end - start };
        let mut file = file::open_regular(&source.path)?;
        file.seek(SeekFrom::Start(start))?;
        let mut text = Vec::new();
        file.take(length).read_to_end(&mut text)?;
        // A second chat of the same moment is known by its number in the file, which it would lose.
        let stands_alone = is_alone && chat.started.as_ref() == Some(&chat.key);
        Ok(Some(ExportedSession { name: HISTORY_NAME, pieces: vec![text], stands_alone }))
    }

    fn reload_entries(&self, header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
        let text = self.read_record(header, key)?;
        if key.file == request_log::LOG_FILE_INDEX {
            return Ok(vec![request_log::read_entry(&text, key)]);
        }
        let Some(path) = header.files.get(usize::from(key.file)) else { return Ok(Vec::new()) };
        let chats = chats::read_chats(path)?;
        let Some(chat) = chats.iter().rev().find(|chat| chat.offset <= key.offset) else { return Ok(Vec::new()) };
        // The meaning of a segment depends on those before it.
        let mut found = FoundRecord { record: key.record(), entries: Vec::new() };
        LiveChats { path, live: &[chat], lines: None }.send_to_sink(&mut found)?;
        Ok(found.entries)
    }
}

/// The chats of a file that count.
struct LiveChats<'a> {
    path: &'a Path,
    live: &'a [&'a Chat],
    /// The lines of the file, where they were kept.
    lines: Option<&'a [WireLine]>,
}

impl LiveChats<'_> {
    /// Hands them over, with what only the log of requests holds, where there is one.
    fn pass_with_log(&self, last: &Chat, sink: &mut dyn Sink) -> Result<(), AgentError> {
        let log = request_log::log_path(self.path);
        // A chat that we wrote was sent to nobody yet, and what it was written from may be in the same log.
        let logged = !last.is_carried_over() && log.is_file();
        let Some(since) = last.started.as_deref().filter(|_| logged) else { return self.send_to_sink(sink) };
        let mut heard = ChatTexts::default();
        self.send_to_sink(&mut heard)?;
        let mut joined = LogMerger::new(&log, since, &heard, sink);
        self.send_to_sink(&mut joined)?;
        // The verdict of a sink that wants no more is of no use at the end.
        let _ = joined.put_until(usize::MAX);
        Ok(())
    }

    fn send_to_sink(&self, sink: &mut dyn Sink) -> Result<(), AgentError> {
        let (Some(first), Some(last)) = (self.live.first(), self.live.last()) else { return Ok(()) };
        let mut stretches = SegmentReader::new(self.path, self.live, first.offset, sink)?;
        let mut take = |line: &WireLine| match line.offset {
            offset if offset >= last.end => ControlFlow::Break(()),
            _ => stretches.take_line(line),
        };
        match self.lines {
            Some(lines) => {
                let from = lines.partition_point(|line| line.offset < first.offset);
                // The verdict of a sink that wants no more is met again below.
                let _ = lines[from..].iter().try_for_each(take);
            }
            None => {
                jsonl::scan_with_parser(self.path, first.offset, &wire::HistoryParser, |line| take(&line))?;
            }
        }
        // The verdict of a sink that wants no more is of no use at the end.
        let _ = stretches.finish();
        Ok(())
    }
}

/// Tells of the session that begins with a chat and goes on in the last.
fn send_first_facts(path: &Path, chat: &Chat, last: &Chat, first_time: bool, sink: &mut dyn Sink) -> ControlFlow<()> {
    if first_time {
        sink.learn(Fact::File(path.to_path_buf()))?;
        sink.learn(Fact::File(request_log::log_path(path)))?;
    }
    sink.learn(Fact::Session(chats::session_id(&chats::resolve_folder(path), &chat.key)))?;
    if let Some(project) = path.parent() {
        sink.learn(Fact::Project(project.to_path_buf()))?;
    }
    if let Some(at) = started_at(chat, file_utc_offset(path)) {
        sink.learn(Fact::StartedAt(at))?;
    }
    if let Some(title) = chat.title() {
        // Not as a first prompt, of which the first would stay when a file with one more chat is read again.
        sink.learn(Fact::Title(TitleRank::Generated, title.to_owned()))?;
    }
    if let Some(model) = &last.model {
        sink.learn(Fact::Model(model.clone()))?;
    }
    if let Some(version) = &last.version {
        sink.learn(Fact::ClientVersion(version.clone()))?;
    }
    sink.learn(Fact::Permission(last.permission))
}

/// When a chat began; in one that we wrote it stands exactly.
pub(super) fn started_at(chat: &Chat, ahead: i64) -> Option<Timestamp> {
    chat.carried_over
        .as_ref()
        .and_then(|ours| ours.started_at)
        .or_else(|| clock::to_timestamp(chat.started.as_deref()?, ahead))
}

/// How far local time is ahead where a file lies.
pub(super) fn file_utc_offset(path: &Path) -> i64 {
    path.parent().map_or(0, clock::utc_offset_seconds)
}

/// The entries of one record.
struct FoundRecord {
    record: (u16, u64),
    entries: Vec<Entry>,
}

impl Sink for FoundRecord {
    fn learn(&mut self, _fact: Fact) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn put(&mut self, entry: Entry) -> ControlFlow<()> {
        let record = entry.key.record();
        if record > self.record {
            return ControlFlow::Break(());
        }
        self.entries.extend(Some(entry).filter(|_| record == self.record));
        ControlFlow::Continue(())
    }

    fn retract(&mut self, _from: EntryKey) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn reject(&mut self, _rejected: RejectedRecord) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
