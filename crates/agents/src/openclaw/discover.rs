//! Listing sessions from the tables of their databases and the indexes and heads of older files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use carryover_core::plain::one_line;
use carryover_core::transcript::{EntryKey, Fact, NodeId, SessionId};
use rusqlite::Connection;

use super::branch::{BranchPosition, KNOWN_KINDS};
use super::raw::RawRecord;
use super::stored_session::Session;
use super::wire::{WireKind, WireLink};
use super::{OpenClaw, database_storage, export, file_storage, record};
use crate::formats::file::modified_at;
use crate::formats::tree::owner;
use crate::formats::unopened::UnopenedFiles;
use crate::formats::{drift, jsonl, sqlite};
use crate::{AgentError, Discovery, FoundCallback, FoundSession, Liveness, Source, Store};

/// How the database of each agent is called.
pub(super) const DATABASE_NAME: &str = "openclaw-agent.sqlite";

/// How much of an older file is looked at to see what it is.
const HEAD_BYTES: u64 = 16 << 10;

/// The events at the end of a session that are looked at to see that its format is known, and those that are before it
/// is said to have changed.
const LAST_EVENTS: &str = "ORDER BY seq DESC LIMIT 3";
const MORE_LAST_EVENTS: &str = "ORDER BY seq DESC LIMIT 200";

impl Discovery for OpenClaw {
    fn recognises(&self, path: &Path, head: &[u8]) -> bool {
        let named = path.file_name().is_some_and(|name| name == DATABASE_NAME);
        let alone = || export::is_export(head) || is_session(path, head);
        if sqlite::is_database(head) { named } else { alone() }
    }

    fn list_sessions(&self, store: &Store, found: FoundCallback<'_>) -> Result<(), AgentError> {
        let mut unopened = UnopenedFiles::default();
        for agent in list_agents(&store.root) {
            let mut all = Vec::new();
            let database = database_path(&agent);
            if unopened.can_read(&database) {
                let looked =
                    sqlite::read_database(&database, &mut |connection| database_sessions(connection, &database));
                all.extend(unopened.ok_or_note(looked).into_iter().flatten());
            }
            let known: BTreeSet<String> = all.iter().map(|found| found.id.0.clone()).collect();
            all.extend(file_sessions(&agent.join("sessions"), &known, &mut unopened));
            for session in all {
                if found(session).is_break() {
                    return Ok(());
                }
            }
        }
        unopened.into_result()
    }
}

/// The folders of the user's agents.
pub(super) fn list_agents(root: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs_err::read_dir(root.join("agents")) else { return Vec::new() };
    let mut agents: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    agents.retain(|path| path.is_dir());
    agents.sort();
    agents
}

/// The database of an agent.
pub(super) fn database_path(agent: &Path) -> PathBuf {
    agent.join("agent").join(DATABASE_NAME)
}

fn database_sessions(connection: &Connection, path: &Path) -> rusqlite::Result<Vec<FoundSession>> {
    let events = sqlite::table_columns(connection, "transcript_events")?;
    let has = |name: &str| events.iter().any(|column| column == name);
    let has_events = has("session_id") && has("seq");
    if !has_events && !sqlite::table_columns(connection, "session_windows")?.iter().any(|column| column == "session_id")
    {
        return Ok(unknown_database(connection, path)?.into_iter().collect());
    }
    let mut found = Vec::new();
    for session in database_storage::read_sessions(connection)? {
        // A sub-agent's work is part of the session that it worked for.
        if session.parent.is_some() {
            continue;
        }
        let source = Source { path: path.to_owned(), key: Some(session.id.clone()) };
        if has_events {
            found.extend(
                complete_session(connection, session)?
                    .map(|(session, drifted)| make_found(session, source, 0, drifted)),
            );
        } else {
            found.push(make_found(session, source, 0, true));
        }
    }
    Ok(found)
}

/// Completes a session by its first events, and tells whether its format has changed; `None` where it has no event.
fn complete_session(connection: &Connection, mut session: Session) -> rusqlite::Result<Option<(Session, bool)>> {
    let Some(first) = database_storage::first_event(connection, &session.id)? else { return Ok(None) };
    session.apply_first_event(&first);
    if session.label.is_none() && session.name.is_none() {
        let beginning = database_storage::read_events(connection, &session.id, "ORDER BY seq LIMIT 12")?;
        session.name = beginning.iter().find_map(prompt_title);
    }
    let looked_at = |which| {
        database_storage::read_events(connection, &session.id, which).map(|last| KindCounts::from_records(&last))
    };
    let drifted = looked_at(LAST_EVENTS)?.has_drifted() && looked_at(MORE_LAST_EVENTS)?.has_drifted();
    Ok(Some((session, drifted)))
}

