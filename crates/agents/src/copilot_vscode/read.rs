//! Reading a session: what its file holds is told as a whole, and of a log that has grown only what came out differently.

use std::ops::ControlFlow;
use std::path::Path;

use carryover_core::transcript::{Closing, Entry, EntryKey, Fact, Header, RejectedRecord, SessionId, StartSetting};

use super::conversation::{self, Record};
use super::session_file::{self, SessionFile};
use super::workspace::Workspace;
use super::{CopilotVscode, hook_transcript};
use crate::formats::jsonl;
use crate::{AgentError, Bookmark, Reader, Sink, Source};

impl Reader for CopilotVscode {
    fn read_session(&self, source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
        let path = source.path.as_path();
        if hook_transcript::is_transcript(path) {
            return hook_transcript::read_session(source, from, sink);
        }
        // The editor writes a log anew now and then, with the same beginning; a document each time.
        let is_log = session_file::is_log(path);
        let digest = if is_log { jsonl::digest_both_ends } else { jsonl::digest_all };
        let mut start = jsonl::find_resume_point(path, from, digest, sink)?;
        let size = fs_err::metadata(path)?.len();
        if start > 0 && start == size {
            return Ok(*from);
        }
        if start > 0 && !is_log {
            // The verdict of a sink that wants no more is met again at the first entry.
            let _ = sink.retract_all();
            start = 0;
        }
        let found = session_file::read_file(path, start)?;
        if found.end == 0 {
            // Nothing is whole yet.
            return Ok(Bookmark::Start);
        }
        let bookmark = jsonl::make_bookmark(path, found.end, digest)?;
        // The verdict of a sink that wants no more changes nothing: all has been read.
        let _ = send_to_sink(path, start, &found, sink);
        Ok(bookmark)
    }

    fn reload_entries(&self, header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
        let path = session_path(header, key)?;
        if hook_transcript::is_transcript(path) {
            return hook_transcript::reload_entries(header, key);
        }
        let found = session_file::read_file(path, 0)?;
        let records = conversation::read_records(&found.now);
        let record = usize::try_from(key.offset).ok().and_then(|number| records.into_iter().nth(number));
        record.map(|record| record.entries).ok_or_else(|| moved_error(path, key))
    }

    /// A request with its response, as the editor would write it by now.
    fn read_record(&self, header: &Header, key: EntryKey) -> Result<String, AgentError> {
        let path = session_path(header, key)?;
        if hook_transcript::is_transcript(path) {
            return jsonl::read_record(header, key);
        }
        let found = session_file::read_file(path, 0)?;
        let index = usize::try_from(key.offset).ok().and_then(|number| number.checked_sub(1));
        let request = index.and_then(|index| found.now.requests.into_iter().nth(index));
        request.ok_or_else(|| moved_error(path, key))
    }
}

fn session_path(header: &Header, key: EntryKey) -> Result<&Path, AgentError> {
    header.files.first().map(std::path::PathBuf::as_path).ok_or_else(|| moved_error(Path::new(""), key))
}

fn moved_error(path: &Path, key: EntryKey) -> AgentError {
    AgentError::Moved { path: path.to_path_buf(), offset: key.offset }
}

/// The name of a session: that of its file.
pub(super) fn session_id(path: &Path) -> SessionId {
    SessionId(path.file_stem().unwrap_or_default().to_string_lossy().into_owned())
}

fn send_to_sink(path: &Path, start: u64, found: &SessionFile, sink: &mut dyn Sink) -> ControlFlow<()> {
    if start == 0 {
        sink.learn(Fact::File(path.to_path_buf()))?;
        sink.learn(Fact::Session(session_id(path)))?;
        // The extension leaves out calls without an outcome.
        sink.learn(Fact::Closing(Closing::Drop))?;
    }
    send_workspace(path, found.now.session.working_directory.as_deref(), sink)?;
    let now = conversation::read_records(&found.now);
    let kept = match &found.before {
        Some(before) => keep_same(&conversation::read_records(before), &now, sink)?,
        // Behind the bookmark, nothing is whole yet.
        None if start > 0 => now.len(),
        None => 0,
    };
    // What is taken back takes the notes behind it along.
    let is_told = |rejected: &RejectedRecord| {
        rejected.key.offset < start && (kept == now.len() || rejected.key < conversation::record_key(kept))
    };
    for rejected in found.rejected.iter().filter(|rejected| !is_told(rejected)) {
        sink.reject(*rejected)?;
    }
    now.into_iter().enumerate().skip(kept).try_for_each(|(number, record)| send_record(number, record, sink))
}

/// Takes back what a reader had from the first record on that is another one now; how many stay.
fn keep_same(before: &[Record], now: &[Record], sink: &mut dyn Sink) -> ControlFlow<(), usize> {
    let kept = before.iter().zip(now).take_while(|(before, now)| before == now).count();
    // The queue is the last record of both, so that one that goes leaves another in its place.
    if kept < before.len() {
        sink.retract(conversation::record_key(kept))?;
    }
    ControlFlow::Continue(kept)
}

fn send_workspace(path: &Path, own_folder: Option<&str>, sink: &mut dyn Sink) -> ControlFlow<()> {
    let workspace = Workspace::of_session(path, own_folder);
    if let Some(project) = workspace.project {
        sink.learn(Fact::Project(project))?;
    }
    match workspace.remote {
        Some(address) => sink.learn(Fact::StartSetting(StartSetting::Entrypoint(address))),
        None => ControlFlow::Continue(()),
    }
}

fn send_record(number: usize, record: Record, sink: &mut dyn Sink) -> ControlFlow<()> {
    if record.is_rejected {
        let reason = "a request is no object";
        sink.reject(RejectedRecord { key: conversation::record_key(number), reason })?;
    }
    record.facts.into_iter().try_for_each(|fact| sink.learn(fact))?;
    for entry in record.entries {
        if let Some(title) = conversation::title_from_prompt(&entry) {
            sink.learn(title)?;
        }
        sink.put(entry)?;
    }
    ControlFlow::Continue(())
}
