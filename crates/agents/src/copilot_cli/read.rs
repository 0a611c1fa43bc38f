//! Reading a session's events.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::transcript::{Closing, Entry, EntryKey, Fact, Header, SessionId, TitleRank};

use super::assets::Assets;
use super::record::{self, Parsed};
use super::workspace::Workspace;
use super::{discover, history};
use crate::formats::line::Line;
use crate::formats::{file, jsonl};
use crate::{AgentError, Bookmark, Sink, Source};

/// What the client answers a call with that has no outcome when it resumes.
pub(super) const INTERRUPTED: &str = "Tool execution was interrupted before a result was recorded. Its effects may be absent, \
    partial, or already complete, and other tools may have completed successfully. Check the current state before \
    retrying; do not assume success or replay this operation blindly.";

/// Reads from a bookmark on.
pub(super) fn read(source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
    let path = source.path.as_path();
    if history::is_document(path) {
        return history::read(path, from, sink);
    }
    let start = resume_point(path, from, sink)?;
    if begin(path, start, sink).is_break() {
        return Ok(*from);
    }
    let session = discover::session_id(path);
    let mut assets = Assets::from(start);
    let parse = |line: Line<'_>| record::parse(line, 0);
    let end = jsonl::scan(path, start, parse, |mut parsed| {
        if let Some(asset) = parsed.asset.take() {
            assets.know(asset);
        }
        assets.resolve(path, &mut parsed.entries);
        hand_over(parsed, session.as_ref(), sink)
    })?;
    Ok(Bookmark::Appended { offset: end, head: digest(path, end)? })
}

/// A bookmark shortly before the end.
pub(super) fn near_end(source: &Source) -> Result<Bookmark, AgentError> {
    let offset = jsonl::near_end(&source.path)?;
    Ok(Bookmark::Appended { offset, head: digest(&source.path, offset)? })
}

/// Where to start: at the bookmark, or anew where the file was written again. A rewind does that, and leaves the
/// beginning as it was.
fn resume_point(path: &Path, from: &Bookmark, sink: &mut dyn Sink) -> Result<u64, AgentError> {
    let Bookmark::Appended { offset, head } = *from else { return Ok(0) };
    let size = fs_err::metadata(path)?.len();
    if offset <= size && digest(path, offset)? == head {
        return Ok(offset);
    }
    // The verdict of a sink that wants no more is met again at the first entry.
    let _ = sink.retract(EntryKey { file: 0, offset: 0, part: 0, length: 0 });
    Ok(0)
}

/// A digest of a file's beginning and of the bytes before an offset: every event has an id of its own, so the same
/// bytes there are the same events.
fn digest(path: &Path, offset: u64) -> io::Result<u64> {
    let before = offset.min(512);
    let mut bytes = Vec::new();
    let mut file = file::open(path)?;
    file.seek(SeekFrom::Start(offset - before))?;
    file.take(before).read_to_end(&mut bytes)?;
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    Ok(bytes.iter().fold(jsonl::head_digest(path, offset)?, step))
}

fn begin(path: &Path, start: u64, sink: &mut dyn Sink) -> ControlFlow<()> {
    if start == 0 {
        sink.learn(Fact::File(path.to_path_buf()))?;
        sink.learn(Fact::Closing(Closing::Answer(INTERRUPTED)))?;
        if let Some(session) = discover::session_id(path) {
            sink.learn(Fact::Session(session))?;
        }
    }
    // The name changes without an event.
    let Some(workspace) = Workspace::beside(path) else { return ControlFlow::Continue(()) };
    let rank = if workspace.user_named { TitleRank::Given } else { TitleRank::Generated };
    let title = workspace.name.and_then(|name| record::title(rank, &name));
    title.map_or(ControlFlow::Continue(()), |title| sink.learn(title))
}

fn hand_over(parsed: Parsed, session: Option<&SessionId>, sink: &mut dyn Sink) -> ControlFlow<()> {
    if let Some(rejected) = parsed.rejection() {
        sink.reject(rejected)?;
    }
    for fact in parsed.facts {
        // The folder names the session: a copy of one keeps the id that it was copied from in its events.
        let renamed = session.is_some() && matches!(fact, Fact::Session(_));
        if !renamed {
            sink.learn(fact)?;
        }
    }
    for entry in parsed.entries {
        sink.put(0, entry)?;
    }
    ControlFlow::Continue(())
}

/// The entries of one record, read again.
pub(super) fn reload(header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
    let text = raw(header, key)?;
    if history::document(&header.files, key) {
        return Ok(history::entries(&text, key).unwrap_or_default());
    }
    let line = Line { offset: key.offset, bytes: text.as_bytes(), length: text.len() as u64, unterminated: false };
    let mut entries = record::parse(line, key.file).map(|parsed| parsed.entries).unwrap_or_default();
    if let Some(path) = header.files.get(usize::from(key.file)) {
        Assets::from(key.offset).resolve(path, &mut entries);
    }
    Ok(entries)
}

/// The text of one record.
pub(super) fn raw(header: &Header, key: EntryKey) -> Result<String, AgentError> {
    let moved = |path: PathBuf| AgentError::Moved { path, offset: key.offset };
    let path = header.files.get(usize::from(key.file)).ok_or_else(|| moved(PathBuf::new()))?;
    jsonl::record(path, key.offset, u64::from(key.length)).map_err(|_| moved(path.clone()))
}
