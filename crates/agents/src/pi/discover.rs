//! Listing sessions from the heads and tails of their files.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::transcript::{Body, Opaque, SessionId};

use super::Pi;
use super::edits::Edits;
use super::record::{self, LastFacts};
use crate::formats::jsonl::{self, EndsScan};
use crate::formats::tree::owner;
use crate::formats::unopened::UnopenedFiles;
use crate::{AgentError, Discovery, FoundCallback, FoundSession, Store};

/// The client's own prompt stands before the first one of the user's.
const HEAD_BYTES: u64 = 40 << 10;
const TAIL_BYTES: u64 = 24 << 10;

/// Messages without anything in them.
const HOLLOW: &[&str] = &["message", "message/user", "message/assistant"];

impl Discovery for Pi {
    fn recognises(&self, path: &Path, head: &[u8]) -> bool {
        // Another client's files begin alike.
        is_session(head) && !owner::has_several_agents(path, head)
    }

    fn list_sessions(&self, store: &Store, found: FoundCallback<'_>) -> Result<(), AgentError> {
        let sessions = store.root.join("sessions");
        let mut unopened = UnopenedFiles::default();
        if !sessions.is_dir() {
            // Whatever else lies in such a folder is not the client's.
            let is_ours = |path: &Path| jsonl::read_head(path, HEAD_BYTES).is_ok_and(|head| is_session(&head));
            let _ = list_folder(&store.root, is_ours, &mut unopened, found);
            return unopened.into_result();
        }
        for folder in fs_err::read_dir(&sessions)? {
            if list_folder(&folder?.path(), |_| true, &mut unopened, found).is_break() {
                return Ok(());
            }
        }
        unopened.into_result()
    }

    fn sessions_in(&self, _store: &Store, file: &Path) -> Result<Vec<FoundSession>, AgentError> {
        Ok(scan_session(file)?.into_iter().collect())
    }
}

/// Tells the sessions of one folder; one that may not be read costs its own sessions only.
fn list_folder(
    folder: &Path,
    is_ours: impl Fn(&Path) -> bool,
    unopened: &mut UnopenedFiles,
    found: FoundCallback<'_>,
) -> ControlFlow<()> {
    let Some(files) = unopened.ok_or_note(fs_err::read_dir(folder)) else { return ControlFlow::Continue(()) };
    let files = files.filter_map(Result::ok).map(|entry| entry.path());
    for path in files.filter(|path| path.extension().is_some_and(|end| end == "jsonl") && is_ours(path)) {
        if unopened.can_read(&path)
            && let Some(session) = unopened.ok_or_note(scan_session(&path)).flatten()
        {
            found(session)?;
        }
    }
    ControlFlow::Continue(())
}

/// The folder that a project's sessions are kept in.
pub(super) fn project_folder(root: &Path, project: &str) -> PathBuf {
    let inside = project.strip_prefix(['/', '\\']).unwrap_or(project);
    root.join("sessions").join(format!("--{}--", inside.replace(['/', '\\', ':'], "-")))
}

/// Whether the first bytes are those of a session.
fn is_session(head: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct First {
        #[serde(rename = "type")]
        kind: String,
        #[expect(dead_code, reason = "it must be there")]
        id: String,
        #[expect(dead_code, reason = "it must be there")]
        cwd: String,
    }
    let line = head.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    serde_json::from_slice::<First>(line).is_ok_and(|first| first.kind == "session")
}

/// Looks at the two ends of a file; a file without any message is no session.
fn scan_session(path: &Path) -> io::Result<Option<FoundSession>> {
    let metadata = fs_err::metadata(path)?;
    let ends = EndsScan::read(path, &metadata, HEAD_BYTES, TAIL_BYTES, |ends, line| {
        let Some(parsed) = record::parse_record(&mut LastFacts::default(), line, 0, &Edits::default()) else { return };
        // A message without anything in it may be one whose fields have other names now.
        let is_hollow = |body: &Body| matches!(body, Body::Opaque(Opaque::Known(kind)) if HOLLOW.contains(&&**kind));
        let is_known = parsed.more.known && !parsed.entries.iter().all(|entry| is_hollow(&entry.body));
        ends.scan_record(is_known, &parsed.entries, parsed.facts);
    })?;
    let Some(ends) = ends else { return Ok(None) };
    let told = Some(ends.header.session.clone()).filter(|session| !session.0.is_empty());
    let id = told.unwrap_or_else(|| id_from_name(path));
    Ok(Some(ends.into_found(path, &metadata, id)))
}

/// The id in a file's name, behind the time.
fn id_from_name(path: &Path) -> SessionId {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    SessionId(stem.split_once('_').map_or(stem.clone(), |(_, id)| id.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_by_the_project() {
        let root = Path::new("r");
        assert_eq!(project_folder(root, "/home/u/my_repo.x"), root.join("sessions/--home-u-my_repo.x--"));
        assert_eq!(project_folder(root, r"C:\Users\u"), root.join("sessions/--C--Users-u--"));
    }
}
