//! Listing sessions from the heads and tails of their files.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::transcript::{Body, SessionId};

use super::Pi;
use super::edits::Edits;
use super::record::{self, Told};
use crate::formats::jsonl::{self, Ends};
use crate::formats::tree::owner;
use crate::formats::unopened::Unopened;
use crate::{AgentError, Discovery, Found, Store};

/// The client's own prompt stands before the first one of the user's.
const HEAD: u64 = 40 << 10;
const TAIL: u64 = 24 << 10;

/// Messages without anything in them.
const HOLLOW: &[&str] = &["message", "message/user", "message/assistant"];

impl Discovery for Pi {
    fn recognises(&self, path: &Path, head: &[u8]) -> bool {
        // Another client's files begin alike.
        is_session(head) && !owner::has_several_agents(path, head)
    }

    fn discover(&self, store: &Store, found: &mut dyn FnMut(Found) -> ControlFlow<()>) -> Result<(), AgentError> {
        let sessions = store.root.join("sessions");
        let mut unopened = Unopened::default();
        if !sessions.is_dir() {
            // Whatever else lies in such a folder is not the client's.
            let is_ours = |path: &Path| jsonl::read_head(path, HEAD).is_ok_and(|head| is_session(&head));
            let _ = tell(&store.root, is_ours, &mut unopened, found);
            return unopened.end();
        }
        for folder in fs_err::read_dir(&sessions)? {
            if tell(&folder?.path(), |_| true, &mut unopened, found).is_break() {
                return Ok(());
            }
        }
        unopened.end()
    }

    fn sessions_in(&self, _store: &Store, file: &Path) -> Result<Vec<Found>, AgentError> {
        Ok(look(file)?.into_iter().collect())
    }
}

/// Tells the sessions of one folder; one that may not be read costs its own sessions only.
fn tell(
    folder: &Path,
    is_ours: impl Fn(&Path) -> bool,
    unopened: &mut Unopened,
    found: &mut dyn FnMut(Found) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let Some(files) = unopened.take(fs_err::read_dir(folder)) else { return ControlFlow::Continue(()) };
    let files = files.filter_map(Result::ok).map(|entry| entry.path());
    for path in files.filter(|path| path.extension().is_some_and(|end| end == "jsonl") && is_ours(path)) {
        if unopened.passes(&path)
            && let Some(session) = unopened.take(look(&path)).flatten()
        {
            found(session)?;
        }
    }
    ControlFlow::Continue(())
}

/// The folder that a project's sessions are kept in.
pub(super) fn folder(root: &Path, project: &str) -> PathBuf {
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
fn look(path: &Path) -> io::Result<Option<Found>> {
    let metadata = fs_err::metadata(path)?;
    let ends = Ends::read(path, &metadata, HEAD, TAIL, |ends, line| {
        let Some(parsed) = record::parse(&mut Told::default(), line, 0, &Edits::default()) else { return };
        // A message without anything in it may be one whose fields have other names now.
        let is_hollow = |body: &Body| matches!(body, Body::Opaque(kind) if HOLLOW.contains(&&**kind));
        let is_known = parsed.more.known && !parsed.entries.iter().all(|entry| is_hollow(&entry.body));
        ends.take_record(is_known, &parsed.entries, parsed.facts);
    })?;
    let Some(ends) = ends else { return Ok(None) };
    let told = Some(ends.header.session.clone()).filter(|session| !session.0.is_empty());
    let id = told.unwrap_or_else(|| named_by_file(path));
    Ok(Some(ends.into_found(path, &metadata, id)))
}

/// The id in a file's name, behind the time.
fn named_by_file(path: &Path) -> SessionId {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    SessionId(stem.split_once('_').map_or(stem.clone(), |(_, id)| id.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_by_the_project() {
        let root = Path::new("r");
        assert_eq!(folder(root, "/home/u/my_repo.x"), root.join("sessions/--home-u-my_repo.x--"));
        assert_eq!(folder(root, r"C:\Users\u"), root.join("sessions/--C--Users-u--"));
    }
}
