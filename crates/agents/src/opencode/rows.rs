//! Sessions that are rows of the client's database.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};

use super::pile::{Part, Pile};
use super::stored_session::{Found, Head, Named, Raw, Session, StoredSession, Weight, time};
use crate::formats::ids;
use crate::formats::jsonl::MAX_RECORD;
use crate::formats::sqlite;

/// Rows of a database.
pub(super) struct Rows<'a> {
    connection: &'a Connection,
    session: String,
}

/// The parts of a message in their order. What is too long to be looked at is held back. Parts that another session
/// claims are no part of what is noticed of this one.
const PARTS: &str = "SELECT id, CASE WHEN octet_length(data) <= 67108864 THEN data END,
    session_id = ?2, time_updated, octet_length(data) FROM part WHERE message_id = ?1 ORDER BY id";
const DATA: &str = "CASE WHEN octet_length(data) <= 67108864 THEN data END";
const _: () = assert!(MAX_RECORD == 67_108_864);

impl<'a> Rows<'a> {
    /// A session by its id; without one, the newest that is not a sub-agent's.
    pub(super) fn of(connection: &'a Connection, key: Option<&str>) -> rusqlite::Result<Option<Self>> {
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
    fn weights(&self) -> rusqlite::Result<BTreeMap<String, Weight>> {
        // Grouped here: the database would sort the rows for it, and take their contents along.
        let query = "SELECT message_id, time_updated, octet_length(data) FROM part WHERE session_id = ?1";
        let mut query = self.connection.prepare_cached(query)?;
        let mut rows = query.query([&self.session])?;
        let mut weights: BTreeMap<String, Weight> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let id = row.get_ref(0)?.as_str()?;
            let (updated, bytes) = (number(row, 1)?, number(row, 2)?);
            if let Some(weight) = weights.get_mut(id) {
                *weight = heavier(Some(*weight), updated, bytes);
            } else {
                weights.insert(id.to_owned(), heavier(None, updated, bytes));
            }
        }
        Ok(weights)
    }
}

/// The weight of some parts and one more.
fn heavier(weight: Option<Weight>, updated: i64, bytes: i64) -> Weight {
    match weight {
        Some([count, last, total]) => [count + 1, updated.max(last), total + bytes],
        None => [1, updated, bytes],
    }
}

/// The columns of sessions that are looked at; clients before or after may not have all.
const COLUMNS: &[&str] = &[
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
    let there = sqlite::columns(connection, "session")?;
    let column =
        |name: &&str| if there.iter().any(|there| there == name) { format!("\"{name}\"") } else { "NULL".into() };
    let columns: Vec<String> = COLUMNS.iter().map(column).collect();
    Ok(format!("SELECT {} FROM session {rest}", columns.join(", ")))
}

pub(super) fn session_of(row: &Row<'_>) -> rusqlite::Result<Session> {
    let json = |index| text(row, index).map(Option::unwrap_or_default);
    Ok(Session {
        id: text(row, 0)?.unwrap_or_default(),
        title: text(row, 1)?,
        directory: text(row, 2)?,
        version: text(row, 3)?,
        parent: text(row, 4)?,
        model: serde_json::from_str(&json(5)?).ok(),
        revert: serde_json::from_str(&json(6)?).ok(),
        created: time(number(row, 7)?),
        updated: time(number(row, 8)?),
        rules: serde_json::from_str(&json(9)?).ok(),
        children: Vec::new(),
    })
}

impl StoredSession for Rows<'_> {
    fn session(&self) -> rusqlite::Result<Option<Session>> {
        let query = session_query(self.connection, "WHERE id = ?1")?;
        let Some(mut session) = self.connection.query_row(&query, [&self.session], session_of).optional()? else {
            return Ok(None);
        };
        let mut children = self.connection.prepare("SELECT id FROM session WHERE parent_id = ?1 ORDER BY id")?;
        session.children = children.query_map([&self.session], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        Ok(Some(session))
    }

    fn heads(&self) -> rusqlite::Result<Vec<Head>> {
        let query =
            format!("SELECT id, {DATA}, time_updated FROM message WHERE session_id = ?1 ORDER BY time_created, id");
        let mut query = self.connection.prepare_cached(&query)?;
        let rows = query.query_map([&self.session], |row| {
            let message = Named { id: text(row, 0)?.unwrap_or_default(), raw: raw(row, 1)? };
            let stamp = ids::digest_on(ids::digest(&message.id), &number(row, 2)?.to_le_bytes());
            Ok(Head { message, stamp })
        })?;
        rows.collect()
    }

    fn weigh(&self, heads: &mut [Head]) -> rusqlite::Result<()> {
        let weights = self.weights()?;
        for head in heads {
            head.weigh(weights.get(&head.message.id));
        }
        Ok(())
    }

    fn parts(&self, message: &str, pile: &mut Pile) -> rusqlite::Result<Option<Weight>> {
        let mut query = self.connection.prepare_cached(PARTS)?;
        let mut rows = query.query([message, &self.session])?;
        let mut weight = None;
        while let Some(row) = rows.next()? {
            pile.push(Part::new(&name(row, 0)?, record(row, 1)?));
            if number(row, 2)? == 1 {
                weight = Some(heavier(weight, number(row, 3)?, number(row, 4)?));
            }
        }
        Ok(weight)
    }

    fn message(&self, digest: u64) -> rusqlite::Result<Option<Found>> {
        let mut names = self.connection.prepare_cached("SELECT id FROM message WHERE session_id = ?1")?;
        let mut rows = names.query([&self.session])?;
        while let Some(row) = rows.next()? {
            let id = text(row, 0)?.unwrap_or_default();
            if ids::digest(&id) != digest {
                continue;
            }
            let query = format!("SELECT {DATA} FROM message WHERE id = ?1");
            let raw = self.connection.query_row(&query, [&id], |row| raw(row, 0))?;
            let mut parts = Pile::default();
            self.parts(&id, &mut parts)?;
            return Ok(Some(Found { message: Named { id, raw }, parts }));
        }
        Ok(None)
    }
}

/// A text, whatever its column holds.
fn text(row: &Row<'_>, index: usize) -> rusqlite::Result<Option<String>> {
    Ok(match row.get_ref(index)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    })
}

/// The same, borrowed; nothing is an empty one.
fn name<'r>(row: &'r Row<'_>, index: usize) -> rusqlite::Result<Cow<'r, str>> {
    Ok(match row.get_ref(index)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes),
        _ => Cow::Borrowed(""),
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

fn raw(row: &Row<'_>, index: usize) -> rusqlite::Result<Raw> {
    Ok(record(row, index)?.map_or_else(Raw::Bad, |text| Raw::Text(text.to_owned())))
}

/// A record, or what is wrong with it.
fn record<'r>(row: &'r Row<'_>, index: usize) -> rusqlite::Result<Result<&'r str, &'static str>> {
    Ok(match row.get_ref(index)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => simdutf8::basic::from_utf8(bytes).map_err(|_| "not UTF-8"),
        ValueRef::Null => Err("the record is longer than 64 MiB, or not there"),
        _ => Err("not a JSON object"),
    })
}
