//! Listing sessions from the heads and tails of their files.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Header, SessionId};
use serde::de::IgnoredAny;

use super::record;
use crate::formats::line::Line;
use crate::formats::unopened::Unopened;
use crate::formats::{drift, jsonl};
use crate::{AgentError, Found, Liveness, Os, Source, Store};

/// How much of each end is looked at.
const END: u64 = 32 << 10;

/// Tells every session of a store.
pub(super) fn discover(store: &Store, found: &mut dyn FnMut(Found) -> ControlFlow<()>) -> Result<(), AgentError> {
    let projects = store.root.join("projects");
    let mut unopened = Unopened::default();
    for project in unopened.take(fs_err::read_dir(&projects)).into_iter().flatten() {
        let Some(files) = unopened.take(fs_err::read_dir(project?.path().join("chats"))) else { continue };
        for path in files.filter_map(Result::ok).map(|entry| entry.path()) {
            let Some(id) = session_id(&path).filter(|_| unopened.passes(&path)) else { continue };
            let Some(session) = unopened.take(look(&path, id)).flatten() else { continue };
            if found(session).is_break() {
                return Ok(());
            }
        }
    }
    unopened.end()
}

/// The session in one file.
pub(super) fn session_in(file: &Path) -> io::Result<Option<Found>> {
    session_id(file).map_or(Ok(None), |id| look(file, id))
}

/// The session that a file of this name holds; the client looks at no others.
fn session_id(path: &Path) -> Option<SessionId> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    let fits = (32..=36).contains(&stem.len()) && stem.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    fits.then(|| SessionId(stem.to_owned()))
}

/// The folder that a project's sessions are kept in.
pub(super) fn folder(root: &Path, project: &str, os: Os) -> PathBuf {
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
fn look(path: &Path, id: SessionId) -> io::Result<Option<Found>> {
    let metadata = fs_err::metadata(path)?;
    let mut ends = Ends::default();
    ends.take(&jsonl::head(path, END)?);
    if metadata.len() > END {
        ends.take(&jsonl::tail(path, END.min(metadata.len() - END))?);
    }
    let whole = metadata.len() <= END;
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
    Ok(Some(Found {
        source: Source { path: path.to_path_buf(), key: None },
        id,
        title: header.title,
        project: header.project,
        branch: header.branch,
        started_at: header.started_at,
        updated_at: header.updated_at.or(modified),
        messages: None,
        bytes: metadata.len(),
        model: header.model,
        live: Liveness::Unknown,
        drifted,
    }))
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
        let Some(parsed) = record::parse(line, 0) else { return };
        // A message without anything in it may be one whose fields have other names now.
        let is_hollow = |body: &Body| matches!(body, Body::Opaque(kind) if kind == "empty");
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
        assert_eq!(folder(root, "/home/u/my_repo.é😀", Os::Linux), root.join("projects/-home-u-my-repo----/chats"));
        assert_eq!(folder(root, r"C:\Users\U", Os::Windows), root.join("projects/c--users-u/chats"));
    }
}
