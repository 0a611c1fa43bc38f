//! Reading a session file.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::transcript::{Body, Closing, Entry, EntryKey, Fact, Header, SessionId};

use super::past;
use super::record::{self, Parsed, Said};
use super::slug::slug;
use crate::formats::jsonl;
use crate::formats::line::Line;
use crate::{AgentError, Bookmark, Sink, Source, Version};

/// What the newest clients answer a call with that the session ended in.
const INTERRUPTED: &str =
    "[Tool call interrupted: the session ended before this call's result was recorded. It may or may not have run.]";

/// The first client that answers such calls; the ones before leave them out.
const ANSWERS_AT_END: Version = Version(2, 1, 300);

/// Reads from a bookmark on.
pub(super) fn read(source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
    let path = source.path.as_path();
    let start = resume_point(path, from, sink)?;
    let own = OwnFile::of(path);
    own.may_guess.set(start == 0);
    if start == 0 && begin(path, &own, sink).is_break() {
        return Ok(*from);
    }
    let present = present(path, start, sink)?;
    let parse = |said: &mut Said, line: Line<'_>| {
        if line.offset < present { past::parse(said, line, 0) } else { record::parse_after(said, line, 0) }
    };
    let end = jsonl::scan_remembering(path, start, parse, |parsed| hand_over(parsed, &own, sink))?;
    Ok(Bookmark::Appended { offset: end, head: jsonl::head_digest(path, end)? })
}

/// Where the part that may still be live begins: at the last compaction, where the past is not wanted.
///
/// It is looked for near the end only: a context that has outgrown every window was compacted.
fn present(path: &Path, start: u64, sink: &dyn Sink) -> Result<u64, AgentError> {
    const NEAR: u64 = 48 << 20;
    const WORTH_LOOKING: u64 = 4 << 20;
    let size = fs_err::metadata(path)?.len();
    if sink.wants_the_past() || size.saturating_sub(start) < WORTH_LOOKING {
        return Ok(0);
    }
    let Some(offset) = jsonl::last_line_with(path, r#""subtype":"compact_boundary""#, NEAR)? else { return Ok(0) };
    // The same words inside some other record mean nothing.
    let is_boundary = |parsed: &Parsed| matches!(&parsed.entries[..], [only] if is_barrier(only));
    let mut found = false;
    let parse = |line: Line<'_>| record::parse(line, 0);
    jsonl::scan(path, offset, parse, |parsed| {
        found = is_boundary(&parsed);
        ControlFlow::Break(())
    })?;
    Ok(if found { offset } else { 0 })
}

fn is_barrier(entry: &Entry) -> bool {
    !entry.side && matches!(entry.body, Body::Compacted(_))
}

/// Where to start: at the bookmark, or anew where the file was replaced.
fn resume_point(path: &Path, from: &Bookmark, sink: &mut dyn Sink) -> Result<u64, AgentError> {
    let Bookmark::Appended { offset, head } = *from else { return Ok(0) };
    let size = fs_err::metadata(path)?.len();
    if offset <= size && jsonl::head_digest(path, offset)? == head {
        return Ok(offset);
    }
    // The verdict of a sink that wants no more is met again at the first entry.
    let _ = sink.retract(EntryKey { file: 0, offset: 0, part: 0, length: 0 });
    Ok(0)
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
    pub(super) fn of(path: &Path) -> Self {
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
    pub(super) fn is_fact(&self, fact: &Fact) -> bool {
        let Fact::Project(path) = fact else { return true };
        path.to_str().is_some_and(|path| slug(path) == self.folder) || self.may_guess.replace(false)
    }

    fn is_agents(&self) -> bool {
        self.session.is_none()
    }
}

fn begin(path: &Path, own: &OwnFile, sink: &mut dyn Sink) -> ControlFlow<()> {
    sink.learn(Fact::File(path.to_path_buf()))?;
    sink.learn(Fact::Closing(Closing::Drop))?;
    if let Some(session) = &own.session {
        sink.learn(Fact::Session(session.clone()))?;
        for child in sub_agents(path, session) {
            sink.learn(Fact::Child(child))?;
        }
    }
    ControlFlow::Continue(())
}

fn hand_over(mut parsed: Parsed, own: &OwnFile, sink: &mut dyn Sink) -> ControlFlow<()> {
    if let Some(rejected) = parsed.rejection() {
        sink.reject(rejected)?;
    }
    if own.is_agents() {
        // In a file of its own, a sub-agent's conversation is the main one.
        parsed.entries.iter_mut().for_each(|entry| entry.side = false);
        if let Some(parent) = parsed.agent_of.take() {
            sink.learn(Fact::Parent(parent))?;
        }
    }
    for fact in parsed.facts {
        if let Fact::ClientVersion(version) = &fact {
            sink.learn(Fact::Closing(closing(version)))?;
        }
        if own.is_fact(&fact) {
            sink.learn(fact)?;
        }
    }
    for entry in parsed.entries {
        sink.put(0, entry)?;
    }
    ControlFlow::Continue(())
}

/// How the client that wrote this treats a call without an outcome.
fn closing(version: &str) -> Closing {
    match Version::find(version) {
        Some(version) if version >= ANSWERS_AT_END => Closing::AnswerAtEnd(INTERRUPTED),
        _ => Closing::Drop,
    }
}

/// The files of a session's sub-agents: in a folder of the session's (2.1), or beside it (2.0).
fn sub_agents(path: &Path, session: &SessionId) -> Vec<PathBuf> {
    let mut found = agent_files(&path.with_extension("").join("subagents"));
    let beside = path.parent().map(agent_files).unwrap_or_default();
    let marker = format!("\"sessionId\":\"{session}\"");
    let finder = memchr::memmem::Finder::new(&marker);
    found.extend(
        beside.into_iter().filter(|file| jsonl::head(file, 4096).is_ok_and(|head| finder.find(&head).is_some())),
    );
    found.sort();
    found
}

fn agent_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(listing) = fs_err::read_dir(folder) else { return Vec::new() };
    let paths = listing.filter_map(Result::ok).map(|entry| entry.path());
    paths.filter(|path| is_agent_file(path)).collect()
}

fn is_agent_file(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.starts_with("agent-") && name.ends_with(".jsonl")
}

/// The entries of one record, read again.
pub(super) fn reload(header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
    let text = raw(header, key)?;
    let line = Line { offset: key.offset, bytes: text.as_bytes(), length: text.len() as u64, unterminated: false };
    let parsed = record::parse(line, key.file);
    Ok(parsed.map(|parsed| parsed.entries).unwrap_or_default())
}

/// The text of one record.
pub(super) fn raw(header: &Header, key: EntryKey) -> Result<String, AgentError> {
    let moved = |path: PathBuf| AgentError::Moved { path, offset: key.offset };
    let path = header.files.get(usize::from(key.file)).ok_or_else(|| moved(PathBuf::new()))?;
    jsonl::record(path, key.offset, u64::from(key.length)).map_err(|_| moved(path.clone()))
}
