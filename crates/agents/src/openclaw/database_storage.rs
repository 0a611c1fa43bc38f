//! Sessions as the events of a database.

use std::ops::ControlFlow;

use carryover_core::transcript::EntryKey;
use rusqlite::{Connection, OptionalExtension, Row};

use super::events::{EventBatch, integer_column, read_event, text_column};
use super::raw::{RawRecord, Unpacker};
use super::record::{self, SkimmedRecord};
use super::stored_session::{
    PositionedHead, RecordCallback, RecordHead, Session, StoredSession, make_key, time_from_millis,
};
use crate::formats::jsonl::MAX_RECORD_BYTES;
use crate::formats::{ids, ordered_pool, sqlite};

/// Events of a database.
pub(super) struct DatabaseStorage<'a> {
    connection: &'a Connection,
    session: String,
    /// The columns of events that there are.
    columns: Vec<String>,
}

impl<'a> DatabaseStorage<'a> {
    /// A session by its id; without one, the newest that is not a sub-agent's.
    pub(super) fn open(connection: &'a Connection, key: Option<&str>) -> rusqlite::Result<Option<Self>> {
        let session = match key {
            Some(key) => Some(key.to_owned()),
            None => newest_session(connection)?,
        };
        let columns = sqlite::table_columns(connection, "transcript_events")?;
        Ok(session.filter(|_| !columns.is_empty()).map(|session| Self { connection, session, columns }))
    }

    fn column_or_null(&self, name: &'static str) -> &'static str {
        if self.columns.iter().any(|column| column == name) { name } else { "NULL" }
    }

    /// The two forms of an event; what is too long to be looked at is held back.
    fn event_columns(&self) -> String {
        let held = |column: &str| format!("CASE WHEN octet_length({column}) <= {MAX_RECORD_BYTES} THEN {column} END");
        format!("{}, {}", held(self.column_or_null("event_json")), held(self.column_or_null("event_zstd")))
    }
}

fn event_query(what: &str, rest: &str) -> String {
    format!("SELECT {what} FROM transcript_events WHERE session_id = ?1 {rest}")
}

/// The session of a database that was used last.
fn newest_session(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let mut sessions = read_sessions(connection)?;
    sessions.retain(|session| session.parent.is_none());
    sessions.sort_by(|one, other| other.updated.cmp(&one.updated).then_with(|| one.id.cmp(&other.id)));
    Ok(sessions.into_iter().next().map(|session| session.id))
}

/// Every session of a database, without what its events say.
pub(super) fn read_sessions(connection: &Connection) -> rusqlite::Result<Vec<Session>> {
    let windows = sqlite::table_columns(connection, "session_windows")?;
    let tied = windows.iter().any(|column| column == "session_key");
    let nodes = if tied { sqlite::table_columns(connection, "session_nodes")? } else { Vec::new() };
    if !windows.iter().any(|column| column == "session_id") {
        let mut query = connection.prepare("SELECT DISTINCT session_id FROM transcript_events")?;
        let session =
            |row: &Row<'_>| Ok(Session { id: text_column(row, 0)?.unwrap_or_default(), ..Session::default() });
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
            id: text_column(row, 0)?.unwrap_or_default(),
            model: text_column(row, 1)?,
            started: time_from_millis(integer_column(row, 2)?),
            updated: time_from_millis(integer_column(row, 3)?),
            label: text_column(row, 4)?,
            name: text_column(row, 5)?,
            parent: text_column(row, 6)?,
            ..Session::default()
        })
    })?;
    rows.collect()
}

/// The key of a session, where this database has such.
pub(super) fn read_session_key(connection: &Connection, id: &str) -> rusqlite::Result<Option<String>> {
    let windows = sqlite::table_columns(connection, "session_windows")?;
    if !["session_id", "session_key"].iter().all(|name| windows.iter().any(|column| column == name)) {
        return Ok(None);
    }
    let query = "SELECT session_key FROM session_windows WHERE session_id = ?1";
    Ok(connection.query_row(query, [id], |row| text_column(row, 0)).optional()?.flatten())
}

