//! Reading a session's events.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::transcript::{Closing, Entry, EntryKey, Fact, Header, SessionId, TitleRank};

use super::assets::Assets;
use super::record::{self, Parsed};
use super::workspace::Workspace;
use super::{CopilotCli, discover, history};
use crate::formats::folder;
use crate::formats::jsonl::{self, Line};
use crate::{AgentError, Bookmark, Reader, Sink, Source};

/// The client's own answer to a call that has no outcome when it resumes.
pub(super) const INTERRUPTED_ANSWER: &str = "Tool execution was interrupted before a result was recorded. Its effects may be absent, \
    partial, or already complete, and other tools may have completed successfully. Check the current state before \
    retrying; do not assume success or replay this operation blindly.";

// A rewind writes the file again and leaves its beginning as it was; every event has an id of its own, so the same bytes
// at both ends are the same events.
impl Reader for CopilotCli {
    fn bookmark_near_end(&self, source: &Source) -> Result<Bookmark, AgentError> {
        Ok(jsonl::bookmark_near_end(&source.path, jsonl::digest_both_ends)?)
    }

    fn read_session(&self, source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
        let path = source.path.as_path();
        if history::is_document(path) {
            return history::read_document(path, from, sink);
        }
        let start = jsonl::find_resume_point(path, from, jsonl::digest_both_ends, sink)?;
        if send_first_facts(path, start, sink).is_break() {
            return Ok(*from);
        }
        let session = discover::session_id(path);
        let mut assets = Assets::starting_at(start);
        let parse = |line: Line<'_>| record::parse_record(line, 0);
        let end = jsonl::scan_records(path, start, parse, |mut parsed| {
            if let Some(asset) = parsed.more.asset.take() {
                assets.add_asset(asset);
            }
            assets.resolve_entries(path, &mut parsed.entries);
            send_to_sink(parsed, session.as_ref(), sink)
        })?;
        Ok(jsonl::make_bookmark(path, end, jsonl::digest_both_ends)?)
    }

    /// The session's folder, but for the marks of who has it open.
    fn companion_files(&self, source: &Source) -> Vec<PathBuf> {
        let folder = source.path.parent().filter(|_| source.path.ends_with("events.jsonl"));
        let is_lock = |path: &PathBuf| path.extension().is_some_and(|end| end == "lock");
        let files = folder.filter(|_| discover::session_id(&source.path).is_some()).map(folder::list_files_below);
        files.into_iter().flatten().filter(|path| !is_lock(path)).collect()
    }

    fn reload_entries(&self, header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
        let text = self.read_record(header, key)?;
        if history::is_in_document(&header.files, key) {
            return Ok(history::read_entries(&text, key).unwrap_or_default());
        }
        let line = Line::from_bytes(key.offset, text.as_bytes());
        let mut entries = record::parse_record(line, key.file).map(|parsed| parsed.entries).unwrap_or_default();
        if let Some(path) = header.files.get(usize::from(key.file)) {
            Assets::starting_at(key.offset).resolve_entries(path, &mut entries);
        }
        Ok(entries)
    }
}

fn send_first_facts(path: &Path, start: u64, sink: &mut dyn Sink) -> ControlFlow<()> {
    if start == 0 {
        sink.learn(Fact::File(path.to_path_buf()))?;
        sink.learn(Fact::Closing(Closing::Answer(INTERRUPTED_ANSWER)))?;
        if let Some(session) = discover::session_id(path) {
            sink.learn(Fact::Session(session))?;
        }
    }
    // The name changes without an event.
    let Some(workspace) = Workspace::read_beside(path) else { return ControlFlow::Continue(()) };
    let rank = if workspace.user_named { TitleRank::Given } else { TitleRank::Generated };
    let title = workspace.name.and_then(|name| record::title_fact(rank, &name));
    title.map_or(ControlFlow::Continue(()), |title| sink.learn(title))
}

fn send_to_sink(mut parsed: Parsed, session: Option<&SessionId>, sink: &mut dyn Sink) -> ControlFlow<()> {
    if session.is_some() {
        // The folder names the session: a copy of one keeps the id that it was copied from in its events.
        parsed.facts.retain(|fact| !matches!(fact, Fact::Session(_)));
    }
    parsed.send_to_sink(sink)
}
