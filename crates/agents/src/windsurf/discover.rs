//! Listing transcripts from the two ends of their files, and counting what cannot be read.

use std::io;
use std::path::Path;

use carryover_core::transcript::SessionId;

use super::project::ProjectFinder;
use super::{Windsurf, record};
use crate::formats::jsonl::EndsScan;
use crate::formats::unopened::UnopenedFiles;
use crate::{AgentError, Discovery, FoundCallback, FoundSession, Store, UnreadableSessions};

const END_BYTES: u64 = 20 << 10;

impl Discovery for Windsurf {
    fn recognises(&self, _path: &Path, head: &[u8]) -> bool {
        #[derive(serde::Deserialize)]
        struct First {
            #[serde(rename = "type")]
            kind: String,
            status: String,
            #[serde(flatten)]
            data: serde_json::Map<String, serde_json::Value>,
        }
        let line = head.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
        serde_json::from_slice::<First>(line).is_ok_and(|first| {
            !first.status.is_empty() && first.data.get(&first.kind).is_some_and(serde_json::Value::is_object)
        })
    }

    fn list_sessions(&self, store: &Store, found: FoundCallback<'_>) -> Result<(), AgentError> {
        let mut unopened = UnopenedFiles::default();
        for file in unopened.ok_or_note(fs_err::read_dir(store.root.join("transcripts"))).into_iter().flatten() {
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

    fn sessions_in(&self, _store: &Store, file: &Path) -> Result<Vec<FoundSession>, AgentError> {
        Ok(scan_session(file)?.into_iter().collect())
    }
}

/// Looks at a transcript; one in which nothing was said is none.
fn scan_session(path: &Path) -> io::Result<Option<FoundSession>> {
    let metadata = fs_err::metadata(path)?;
    let mut projects = ProjectFinder::default();
    let ends = EndsScan::read(path, &metadata, END_BYTES, END_BYTES, |ends, line| {
        let Some(mut parsed) = record::parse_record(line) else { return };
        projects.add_project(&mut parsed);
        ends.scan_record(parsed.more.is_known, &parsed.entries, parsed.facts);
    })?;
    let id = session_id(path);
    Ok(ends.map(|ends| ends.into_found(path, &metadata, id)))
}

/// A transcript is called by the name of its conversation, which stands nowhere inside.
pub(super) fn session_id(path: &Path) -> SessionId {
    SessionId(path.file_stem().unwrap_or_default().to_string_lossy().into_owned())
}

/// The editor's own conversations, whose key is not ours to look for.
pub(super) fn count_encrypted(root: &Path) -> Option<UnreadableSessions> {
    let files = fs_err::read_dir(root.join("cascade")).ok()?.filter_map(Result::ok);
    let count = files.filter(|file| file.path().extension().is_some_and(|end| end == "pb")).count();
    (count > 0).then_some(UnreadableSessions {
        count,
        reason: "encrypted by the editor; with `carryover install`, it writes a readable transcript of new ones",
    })
}
