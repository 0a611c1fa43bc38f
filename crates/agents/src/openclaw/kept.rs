//! A session as it is kept: events of a database, or the lines of an older client's file.

use std::cell::RefCell;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::PathBuf;

use carryover_core::time::Timestamp;
use carryover_core::transcript::EntryKey;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};

use super::branch::Link;
use super::wire::{WireLink, WireName, WireRecord};
use crate::formats::jsonl::MAX_RECORD;
use crate::formats::{ids, sqlite};

/// What is known of a session as a whole.
#[derive(Debug, Clone, Default)]
pub(super) struct Session {
    pub id: String,
    /// What the user called it.
    pub label: Option<String>,
    /// What the client called it.
    pub name: Option<String>,
    pub project: Option<PathBuf>,
    pub version: Option<String>,
    pub model: Option<String>,
    pub started: Option<Timestamp>,
    pub updated: Option<Timestamp>,
    /// The session whose sub-agent this is.
    pub parent: Option<String>,
    /// The sessions of its sub-agents.
    pub children: Vec<String>,
    /// Changes when the client rewrites what it had written.
    pub generation: String,
}

impl Session {
    /// Takes over what the first event says.
    pub(super) fn begin(&mut self, raw: &Raw) {
        let Raw::Text(text) = raw else { return };
        let Ok(record) = serde_json::from_str::<WireRecord<'_>>(text) else { return };
        if &*record.kind != "session" {
            return;
        }
        self.project = record.cwd.as_deref().filter(|cwd| !cwd.is_empty()).map(PathBuf::from);
        self.started = record.timestamp.as_deref().and_then(Timestamp::parse).or(self.started);
        if self.id.is_empty() {
            record.id.as_deref().unwrap_or_default().clone_into(&mut self.id);
        }
    }
}

/// A text that may be too long or no text.
#[derive(Debug, Clone)]
pub(super) enum Raw {
    Text(String),
    Bad(&'static str),
}

/// A record without what it says, and a digest by which a change is noticed.
#[derive(Debug, Clone)]
pub(super) struct Head {
    pub key: EntryKey,
    /// Its number in the order of the records.
    pub place: i64,
    pub stamp: u64,
    pub link: Link,
}

/// Where a session can be looked up.
pub(super) trait Kept {
    fn session(&self) -> rusqlite::Result<Option<Session>>;
    /// All records in their order.
    fn heads(&self) -> rusqlite::Result<Vec<Head>>;
    /// What the records from one on say.
    fn each(&self, heads: &[Head], take: &mut Take<'_>) -> rusqlite::Result<()>;
    fn record(&self, key: EntryKey) -> rusqlite::Result<Option<Raw>>;
}

/// Takes records one after another.
pub(super) type Take<'a> = dyn FnMut(Raw) -> ControlFlow<()> + 'a;

/// Events of a database.
pub(super) struct Rows<'a> {
    connection: &'a Connection,
    session: String,
    /// The columns of events that there are.
    columns: Vec<String>,
    unpacker: Unpacker,
}

impl<'a> Rows<'a> {
    /// A session by its id; without one, the newest that is not a sub-agent's.
    pub(super) fn of(connection: &'a Connection, key: Option<&str>) -> rusqlite::Result<Option<Self>> {
        let session = match key {
            Some(key) => Some(key.to_owned()),
            None => newest(connection)?,
        };
        let columns = sqlite::columns(connection, "transcript_events")?;
        Ok(session.filter(|_| !columns.is_empty()).map(|session| Self {
            connection,
            session,
            columns,
            unpacker: Unpacker::default(),
        }))
    }

