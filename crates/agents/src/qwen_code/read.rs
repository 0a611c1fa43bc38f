//! Reading a session file.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::transcript::{Closing, Entry, EntryKey, Fact, Header, SessionId};

use super::QwenCode;
use super::record::{self, Parsed};
use crate::formats::jsonl::{self, Line, Repeated};
use crate::{AgentError, Bookmark, Reader, Sink, Source, Version};

/// What newer clients answer a call with that has no outcome.
const NOT_RECORDED: &str = "Tool execution result was not recorded \u{2014} likely interrupted by network failure, abort, \
                            or process exit. Treat as failure and retry if needed.";

/// The first client that is known to answer such calls; the ones before leave them out.
const ANSWERS: Version = Version(0, 24, 0);

impl Reader for QwenCode {
    fn near_end(&self, source: &Source) -> Result<Bookmark, AgentError> {
        Ok(jsonl::mark_near_end(&source.path, jsonl::digest_head)?)
    }

    fn read(&self, source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
        let path = source.path.as_path();
        let start = jsonl::resume_point(path, from, jsonl::digest_head, sink)?;
        let is_agents = is_agent_file(path);
        if start == 0 && begin(path, is_agents, sink).is_break() {
            return Ok(*from);
        }
        let parse = |said: &mut Repeated, line: Line<'_>| record::parse_after(said, line, 0);
        let end = jsonl::scan_remembering(path, start, parse, |parsed| hand_over(parsed, is_agents, sink))?;
        Ok(jsonl::mark(path, end, jsonl::digest_head)?)
    }

    fn reload(&self, header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
        let text = self.record(header, key)?;
        let line = Line::whole(key.offset, text.as_bytes());
        let mut entries = record::parse(line, key.file).map(|parsed| parsed.entries).unwrap_or_default();
        if header.files.get(usize::from(key.file)).is_some_and(|path| is_agent_file(path)) {
            for entry in &mut entries {
                entry.side = false;
            }
        }
        Ok(entries)
    }
}

fn begin(path: &Path, is_agents: bool, sink: &mut dyn Sink) -> ControlFlow<()> {
    sink.learn(Fact::File(path.to_path_buf()))?;
    sink.learn(Fact::Closing(Closing::Drop))?;
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    if !is_agents {
        for child in sub_agents(path, &stem) {
            sink.learn(Fact::Child(child))?;
        }
    }
    sink.learn(Fact::Session(SessionId(stem)))
}

fn hand_over(mut parsed: Parsed, is_agents: bool, sink: &mut dyn Sink) -> ControlFlow<()> {
    if is_agents {
        // In a file of its own, a sub-agent's conversation is the main one.
        parsed.entries.iter_mut().for_each(|entry| entry.side = false);
        if let Some(parent) = parsed.more.agent_of.take() {
            sink.learn(Fact::Parent(parent))?;
        }
    }
    if let Some(version) = parsed.client_version() {
        sink.learn(Fact::Closing(closing(version)))?;
    }
    parsed.hand_over(sink)
}

/// How the client that wrote this treats a call without an outcome.
fn closing(version: &str) -> Closing {
    match Version::find(version) {
        Some(version) if version >= ANSWERS => Closing::Answer(NOT_RECORDED),
        _ => Closing::Drop,
    }
}

/// The files of a session's sub-agents, in a folder of the project's.
fn sub_agents(path: &Path, session: &str) -> Vec<PathBuf> {
    let Some(project) = path.parent().and_then(Path::parent) else { return Vec::new() };
    let Ok(listing) = fs_err::read_dir(project.join("subagents").join(session)) else { return Vec::new() };
    let paths = listing.filter_map(Result::ok).map(|entry| entry.path());
    let mut found: Vec<PathBuf> = paths.filter(|path| is_agent_file(path)).collect();
    found.sort();
    found
}

fn is_agent_file(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.starts_with("agent-") && name.ends_with(".jsonl")
}
