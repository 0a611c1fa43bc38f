//! Reading a session: the log is replayed as a whole, and only what came out differently is handed over.
//!
//! Reading on from a bookmark replays the part before it as well: what a new line does to the past depends on it. What
//! a reader at the bookmark had is compared with what there is now; from the first difference on it is retracted and
//! put again.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::transcript::surplus::{Surplus, note_rejected};
use carryover_core::transcript::{Closing, Entry, EntryKey, Fact, Header, RejectedRecord, SessionId};

use super::record::{self, ConversationChange, ParsedRecord};
use super::replay::{EntryFingerprint, Replay};
use super::{GeminiCli, project};
use crate::formats::{file, jsonl};
use crate::{AgentError, Bookmark, Reader, Sink, Source};

/// The client sends a call that has no outcome as it is, which no API takes.
const INTERRUPTED_ANSWER: &str =
    "[The session ended before what this call gave back was recorded. It may or may not have run.]";

impl Reader for GeminiCli {
    fn read_session(&self, source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
        let path = source.path.as_path();
        let is_document = is_document(path)?;
        let mut start = jsonl::find_resume_point(path, from, jsonl::digest_head, sink)?;
        let size = fs_err::metadata(path)?.len();
        if start > 0 && start == size {
            return Ok(*from);
        }
        if start > 0 && is_document {
            // A document that has grown is another one.
            // The verdict of a sink that wants no more is met again at the first entry.
            let _ = sink.retract_all();
            start = 0;
        }
        if start == 0 && send_first_facts(path, sink).is_break() {
            return Ok(*from);
        }
        let mut session = SessionReader { start, ..SessionReader::new(sink.wants_full_history()) };
        let end = if is_document { session.read_document(path)? } else { session.read_log(path)? };
        let bookmark = jsonl::make_bookmark(path, end, jsonl::digest_head)?;
        // The verdict of a sink that wants no more changes nothing: all has been read.
        let _ = session.send_to_sink(sink);
        Ok(bookmark)
    }

    fn reload_entries(&self, header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
        Ok(record::reload_entries(&self.read_record(header, key)?, key))
    }
}

/// Old clients wrote one object over many lines.
fn is_document(path: &Path) -> Result<bool, AgentError> {
    if path.extension().is_some_and(|extension| extension == "json") {
        return Ok(true);
    }
    let head = jsonl::read_head(path, 16)?;
    Ok(head.strip_prefix(b"{").is_some_and(|rest| rest.starts_with(b"\n") || rest.starts_with(b"\r\n")))
}

fn send_first_facts(path: &Path, sink: &mut dyn Sink) -> ControlFlow<()> {
    sink.learn(Fact::File(path.to_path_buf()))?;
    sink.learn(Fact::Closing(Closing::Answer(INTERRUPTED_ANSWER)))?;
    if let Some(project) = project::find_by_session(path) {
        sink.learn(Fact::Project(project))?;
    }
    ControlFlow::Continue(())
}

/// A session in the course of being read.
struct SessionReader {
    /// How far a reader had come.
    start: u64,
    replay: Replay,
    /// The entries that this reader had.
    fingerprints_before: Option<Vec<EntryFingerprint>>,
    facts: Vec<Fact>,
    rejected: Vec<RejectedRecord>,
    surplus: Surplus,
}

impl SessionReader {
    fn new(keeps_past: bool) -> Self {
        let replay = Replay::new(keeps_past);
        Self {
            start: 0,
            replay,
            fingerprints_before: None,
            facts: Vec::new(),
            rejected: Vec::new(),
            surplus: Surplus::default(),
        }
    }

    fn read_log(&mut self, path: &Path) -> Result<u64, AgentError> {
        let end = jsonl::scan_with_memory(path, 0, record::parse_line_after, |parsed| {
            self.add_record(parsed, path);
            ControlFlow::Continue(())
        })?;
        Ok(end)
    }

    fn read_document(&mut self, path: &Path) -> Result<u64, AgentError> {
        let size = fs_err::metadata(path)?.len();
        if size > jsonl::MAX_RECORD_BYTES as u64 {
            let reason = "longer than 64 MiB";
            return Err(AgentError::NotASession { agent: "Gemini CLI", path: path.to_path_buf(), reason });
        }
        let text = String::from_utf8(file::read_bytes(path, jsonl::MAX_RECORD_BYTES as u64)?).unwrap_or_default();
        self.add_record(record::parse_document(&text), path);
        Ok(size)
    }

