//! Reads a session: the part of other sessions that it continues, then its own file.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::transcript::{Body, Closing, Entry, EntryKey, Fact, Header, Origin, Part, TitleRank};

use super::meta::{WireBase, WireMeta};
use super::record::{self, Parsed};
use super::{item, rollout, titles};
use crate::formats::jsonl;
use crate::formats::line::Line;
use crate::{AgentError, Bookmark, Sink, Source};

/// The answer that the client gives to a call without an outcome when it resumes.
const ANSWER: &str = "aborted";

/// Forks of forks of forks: more than that is a circle.
const MAX_FORKS: usize = 32;

/// Reads from a bookmark on, and says where to go on later.
pub(super) fn read(source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
    let path = &source.path;
    let mut merge = Merge { sink, own: path.clone(), titled: false, end: None };
    let offset = match *from {
        Bookmark::Start => {
            merge.learn(Fact::File(path.clone()));
            merge.learn(Fact::Closing(Closing::Answer(ANSWER)));
            0
        }
        Bookmark::Appended { offset, head } if is_same_file(path, offset, head)? => offset,
        Bookmark::Appended { .. } => {
            let everything = EntryKey { file: 0, offset: 0, part: 0, length: 0 };
            if merge.sink.retract(everything).is_break() {
                return Ok(*from);
            }
            0
        }
    };
    if offset == 0 {
        read_bases(path, *from == Bookmark::Start, &mut merge)?;
    }
    let end = merge.file(path, 0, offset, None)?;
    if let Some(title) = given_title(path) {
        merge.learn(Fact::Title(TitleRank::Given, title));
    }
    Ok(Bookmark::Appended { offset: end, head: jsonl::head_digest(path, end)? })
}

/// Reads the entries of one record again.
pub(super) fn reload(header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
    let path = file_of(header, key)?;
    let text = jsonl::record(path, key.offset, u64::from(key.length))?;
    let line = Line { offset: key.offset, bytes: text.as_bytes(), length: text.len() as u64, unterminated: false };
    match record::parse(line, key.file, jsonl::is_compressed(path)) {
        Some(parsed) if parsed.rejected.is_none() => Ok(parsed.entries),
        _ => Err(AgentError::Moved { path: path.to_owned(), offset: key.offset }),
    }
}

/// The file that a key points into.
pub(super) fn file_of(header: &Header, key: EntryKey) -> Result<&Path, AgentError> {
    let path = header.files.get(usize::from(key.file));
    path.map(PathBuf::as_path).ok_or(AgentError::NotASession {
        agent: "codex",
        path: PathBuf::new(),
        reason: "the header lists no such file",
    })
}

/// Takes what the lines hold to the sink.
struct Merge<'a> {
    sink: &'a mut dyn Sink,
    /// The session's own file, beside which those of sub-agents are.
    own: PathBuf,
    /// Whether the first prompt has been met.
    titled: bool,
    /// The end of the last record that the sink took, once it wants no more.
    end: Option<u64>,
}

