//! Listing sessions from the heads and tails of their files.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Header, SessionId};

use super::read::OwnFile;
use super::record;
use super::wire::WireRecord;
use crate::formats::file::{self, MAX_NOTE};
use crate::formats::line::Line;
use crate::formats::unopened::Unopened;
use crate::formats::{drift, jsonl};
use crate::{AgentError, Found, Liveness, Source, Store};

/// How much of each end is looked at: more only where the first look meets no whole record of the conversation.
const ENDS: [u64; 3] = [24 << 10, 256 << 10, 4 << 20];

/// Tells every session of a store. What cannot be looked at is said after everything else was told.
pub(super) fn discover(store: &Store, found: &mut dyn FnMut(Found) -> ControlFlow<()>) -> Result<(), AgentError> {
    let folders = match fs_err::read_dir(store.root.join("projects")) {
        Ok(folders) => folders,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let running = running(&store.root);
    let mut unopened = Unopened::default();
    for folder in folders {
        let folder = folder?.path();
        match discover_project(&folder, &running, &mut unopened, found) {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(())) => return Ok(()),
            Err(error) => drop(unopened.take(Err::<(), _>(error))),
        }
    }
    unopened.end()
}

/// The session in one file. Titles that older clients keep in other files are for a listing to find.
pub(super) fn session_in(store: &Store, file: &Path) -> io::Result<Option<Found>> {
    let Some(Seen { mut found, .. }) = look(file)? else { return Ok(None) };
    found.live = running(&store.root).of(&found.id);
    Ok(Some(found))
}

fn discover_project(
    folder: &Path,
    running: &Running,
    unopened: &mut Unopened,
    found: &mut dyn FnMut(Found) -> ControlFlow<()>,
) -> io::Result<ControlFlow<()>> {
    if !folder.is_dir() {
        return Ok(ControlFlow::Continue(()));
    }
    let files: Vec<PathBuf> = fs_err::read_dir(folder)?.filter_map(Result::ok).map(|entry| entry.path()).collect();
    let named = summaries(&files);
    for path in files.iter().filter(|path| session_id(path).is_some()) {
        let Some(mut session) = unopened.take(look(path)).flatten() else { continue };
        if let Some(title) = session.leaf.as_ref().and_then(|leaf| named.get(leaf)) {
            session.found.title = Some(title.clone());
        }
        session.found.live = running.of(&session.found.id);
        if found(session.found).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// The session that a file of this name holds.
pub(super) fn session_id(path: &Path) -> Option<SessionId> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    uuid::Uuid::try_parse(stem).ok()?;
    Some(SessionId(stem.to_owned()))
}

struct Seen {
    found: Found,
    /// The last chained record, by which summaries in other files name a session.
    leaf: Option<String>,
}

/// Looks at the two ends of a file; a file without any message is no session.
fn look(path: &Path) -> io::Result<Option<Seen>> {
    file::check(path)?;
    let metadata = fs_err::metadata(path)?;
    let Some(id) = session_id(path).filter(|_| metadata.len() > 0) else { return Ok(None) };
    let ends = Ends::of(path, metadata.len())?;
    let seen_whole = metadata.len() <= ENDS[0];
    if seen_whole && !ends.spoken && ends.unknown == 0 {
        return Ok(None);
    }
    let drifted = ends.has_drifted();
    let modified = metadata.modified().ok().and_then(|at| jiff::Timestamp::try_from(at).ok());
    let modified = modified.map(|at| Timestamp::from_millis(at.as_millisecond()));
    let found = Found {
        source: Source { path: path.to_path_buf(), key: None },
        id,
        title: given_title(path).or(ends.header.title),
        project: ends.header.project,
        branch: ends.header.branch,
        started_at: ends.header.started_at,
        // Where the end of the file names no time, its own is the nearest.
        updated_at: if ends.timed { ends.header.updated_at.or(modified) } else { modified },
        messages: None,
        bytes: metadata.len(),
        model: ends.header.model,
        live: Liveness::Unknown,
        drifted,
    };
    Ok(Some(Seen { found, leaf: ends.leaf }))
}

/// What the ends of a file tell.
#[derive(Default)]
struct Ends {
    header: Header,
    known: usize,
    unknown: usize,
    spoken: bool,
    /// The end of the file names a time.
    timed: bool,
    /// A whole record of the conversation was met.
    chained: bool,
    leaf: Option<String>,
}

impl Ends {
    fn of(path: &Path, size: u64) -> io::Result<Self> {
        let own = OwnFile::of(path);
        let mut ends = Self::default();
        for length in ENDS {
            ends.take(&jsonl::head(path, length)?, &own);
            if ends.chained || length >= size {
                break;
            }
            ends = Self::default();
        }
        ends.timed = size <= ENDS[0];
        ends.chained = false;
        for length in ENDS.into_iter().filter(|_| size > ENDS[0]) {
            let tail = jsonl::tail(path, length)?;
            ends.take(&tail, &own);
            if ends.chained || length >= size {
                break;
            }
        }
        ends.timed |= ends.chained;
        if ends.has_drifted() && size > ENDS[0] {
            let timed = ends.timed;
            ends = Self { timed, ..Self::default() };
            ends.take(&jsonl::head(path, drift::DOUBT)?, &own);
        }
        Ok(ends)
    }

    fn has_drifted(&self) -> bool {
        drift::has_drifted(self.known, self.unknown, self.spoken)
    }

    fn take(&mut self, bytes: &[u8], own: &OwnFile) {
        for line in jsonl::lines(bytes) {
            let line = Line { offset: 0, bytes: line, length: line.len() as u64, unterminated: false };
            if line.is_hollow() {
                continue;
            }
            self.take_line(line, own);
        }
    }

    fn take_line(&mut self, line: Line<'_>, own: &OwnFile) {
        let Some(parsed) = record::parse(line, 0) else { return };
        let known = parsed.rejected.is_none() && parsed.entries.iter().all(|entry| is_known(&entry.body));
        if known {
            self.known += 1;
        } else {
            self.unknown += 1;
        }
        self.spoken |= parsed.entries.iter().any(|entry| {
            matches!(entry.body, Body::Prompt(_) | Body::Reply(_) | Body::Call(_) | Body::Outcome(_) | Body::Summary(_))
        });
        if parsed.chained {
            self.chained = true;
            let record: Result<WireRecord<'_>, _> = serde_json::from_slice(line.bytes);
            self.leaf = record.ok().and_then(|record| record.uuid.map(|uuid| uuid.to_string())).or(self.leaf.take());
        }
        for at in parsed.entries.iter().filter_map(|entry| entry.at) {
            self.header.saw(at);
        }
        for fact in parsed.facts.into_iter().filter(|fact| own.is_fact(fact)) {
            self.header.learn(fact);
        }
    }
}

fn is_known(body: &Body) -> bool {
    match body {
        Body::Opaque(kind) => is_known_kind(kind),
        _ => true,
    }
}

/// Bookkeeping that we know, and families of records whose new members say nothing to the model.
pub(super) fn is_known_kind(kind: &str) -> bool {
    kind.contains('/') || record::is_noise(kind)
}

/// `/rename` leaves the name in a file beside the session, too.
fn given_title(path: &Path) -> Option<String> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Title {
        custom_title: String,
    }
    let text = file::read_text(&path.with_extension("").join("custom-title.json"), MAX_NOTE).ok()?;
    serde_json::from_str::<Title>(&text).ok().map(|title| carryover_core::plain::one_line(&title.custom_title, 200))
}

