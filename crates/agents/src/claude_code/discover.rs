//! Listing sessions from the heads and tails of their files.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::transcript::{Body, Opaque, SessionId};

use super::ClaudeCode;
use super::read::OwnFile;
use super::record;
use super::wire::WireRecord;
use crate::formats::drift;
use crate::formats::file::{self, MAX_NOTE_BYTES, modified_at};
use crate::formats::jsonl::{self, EndsScan, Line};
use crate::formats::process::may_run;
use crate::formats::unopened::UnopenedFiles;
use crate::{AgentError, Discovery, FoundCallback, FoundSession, Liveness, Store};

/// How much of each end is looked at: more only where the first look meets no whole record of the conversation.
const END_BYTES: [u64; 3] = [24 << 10, 256 << 10, 4 << 20];

impl Discovery for ClaudeCode {
    fn recognises(&self, _path: &Path, head: &[u8]) -> bool {
        let text = String::from_utf8_lossy(head);
        // Others have taken over the envelope, but not what is in it.
        let foreign = [r#""systemPayload":"#, r#""role":"user","parts":"#, r#""role":"model","parts":"#];
        if text.lines().take(20).any(|line| foreign.iter().any(|field| line.contains(field))) {
            return false;
        }
        let ours = text.lines().take(20).any(|line| {
            line.starts_with('{')
                && line.contains("\"sessionId\"")
                && (line.contains("\"parentUuid\"") || line.contains("\"leafUuid\""))
        });
        let bare = text.lines().take(3).any(|line| line.contains("\"parentUuid\"") && line.contains("\"uuid\""));
        ours || bare
    }

    fn list_sessions(&self, store: &Store, found: FoundCallback<'_>) -> Result<(), AgentError> {
        let folders = match fs_err::read_dir(store.root.join("projects")) {
            Ok(folders) => folders,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let running = find_running(&store.root);
        let mut unopened = UnopenedFiles::default();
        for folder in folders {
            let folder = folder?.path();
            match discover_project(&folder, &running, &mut unopened, found) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => return Ok(()),
                Err(error) => drop(unopened.ok_or_note(Err::<(), _>(error))),
            }
        }
        unopened.into_result()
    }

    fn sessions_in(&self, store: &Store, file: &Path) -> Result<Vec<FoundSession>, AgentError> {
        // Titles that older clients keep in other files are for a listing to find.
        let Some(ScannedSession { mut found, .. }) = scan_session(file)? else { return Ok(Vec::new()) };
        found.live = find_running(&store.root).liveness_of(&found.id);
        Ok(vec![found])
    }
}

fn discover_project(
    folder: &Path,
    running: &RunningClients,
    unopened: &mut UnopenedFiles,
    found: FoundCallback<'_>,
) -> io::Result<ControlFlow<()>> {
    if !folder.is_dir() {
        return Ok(ControlFlow::Continue(()));
    }
    let files: Vec<PathBuf> = fs_err::read_dir(folder)?.filter_map(Result::ok).map(|entry| entry.path()).collect();
    let named = collect_summaries(&files);
    for path in files.iter().filter(|path| session_id(path).is_some()) {
        let Some(mut session) = unopened.ok_or_note(scan_session(path)).flatten() else { continue };
        if let Some(title) = session.leaf.as_ref().and_then(|leaf| named.get(leaf)) {
            session.found.title = Some(title.clone());
        }
        session.found.live = running.liveness_of(&session.found.id);
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

struct ScannedSession {
    found: FoundSession,
    /// The last chained record, by which summaries in other files name a session.
    leaf: Option<String>,
}

/// Looks at the two ends of a file; a file without any message is no session.
fn scan_session(path: &Path) -> io::Result<Option<ScannedSession>> {
    file::check_regular(path)?;
    let metadata = fs_err::metadata(path)?;
    let Some(id) = session_id(path).filter(|_| metadata.len() > 0) else { return Ok(None) };
    let ChainEnds { ends, timed, leaf, .. } = ChainEnds::from_file(path, metadata.len())?;
    let seen_whole = metadata.len() <= END_BYTES[0];
    if seen_whole && !ends.has_messages && ends.unknown == 0 {
        return Ok(None);
    }
    let mut found = ends.into_found(path, &metadata, id);
    found.title = given_title(path).or(found.title);
    if !timed {
        // Where the end of the file names no time, its own is the nearest.
        found.updated_at = modified_at(&metadata);
    }
    Ok(Some(ScannedSession { found, leaf }))
}

/// What the ends of a file tell, the chain of its records among it.
#[derive(Default)]
struct ChainEnds {
    ends: EndsScan,
    /// The end of the file names a time.
    timed: bool,
    /// A whole record of the conversation was met.
    chained: bool,
    leaf: Option<String>,
}

impl ChainEnds {
    fn from_file(path: &Path, size: u64) -> io::Result<Self> {
        let own = OwnFile::from_path(path);
        let mut seen = Self::default();
        for length in END_BYTES {
            seen.scan_bytes(&jsonl::read_head(path, length)?, &own);
            if seen.chained || length >= size {
                break;
            }
            seen = Self::default();
        }
        seen.timed = size <= END_BYTES[0];
        seen.chained = false;
        for length in END_BYTES.into_iter().filter(|_| size > END_BYTES[0]) {
            seen.scan_bytes(&jsonl::read_tail(path, length)?, &own);
            if seen.chained || length >= size {
                break;
            }
        }
        seen.timed |= seen.chained;
        if seen.ends.has_drifted() && size > END_BYTES[0] {
            seen = Self { timed: seen.timed, ..Self::default() };
            seen.scan_bytes(&jsonl::read_head(path, drift::CHECK_BYTES)?, &own);
        }
        Ok(seen)
    }

    fn scan_bytes(&mut self, bytes: &[u8], own: &OwnFile) {
        let mut ends = std::mem::take(&mut self.ends);
        ends.scan_lines(bytes, |ends, line| self.scan_line(ends, line, own));
        self.ends = ends;
    }

    fn scan_line(&mut self, ends: &mut EndsScan, line: Line<'_>, own: &OwnFile) {
        let Some(mut parsed) = record::parse(line, 0) else { return };
        if parsed.more.chained {
            self.chained = true;
            let record: Result<WireRecord<'_>, _> = serde_json::from_slice(line.bytes);
            self.leaf = record.ok().and_then(|record| record.uuid.map(|uuid| uuid.to_string())).or(self.leaf.take());
        }
        let is_known = parsed.rejected.is_none() && parsed.entries.iter().all(|entry| is_known_body(&entry.body));
        parsed.facts.retain(|fact| own.accepts_fact(fact));
        ends.scan_record(is_known, &parsed.entries, parsed.facts);
    }
}

/// Bookkeeping that we know, and families of records whose new members say nothing to the model, are known.
fn is_known_body(body: &Body) -> bool {
    match body {
        // Others that we know have lost what they are known for: its fields may have other names now.
        Body::Opaque(Opaque::Known(kind)) => kind.contains('/') || record::is_noise(kind),
        Body::Opaque(_) => false,
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
    let text = file::read_text(&path.with_extension("").join("custom-title.json"), MAX_NOTE_BYTES).ok()?;
    serde_json::from_str::<Title>(&text).ok().map(|title| carryover_core::plain::one_line(&title.custom_title, 200))
}

/// 1.0 keeps titles in files that hold nothing else, named by the last record of the session they belong to.
fn collect_summaries(files: &[PathBuf]) -> BTreeMap<String, String> {
    let mut named = BTreeMap::new();
    for path in files.iter().filter(|path| session_id(path).is_some()) {
        let small = fs_err::metadata(path).is_ok_and(|metadata| metadata.len() < 4096);
        if !small {
            continue;
        }
        let bytes = jsonl::read_head(path, 4096).unwrap_or_default();
        for line in jsonl::whole_lines(&bytes).filter(|line| line.starts_with(br#"{"type":"summary""#)) {
            let Ok(record) = serde_json::from_slice::<WireRecord<'_>>(line) else { continue };
            if let (Some(summary), Some(leaf)) = (record.summary, record.leaf_uuid) {
                named.insert(leaf.to_string(), carryover_core::plain::one_line(&summary, 200));
            }
        }
    }
    named
}

/// The clients that run, as they register themselves.
struct RunningClients {
    sessions: Vec<String>,
    /// Older clients keep no register.
    registered: bool,
}

impl RunningClients {
    fn liveness_of(&self, id: &SessionId) -> Liveness {
        match (self.registered, self.sessions.contains(&id.0)) {
            (true, true) => Liveness::Live,
            (true, false) => Liveness::NotLive,
            (false, _) => Liveness::Unknown,
        }
    }
}

fn find_running(root: &Path) -> RunningClients {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Registered {
        pid: u32,
        session_id: String,
    }
    let Ok(listing) = fs_err::read_dir(root.join("sessions")) else {
        return RunningClients { sessions: Vec::new(), registered: false };
    };
    let files = listing.filter_map(Result::ok).map(|entry| entry.path());
    let entries = files.filter_map(|path| file::read_text(&path, MAX_NOTE_BYTES).ok());
    let entries = entries.filter_map(|text| serde_json::from_str::<Registered>(&text).ok());
    let alive = entries.filter(|entry| may_run(entry.pid));
    RunningClients { sessions: alive.map(|entry| entry.session_id).collect(), registered: true }
}
