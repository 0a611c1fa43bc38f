//! Listing sessions from the heads and tails of their files.

use std::io;
use std::path::{Path, PathBuf};

use carryover_core::transcript::{Body, Opaque, SessionId};
use serde::de::IgnoredAny;

use super::{QwenCode, record};
use crate::formats::jsonl::EndsScan;
use crate::formats::unopened::UnopenedFiles;
use crate::{AgentError, Discovery, FoundCallback, FoundSession, Os, Store};

/// How much of each end is looked at.
const END_BYTES: u64 = 32 << 10;

impl Discovery for QwenCode {
    fn recognises(&self, _path: &Path, head: &[u8]) -> bool {
        is_session(head)
    }

    fn list_sessions(&self, store: &Store, found: FoundCallback<'_>) -> Result<(), AgentError> {
        let projects = store.root.join("projects");
        let mut unopened = UnopenedFiles::default();
        for project in unopened.ok_or_note(fs_err::read_dir(&projects)).into_iter().flatten() {
            let Some(files) = unopened.ok_or_note(fs_err::read_dir(project?.path().join("chats"))) else { continue };
            for path in files.filter_map(Result::ok).map(|entry| entry.path()) {
                let Some(id) = session_id(&path).filter(|_| unopened.can_read(&path)) else { continue };
                let Some(session) = unopened.ok_or_note(scan_session(&path, id)).flatten() else { continue };
                if found(session).is_break() {
                    return Ok(());
                }
            }
        }
        unopened.into_result()
    }

    fn sessions_in(&self, _store: &Store, file: &Path) -> Result<Vec<FoundSession>, AgentError> {
        let Some(id) = session_id(file) else { return Ok(Vec::new()) };
        Ok(scan_session(file, id)?.into_iter().collect())
    }
}

/// The session that a file of this name holds; the client looks at no others.
fn session_id(path: &Path) -> Option<SessionId> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    let fits = (32..=36).contains(&stem.len()) && stem.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    fits.then(|| SessionId(stem.to_owned()))
}

/// The folder that a project's sessions are kept in.
pub(super) fn project_folder(root: &Path, project: &str, os: Os) -> PathBuf {
    let project = if os == Os::Windows { project.to_lowercase() } else { project.to_owned() };
    let letter = |unit: u16| match u8::try_from(unit).map(char::from) {
        Ok(letter) if letter.is_ascii_alphanumeric() => letter,
        _ => '-',
    };
    let name: String = project.encode_utf16().map(letter).collect();
    root.join("projects").join(name).join("chats")
}

/// Whether the first bytes are those of a session: chained records that hold parts, or a payload of the system's.
pub(super) fn is_session(head: &[u8]) -> bool {
    let lines = head.split(|byte| *byte == b'\n').take(20);
    lines.into_iter().any(|line| {
        let Ok(record) = serde_json::from_slice::<WireFirst>(line) else { return false };
        let parts = record.message.is_some_and(|message| message.parts.is_some());
        record.uuid.is_some() && (parts || record.system_payload.is_some())
    })
}

/// As much of a record as tells whose it is.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireFirst {
    uuid: Option<IgnoredAny>,
    message: Option<WireFirstMessage>,
    system_payload: Option<IgnoredAny>,
}

#[derive(serde::Deserialize)]
struct WireFirstMessage {
    parts: Option<Vec<IgnoredAny>>,
}

/// Looks at the two ends of a file; a file without any message is no session.
fn scan_session(path: &Path, id: SessionId) -> io::Result<Option<FoundSession>> {
    let metadata = fs_err::metadata(path)?;
    let ends = EndsScan::read(path, &metadata, END_BYTES, END_BYTES, |ends, line| {
        let Some(parsed) = record::parse_record(line, 0) else { return };
        // A message without anything in it may be one whose fields have other names now.
        let is_hollow = |body: &Body| matches!(body, Body::Opaque(Opaque::Known(kind)) if kind == "empty");
        let is_known = parsed.more.known && !parsed.entries.iter().all(|entry| is_hollow(&entry.body));
        ends.scan_record(is_known, &parsed.entries, parsed.facts);
    })?;
    Ok(ends.map(|ends| ends.into_found(path, &metadata, id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_by_the_project() {
        let root = Path::new("r");
        assert_eq!(
            project_folder(root, "/home/u/my_repo.é😀", Os::Linux),
            root.join("projects/-home-u-my-repo----/chats")
        );
        assert_eq!(project_folder(root, r"C:\Users\U", Os::Windows), root.join("projects/c--users-u/chats"));
    }
}
