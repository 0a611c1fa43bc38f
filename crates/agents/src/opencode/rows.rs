//! Sessions that are rows of the client's database.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};

use super::part_buffer::{PartBuffer, RawPart};
use super::stored_session::{
    FoundMessage, MessageHead, NamedRecord, PartsSummary, RawRecord, Session, StoredSession, time,
};
use crate::formats::ids;
use crate::formats::jsonl::MAX_RECORD_BYTES;
use crate::formats::sqlite;

/// Rows of a database.
pub(super) struct DatabaseStorage<'a> {
    connection: &'a Connection,
    session: String,
}

/// The parts of a message in their order. What is too long to be looked at is held back. Parts that another session
/// claims are no part of what is noticed of this one.
const PARTS_QUERY: &str = "SELECT id, CASE WHEN octet_length(data) <= 67108864 THEN data END,
    session_id = ?2, time_updated, octet_length(data) FROM part WHERE message_id = ?1 ORDER BY id";
const DATA_COLUMN: &str = "CASE WHEN octet_length(data) <= 67108864 THEN data END";
const _: () = assert!(MAX_RECORD_BYTES == 67_108_864);

impl<'a> DatabaseStorage<'a> {
    /// A session by its id; without one, the newest that is not a sub-agent's.
    pub(super) fn open(connection: &'a Connection, key: Option<&str>) -> rusqlite::Result<Option<Self>> {
        let newest = || {
            let query = "SELECT id FROM session WHERE parent_id IS NULL ORDER BY time_updated DESC, id LIMIT 1";
            connection.query_row(query, [], |row| row.get(0)).optional()
        };
        let session = match key {
            Some(key) => Some(key.to_owned()),
            None => newest()?,
        };
        Ok(session.map(|session| Self { connection, session }))
    }

    /// How much the parts of each message are, and when they last changed; their contents stay unread.
    fn summarize_parts(&self) -> rusqlite::Result<BTreeMap<String, PartsSummary>> {
        // Grouped here: the database would sort the rows for it, and take their contents along.
        let query = "SELECT message_id, time_updated, octet_length(data) FROM part WHERE session_id = ?1";
        let mut query = self.connection.prepare_cached(query)?;
        let mut rows = query.query([&self.session])?;
        let mut weights: BTreeMap<String, PartsSummary> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let id = row.get_ref(0)?.as_str()?;
            let (updated, bytes) = (integer_column(row, 1)?, integer_column(row, 2)?);
            if let Some(weight) = weights.get_mut(id) {
                *weight = add_part(Some(*weight), updated, bytes);
            } else {
                weights.insert(id.to_owned(), add_part(None, updated, bytes));
            }
        }
        Ok(weights)
    }
}

/// The weight of some parts and one more.
fn add_part(weight: Option<PartsSummary>, updated: i64, bytes: i64) -> PartsSummary {
    match weight {
        Some([count, last, total]) => [count + 1, updated.max(last), total + bytes],
        None => [1, updated, bytes],
    }
}

/// The columns of sessions that are looked at; clients before or after may not have all.
const SESSION_COLUMNS: &[&str] = &[
    "id",
    "title",
    "directory",
    "version",
    "parent_id",
    "model",
    "revert",
    "time_created",
    "time_updated",
    "permission",
];

/// A query for sessions that takes a missing column as empty.
pub(super) fn session_query(connection: &Connection, rest: &str) -> rusqlite::Result<String> {
    let there = sqlite::table_columns(connection, "session")?;
    let column =
        |name: &&str| if there.iter().any(|there| there == name) { format!("\"{name}\"") } else { "NULL".into() };
    let columns: Vec<String> = SESSION_COLUMNS.iter().map(column).collect();
    Ok(format!("SELECT {} FROM session {rest}", columns.join(", ")))
}

pub(super) fn session_from_row(row: &Row<'_>) -> rusqlite::Result<Session> {
    let json = |index| text_column(row, index).map(Option::unwrap_or_default);
    Ok(Session {
        id: text_column(row, 0)?.unwrap_or_default(),
        title: text_column(row, 1)?,
        directory: text_column(row, 2)?,
        version: text_column(row, 3)?,
        parent: text_column(row, 4)?,
        model: serde_json::from_str(&json(5)?).ok(),
        revert: serde_json::from_str(&json(6)?).ok(),
        created: time(integer_column(row, 7)?),
        updated: time(integer_column(row, 8)?),
        rules: serde_json::from_str(&json(9)?).ok(),
        children: Vec::new(),
    })
}

/// A session's row in the form in which the client exports it.
fn session_record(row: &Row<'_>) -> rusqlite::Result<String> {
    let mut record = serde_json::Map::new();
    for (index, name) in [(0, "id"), (1, "title"), (2, "directory"), (3, "version"), (4, "parentID")] {
        record.extend(text_column(row, index)?.map(|text| (name.to_owned(), text.into())));
    }
    for (index, name) in [(5, "model"), (6, "revert"), (9, "permission")] {
        let value = text_column(row, index)?.and_then(|text| serde_json::from_str(&text).ok());
        record.extend(value.map(|value: serde_json::Value| (name.to_owned(), value)));
    }
    let time = serde_json::json!({ "created": integer_column(row, 7)?, "updated": integer_column(row, 8)? });
    record.insert("time".to_owned(), time);
    Ok(serde_json::Value::Object(record).to_string())
}

