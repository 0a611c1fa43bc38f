//! Listing sessions from the tables and indexes of their databases.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::transcript::SessionId;
use rusqlite::{Connection, OptionalExtension};

use super::rows::{session_of, session_query};
use super::stored_session::{Raw, Session};
use super::wire::WireInfo;
use super::{OpenCode, export, folders, read};
use crate::agent::discover_in;
use crate::formats::unopened::Unopened;
use crate::formats::{drift, jsonl, sqlite};
use crate::{AgentError, Discovery, Found, Liveness, Source, Store};

/// How many messages of a session are looked at to see that its format is known.
const LOOKED_AT: i64 = 3;

/// How many sessions of a database may be in use at a time.
const CHANGED_LAST: i64 = 16;

impl Discovery for OpenCode {
    fn recognises(&self, path: &Path, head: &[u8]) -> bool {
        if sqlite::is_database(head) {
            let named = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("opencode"));
            let ours = memchr::memmem::find(head, b"fk_part_message_id_message_id_fk").is_some();
            return named || ours;
        }
        let text = String::from_utf8_lossy(head);
        if folders::Folders::of(path).is_some() && text.contains("\"ses_") {
            return true;
        }
        let text = export::without_status(&text);
        let beginning: String = text.chars().filter(|letter| !letter.is_whitespace()).take(40).collect();
        beginning.starts_with("{\"info\":{") && text.contains("\"ses_")
    }

    fn discover(&self, store: &Store, found: &mut dyn FnMut(Found) -> ControlFlow<()>) -> Result<(), AgentError> {
        let mut known = BTreeSet::new();
        let mut all = Vec::new();
        let mut unopened = Unopened::default();
        for path in databases_among(&store.root, &mut unopened)? {
            let looked = sqlite::look(&path, &mut |connection| sessions(connection, &path, -1));
            all.extend(unopened.take(looked).into_iter().flatten());
        }
        known.extend(all.iter().map(|found| found.id.0.clone()));
        for (path, session) in folders::sessions(&store.root, &known, &mut unopened)? {
            let newest = folders::newest(&store.root, &session.id, 3);
            let is_known = |raw: &Raw| matches!(raw, Raw::Text(text) if is_known(text.as_bytes()));
            if !newest.is_empty() {
                let drifted = !newest.iter().any(is_known);
                all.push(told(session, Source { path, key: None }, drifted));
            }
        }
        for session in all {
            if found(session).is_break() {
                return Ok(());
            }
        }
        unopened.end()
    }

    fn sessions_in(&self, store: &Store, file: &Path) -> Result<Vec<Found>, AgentError> {
        // A session of the older form is one file; of a database, those that changed last are told.
        if file.extension().is_some_and(|end| end == "json") {
            return discover_in(self, store, file);
        }
        sqlite::look(file, &mut |connection| sessions(connection, file, CHANGED_LAST))
    }
}

/// The databases of a store: each release channel has its own. A store may be one database, too.
pub(super) fn databases(root: &Path) -> Result<Vec<PathBuf>, AgentError> {
    databases_among(root, &mut Unopened::default())
}

