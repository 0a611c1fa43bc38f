//! A session as it is kept: rows of a database, or a file that the client exported.

use std::collections::BTreeMap;

use carryover_core::time::Timestamp;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::Value;
use serde_json::value::RawValue;

use super::wire::{WireExport, WireExported, WireModel, WireNamed, WireRevert, WireSession, lenient};
use crate::formats::ids;
use crate::formats::jsonl::MAX_RECORD;
use crate::formats::sqlite;
use crate::formats::text::Text;

/// What is known of a session as a whole.
#[derive(Debug, Clone, Default)]
pub(super) struct Session {
    pub id: String,
    pub title: Option<String>,
    pub directory: Option<String>,
    pub version: Option<String>,
    pub parent: Option<String>,
    pub model: Option<WireModel>,
    pub revert: Option<WireRevert>,
    pub created: Option<Timestamp>,
    pub updated: Option<Timestamp>,
    /// The sessions of its sub-agents.
    pub children: Vec<String>,
}

impl Session {
    /// A session as it is exported, or as older clients kept it.
    pub(super) fn of(info: WireSession<'_>) -> Self {
        let owned = |text: Option<Text<'_>>| text.map(|text| text.0.into_owned());
        Self {
            id: info.id,
            title: owned(info.title),
            directory: owned(info.directory),
            version: owned(info.version),
            parent: info.parent,
            model: lenient(info.model),
            revert: lenient(info.revert),
            created: info.time.created.and_then(time),
            updated: info.time.updated.and_then(time),
            children: Vec::new(),
        }
    }
}

/// A text that may be too long or no text.
#[derive(Debug, Clone)]
pub(super) enum Raw {
    Text(String),
    Bad(&'static str),
}

/// A record with its name.
#[derive(Debug, Clone)]
pub(super) struct Named {
    pub id: String,
    pub raw: Raw,
}

/// A message without its parts, and a digest by which a change of either is noticed.
#[derive(Debug)]
pub(super) struct Head {
    pub message: Named,
    pub stamp: u64,
}

/// A message and its parts.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub message: Named,
    pub parts: Vec<Named>,
}

impl Message {
    /// How many bytes it has.
    pub(super) fn length(&self) -> u32 {
        let lengths = self.parts.iter().chain([&self.message]).map(|named| match &named.raw {
            Raw::Text(text) => text.len(),
            Raw::Bad(_) => 0,
        });
        u32::try_from(lengths.sum::<usize>()).unwrap_or(u32::MAX)
    }

    /// It in the form in which the client exports it; `None` where something of it cannot be read.
    pub(super) fn to_record(&self) -> Option<Value> {
        let value = |named: &Named| {
            let Raw::Text(text) = &named.raw else { return None };
            let Ok(Value::Object(fields)) = serde_json::from_str(text) else { return None };
            let mut whole = serde_json::Map::from_iter([("id".to_owned(), Value::from(named.id.as_str()))]);
            whole.extend(fields);
            Some(Value::Object(whole))
        };
        let parts: Option<Vec<Value>> = self.parts.iter().map(value).collect();
        Some(serde_json::json!({ "info": value(&self.message)?, "parts": parts? }))
    }
}

/// Where a session can be looked up.
pub(super) trait Kept {
    fn session(&self) -> rusqlite::Result<Option<Session>>;
    /// All messages in the order in which they happened.
    fn heads(&self) -> rusqlite::Result<Vec<Head>>;
    fn parts(&self, message: &str) -> rusqlite::Result<Vec<Named>>;
    /// The message whose name has this digest.
    fn message(&self, digest: u64) -> rusqlite::Result<Option<Message>>;
}

/// Rows of a database.
pub(super) struct Rows<'a> {
    connection: &'a Connection,
    session: String,
}

/// Holds back what is too long to be looked at.
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
    fn changes(&self) -> rusqlite::Result<BTreeMap<String, [i64; 3]>> {
        // Grouped here: the database would sort the rows for it, and take their contents along.
        let query = "SELECT message_id, time_updated, octet_length(data) FROM part WHERE session_id = ?1";
        let mut query = self.connection.prepare_cached(query)?;
        let mut rows = query.query([&self.session])?;
        let mut changes: BTreeMap<String, [i64; 3]> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let id = row.get_ref(0)?.as_str()?;
            let (updated, bytes) = (number(row, 1)?, number(row, 2)?);
            if let Some([count, last, total]) = changes.get_mut(id) {
                (*count, *last, *total) = (*count + 1, updated.max(*last), *total + bytes);
            } else {
                changes.insert(id.to_owned(), [1, updated, bytes]);
            }
        }
        Ok(changes)
    }
}

/// The columns of sessions that are looked at; clients before or after may not have all.
const COLUMNS: &[&str] =
    &["id", "title", "directory", "version", "parent_id", "model", "revert", "time_created", "time_updated"];

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
        children: Vec::new(),
    })
}

