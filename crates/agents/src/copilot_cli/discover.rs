//! Listing sessions from `workspace.yaml` and the two ends of their events.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Header, SessionId};

use super::history;
use super::record;
use super::workspace::Workspace;
use crate::formats::line::Line;
use crate::formats::unopened::Unopened;
use crate::formats::{drift, jsonl};
use crate::{AgentError, Found, Liveness, Source, Store};

/// How much of each end is looked at.
const END: u64 = 20 << 10;

/// Tells every session of a store.
pub(super) fn discover(store: &Store, found: &mut dyn FnMut(Found) -> ControlFlow<()>) -> Result<(), AgentError> {
    let mut unopened = Unopened::default();
    if history::discover(&store.root, &mut unopened, found).is_break() {
        return Ok(());
    }
    let sessions = store.root.join("session-state");
    for entry in unopened.take(fs_err::read_dir(&sessions)).into_iter().flatten() {
        let Some(events) = events_of(&entry?.path()).filter(|events| unopened.passes(events)) else { continue };
        let Some(session) = unopened.take(look(&events)).flatten() else { continue };
        if found(session).is_break() {
            return Ok(());
        }
    }
    unopened.end()
}

/// The events of a session, whose folder is named by it; a file of that name holds them where there is no folder.
fn events_of(path: &Path) -> Option<PathBuf> {
    let events =
        if path.extension().is_some_and(|end| end == "jsonl") { path.to_path_buf() } else { path.join("events.jsonl") };
    session_id(&events).is_some().then_some(events)
}

/// The session that a file of this name holds; `None` where the name tells nothing.
pub(super) fn session_id(path: &Path) -> Option<SessionId> {
    let named = if path.file_name()? == "events.jsonl" { path.parent()?.file_name()? } else { path.file_stem()? };
    let named = named.to_str()?;
    uuid::Uuid::try_parse(named).ok()?;
    Some(SessionId(named.to_owned()))
}

/// Looks at the two ends of a session's events; one in which nothing was said is no session.
pub(super) fn look(path: &Path) -> io::Result<Option<Found>> {
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
    let Some(id) = session_id(path) else { return Ok(None) };
    let workspace = Workspace::beside(path).unwrap_or_default();
    let name = workspace.name.map(|name| one_line(&name, 200)).filter(|name| !name.is_empty());
    let modified = metadata.modified().ok().and_then(|at| jiff::Timestamp::try_from(at).ok());
    let modified = modified.map(|at| Timestamp::from_millis(at.as_millisecond()));
    Ok(Some(Found {
        source: Source { path: path.to_path_buf(), key: None },
        id,
        title: name.or(ends.header.title),
        project: ends.header.project.or(workspace.cwd),
        branch: ends.header.branch.or(workspace.branch),
        started_at: ends.header.started_at.or(workspace.created_at),
        // The table's own time is the one of its last change, not of the last turn.
        updated_at: ends.header.updated_at.max(workspace.updated_at).or(modified),
        messages: None,
        bytes: metadata.len(),
        model: ends.header.model,
        live: liveness(path),
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
        for line in jsonl::lines(bytes) {
            let line = Line { offset: 0, bytes: line, length: line.len() as u64, unterminated: false };
            if !line.is_hollow() {
                self.take_line(line);
            }
        }
    }

    fn take_line(&mut self, line: Line<'_>) {
        let Some(parsed) = record::parse(line, 0) else { return };
        let is_new = |body: &Body| matches!(body, Body::Opaque(kind) if is_new_talk(kind));
        if parsed.known && parsed.rejected.is_none() && !parsed.entries.iter().all(|entry| is_new(&entry.body)) {
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

/// An event of the families in which things are said that says nothing to us: where nothing else does, it was renamed.
pub(super) fn is_new_talk(kind: &str) -> bool {
    let talks = ["user.", "assistant."].iter().any(|family| kind.starts_with(family));
    talks && !matches!(kind, "assistant.turn_start" | "assistant.turn_end")
}

/// A client that has the session open keeps a file named by its process beside the events. A crash leaves it behind;
/// where processes can be looked up in files, they are.
fn liveness(events: &Path) -> Liveness {
    let Some(folder) = events.parent().filter(|_| events.ends_with("events.jsonl")) else { return Liveness::Unknown };
    let Ok(listing) = fs_err::read_dir(folder) else { return Liveness::Unknown };
    let names = listing.filter_map(Result::ok).map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut processes = names.filter_map(|name| name.strip_prefix("inuse.")?.strip_suffix(".lock")?.parse().ok());
    if processes.any(may_run) { Liveness::Live } else { Liveness::NotLive }
}

fn may_run(pid: u32) -> bool {
    let processes = Path::new("/proc");
    !processes.join("self").exists() || processes.join(pid.to_string()).exists()
}