impl Merge<'_> {
    /// A sink that wants no more says so again at the next entry, so the answer may be passed over here.
    fn learn(&mut self, fact: Fact) {
        let _: ControlFlow<()> = self.sink.learn(fact);
    }

    /// Reads one file from an offset on; a base ends where the fork begins.
    fn file(&mut self, path: &Path, file: u16, offset: u64, base: Option<&WireBase>) -> Result<u64, AgentError> {
        let compressed = jsonl::is_compressed(path);
        let end = jsonl::scan(
            path,
            offset,
            |line| record::parse(line, file, compressed),
            |parsed| {
                if base.is_some_and(|base| is_beyond(&parsed, base)) {
                    return ControlFlow::Break(());
                }
                self.take(parsed, base.is_some())
            },
        )?;
        Ok(self.end.unwrap_or(end))
    }

    fn take(&mut self, parsed: Parsed, of_base: bool) -> ControlFlow<()> {
        let end = parsed.key.offset + u64::from(parsed.key.length) + 1;
        let taken = self.take_all(parsed, of_base);
        if taken.is_break() {
            self.end = Some(end);
        }
        taken
    }

    fn take_all(&mut self, parsed: Parsed, of_base: bool) -> ControlFlow<()> {
        if let Some(rejected) = parsed.rejection() {
            self.sink.reject(rejected)?;
        }
        for fact in parsed.facts {
            // Who it is, a fork tells itself; the settings stay until its own first turn.
            if !of_base || matches!(fact, Fact::Model(_) | Fact::Permission(_)) {
                self.sink.learn(fact)?;
            }
        }
        for entry in parsed.entries {
            if let (false, Origin::User, Body::Prompt(parts)) = (self.titled, entry.origin, &entry.body)
                && let Some(title) = item::title_of(parts)
            {
                self.titled = true;
                self.sink.learn(Fact::Title(TitleRank::FirstPrompt, title))?;
            }
            if let Some(path) = child_in(&entry.body, &self.own) {
                self.sink.learn(Fact::Child(path))?;
            }
            self.sink.put(0, entry)?;
        }
        ControlFlow::Continue(())
    }
}

/// The file of a sub-agent, from the answer to the call that made it: `{"agent_id":"…","nickname":"…"}`.
fn child_in(body: &Body, own: &Path) -> Option<PathBuf> {
    let Body::Outcome(outcome) = body else { return None };
    let [Part::Text(text)] = &outcome.parts[..] else { return None };
    let id = text.strip_prefix(r#"{"agent_id":""#)?.split('"').next()?;
    rollout::find(own, id).ok().flatten()
}

/// Whether a record of a base came after the fork.
fn is_beyond(parsed: &Parsed, base: &WireBase) -> bool {
    match (parsed.ordinal, base.end_ordinal_exclusive, base.end_byte_offset) {
        (Some(ordinal), Some(end), _) => ordinal >= end,
        (_, _, Some(end)) => parsed.key.offset >= end,
        _ => false,
    }
}

/// Reads what a fork continues, oldest first. Its own file is number 0, so the ones before it count up.
fn read_bases(path: &Path, first_time: bool, merge: &mut Merge<'_>) -> Result<(), AgentError> {
    let mut bases = Vec::new();
    let mut next = base_of(path)?;
    while let Some(base) = next {
        let found = rollout::find(path, &base.thread_id)?;
        let (Some(file), true) = (found, bases.len() < MAX_FORKS) else {
            return Err(AgentError::MissingBase { path: path.to_owned(), missing: base.thread_id });
        };
        next = base_of(&file)?;
        bases.push((file, base));
    }
    if first_time {
        for (file, _) in &bases {
            merge.learn(Fact::File(file.clone()));
        }
    }
    for (index, (file, base)) in bases.iter().enumerate().rev() {
        let number = u16::try_from(index + 1).unwrap_or(u16::MAX);
        merge.file(file, number, 0, Some(base))?;
    }
    Ok(())
}

/// What the first record of a file says it continues.
fn base_of(path: &Path) -> Result<Option<WireBase>, AgentError> {
    let mut base = None;
    let parse = |line: Line<'_>| Some(WireMeta::parse(line.bytes).and_then(|meta| meta.base));
    jsonl::scan(path, 0, parse, |found| {
        base = found;
        ControlFlow::Break(())
    })?;
    Ok(base)
}

fn is_same_file(path: &Path, offset: u64, head: u64) -> Result<bool, AgentError> {
    let shorter = !jsonl::is_compressed(path) && fs_err::metadata(path)?.len() < offset;
    Ok(!shorter && jsonl::head_digest(path, offset)? == head)
}

fn given_title(path: &Path) -> Option<String> {
    titles::all(rollout::root_of(path)?).remove(rollout::session_in(path)?)
}
