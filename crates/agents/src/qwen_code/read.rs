//! Reading a session file.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::transcript::{Closing, Entry, EntryKey, Fact, Header, SessionId};

use super::QwenCode;
use super::record::{self, Parsed};
use crate::formats::jsonl::{self, Line, SeenFacts};
use crate::{AgentError, Bookmark, Reader, Sink, Source, Version};

/// The answer of newer clients to a call that has no outcome.
const NOT_RECORDED_ANSWER: &str = "Tool execution result was not recorded \u{2014} likely interrupted by network failure, abort, \
                            or process exit. Treat as failure and retry if needed.";

/// The first client that is known to answer such calls; the ones before leave them out.
const ANSWERING_SINCE: Version = Version(0, 24, 0);

impl Reader for QwenCode {
    fn bookmark_near_end(&self, source: &Source) -> Result<Bookmark, AgentError> {
        Ok(jsonl::bookmark_near_end(&source.path, jsonl::digest_head)?)
    }

    fn read_session(&self, source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
        let path = source.path.as_path();
        let start = jsonl::find_resume_point(path, from, jsonl::digest_head, sink)?;
        let is_agents = is_agent_file(path);
        if start == 0 && send_first_facts(path, is_agents, sink).is_break() {
            return Ok(*from);
        }
        let parse = |said: &mut SeenFacts, line: Line<'_>| record::parse_line_after(said, line, 0);
        let end = jsonl::scan_with_memory(path, start, parse, |parsed| send_to_sink(parsed, is_agents, sink))?;
        Ok(jsonl::make_bookmark(path, end, jsonl::digest_head)?)
    }

    fn reload_entries(&self, header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
        let text = self.read_record(header, key)?;
        let line = Line::from_bytes(key.offset, text.as_bytes());
        let mut entries = record::parse_record(line, key.file).map(|parsed| parsed.entries).unwrap_or_default();
        if header.files.get(usize::from(key.file)).is_some_and(|path| is_agent_file(path)) {
            for entry in &mut entries {
                entry.side = false;
            }
        }
        Ok(entries)
    }
}

fn send_first_facts(path: &Path, is_agents: bool, sink: &mut dyn Sink) -> ControlFlow<()> {
    sink.learn(Fact::File(path.to_path_buf()))?;
    sink.learn(Fact::Closing(Closing::Drop))?;
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    if !is_agents {
        for child in find_sub_agents(path, &stem) {
            sink.learn(Fact::Child(child))?;
        }
    }
    sink.learn(Fact::Session(SessionId(stem)))
}

fn send_to_sink(mut parsed: Parsed, is_agents: bool, sink: &mut dyn Sink) -> ControlFlow<()> {
    if is_agents {
        // In a file of its own, a sub-agent's conversation is the main one.
        parsed.entries.iter_mut().for_each(|entry| entry.side = false);
        if let Some(parent) = parsed.more.parent_session.take() {
            sink.learn(Fact::Parent(parent))?;
        }
    }
    if let Some(version) = parsed.client_version() {
        sink.learn(Fact::Closing(closing_for(version)))?;
    }
    parsed.send_to_sink(sink)
}

/// How the client that wrote this treats a call without an outcome.
fn closing_for(version: &str) -> Closing {
    match Version::find_in(version) {
        Some(version) if version >= ANSWERING_SINCE => Closing::Answer(NOT_RECORDED_ANSWER),
        _ => Closing::Drop,
    }
}

/// The files of a session's sub-agents, in a folder of the project's.
fn find_sub_agents(path: &Path, session: &str) -> Vec<PathBuf> {
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
