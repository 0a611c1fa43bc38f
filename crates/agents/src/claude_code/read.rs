//! Reading a session file.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::transcript::{Body, Closing, Entry, EntryKey, Fact, Header, SessionId};

use super::own_session;
use super::record::{self, LastFacts, Parsed};
use super::slug::make_slug;
use super::{ClaudeCode, kept_files, past};
use crate::formats::folder;
use crate::formats::jsonl::{self, Line};
use crate::{AgentError, Bookmark, FileState, Reader, Sink, Source, Version};

/// The newest clients' answer to a call that the session ended in.
const INTERRUPTED_ANSWER: &str =
    "[Tool call interrupted: the session ended before this call's result was recorded. It may or may not have run.]";

/// The first client that answers such calls; the ones before leave them out.
const ANSWERS_AT_END_FROM: Version = Version(2, 1, 300);

/// What the line of a compaction holds.
const COMPACTION: &str = r#""subtype":"compact_boundary""#;

impl Reader for ClaudeCode {
    fn bookmark_near_end(&self, source: &Source) -> Result<Bookmark, AgentError> {
        Ok(jsonl::bookmark_near_end(&source.path, jsonl::digest_head)?)
    }

    fn read_session(&self, source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
        let path = source.path.as_path();
        let start = jsonl::find_resume_point(path, from, jsonl::digest_head, sink)?;
        let own = OwnFile::from_path(path);
        own.may_guess.set(start == 0);
        if start == 0 && send_first_facts(path, &own, sink).is_break() {
            return Ok(*from);
        }
        let present = jsonl::find_live_start(path, start, sink, COMPACTION, |line| {
            let parsed = record::parse(line, 0);
            parsed.is_some_and(|parsed| matches!(&parsed.entries[..], [only] if is_compaction(only)))
        })?;
        let parse = |said: &mut LastFacts, line: Line<'_>| {
            if line.offset < present { past::parse(said, line, 0) } else { record::parse_after(said, line, 0) }
        };
        let end = jsonl::scan_with_memory(path, start, parse, |parsed| send_to_sink(parsed, &own, sink))?;
        Ok(jsonl::make_bookmark(path, end, jsonl::digest_head)?)
    }

    fn reload_entries(&self, header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
        let text = self.read_record(header, key)?;
        let line = Line::from_bytes(key.offset, text.as_bytes());
        let parsed = record::parse(line, key.file);
        Ok(parsed.map(|parsed| parsed.entries).unwrap_or_default())
    }

    /// What stands in the folder of the session's name: outputs of tools that were too long, and sub-agents; and the steps
    /// of its plan, which the client reads from there.
    fn companion_files(&self, source: &Source) -> Vec<PathBuf> {
        let mut files = folder::list_files_below(&source.path.with_extension(""));
        files.extend(own_session::list_tasks(&source.path));
        files
    }

    fn file_states(&self, header: &Header, key: EntryKey) -> Vec<FileState> {
        kept_files::read_states(header, key)
    }
}

fn is_compaction(entry: &Entry) -> bool {
    !entry.side && matches!(entry.body, Body::Compacted(_))
}

/// Whether the file is a session's or a sub-agent's, by its name.
pub(super) struct OwnFile {
    session: Option<SessionId>,
    /// The folder, which is named after the project.
    folder: String,
    /// Where no folder tells, the project is the first that a record names.
    may_guess: Cell<bool>,
}

impl OwnFile {
    pub(super) fn from_path(path: &Path) -> Self {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        Self {
            session: (!stem.starts_with("agent-")).then_some(SessionId(stem)),
            folder: folder.unwrap_or_default(),
            may_guess: Cell::new(true),
        }
    }

    /// Records name the directory that the shell is in, which a `cd` changes; the project is the one that the session
    /// is kept under.
    pub(super) fn accepts_fact(&self, fact: &Fact) -> bool {
        let Fact::Project(path) = fact else { return true };
        path.to_str().is_some_and(|path| make_slug(path) == self.folder) || self.may_guess.replace(false)
    }

    fn is_sub_agent(&self) -> bool {
        self.session.is_none()
    }
}

fn send_first_facts(path: &Path, own: &OwnFile, sink: &mut dyn Sink) -> ControlFlow<()> {
    sink.learn(Fact::File(path.to_path_buf()))?;
    sink.learn(Fact::Closing(Closing::Drop))?;
    if let Some(session) = &own.session {
        sink.learn(Fact::Session(session.clone()))?;
        for child in find_sub_agents(path, session) {
            sink.learn(Fact::Child(child))?;
        }
    }
    ControlFlow::Continue(())
}

fn send_to_sink(mut parsed: Parsed, own: &OwnFile, sink: &mut dyn Sink) -> ControlFlow<()> {
    if own.is_sub_agent() {
        // In a file of its own, a sub-agent's conversation is the main one.
        parsed.entries.iter_mut().for_each(|entry| entry.side = false);
        if let Some(parent) = parsed.more.agent_of.take() {
            sink.learn(Fact::Parent(parent))?;
        }
    }
    if let Some(version) = parsed.client_version() {
        sink.learn(Fact::Closing(closing_for(version)))?;
    }
    parsed.facts.retain(|fact| own.accepts_fact(fact));
    parsed.send_to_sink(sink)
}

/// How the client that wrote this treats a call without an outcome.
fn closing_for(version: &str) -> Closing {
    match Version::find_in(version) {
        Some(version) if version >= ANSWERS_AT_END_FROM => Closing::AnswerAtEnd(INTERRUPTED_ANSWER),
        _ => Closing::Drop,
    }
}

/// The files of a session's sub-agents: in a folder of the session's (2.1), or beside it (2.0).
fn find_sub_agents(path: &Path, session: &SessionId) -> Vec<PathBuf> {
    let mut found = list_agent_files(&path.with_extension("").join("subagents"));
    let beside = path.parent().map(list_agent_files).unwrap_or_default();
    let marker = format!("\"sessionId\":\"{session}\"");
    let finder = memchr::memmem::Finder::new(&marker);
    found.extend(
        beside.into_iter().filter(|file| jsonl::read_head(file, 4096).is_ok_and(|head| finder.find(&head).is_some())),
    );
    found.sort();
    found
}

fn list_agent_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(listing) = fs_err::read_dir(folder) else { return Vec::new() };
    let paths = listing.filter_map(Result::ok).map(|entry| entry.path());
    paths.filter(|path| is_agent_file(path)).collect()
}

fn is_agent_file(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.starts_with("agent-") && name.ends_with(".jsonl")
}
