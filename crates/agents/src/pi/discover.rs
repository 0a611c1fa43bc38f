//! Listing sessions from the heads and tails of their files.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Header, SessionId};

use super::edits::Edits;
use super::record::{self, Told};
use crate::formats::line::Line;
use crate::formats::unopened::Unopened;
use crate::formats::{drift, jsonl};
use crate::{AgentError, Found, Liveness, Source, Store};

/// The client's own prompt stands before the first one of the user's.
const HEAD: u64 = 40 << 10;
const TAIL: u64 = 24 << 10;

/// Tells every session of a store: each project has a folder, or the store is one for all.
pub(super) fn discover(store: &Store, found: &mut dyn FnMut(Found) -> ControlFlow<()>) -> Result<(), AgentError> {
    let sessions = store.root.join("sessions");
    let mut unopened = Unopened::default();
    if !sessions.is_dir() {
        // Whatever else lies in such a folder is not the client's.
        let is_ours = |path: &Path| jsonl::head(path, HEAD).is_ok_and(|head| is_session(&head));
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
pub(super) fn is_session(head: &[u8]) -> bool {
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
pub(super) fn look(path: &Path) -> io::Result<Option<Found>> {
    let metadata = fs_err::metadata(path)?;
    let mut ends = Ends::default();
    ends.take(&jsonl::head(path, HEAD)?);
    if metadata.len() > HEAD {
        ends.take(&jsonl::tail(path, TAIL.min(metadata.len() - HEAD))?);
    }
    let whole = metadata.len() <= HEAD;
    if !whole && ends.has_drifted() {
        ends = Ends::default();
        ends.take(&jsonl::head(path, drift::DOUBT)?);
    }
    let drifted = ends.has_drifted();
    if ends.known + ends.unknown == 0 || (!ends.spoken && whole && !drifted) {
        return Ok(None);
    }
    let modified = metadata.modified().ok().and_then(|at| jiff::Timestamp::try_from(at).ok());
    let modified = modified.map(|at| Timestamp::from_millis(at.as_millisecond()));
    let header = ends.header;
    let id = if header.session.0.is_empty() { named_by_file(path) } else { header.session };
    Ok(Some(Found {
        source: Source { path: path.to_path_buf(), key: None },
        id,
        title: header.title,
        project: header.project,
        branch: None,
        started_at: header.started_at,
        updated_at: header.updated_at.or(modified),
        messages: None,
        bytes: metadata.len(),
        model: header.model,
        live: Liveness::Unknown,
        drifted,
    }))
}

/// The id in a file's name, behind the time.
fn named_by_file(path: &Path) -> SessionId {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    SessionId(stem.split_once('_').map_or(stem.clone(), |(_, id)| id.to_owned()))
}

/// What the ends of a file tell.
#[derive(Default)]
struct Ends {
    header: Header,
    known: usize,
    unknown: usize,
    spoken: bool,
}

impl Ends {
    fn has_drifted(&self) -> bool {
        drift::has_drifted(self.known, self.unknown, self.spoken)
    }

    fn take(&mut self, bytes: &[u8]) {
        for bytes in jsonl::lines(bytes) {
            let line = Line { offset: 0, bytes, length: bytes.len() as u64, unterminated: false };
            if !line.is_hollow() {
                self.take_line(line);
            }
        }
    }

    fn take_line(&mut self, line: Line<'_>) {
        let Some(parsed) = record::parse(&mut Told::default(), line, 0, &Edits::default()) else { return };
        // A message without anything in it may be one whose fields have other names now.
        let is_hollow = |body: &Body| matches!(body, Body::Opaque(kind) if matches!(&**kind, "message" | "message/user" | "message/assistant"));
        if parsed.known && !parsed.entries.iter().all(|entry| is_hollow(&entry.body)) {
            self.known += 1;
        } else {
            self.unknown += 1;
        }
        self.spoken |= parsed.entries.iter().any(|entry| {
            matches!(entry.body, Body::Prompt(_) | Body::Reply(_) | Body::Call(_) | Body::Outcome(_) | Body::Summary(_))
        });
        for at in parsed.entries.iter().filter_map(|entry| entry.at) {
            self.header.saw(at);
        }
        for fact in parsed.facts {
            self.header.learn(fact);
        }
    }
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
