//! Listing sessions from the two ends of their files.

use std::io;
use std::path::Path;

use carryover_core::transcript::SessionId;

use super::{Ink, record};
use carryover_agents::formats::jsonl::EndsScan;
use carryover_agents::formats::unopened::UnopenedFiles;
use carryover_agents::{AgentError, Discovery, FoundCallback, FoundSession, Store};

/// How much of each end is looked at.
const END_BYTES: u64 = 20 << 10;

impl Discovery for Ink {
    fn recognises(&self, _path: &Path, head: &[u8]) -> bool {
        head.starts_with(br#"{"type":"session","ink":"#)
    }

    fn list_sessions(&self, store: &Store, found: FoundCallback<'_>) -> Result<(), AgentError> {
        let mut unopened = UnopenedFiles::default();
        for file in unopened.ok_or_note(fs_err::read_dir(store.root.join("sessions"))).into_iter().flatten() {
            let path = file?.path();
            if path.extension().is_none_or(|end| end != "jsonl") || !unopened.can_read(&path) {
                continue;
            }
            let Some(session) = unopened.ok_or_note(scan_session(&path)).flatten() else { continue };
            if found(session).is_break() {
                return Ok(());
            }
        }
        unopened.into_result()
    }
}

/// Looks at a session; one in which nothing was said is none.
fn scan_session(path: &Path) -> io::Result<Option<FoundSession>> {
    let metadata = fs_err::metadata(path)?;
    let ends = EndsScan::read(path, &metadata, END_BYTES, END_BYTES, |ends, line| {
        let Some(parsed) = record::parse_record(line) else { return };
        ends.scan_record(parsed.more.is_known, &parsed.entries, parsed.facts);
    })?;
    let id = SessionId(path.file_stem().unwrap_or_default().to_string_lossy().into_owned());
    Ok(ends.map(|ends| ends.into_found(path, &metadata, id)))
}
