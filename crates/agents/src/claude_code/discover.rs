//! Listing sessions from the heads and tails of their files.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Header, SessionId};

use super::record;
use super::wire::WireRecord;
use crate::formats::jsonl;
use crate::formats::line::Line;
use crate::{AgentError, Found, Liveness, Source, Store};

/// How much of each end is looked at.
const END: u64 = 24 << 10;

/// Tells every session of a store.
pub(super) fn discover(store: &Store, found: &mut dyn FnMut(Found) -> ControlFlow<()>) -> Result<(), AgentError> {
    let projects = store.root.join("projects");
    if !projects.is_dir() {
        return Ok(());
    }
    let running = running(&store.root);
    for folder in fs_err::read_dir(&projects)? {
        let folder = folder?.path();
        // A folder that vanished or may not be read costs its own sessions only.
        let Ok(files) = fs_err::read_dir(&folder) else { continue };
        let files: Vec<PathBuf> = files.filter_map(Result::ok).map(|entry| entry.path()).collect();
        let named = summaries(&files);
        for path in files.iter().filter(|path| session_id(path).is_some()) {
            let Some(mut session) = look(path) else { continue };
            if let Some(title) = session.leaf.as_ref().and_then(|leaf| named.get(leaf)) {
                session.found.title = Some(title.clone());
            }
            session.found.live = running.of(&session.found.id);
            if found(session.found).is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
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
fn look(path: &Path) -> Option<Seen> {
    let metadata = fs_err::metadata(path).ok()?;
    let mut ends = Ends::default();
    ends.take(&jsonl::head(path, END).ok()?);
    if metadata.len() > END {
        ends.take(&jsonl::tail(path, END.min(metadata.len() - END)).ok()?);
    }
    if ends.known > 0 && !ends.spoken && metadata.len() <= END {
        return None;
    }
    if ends.known == 0 && ends.unknown == 0 {
        return None;
    }
    let title = given_title(path).or(ends.header.title);
    let modified = metadata.modified().ok().and_then(|at| jiff::Timestamp::try_from(at).ok());
    let modified = modified.map(|at| Timestamp::from_millis(at.as_millisecond()));
    let found = Found {
        source: Source { path: path.to_path_buf(), key: None },
        id: session_id(path)?,
        title,
        project: ends.header.project,
        branch: ends.header.branch,
        started_at: ends.header.started_at,
        updated_at: ends.header.updated_at.or(modified),
        messages: None,
        bytes: metadata.len(),
        model: ends.header.model,
        live: Liveness::Unknown,
        drifted: ends.known == 0,
    };
    Some(Seen { found, leaf: ends.leaf })
}

/// What the ends of a file tell.
#[derive(Default)]
struct Ends {
    header: Header,
    known: usize,
    unknown: usize,
    spoken: bool,
    leaf: Option<String>,
}

impl Ends {
    fn take(&mut self, bytes: &[u8]) {
        for line in jsonl::lines(bytes) {
            let line = Line { offset: 0, bytes: line, length: line.len() as u64, unterminated: false };
            if line.is_blank() {
                continue;
            }
            self.take_line(line);
        }
    }

    fn take_line(&mut self, line: Line<'_>) {
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
            let record: Result<WireRecord<'_>, _> = serde_json::from_slice(line.bytes);
            self.leaf = record.ok().and_then(|record| record.uuid.map(|uuid| uuid.to_string())).or(self.leaf.take());
        }
        for at in parsed.entries.iter().filter_map(|entry| entry.at) {
            self.header.saw(at);
        }
        for fact in parsed.facts {
            self.header.learn(fact);
        }
    }
}

fn is_known(body: &Body) -> bool {
    match body {
        Body::Opaque(kind) => kind.contains('/') || record::is_noise(kind),
        _ => true,
    }
}

/// `/rename` leaves the name in a file beside the session, too.
fn given_title(path: &Path) -> Option<String> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Title {
        custom_title: String,
    }
    let text = fs_err::read_to_string(path.with_extension("").join("custom-title.json")).ok()?;
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
    let entries = files.filter_map(|path| fs_err::read_to_string(path).ok());
    let entries = entries.filter_map(|text| serde_json::from_str::<Registered>(&text).ok());
    let alive = entries.filter(|entry| may_run(entry.pid));
    Running { sessions: alive.map(|entry| entry.session_id).collect(), registered: true }
}

/// A crash leaves its entry behind; where processes can be looked up in files, they are.
fn may_run(pid: u32) -> bool {
    let processes = Path::new("/proc");
    !processes.join("self").exists() || processes.join(pid.to_string()).exists()
}
