//! Listing sessions from the tables and indexes of their databases.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use carryover_core::transcript::SessionId;
use rusqlite::{Connection, OptionalExtension};

use super::rows::{session_from_row, session_query};
use super::stored_session::{RawRecord, Session};
use super::wire::WireInfo;
use super::{OpenCode, export, folder_storage, read};
use crate::agent::discover_in;
use crate::formats::unopened::UnopenedFiles;
use crate::formats::{drift, jsonl, sqlite};
use crate::{AgentError, Discovery, FoundCallback, FoundSession, Liveness, Source, Store};

/// How many messages of a session are looked at to see that its format is known.
const MESSAGES_CHECKED: i64 = 3;

/// How many sessions of a database may be in use at a time.
const MAX_RECENT_SESSIONS: i64 = 16;

impl Discovery for OpenCode {
    fn recognises(&self, path: &Path, head: &[u8]) -> bool {
        if sqlite::is_database(head) {
            let named = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("opencode"));
            let ours = memchr::memmem::find(head, b"fk_part_message_id_message_id_fk").is_some();
            return named || ours;
        }
        let text = String::from_utf8_lossy(head);
        if folder_storage::FolderStorage::from_path(path).is_some() && text.contains("\"ses_") {
            return true;
        }
        let text = export::strip_status_line(&text);
        let beginning: String = text.chars().filter(|letter| !letter.is_whitespace()).take(40).collect();
        beginning.starts_with("{\"info\":{") && text.contains("\"ses_")
    }

    fn list_sessions(&self, store: &Store, found: FoundCallback<'_>) -> Result<(), AgentError> {
        let mut known = BTreeSet::new();
        let mut all = Vec::new();
        let mut unopened = UnopenedFiles::default();
        for path in list_readable_databases(&store.root, &mut unopened)? {
            let looked = sqlite::read_database(&path, &mut |connection| database_sessions(connection, &path, -1));
            all.extend(unopened.ok_or_note(looked).into_iter().flatten());
        }
        known.extend(all.iter().map(|found| found.id.0.clone()));
        for (path, session) in folder_storage::read_sessions(&store.root, &known, &mut unopened)? {
            let newest = folder_storage::newest_messages(&store.root, &session.id, 3);
            let is_known = |raw: &RawRecord| matches!(raw, RawRecord::Text(text) if is_known_message(text.as_bytes()));
            if !newest.is_empty() {
                let drifted = !newest.iter().any(is_known);
                all.push(make_found(session, Source { path, key: None }, drifted));
            }
        }
        for session in all {
            if found(session).is_break() {
                return Ok(());
            }
        }
        unopened.into_result()
    }

    fn sessions_in(&self, store: &Store, file: &Path) -> Result<Vec<FoundSession>, AgentError> {
        // A session of the older form is one file; of a database, those that changed last are told.
        if file.extension().is_some_and(|end| end == "json") {
            return discover_in(self, store, file);
        }
        sqlite::read_database(file, &mut |connection| database_sessions(connection, file, MAX_RECENT_SESSIONS))
    }
}

/// The databases of a store: each release channel has its own. A store may be one database, too.
pub(super) fn list_databases(root: &Path) -> Result<Vec<PathBuf>, AgentError> {
    list_readable_databases(root, &mut UnopenedFiles::default())
}