    fn add_record(&mut self, parsed: ParsedRecord, path: &Path) {
        if self.start > 0 && self.fingerprints_before.is_none() && parsed.key.offset >= self.start {
            self.fingerprints_before = Some(self.replay.fingerprints());
        }
        if parsed.key.offset >= self.start {
            self.add_facts(parsed.facts, path);
        }
        for rejected in parsed.rejected {
            note_rejected(&mut self.rejected, rejected);
        }
        match (parsed.change, parsed.entry) {
            (ConversationChange::Message(message), _) => self.replay.add_message(message),
            (ConversationChange::Messages(list), Some(line)) => self.replay.set_messages(list, line),
            (ConversationChange::RewindTo(id), Some(line)) => self.replay.rewind_to(&id, line),
            (_, Some(line)) if !self.surplus.is_surplus(&line) => self.replay.add_note(line),
            (_, _) => {}
        }
    }

    fn add_facts(&mut self, facts: Vec<Fact>, path: &Path) {
        for fact in facts {
            if self.facts.last() == Some(&fact) {
                continue;
            }
            if let Fact::Session(id) = &fact
                && !self.facts.contains(&fact)
                && self.start == 0
            {
                self.facts.extend(find_sub_agents(path, id).into_iter().map(Fact::Child));
                self.facts.extend(parent_session(path).map(Fact::Parent));
            }
            self.facts.push(fact);
        }
    }

    fn send_to_sink(self, sink: &mut dyn Sink) -> ControlFlow<()> {
        for fact in self.facts {
            sink.learn(fact)?;
        }
        // Who reads from the beginning has nothing that could differ.
        let now = if self.start > 0 { self.replay.fingerprints() } else { Vec::new() };
        let before = self.fingerprints_before.unwrap_or_else(|| now.clone());
        let kept = count_kept(&before, &now);
        let retracted = before[kept..].iter().map(|sign| sign.key).min();
        if let Some(key) = retracted {
            sink.retract(key)?;
        }
        for rejected in self.rejected {
            if rejected.key.offset >= self.start || retracted.is_some_and(|key| rejected.key >= key) {
                sink.reject(rejected)?;
            }
        }
        for entry in self.replay.finish().into_iter().skip(kept) {
            sink.put(entry)?;
        }
        ControlFlow::Continue(())
    }
}

/// How many entries stay: those that are the same from the beginning on, and before every one that goes.
fn count_kept(before: &[EntryFingerprint], now: &[EntryFingerprint]) -> usize {
    let mut kept = before.iter().zip(now).take_while(|(before, now)| before == now).count();
    let mut least = before[kept..].iter().map(|sign| sign.key).min();
    while let Some(first_gone) = least {
        // A key that goes takes every later key with it, wherever it stands.
        let Some(caught) = before[..kept].iter().position(|sign| sign.key >= first_gone) else { break };
        kept = caught;
        least = before[kept..].iter().map(|sign| sign.key).min();
    }
    kept
}

/// The files of a session's sub-agents stand in a folder of its id.
fn find_sub_agents(path: &Path, session: &SessionId) -> Vec<PathBuf> {
    // An id is a file's word: it must not lead elsewhere.
    if session.0.contains(['/', '\\']) || session.0.starts_with('.') {
        return Vec::new();
    }
    let Some(folder) = path.parent().map(|chats| chats.join(&session.0)) else { return Vec::new() };
    let Ok(listing) = fs_err::read_dir(folder) else { return Vec::new() };
    let paths = listing.filter_map(Result::ok).map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")).collect();
    files.sort();
    files
}

/// The session whose sub-agent's file this is.
fn parent_session(path: &Path) -> Option<SessionId> {
    let folder = path.parent()?;
    let in_chats = folder.parent()?.file_name()? == "chats";
    in_chats.then(|| folder.file_name()).flatten().map(|name| SessionId(name.to_string_lossy().into_owned()))
}
