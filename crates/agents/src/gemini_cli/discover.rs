//! Listing sessions from the heads and tails of their files.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Header, Origin, SessionId};

use super::project::{self, Register};
use super::record::{self, Change, Message, Parsed};
use super::wire::WireSession;
use crate::formats::line::Line;
use crate::formats::unopened::Unopened;
use crate::formats::{drift, jsonl};
use crate::{AgentError, Found, Liveness, Source, Store};

/// How much of the beginning is looked at; the first record can hold a tree of the project.
const HEAD: u64 = 40 << 10;
/// How much of the end.
const TAIL: u64 = 20 << 10;

/// Tells every session of a store.
pub(super) fn discover(store: &Store, found: &mut dyn FnMut(Found) -> ControlFlow<()>) -> Result<(), AgentError> {
    let projects = store.root.join("tmp");
    let mut unopened = Unopened::default();
    let register = Register::of(&store.root);
    for folder in unopened.take(fs_err::read_dir(&projects)).into_iter().flatten() {
        let folder = folder?.path();
        let Some(files) = unopened.take(fs_err::read_dir(folder.join("chats"))) else { continue };
        let files = files.filter_map(Result::ok).map(|entry| entry.path());
        let project = project::of_folder(&register, &folder);
        let mut sessions: BTreeMap<SessionId, Found> = BTreeMap::new();
        for path in files.filter(|path| is_session(path)) {
            if !unopened.passes(&path) {
                continue;
            }
            let Some(mut session) = unopened.take(look(&path)).flatten() else { continue };
            session.project = project.clone().or(session.project);
            keep_newest(&mut sessions, session);
        }
        for session in sessions.into_values() {
            if found(session).is_break() {
                return Ok(());
            }
        }
    }
    unopened.end()
}

/// The session in one file.
pub(super) fn session_in(store: &Store, file: &Path) -> io::Result<Option<Found>> {
    let looked = if is_session(file) { look(file)? } else { None };
    let Some(mut session) = looked else { return Ok(None) };
    let folder = file.parent().and_then(Path::parent);
    let project = folder.and_then(|folder| project::of_folder(&Register::of(&store.root), folder));
    session.project = project.or(session.project);
    Ok(Some(session))
}

fn is_session(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let ends = name.ends_with(".jsonl") || name.ends_with(".json");
    name.starts_with("session-") && ends
}

/// A session of the older form is copied into the newer one when it is resumed; both stay, under one id.
fn keep_newest(sessions: &mut BTreeMap<SessionId, Found>, session: Found) {
    let rank = |found: &Found| (found.updated_at, found.source.path.extension().is_some_and(|end| end == "jsonl"));
    match sessions.get(&session.id) {
        Some(known) if rank(known) >= rank(&session) => {}
        _ => {
            sessions.insert(session.id.clone(), session);
        }
    }
}

/// Looks at the two ends of a file. A sub-agent's is not listed, nor one in which nothing was said: the client leaves
/// such a file behind whenever it resumes.
fn look(path: &Path) -> io::Result<Option<Found>> {
    let metadata = fs_err::metadata(path)?;
    let mut ends = Ends::default();
    let head = jsonl::head(path, HEAD)?;
    let is_document = path.extension().is_some_and(|extension| extension == "json");
    if is_document {
        ends.take_document(&head);
    } else {
        ends.take(&head);
        if metadata.len() > HEAD {
            ends.take(&jsonl::tail(path, TAIL.min(metadata.len() - HEAD))?);
        }
    }
    let whole = metadata.len() <= HEAD;
    if !whole && !is_document && ends.has_drifted() {
        ends = Ends::default();
        ends.take(&jsonl::head(path, drift::DOUBT)?);
    }
    let drifted = ends.has_drifted();
    if ends.is_sub_agent || ends.known + ends.unknown == 0 || (!ends.spoken && whole && !drifted) {
        return Ok(None);
    }
    let modified = metadata.modified().ok().and_then(|at| jiff::Timestamp::try_from(at).ok());
    let modified = modified.map(|at| Timestamp::from_millis(at.as_millisecond()));
    let header = ends.header;
    let named = Some(header.session).filter(|session| !session.0.is_empty());
    let stem = path.file_stem().map(|stem| SessionId(stem.to_string_lossy().into_owned()));
    let Some(id) = named.or(stem) else { return Ok(None) };
    Ok(Some(Found {
        source: Source { path: PathBuf::from(path), key: None },
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

/// What the ends of a file tell.
#[derive(Default)]
struct Ends {
    header: Header,
    known: usize,
    unknown: usize,
    spoken: bool,
    is_sub_agent: bool,
}

impl Ends {
    fn has_drifted(&self) -> bool {
        drift::has_drifted(self.known, self.unknown, self.spoken)
    }

    fn take(&mut self, bytes: &[u8]) {
        for bytes in jsonl::lines(bytes) {
            let line = Line { offset: 0, bytes, length: bytes.len() as u64, unterminated: false };
            if line.is_hollow() {
                continue;
            }
            if self.known == 0 {
                self.is_sub_agent |= is_sub_agent(bytes);
            }
            if let Some(parsed) = record::parse(line) {
                self.take_record(parsed);
            }
        }
    }

    /// A document that is longer than what was looked at is known by its first fields.
    fn take_document(&mut self, head: &[u8]) {
        let text = String::from_utf8_lossy(head);
        let parsed = record::parse_document(&text);
        if parsed.known {
            return self.take_record(parsed);
        }
        let Some((fields, _)) = text.split_once("\"messages\"") else {
            self.unknown += 1;
            return;
        };
        let fields = format!("{}}}", fields.trim_end().trim_end_matches(','));
        self.take_record(record::parse_document(&fields));
        self.spoken = true;
    }

    fn take_record(&mut self, parsed: Parsed) {
        let messages: &[Message] = match &parsed.change {
            Change::Message(message) => std::slice::from_ref(message),
            Change::Messages(list) => list,
            Change::Nothing | Change::RewindTo(_) => &[],
        };
        let hollow = messages.iter().filter(|message| is_hollow(message)).count();
        if parsed.known && (hollow == 0 || hollow < messages.len()) {
            self.known += 1;
        } else {
            self.unknown += hollow.max(1);
        }
        let entries = messages.iter().flat_map(|message| &message.entries).chain(&parsed.entry);
        for entry in entries {
            let said = !matches!(entry.body, Body::Opaque(_) | Body::Note(_) | Body::Failure(_));
            self.spoken |= said && entry.origin != Origin::Harness;
            if let Some(at) = entry.at {
                self.header.saw(at);
            }
        }
        for fact in parsed.facts {
            self.header.learn(fact);
        }
    }
}

/// A message of a kind that we do not know, or without anything in it: its fields may have other names now.
fn is_hollow(message: &Message) -> bool {
    message
        .entries
        .iter()
        .all(|entry| matches!(&entry.body, Body::Opaque(kind) if !matches!(&**kind, "info" | "warning")))
}

fn is_sub_agent(line: &[u8]) -> bool {
    let session = serde_json::from_slice::<WireSession<'_>>(line);
    session.is_ok_and(|session| session.session_id.is_some() && session.role.as_deref() == Some("subagent"))
}