fn list_readable_databases(root: &Path, unopened: &mut UnopenedFiles) -> Result<Vec<PathBuf>, AgentError> {
    if root.is_file() {
        return Ok(vec![root.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in fs_err::read_dir(root)? {
        let path = entry?.path();
        let head = if path.extension().is_some_and(|end| end == "db") && unopened.can_read(&path) {
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
fn database_sessions(connection: &Connection, path: &Path, limit: i64) -> rusqlite::Result<Vec<FoundSession>> {
    let shape = TableShape::from_connection(connection)?;
    if !shape.has_sessions {
        return Ok(unknown_database(connection, path)?.into_iter().collect());
    }
    let query = session_query(connection, &format!("{} LIMIT ?1", shape.filter_clause))?;
    let mut query = connection.prepare(&query)?;
    let sessions: Vec<Session> = query.query_map([limit], session_from_row)?.collect::<rusqlite::Result<_>>()?;
    let mut found = Vec::new();
    for session in sessions {
        // A session in which nothing was said yet is none.
        if let Some(drifted) = check_drift(connection, &session.id, &shape)? {
            let source = Source { path: path.to_owned(), key: Some(session.id.clone()) };
            found.push(make_found(session, source, drifted));
        }
    }
    Ok(found)
}

/// Which of the tables that we read are there, with the columns that we read.
struct TableShape {
    has_sessions: bool,
    has_messages: bool,
    /// Clients to come keep messages in a table of another shape.
    has_newer_messages: bool,
    /// Leaves out the sessions of sub-agents, newest first.
    filter_clause: &'static str,
}

impl TableShape {
    fn from_connection(connection: &Connection) -> rusqlite::Result<Self> {
        let has = |table: &str, wanted: &[&str]| {
            let there = sqlite::table_columns(connection, table)?;
            Ok::<_, rusqlite::Error>(wanted.iter().all(|name| there.iter().any(|there| there == name)))
        };
        let is_usual = has("session", &["parent_id", "time_updated"])?;
        Ok(Self {
            has_sessions: has("session", &["id"])?,
            has_messages: has("message", &["id", "session_id", "time_created", "data"])?
                && has("part", &["id", "message_id", "data"])?,
            has_newer_messages: !sqlite::table_columns(connection, "session_message")?.is_empty(),
            filter_clause: if is_usual { "WHERE parent_id IS NULL ORDER BY time_updated DESC" } else { "" },
        })
    }
}

/// A database that holds something, but no table of sessions, is told as one session, which has drifted. One that the
/// client has only just made is empty, and one of another name is not the client's.
fn unknown_database(connection: &Connection, path: &Path) -> rusqlite::Result<Option<FoundSession>> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'";
    let tables: Vec<String> =
        connection.prepare(query)?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    for table in tables.iter().filter(|table| !table.contains("migration") && name.starts_with("opencode")) {
        let query = format!("SELECT EXISTS (SELECT 1 FROM \"{}\")", table.replace('"', "\"\""));
        if connection.query_row(&query, [], |row| row.get(0))? {
            let source = Source { path: path.to_owned(), key: None };
            return Ok(Some(make_found(Session { id: name, ..Session::default() }, source, true)));
        }
    }
    Ok(None)
}

/// Whether what a session holds is of a kind that we do not know; `None` where it holds nothing.
fn check_drift(connection: &Connection, session: &str, shape: &TableShape) -> rusqlite::Result<Option<bool>> {
    if !shape.has_messages {
        return Ok(Some(true));
    }
    let query = "SELECT CASE WHEN octet_length(data) <= 16384 THEN data END, id FROM message
                 WHERE session_id = ?1 ORDER BY time_created DESC LIMIT ?2";
    let mut query = connection.prepare_cached(query)?;
    let mut rows = query.query(rusqlite::params![session, MESSAGES_CHECKED])?;
    let (mut known, mut looked_at) = (false, false);
    let mut parts = KindCounts::default();
    while let Some(row) = rows.next()? {
        looked_at = true;
        known |= match row.get_ref(0)?.as_bytes_or_null() {
            // Too long to be looked at here.
            Ok(None) => true,
            Ok(Some(data)) => is_known_message(data),
            Err(_) => false,
        };
        parts.count_parts(connection, &row.get(1)?)?;
    }
    if looked_at || !shape.has_newer_messages {
        return Ok(looked_at.then_some(!known || parts.has_drifted()));
    }
    let query = "SELECT 1 FROM session_message WHERE session_id = ?1 LIMIT 1";
    let other: Option<i64> = connection.prepare_cached(query)?.query_row([session], |row| row.get(0)).optional()?;
    Ok(other.map(|_| true))
}

/// The kinds of the parts that messages are made of.
#[derive(Default)]
struct KindCounts {
    known: usize,
    unknown: usize,
    has_messages: bool,
}

impl KindCounts {
    fn count_parts(&mut self, connection: &Connection, message: &rusqlite::types::Value) -> rusqlite::Result<()> {
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
                None | Some("text" | "reasoning" | "tool" | "file" | "compaction" | "subtask") => {
                    self.has_messages = true;
                }
                Some("step-start" | "step-finish" | "snapshot" | "patch" | "agent" | "retry") => self.known += 1,
                Some(_) => self.unknown += 1,
            }
        }
        Ok(())
    }

    fn has_drifted(&self) -> bool {
        drift::has_drifted(self.known, self.unknown, self.has_messages)
    }
}

fn is_known_message(data: &[u8]) -> bool {
    let info: Result<WireInfo<'_>, _> = serde_json::from_slice(data);
    info.is_ok_and(|info| matches!(&*info.role, "user" | "assistant"))
}

fn make_found(session: Session, source: Source, drifted: bool) -> FoundSession {
    FoundSession {
        source,
        title: read::session_title(&session),
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