/// A database that holds something of sessions, but in no table that we know, is told as one session, which has
/// drifted. One that the client has only just made is empty, and older ones hold other things than sessions.
fn unknown_database(connection: &Connection, path: &Path) -> rusqlite::Result<Option<FoundSession>> {
    let query = "SELECT DISTINCT m.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c
                 WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND c.name LIKE '%session%'";
    let tables: Vec<String> =
        connection.prepare(query)?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    for table in tables {
        let query = format!("SELECT EXISTS (SELECT 1 FROM \"{}\")", table.replace('"', "\"\""));
        if connection.query_row(&query, [], |row| row.get(0))? {
            let source = Source { path: path.to_owned(), key: None };
            let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            return Ok(Some(make_found(Session { id, ..Session::default() }, source, 0, true)));
        }
    }
    Ok(None)
}

/// The key by which the client knows a session; those of older clients, which are in no database, have none that it
/// would take.
pub(super) fn find_session_key(source: &Source, id: &str) -> Option<String> {
    source.key.as_ref()?;
    sqlite::read_database(&source.path, &mut |connection| database_storage::read_session_key(connection, id)).ok()?
}

/// The sessions of older clients, but for those that are in the database by now.
fn file_sessions(folder: &Path, known: &BTreeSet<String>, unopened: &mut UnopenedFiles) -> Vec<FoundSession> {
    let Some(entries) = unopened.ok_or_note(fs_err::read_dir(folder)) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.sort();
    let is_session = |path: &PathBuf| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        path.extension().is_some_and(|end| end == "jsonl") && !stem.ends_with(".trajectory")
    };
    paths.retain(|path| is_session(path) && unopened.can_read(path));
    let looked = paths.iter().filter_map(|path| unopened.ok_or_note(file_session(path)).flatten());
    looked.filter(|found| !known.contains(&found.id.0)).collect()
}

fn file_session(path: &Path) -> Result<Option<FoundSession>, AgentError> {
    let metadata = fs_err::metadata(path)?;
    let head = jsonl::read_head(path, HEAD_BYTES)?;
    if jsonl::whole_lines(&head).all(|line| line.trim_ascii().is_empty()) {
        return Ok(None);
    }
    let seen = |bytes: &[u8]| {
        let lines = jsonl::whole_lines(bytes).filter(|line| !line.trim_ascii().is_empty());
        KindCounts::from_records(&lines.map(RawRecord::from_utf8).collect::<Vec<_>>())
    };
    let mut drifted = seen(&head).has_drifted();
    if drifted && metadata.len() > HEAD_BYTES {
        drifted = seen(&jsonl::read_head(path, drift::CHECK_BYTES)?).has_drifted();
    }
    let Ok(mut session) = file_storage::load_session(path) else { return Ok(None) };
    if session.parent.is_some() {
        return Ok(None);
    }
    if session.label.is_none() && session.name.is_none() {
        session.name = jsonl::whole_lines(&head).map(RawRecord::from_utf8).find_map(|raw| prompt_title(&raw));
    }
    session.updated = session.updated.or(modified_at(&metadata));
    Ok(Some(make_found(session, Source { path: path.to_owned(), key: None }, metadata.len(), drifted)))
}

/// The user's words in a record, if it is a prompt.
fn prompt_title(raw: &RawRecord<'_>) -> Option<String> {
    let key = EntryKey { file: 0, offset: 0, part: 0, length: 0 };
    // On a branch or not: it is the beginning that names a session.
    let fate = BranchPosition { node: Some(NodeId::from_name("")), ..BranchPosition::default() };
    record::parse_record(raw, key, &fate, &mut false).facts.into_iter().find_map(|fact| match fact {
        Fact::Title(_, title) => Some(title),
        _ => None,
    })
}

/// The kinds of some records of a session.
#[derive(Default)]
struct KindCounts {
    known: usize,
    unknown: usize,
    has_messages: bool,
}

impl KindCounts {
    fn from_records(records: &[RawRecord<'_>]) -> Self {
        let mut seen = Self::default();
        for raw in records {
            seen.count_record(raw);
        }
        seen
    }

    fn count_record(&mut self, raw: &RawRecord<'_>) {
        let RawRecord::Text(text) = raw else {
            self.unknown += 1;
            return;
        };
        let record: WireKind = serde_json::from_str(text).unwrap_or_default();
        let role = record.message.map(|message| message.role).unwrap_or_default();
        match (record.kind.as_str(), role.as_str()) {
            (
                "message",
                "user" | "assistant" | "toolResult" | "bashExecution" | "custom" | "hookMessage" | "system",
            )
            | ("compaction" | "branch_summary" | "custom_message", _) => self.has_messages = true,
            ("message", _) => self.unknown += 1,
            (kind, _) if KNOWN_KINDS.contains(&kind) || matches!(kind, "session" | "leaf") => self.known += 1,
            _ => self.unknown += 1,
        }
    }

    fn has_drifted(&self) -> bool {
        drift::has_drifted(self.known, self.unknown, self.has_messages)
    }
}

/// Whether the first bytes are those of a session in a file of its own.
fn is_session(path: &Path, head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    let begins = serde_json::from_slice::<WireLink<'_>>(line).is_ok_and(|link| &*link.kind == "session");
    // Another agent's files begin alike.
    begins && owner::has_several_agents(path, head)
}

fn make_found(session: Session, source: Source, bytes: u64, drifted: bool) -> FoundSession {
    let title = session.label.as_deref().or(session.name.as_deref());
    FoundSession {
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