impl Kept for Rows<'_> {
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
        let changes = self.changes()?;
        let query =
            format!("SELECT id, {DATA}, time_updated FROM message WHERE session_id = ?1 ORDER BY time_created, id");
        let mut query = self.connection.prepare_cached(&query)?;
        let rows = query.query_map([&self.session], |row| {
            let message = Named { id: text(row, 0)?.unwrap_or_default(), raw: raw(row, 1)? };
            let mut stamp = ids::digest(&message.id);
            let own = [number(row, 2)?];
            for value in own.iter().chain(changes.get(&message.id).into_iter().flatten()) {
                stamp = ids::digest_on(stamp, &value.to_le_bytes());
            }
            Ok(Head { message, stamp })
        })?;
        rows.collect()
    }

    fn parts(&self, message: &str) -> rusqlite::Result<Vec<Named>> {
        let query = format!("SELECT id, {DATA} FROM part WHERE message_id = ?1 ORDER BY id");
        let mut query = self.connection.prepare_cached(&query)?;
        let named = |row: &Row<'_>| Ok(Named { id: text(row, 0)?.unwrap_or_default(), raw: raw(row, 1)? });
        query.query_map([message], named)?.collect()
    }

    fn message(&self, digest: u64) -> rusqlite::Result<Option<Message>> {
        let mut names = self.connection.prepare_cached("SELECT id FROM message WHERE session_id = ?1")?;
        let mut rows = names.query([&self.session])?;
        while let Some(row) = rows.next()? {
            let id = text(row, 0)?.unwrap_or_default();
            if ids::digest(&id) != digest {
                continue;
            }
            let query = format!("SELECT {DATA} FROM message WHERE id = ?1");
            let raw = self.connection.query_row(&query, [&id], |row| raw(row, 0))?;
            let parts = self.parts(&id)?;
            return Ok(Some(Message { message: Named { id, raw }, parts }));
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

fn number(row: &Row<'_>, index: usize) -> rusqlite::Result<i64> {
    Ok(match row.get_ref(index)? {
        ValueRef::Integer(number) => number,
        #[expect(clippy::cast_possible_truncation, reason = "times are whole numbers, held within range")]
        ValueRef::Real(number) => number as i64,
        _ => 0,
    })
}

fn time(millis: i64) -> Option<Timestamp> {
    (millis > 0).then(|| Timestamp::from_millis(millis))
}

fn raw(row: &Row<'_>, index: usize) -> rusqlite::Result<Raw> {
    Ok(match row.get_ref(index)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => match simdutf8::basic::from_utf8(bytes) {
            Ok(text) => Raw::Text(text.to_owned()),
            Err(_) => Raw::Bad("not UTF-8"),
        },
        ValueRef::Null => Raw::Bad("the record is longer than 64 MiB, or not there"),
        _ => Raw::Bad("not a JSON object"),
    })
}

/// A file that the client exported.
pub(super) struct Exported {
    session: Session,
    messages: Vec<Message>,
}

impl Exported {
    /// Reads it; `None` where it is no such file.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let export: WireExport<'_> = serde_json::from_str(text).ok()?;
        let session = Session::of(export.info);
        let message = |(index, message): (usize, &WireExported<'_>)| Message {
            message: named(message.info, &format!("message {index}")),
            parts: message.parts.iter().enumerate().map(|(at, part)| named(part, &format!("{index}.{at}"))).collect(),
        };
        let messages = export.messages.iter().enumerate().map(message).collect();
        Some(Self { session, messages })
    }
}

fn named(raw: &RawValue, otherwise: &str) -> Named {
    let id = serde_json::from_str::<WireNamed>(raw.get()).map_or_else(|_| otherwise.to_owned(), |named| named.id);
    Named { id, raw: Raw::Text(raw.get().to_owned()) }
}

impl Kept for Exported {
    fn session(&self) -> rusqlite::Result<Option<Session>> {
        Ok(Some(self.session.clone()))
    }

    fn heads(&self) -> rusqlite::Result<Vec<Head>> {
        let stamp = |message: &Message| {
            let texts = message.parts.iter().chain([&message.message]).filter_map(|named| match &named.raw {
                Raw::Text(text) => Some(text.as_bytes()),
                Raw::Bad(_) => None,
            });
            texts.fold(ids::digest(&message.message.id), ids::digest_on)
        };
        Ok(self
            .messages
            .iter()
            .map(|message| Head { message: message.message.clone(), stamp: stamp(message) })
            .collect())
    }

    fn parts(&self, id: &str) -> rusqlite::Result<Vec<Named>> {
        let found = self.messages.iter().find(|message| message.message.id == id);
        Ok(found.map(|message| message.parts.clone()).unwrap_or_default())
    }

    fn message(&self, digest: u64) -> rusqlite::Result<Option<Message>> {
        Ok(self.messages.iter().find(|message| ids::digest(&message.message.id) == digest).cloned())
    }
}