    fn column(&self, name: &'static str) -> &'static str {
        if self.columns.iter().any(|column| column == name) { name } else { "NULL" }
    }

    /// The two forms of an event; what is too long to be looked at is held back.
    fn data(&self) -> String {
        let held = |column: &str| format!("CASE WHEN length(CAST({column} AS BLOB)) <= {MAX_RECORD} THEN {column} END");
        format!("{}, {}", held(self.column("event_json")), held(self.column("event_zstd")))
    }
}

fn query(what: &str, rest: &str) -> String {
    format!("SELECT {what} FROM transcript_events WHERE session_id = ?1 {rest}")
}

/// The session of a database that was used last.
fn newest(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let mut sessions = sessions(connection)?;
    sessions.retain(|session| session.parent.is_none());
    sessions.sort_by(|one, other| other.updated.cmp(&one.updated).then_with(|| one.id.cmp(&other.id)));
    Ok(sessions.into_iter().next().map(|session| session.id))
}

/// Every session of a database, without what its events say.
pub(super) fn sessions(connection: &Connection) -> rusqlite::Result<Vec<Session>> {
    let windows = sqlite::columns(connection, "session_windows")?;
    let tied = windows.iter().any(|column| column == "session_key");
    let nodes = if tied { sqlite::columns(connection, "session_nodes")? } else { Vec::new() };
    if !windows.iter().any(|column| column == "session_id") {
        let mut query = connection.prepare("SELECT DISTINCT session_id FROM transcript_events")?;
        let session = |row: &Row<'_>| Ok(Session { id: text(row, 0)?.unwrap_or_default(), ..Session::default() });
        return query.query_map([], session)?.collect();
    }
    let pick = |columns: &[String], table: &str, name: &str| {
        if columns.iter().any(|column| column == name) { format!("{table}.{name}") } else { "NULL".to_owned() }
    };
    let window = |name: &str| pick(&windows, "w", name);
    let node = |name: &str| pick(&nodes, "n", name);
    let columns = [
        window("session_id"),
        window("model"),
        window("created_at"),
        window("updated_at"),
        node("label"),
        node("display_name"),
        node("spawned_by"),
    ];
    let join = if nodes.is_empty() { "" } else { "LEFT JOIN session_nodes AS n ON n.session_key = w.session_key" };
    let query = format!("SELECT {} FROM session_windows AS w {join}", columns.join(", "));
    let mut query = connection.prepare(&query)?;
    let rows = query.query_map([], |row| {
        Ok(Session {
            id: text(row, 0)?.unwrap_or_default(),
            model: text(row, 1)?,
            started: time(number(row, 2)?),
            updated: time(number(row, 3)?),
            label: text(row, 4)?,
            name: text(row, 5)?,
            parent: text(row, 6)?,
            ..Session::default()
        })
    })?;
    rows.collect()
}

impl Kept for Rows<'_> {
    fn session(&self) -> rusqlite::Result<Option<Session>> {
        let known = sessions(self.connection)?;
        let Some(mut session) = known.into_iter().find(|session| session.id == self.session) else {
            return Ok(None);
        };
        let lookup = |table: &str, query: &str, value: &str| -> rusqlite::Result<Vec<String>> {
            if sqlite::columns(self.connection, table)?.is_empty() {
                return Ok(Vec::new());
            }
            let mut query = self.connection.prepare(query)?;
            query.query_map([value], |row| Ok(text(row, 0)?.unwrap_or_default()))?.collect()
        };
        if let Some(parent) = session.parent.take() {
            let query = "SELECT current_session_id FROM session_nodes WHERE session_key = ?1";
            session.parent = lookup("session_nodes", query, &parent)?.pop();
        }
        let query = "SELECT c.current_session_id FROM session_nodes AS c JOIN session_nodes AS p
                     ON c.spawned_by = p.session_key WHERE p.current_session_id = ?1 ORDER BY c.session_key";
        if sqlite::columns(self.connection, "session_nodes")?.iter().any(|column| column == "spawned_by") {
            session.children = lookup("session_nodes", query, &self.session)?;
        }
        let query = "SELECT generation FROM transcript_rewrite_watermarks WHERE session_id = ?1";
        session.generation = lookup("transcript_rewrite_watermarks", query, &self.session)?.pop().unwrap_or_default();
        let query = "SELECT app_version FROM schema_meta WHERE ?1 <> ''";
        session.version = lookup("schema_meta", query, &self.session)?.pop();
        if let Some(first) = first(self.connection, &self.session)? {
            session.begin(&first);
        }
        Ok(Some(session))
    }