/// 1.0 keeps titles in files that hold nothing else, named by the last record of the session they belong to.
fn summaries(files: &[PathBuf]) -> BTreeMap<String, String> {
    let mut named = BTreeMap::new();
    for path in files.iter().filter(|path| session_id(path).is_some()) {
        let small = fs_err::metadata(path).is_ok_and(|metadata| metadata.len() < 4096);
        if !small {
            continue;
        }
        let bytes = jsonl::head(path, 4096).unwrap_or_default();
        for line in jsonl::lines(&bytes).filter(|line| line.starts_with(br#"{"type":"summary""#)) {
            let Ok(record) = serde_json::from_slice::<WireRecord<'_>>(line) else { continue };
            if let (Some(summary), Some(leaf)) = (record.summary, record.leaf_uuid) {
                named.insert(leaf.to_string(), carryover_core::plain::one_line(&summary, 200));
            }
        }
    }
    named
}

/// The clients that run, as they register themselves.
struct Running {
    sessions: Vec<String>,
    /// Older clients keep no register.
    registered: bool,
}

impl Running {
    fn of(&self, id: &SessionId) -> Liveness {
        match (self.registered, self.sessions.contains(&id.0)) {
            (true, true) => Liveness::Live,
            (true, false) => Liveness::NotLive,
            (false, _) => Liveness::Unknown,
        }
    }
}

fn running(root: &Path) -> Running {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Registered {
        pid: u32,
        session_id: String,
    }
    let Ok(listing) = fs_err::read_dir(root.join("sessions")) else {
        return Running { sessions: Vec::new(), registered: false };
    };
    let files = listing.filter_map(Result::ok).map(|entry| entry.path());
    let entries = files.filter_map(|path| file::read_text(&path, MAX_NOTE).ok());
    let entries = entries.filter_map(|text| serde_json::from_str::<Registered>(&text).ok());
    let alive = entries.filter(|entry| may_run(entry.pid));
    Running { sessions: alive.map(|entry| entry.session_id).collect(), registered: true }
}

/// A crash leaves its entry behind; where processes can be looked up in files, they are.
fn may_run(pid: u32) -> bool {
    let processes = Path::new("/proc");
    !processes.join("self").exists() || processes.join(pid.to_string()).exists()
}