impl StoredSession for DatabaseStorage<'_> {
    fn read_session(&self) -> rusqlite::Result<Option<Session>> {
        let known = read_sessions(self.connection)?;
        let Some(mut session) = known.into_iter().find(|session| session.id == self.session) else {
            return Ok(None);
        };
        let lookup = |table: &str, query: &str, value: &str| -> rusqlite::Result<Vec<String>> {
            if sqlite::table_columns(self.connection, table)?.is_empty() {
                return Ok(Vec::new());
            }
            let mut query = self.connection.prepare(query)?;
            query.query_map([value], |row| Ok(text_column(row, 0)?.unwrap_or_default()))?.collect()
        };
        if let Some(parent) = session.parent.take() {
            let query = "SELECT current_session_id FROM session_nodes WHERE session_key = ?1";
            session.parent = lookup("session_nodes", query, &parent)?.pop();
        }
        let query = "SELECT c.current_session_id FROM session_nodes AS c JOIN session_nodes AS p
                     ON c.spawned_by = p.session_key WHERE p.current_session_id = ?1 ORDER BY c.session_key";
        if sqlite::table_columns(self.connection, "session_nodes")?.iter().any(|column| column == "spawned_by") {
            session.children = lookup("session_nodes", query, &self.session)?;
        }
        let query = "SELECT generation FROM transcript_rewrite_watermarks WHERE session_id = ?1";
        session.generation = lookup("transcript_rewrite_watermarks", query, &self.session)?.pop().unwrap_or_default();
        let query = "SELECT app_version FROM schema_meta WHERE ?1 <> ''";
        session.version = lookup("schema_meta", query, &self.session)?.pop();
        if let Some(first) = first_event(self.connection, &self.session)? {
            session.apply_first_event(&first);
        }
        Ok(Some(session))
    }

    fn read_heads(&self) -> rusqlite::Result<Vec<RecordHead>> {
        let mut heads = Vec::new();
        let work = |batch: EventBatch| {
            let mut heads = Vec::new();
            batch.for_each_event(|seq, created, raw| heads.push(make_head(seq, created, raw)));
            heads
        };
        self.process_batches(i64::MIN, work, |batch| {
            heads.extend(batch);
            ControlFlow::Continue(())
        })?;
        Ok(heads)
    }

    fn read_texts(&self) -> rusqlite::Result<Vec<RawRecord<'static>>> {
        read_events(self.connection, &self.session, "ORDER BY seq")
    }

    fn parse_records(&self, records: &[PositionedHead<'_>], take: &mut RecordCallback<'_>) -> rusqlite::Result<()> {
        let Some((begin, _)) = records.first() else { return Ok(()) };
        let work = |batch: EventBatch| {
            let (mut parsed, mut is_named) = (Vec::new(), false);
            batch.for_each_event(|seq, _, raw| {
                // Events that came in after the heads were looked at are read the next time.
                if let Ok(at) = records.binary_search_by_key(&seq, |(head, _)| head.place) {
                    let (head, fate) = records[at];
                    parsed.push(record::parse_record(raw, head.key, fate, &mut is_named));
                }
            });
            parsed
        };
        self.process_batches(begin.place, work, |batch| batch.into_iter().try_for_each(&mut *take))
    }

    fn read_record(&self, key: EntryKey) -> rusqlite::Result<Option<RawRecord<'static>>> {
        let mut unpacker = Unpacker::default();
        if let Some(seq) = self.find_indexed(key)? {
            let query = event_query(&self.event_columns(), "AND seq = ?2");
            let found = self
                .connection
                .query_row(&query, rusqlite::params![self.session, seq], |row| read_event(row, 0, &mut unpacker));
            return found.optional();
        }
        let mut query =
            self.connection.prepare(&event_query(&format!("seq, {}", self.event_columns()), "ORDER BY seq"))?;
        let mut rows = query.query([&self.session])?;
        while let Some(row) = rows.next()? {
            let (seq, raw) = (integer_column(row, 0)?, read_event(row, 1, &mut unpacker)?);
            if make_head(seq, 0, &raw).key.offset == key.offset {
                return Ok(Some(raw));
            }
        }
        Ok(None)
    }
}

fn make_head(seq: i64, created: i64, raw: &RawRecord<'_>) -> RecordHead {
    let SkimmedRecord { mut link, name, content: said } = record::skim_record(raw);
    let named = ids::digest_name(&name.unwrap_or_else(|| link.name_by_number(seq)));
    let stamp = ids::extend_digest(named, &created.to_le_bytes());
    let stamp = ids::extend_digest(stamp, &raw.byte_len().to_le_bytes());
    RecordHead { key: make_key(named, raw), place: seq, stamp, link, said }
}

impl DatabaseStorage<'_> {
    /// Goes through the events from one on: they are taken from the database here, and worked on in lanes.
    fn process_batches<T: Send>(
        &self,
        from: i64,
        work: impl Fn(EventBatch) -> T + Sync,
        merge: impl FnMut(T) -> ControlFlow<()>,
    ) -> rusqlite::Result<()> {
        let what = format!("seq, {}, {}", self.column_or_null("created_at"), self.event_columns());
        let mut query = self.connection.prepare(&event_query(&what, "AND seq >= ?2 ORDER BY seq"))?;
        let mut rows = query.query(rusqlite::params![self.session, from])?;
        let mut failed = Ok(());
        let next = || match EventBatch::read_next(&mut rows) {
            Ok(batch) => batch,
            Err(error) => {
                failed = Err(error);
                None
            }
        };
        ordered_pool::map_ordered(next, work, merge);
        failed
    }

    /// Where the client's own index of names has a record.
    fn find_indexed(&self, key: EntryKey) -> rusqlite::Result<Option<i64>> {
        if sqlite::table_columns(self.connection, "transcript_event_identities")?.is_empty() {
            return Ok(None);
        }
        let query = "SELECT event_id, seq FROM transcript_event_identities WHERE session_id = ?1";
        let mut query = self.connection.prepare_cached(query)?;
        let mut rows = query.query([&self.session])?;
        while let Some(row) = rows.next()? {
            if text_column(row, 0)?.is_some_and(|id| ids::digest_name(&id) == key.offset) {
                return integer_column(row, 1).map(Some);
            }
        }
        Ok(None)
    }
}

/// The first event of a session.
pub(super) fn first_event(connection: &Connection, session: &str) -> rusqlite::Result<Option<RawRecord<'static>>> {
    let mut found = read_events(connection, session, "ORDER BY seq LIMIT 1")?;
    Ok(found.pop())
}

/// Some events of a session, by a part of a query.
pub(super) fn read_events(
    connection: &Connection,
    session: &str,
    rest: &str,
) -> rusqlite::Result<Vec<RawRecord<'static>>> {
    let Some(rows) = DatabaseStorage::open(connection, Some(session))? else { return Ok(Vec::new()) };
    let mut query = connection.prepare(&event_query(&rows.event_columns(), rest))?;
    let mut unpacker = Unpacker::default();
    query.query_map([session], |row| read_event(row, 0, &mut unpacker))?.collect()
}