    fn heads(&self) -> rusqlite::Result<Vec<Head>> {
        let what = format!("seq, {}, {}", self.column("created_at"), self.data());
        let mut query = self.connection.prepare(&query(&what, "ORDER BY seq"))?;
        let rows = query.query_map([&self.session], |row| {
            let seq = number(row, 0)?;
            let raw = self.unpacker.decoded(row, 2)?;
            let (link, name) = link(&raw, seq);
            let stamp = ids::digest_on(ids::digest(&name), &number(row, 1)?.to_le_bytes());
            let stamp = ids::digest_on(stamp, &raw.length().to_le_bytes());
            Ok(Head { key: key(ids::digest(&name), &raw), place: seq, stamp, link })
        })?;
        rows.collect()
    }

    fn each(&self, heads: &[Head], take: &mut Take<'_>) -> rusqlite::Result<()> {
        let Some(begin) = heads.first() else { return Ok(()) };
        let query = query(&self.data(), "AND seq >= ?2 ORDER BY seq");
        let mut query = self.connection.prepare(&query)?;
        let mut rows = query.query(rusqlite::params![self.session, begin.place])?;
        while let Some(row) = rows.next()? {
            if take(self.unpacker.decoded(row, 0)?).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn record(&self, key: EntryKey) -> rusqlite::Result<Option<Raw>> {
        if let Some(seq) = self.indexed(key)? {
            let query = query(&self.data(), "AND seq = ?2");
            let found = self
                .connection
                .query_row(&query, rusqlite::params![self.session, seq], |row| self.unpacker.decoded(row, 0));
            return found.optional();
        }
        let mut query = self.connection.prepare(&query(&format!("seq, {}", self.data()), "ORDER BY seq"))?;
        let mut rows = query.query([&self.session])?;
        while let Some(row) = rows.next()? {
            let (seq, raw) = (number(row, 0)?, self.unpacker.decoded(row, 1)?);
            if ids::digest(&link(&raw, seq).1) == key.offset {
                return Ok(Some(raw));
            }
        }
        Ok(None)
    }
}

impl Rows<'_> {
    /// Where the client's own index of names has a record.
    fn indexed(&self, key: EntryKey) -> rusqlite::Result<Option<i64>> {
        if sqlite::columns(self.connection, "transcript_event_identities")?.is_empty() {
            return Ok(None);
        }
        let query = "SELECT event_id, seq FROM transcript_event_identities WHERE session_id = ?1";
        let mut query = self.connection.prepare_cached(query)?;
        let mut rows = query.query([&self.session])?;
        while let Some(row) = rows.next()? {
            if text(row, 0)?.is_some_and(|id| ids::digest(&id) == key.offset) {
                return number(row, 1).map(Some);
            }
        }
        Ok(None)
    }
}

/// The first event of a session.
pub(super) fn first(connection: &Connection, session: &str) -> rusqlite::Result<Option<Raw>> {
    let mut found = looked_at(connection, session, "ORDER BY seq LIMIT 1")?;
    Ok(found.pop())
}

/// Some events of a session, by a part of a query.
pub(super) fn looked_at(connection: &Connection, session: &str, rest: &str) -> rusqlite::Result<Vec<Raw>> {
    let Some(rows) = Rows::of(connection, Some(session))? else { return Ok(Vec::new()) };
    let mut query = connection.prepare(&query(&rows.data(), rest))?;
    query.query_map([session], |row| rows.unpacker.decoded(row, 0))?.collect()
}

impl Raw {
    fn length(&self) -> u64 {
        match self {
            Self::Text(text) => text.len() as u64,
            Self::Bad(_) => 0,
        }
    }
}

pub(super) fn key(offset: u64, raw: &Raw) -> EntryKey {
    EntryKey { file: 0, offset, part: 0, length: u32::try_from(raw.length()).unwrap_or(u32::MAX) }
}

/// The place of a record in the tree, and its name.
pub(super) fn link(raw: &Raw, number: i64) -> (Link, String) {
    let otherwise = format!("#{number}");
    let Raw::Text(text) = raw else { return (Link::default(), otherwise) };
    match serde_json::from_str::<WireLink>(text) {
        Ok(wire) => {
            let name = match &wire.id {
                WireName::Name(id) => id.clone(),
                _ => otherwise,
            };
            (Link::of(&wire, &name), name)
        }
        Err(_) => (Link::default(), otherwise),
    }
}

/// Unpacks events: making what that needs costs more than unpacking one.
#[derive(Default)]
struct Unpacker(RefCell<Option<zstd::bulk::Decompressor<'static>>>);

impl Unpacker {
    /// An event in its one form or the other.
    fn decoded(&self, row: &Row<'_>, index: usize) -> rusqlite::Result<Raw> {
        Ok(match (row.get_ref(index)?, row.get_ref(index + 1)?) {
            (ValueRef::Text(bytes) | ValueRef::Blob(bytes), _) => utf8(bytes),
            (_, ValueRef::Blob(bytes)) => self.at_once(bytes).unwrap_or_else(|| unpacked(bytes)),
            (ValueRef::Null, ValueRef::Null) => Raw::Bad("the record is longer than 64 MiB, or not there"),
            _ => Raw::Bad("not a JSON object"),
        })
    }

    /// What is not too long, in one go; `None` leaves it to who can tell what is wrong.
    fn at_once(&self, bytes: &[u8]) -> Option<Raw> {
        let told = zstd::zstd_safe::get_frame_content_size(bytes).ok().flatten();
        let room = told.map_or(Some(bytes.len() * 16), |told| usize::try_from(told).ok())?;
        let mut unpacker = self.0.borrow_mut();
        let unpacker = match &mut *unpacker {
            Some(unpacker) => unpacker,
            none => none.insert(zstd::bulk::Decompressor::new().ok()?),
        };
        let text = unpacker.decompress(bytes, room.min(MAX_RECORD)).ok()?;
        Some(utf8(&text))
    }
}

fn unpacked(bytes: &[u8]) -> Raw {
    let mut text = Vec::new();
    let limit = MAX_RECORD as u64 + 1;
    let read = zstd::stream::read::Decoder::new(bytes).and_then(|decoder| decoder.take(limit).read_to_end(&mut text));
    match read {
        Ok(_) if text.len() > MAX_RECORD => Raw::Bad("the record is longer than 64 MiB"),
        Ok(_) => utf8(&text),
        Err(_) => Raw::Bad("the record cannot be unpacked"),
    }
}

pub(super) fn utf8(bytes: &[u8]) -> Raw {
    match simdutf8::basic::from_utf8(bytes) {
        Ok(text) => Raw::Text(text.to_owned()),
        Err(_) => Raw::Bad("not UTF-8"),
    }
}

/// A text, whatever its column holds; an empty one is none.
fn text(row: &Row<'_>, index: usize) -> rusqlite::Result<Option<String>> {
    Ok(match row.get_ref(index)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Some(String::from_utf8_lossy(bytes).into_owned()).filter(|text| !text.is_empty())
        }
        _ => None,
    })
}

fn number(row: &Row<'_>, index: usize) -> rusqlite::Result<i64> {
    Ok(match row.get_ref(index)? {
        ValueRef::Integer(number) => number,
        #[expect(clippy::cast_possible_truncation, reason = "times are whole numbers, held within range")]
        ValueRef::Real(number) => number as i64,
        _ => 0,
    })
}

pub(super) fn time(millis: i64) -> Option<Timestamp> {
    (millis > 0).then(|| Timestamp::from_millis(millis))
}