fn databases_among(root: &Path, unopened: &mut Unopened) -> Result<Vec<PathBuf>, AgentError> {
    if root.is_file() {
        return Ok(vec![root.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in fs_err::read_dir(root)? {
        let path = entry?.path();
        let head = if path.extension().is_some_and(|end| end == "db") && unopened.passes(&path) {
            jsonl::read_head(&path, sqlite::MAGIC.len() as u64)?
        } else {
            Vec::new()
        };
        if sqlite::is_database(&head) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The sessions that changed last, so many of them; all where the number is negative.
fn sessions(connection: &Connection, path: &Path, limit: i64) -> rusqlite::Result<Vec<Found>> {
    let shape = Shape::of(connection)?;
    if !shape.has_sessions {
        return Ok(unknown(connection, path)?.into_iter().collect());
    }
    let query = session_query(connection, &format!("{} LIMIT ?1", shape.top))?;
    let mut query = connection.prepare(&query)?;
    let sessions: Vec<Session> = query.query_map([limit], session_of)?.collect::<rusqlite::Result<_>>()?;
    let mut found = Vec::new();
    for session in sessions {
        // A session in which nothing was said yet is none.
        if let Some(drifted) = drifted(connection, &session.id, &shape)? {
            let source = Source { path: path.to_owned(), key: Some(session.id.clone()) };
            found.push(told(session, source, drifted));
        }
    }
    Ok(found)
}

/// Which of the tables that we read are there, with the columns that we read.
struct Shape {
    has_sessions: bool,
    has_messages: bool,
    /// Clients to come keep messages in a table of another shape.
    newer: bool,
    /// Leaves out the sessions of sub-agents, newest first.
    top: &'static str,
}

impl Shape {
    fn of(connection: &Connection) -> rusqlite::Result<Self> {
        let has = |table: &str, wanted: &[&str]| {
            let there = sqlite::columns(connection, table)?;
            Ok::<_, rusqlite::Error>(wanted.iter().all(|name| there.iter().any(|there| there == name)))
        };
        let is_usual = has("session", &["parent_id", "time_updated"])?;
        Ok(Self {
            has_sessions: has("session", &["id"])?,
            has_messages: has("message", &["id", "session_id", "time_created", "data"])?
                && has("part", &["id", "message_id", "data"])?,
            newer: !sqlite::columns(connection, "session_message")?.is_empty(),
            top: if is_usual { "WHERE parent_id IS NULL ORDER BY time_updated DESC" } else { "" },
        })
    }
}

/// A database that holds something, but no table of sessions, is told as one session, which has drifted. One that the
/// client has only just made is empty, and one of another name is not the client's.
fn unknown(connection: &Connection, path: &Path) -> rusqlite::Result<Option<Found>> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'";
    let tables: Vec<String> =
        connection.prepare(query)?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    for table in tables.iter().filter(|table| !table.contains("migration") && name.starts_with("opencode")) {
        let query = format!("SELECT EXISTS (SELECT 1 FROM \"{}\")", table.replace('"', "\"\""));
        if connection.query_row(&query, [], |row| row.get(0))? {
            let source = Source { path: path.to_owned(), key: None };
            return Ok(Some(told(Session { id: name, ..Session::default() }, source, true)));
        }
    }
    Ok(None)
}

/// Whether what a session holds is of a kind that we do not know; `None` where it holds nothing.
fn drifted(connection: &Connection, session: &str, shape: &Shape) -> rusqlite::Result<Option<bool>> {
    if !shape.has_messages {
        return Ok(Some(true));
    }
    let query = "SELECT CASE WHEN octet_length(data) <= 16384 THEN data END, id FROM message
                 WHERE session_id = ?1 ORDER BY time_created DESC LIMIT ?2";
    let mut query = connection.prepare_cached(query)?;
    let mut rows = query.query(rusqlite::params![session, LOOKED_AT])?;
    let (mut known, mut looked_at) = (false, false);
    let mut parts = Parts::default();
    while let Some(row) = rows.next()? {
        looked_at = true;
        known |= match row.get_ref(0)?.as_bytes_or_null() {
            // Too long to be looked at here.
            Ok(None) => true,
            Ok(Some(data)) => is_known(data),
            Err(_) => false,
        };
        parts.look(connection, &row.get(1)?)?;
    }
    if looked_at || !shape.newer {
        return Ok(looked_at.then_some(!known || parts.have_drifted()));
    }
    let query = "SELECT 1 FROM session_message WHERE session_id = ?1 LIMIT 1";
    let other: Option<i64> = connection.prepare_cached(query)?.query_row([session], |row| row.get(0)).optional()?;
    Ok(other.map(|_| true))
}

/// The kinds of the parts that messages are made of.
#[derive(Default)]
struct Parts {
    known: usize,
    unknown: usize,
    spoken: bool,
}

impl Parts {
    fn look(&mut self, connection: &Connection, message: &rusqlite::types::Value) -> rusqlite::Result<()> {
        #[derive(serde::Deserialize)]
        struct WireKind<'a> {
            #[serde(borrow, rename = "type")]
            kind: std::borrow::Cow<'a, str>,
        }
        let query =
            "SELECT CASE WHEN octet_length(data) <= 16384 THEN data END FROM part WHERE message_id = ?1 LIMIT 8";
        let mut query = connection.prepare_cached(query)?;
        let mut rows = query.query([message])?;
        while let Some(row) = rows.next()? {
            let Ok(data) = row.get_ref(0)?.as_bytes_or_null() else { continue };
            let kind = data.map(serde_json::from_slice::<WireKind<'_>>);
            match kind.as_ref().map(|kind| kind.as_ref().map_or("", |part| &*part.kind)) {
                // Too long to be looked at here.
                None | Some("text" | "reasoning" | "tool" | "file" | "compaction" | "subtask") => self.spoken = true,
                Some("step-start" | "step-finish" | "snapshot" | "patch" | "agent" | "retry") => self.known += 1,
                Some(_) => self.unknown += 1,
            }
        }
        Ok(())
    }

    fn have_drifted(&self) -> bool {
        drift::has_drifted(self.known, self.unknown, self.spoken)
    }
}

fn is_known(data: &[u8]) -> bool {
    let info: Result<WireInfo<'_>, _> = serde_json::from_slice(data);
    info.is_ok_and(|info| matches!(&*info.role, "user" | "assistant"))
}

fn told(session: Session, source: Source, drifted: bool) -> Found {
    Found {
        source,
        title: read::title(&session),
        project: session.directory.map(PathBuf::from),
        branch: None,
        started_at: session.created,
        updated_at: session.updated,
        messages: None,
        // Not known without reading all of it.
        bytes: 0,
        model: session.model.map(|model| model.model),
        live: Liveness::Unknown,
        drifted,
        id: SessionId(session.id),
    }
}