impl StoredSession for DatabaseStorage<'_> {
    fn read_session(&self) -> rusqlite::Result<Option<Session>> {
        let query = session_query(self.connection, "WHERE id = ?1")?;
        let Some(mut session) = self.connection.query_row(&query, [&self.session], session_from_row).optional()? else {
            return Ok(None);
        };
        let mut children = self.connection.prepare("SELECT id FROM session WHERE parent_id = ?1 ORDER BY id")?;
        session.children = children.query_map([&self.session], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        Ok(Some(session))
    }

    fn session_record(&self) -> rusqlite::Result<Option<String>> {
        let query = session_query(self.connection, "WHERE id = ?1")?;
        self.connection.query_row(&query, [&self.session], session_record).optional()
    }

    fn read_heads(&self) -> rusqlite::Result<Vec<MessageHead>> {
        let query = format!(
            "SELECT id, {DATA_COLUMN}, time_updated FROM message WHERE session_id = ?1 ORDER BY time_created, id"
        );
        let mut query = self.connection.prepare_cached(&query)?;
        let rows = query.query_map([&self.session], |row| {
            let message = NamedRecord { id: text_column(row, 0)?.unwrap_or_default(), raw: raw_column(row, 1)? };
            let stamp = ids::extend_digest(ids::digest_name(&message.id), &integer_column(row, 2)?.to_le_bytes());
            Ok(MessageHead { message, stamp })
        })?;
        rows.collect()
    }

    fn stamp_parts(&self, heads: &mut [MessageHead]) -> rusqlite::Result<()> {
        let weights = self.summarize_parts()?;
        for head in heads {
            head.stamp_parts(weights.get(&head.message.id));
        }
        Ok(())
    }

    fn read_parts(&self, message: &str, pile: &mut PartBuffer) -> rusqlite::Result<Option<PartsSummary>> {
        let mut query = self.connection.prepare_cached(PARTS_QUERY)?;
        let mut rows = query.query([message, &self.session])?;
        let mut weight = None;
        while let Some(row) = rows.next()? {
            pile.push(RawPart::new(&name_column(row, 0)?, record_column(row, 1)?));
            if integer_column(row, 2)? == 1 {
                weight = Some(add_part(weight, integer_column(row, 3)?, integer_column(row, 4)?));
            }
        }
        Ok(weight)
    }

    fn find_message(&self, digest: u64) -> rusqlite::Result<Option<FoundMessage>> {
        let mut names = self.connection.prepare_cached("SELECT id FROM message WHERE session_id = ?1")?;
        let mut rows = names.query([&self.session])?;
        while let Some(row) = rows.next()? {
            let id = text_column(row, 0)?.unwrap_or_default();
            if ids::digest_name(&id) != digest {
                continue;
            }
            let query = format!("SELECT {DATA_COLUMN} FROM message WHERE id = ?1");
            let raw = self.connection.query_row(&query, [&id], |row| raw_column(row, 0))?;
            let mut parts = PartBuffer::default();
            self.read_parts(&id, &mut parts)?;
            return Ok(Some(FoundMessage { message: NamedRecord { id, raw }, parts }));
        }
        Ok(None)
    }
}

/// A text, whatever its column holds.
fn text_column(row: &Row<'_>, index: usize) -> rusqlite::Result<Option<String>> {
    Ok(match row.get_ref(index)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    })
}

/// The same, borrowed; nothing is an empty one.
fn name_column<'r>(row: &'r Row<'_>, index: usize) -> rusqlite::Result<Cow<'r, str>> {
    Ok(match row.get_ref(index)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes),
        _ => Cow::Borrowed(""),
    })
}

fn integer_column(row: &Row<'_>, index: usize) -> rusqlite::Result<i64> {
    Ok(match row.get_ref(index)? {
        ValueRef::Integer(number) => number,
        #[expect(clippy::cast_possible_truncation, reason = "times are whole numbers, held within range")]
        ValueRef::Real(number) => number as i64,
        _ => 0,
    })
}

fn raw_column(row: &Row<'_>, index: usize) -> rusqlite::Result<RawRecord> {
    Ok(record_column(row, index)?.map_or_else(RawRecord::Unreadable, |text| RawRecord::Text(text.to_owned())))
}

/// A record, or what is wrong with it.
fn record_column<'r>(row: &'r Row<'_>, index: usize) -> rusqlite::Result<Result<&'r str, &'static str>> {
    Ok(match row.get_ref(index)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => simdutf8::basic::from_utf8(bytes).map_err(|_| "not UTF-8"),
        ValueRef::Null => Err("the record is longer than 64 MiB, or not there"),
        _ => Err("not a JSON object"),
    })
}
