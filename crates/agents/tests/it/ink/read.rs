//! Reading a session, from a bookmark on.

use std::ops::ControlFlow;
use std::path::PathBuf;

use carryover_core::transcript::{Closing, Entry, EntryKey, Fact, Header, Rejected};

use super::record::{self, Parsed};
use carryover_agents::formats::jsonl;
use carryover_agents::formats::line::Line;
use carryover_agents::{AgentError, Bookmark, Sink, Source};

pub(super) fn read(source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
    let path = source.path.as_path();
    let mut start = 0;
    if let Bookmark::Appended { offset, head } = *from {
        let is_same = offset <= fs_err::metadata(path)?.len() && jsonl::head_digest(path, offset)? == head;
        if is_same {
            start = offset;
        } else {
            // The file was replaced. The verdict of a sink that wants no more is met again at the first entry.
            let _ = sink.retract(EntryKey { file: 0, offset: 0, part: 0, length: 0 });
        }
    }
    let begun = sink.learn(Fact::Closing(Closing::Drop));
    if *from == Bookmark::Start && (begun.is_break() || sink.learn(Fact::File(path.to_path_buf())).is_break()) {
        return Ok(*from);
    }
    let end = jsonl::scan(path, start, record::parse, |parsed| hand_over(parsed, sink))?;
    Ok(Bookmark::Appended { offset: end, head: jsonl::head_digest(path, end)? })
}

fn hand_over(parsed: Parsed, sink: &mut dyn Sink) -> ControlFlow<()> {
    if let Some(reason) = parsed.rejected {
        sink.reject(Rejected { key: parsed.key, reason })?;
    }
    parsed.facts.into_iter().try_for_each(|fact| sink.learn(fact))?;
    parsed.entries.into_iter().try_for_each(|entry| sink.put(0, entry))
}

/// The entries of one record, read again.
pub(super) fn reload(header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
    let text = read_record(header, key)?;
    let line = Line { offset: key.offset, bytes: text.as_bytes(), length: text.len() as u64, unterminated: false };
    Ok(record::parse(line).map(|parsed| parsed.entries).unwrap_or_default())
}

/// The text of one record.
pub(super) fn read_record(header: &Header, key: EntryKey) -> Result<String, AgentError> {
    let moved = |path: PathBuf| AgentError::Moved { path, offset: key.offset };
    let path = header.files.get(usize::from(key.file)).ok_or_else(|| moved(PathBuf::new()))?;
    jsonl::record(path, key.offset, u64::from(key.length)).map_err(|_| moved(path.clone()))
}
