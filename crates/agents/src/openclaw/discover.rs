//! Listing sessions from the tables of their databases and the indexes and heads of older files.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{EntryKey, Fact, NodeId, SessionId};
use rusqlite::Connection;

use super::branch::{Fate, KNOWN};
use super::kept::{self, Raw, Session};
use super::lines;
use super::record;
use super::wire::WireLink;
use crate::formats::{jsonl, sqlite};
use crate::{AgentError, Found, Liveness, Source, Store};

/// How the database of each agent is called.
pub(super) const DATABASE: &str = "openclaw-agent.sqlite";

/// How much of an older file is looked at to see what it is.
const HEAD: u64 = 16 << 10;

/// Tells every session of a store. Each of the user's agents has its own folder in it.
pub(super) fn discover(store: &Store, found: &mut dyn FnMut(Found) -> ControlFlow<()>) -> Result<(), AgentError> {
    for agent in agents(&store.root) {
        let mut all = Vec::new();
        let database = database(&agent);
        if database.is_file() {
            all.extend(sqlite::look(&database, &mut |connection| sessions(connection, &database))?);
        }
        let known: BTreeSet<String> = all.iter().map(|found| found.id.0.clone()).collect();
        all.extend(files(&agent.join("sessions"), &known));
        for session in all {
            if found(session).is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The folders of the user's agents.
pub(super) fn agents(root: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs_err::read_dir(root.join("agents")) else { return Vec::new() };
    let mut agents: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    agents.retain(|path| path.is_dir());
    agents.sort();
    agents
}

/// The database of an agent.
pub(super) fn database(agent: &Path) -> PathBuf {
    agent.join("agent").join(DATABASE)
}

fn sessions(connection: &Connection, path: &Path) -> rusqlite::Result<Vec<Found>> {
    if sqlite::columns(connection, "transcript_events")?.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for mut session in kept::sessions(connection)? {
        // What a sub-agent did is part of the session that it worked for.
        if session.parent.is_some() {
            continue;
        }
        let Some(first) = kept::first(connection, &session.id)? else { continue };
        let last = kept::looked_at(connection, &session.id, "ORDER BY seq DESC LIMIT 3")?;
        session.begin(&first);
        if session.label.is_none() && session.name.is_none() {
            let beginning = kept::looked_at(connection, &session.id, "ORDER BY seq LIMIT 12")?;
            session.name = beginning.iter().find_map(prompt);
        }
        let drifted = !last.iter().chain([&first]).any(is_known);
        let source = Source { path: path.to_owned(), key: Some(session.id.clone()) };
        found.push(told(session, source, 0, drifted));
    }
    Ok(found)
}

/// The sessions of older clients, but for those that are in the database by now.
fn files(folder: &Path, known: &BTreeSet<String>) -> Vec<Found> {
    let Ok(entries) = fs_err::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.sort();
    let is_session = |path: &PathBuf| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        path.extension().is_some_and(|end| end == "jsonl") && !stem.ends_with(".trajectory")
    };
    paths.retain(is_session);
    paths.iter().filter_map(|path| file(path)).filter(|found| !known.contains(&found.id.0)).collect()
}

fn file(path: &Path) -> Option<Found> {
    let metadata = fs_err::metadata(path).ok()?;
    let head = jsonl::head(path, HEAD).ok()?;
    let mut records = jsonl::lines(&head).filter(|line| !line.trim_ascii().is_empty()).map(kept::utf8).peekable();
    records.peek()?;
    let drifted = !records.any(|raw| is_known(&raw));
    let mut session = lines::look(path).ok()?;
    if session.parent.is_some() {
        return None;
    }
    if session.label.is_none() && session.name.is_none() {
        session.name = jsonl::lines(&head).map(kept::utf8).find_map(|raw| prompt(&raw));
    }
    let modified = metadata.modified().ok().and_then(|at| jiff::Timestamp::try_from(at).ok());
    let modified = modified.map(|at| Timestamp::from_millis(at.as_millisecond()));
    session.updated = session.updated.or(modified);
    Some(told(session, Source { path: path.to_owned(), key: None }, metadata.len(), drifted))
}

/// What the user said, if that is what a record holds.
fn prompt(raw: &Raw) -> Option<String> {
    let key = EntryKey { file: 0, offset: 0, part: 0, length: 0 };
    // On a branch or not: it is the beginning that names a session.
    let fate = Fate { node: Some(NodeId::of("")), ..Fate::default() };
    record::parse(raw, key, &fate).facts.into_iter().find_map(|fact| match fact {
        Fact::Title(_, title) => Some(title),
        _ => None,
    })
}

/// Whether a record is of a kind that we know.
fn is_known(raw: &Raw) -> bool {
    let Raw::Text(text) = raw else { return false };
    let link: Result<WireLink, _> = serde_json::from_str(text);
    link.is_ok_and(|link| KNOWN.contains(&link.kind.as_str()) || matches!(link.kind.as_str(), "session" | "leaf"))
}

/// Whether the first bytes are those of a session in a file of its own.
pub(super) fn is_session(path: &Path, head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    let begins = serde_json::from_slice::<WireLink>(line).is_ok_and(|link| link.kind == "session");
    // Another agent's files begin alike; where they are tells whose they are.
    let sessions = path.parent().filter(|folder| folder.file_name().is_some_and(|name| name == "sessions"));
    let agents = sessions.and_then(Path::parent).and_then(Path::parent);
    begins && agents.is_some_and(|folder| folder.file_name().is_some_and(|name| name == "agents"))
}

fn told(session: Session, source: Source, bytes: u64, drifted: bool) -> Found {
    let title = session.label.as_deref().or(session.name.as_deref());
    Found {
        source,
        title: title.map(|title| one_line(title, 200)).filter(|title| !title.is_empty()),
        project: session.project,
        branch: None,
        started_at: session.started,
        updated_at: session.updated,
        messages: None,
        bytes,
        model: session.model,
        live: Liveness::Unknown,
        drifted,
        id: SessionId(session.id),
    }
}
