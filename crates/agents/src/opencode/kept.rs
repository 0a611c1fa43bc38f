//! A session as it is kept: rows of a database, or a file that the client exported.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use carryover_core::time::Timestamp;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::Value;
use serde_json::value::RawValue;

use super::pile::{Part, Pile};
use super::wire::{WireExport, WireExported, WireModel, WireNamed, WireRevert, WireRule, WireSession, lenient};
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
    pub rules: Option<Vec<WireRule>>,
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
            rules: lenient(info.permission),
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

/// A message without its parts, and a digest by which a change of it is noticed, and of them once they are weighed.
#[derive(Debug)]
pub(super) struct Head {
    pub message: Named,
    pub stamp: u64,
}

/// How many parts a message has, when they last changed, and how many bytes they are.
pub(super) type Weight = [i64; 3];

impl Head {
    /// Takes the parts into the stamp.
    pub(super) fn weigh(&mut self, parts: Option<&Weight>) {
        let values = parts.into_iter().flatten();
        self.stamp = values.fold(self.stamp, |stamp, value| ids::digest_on(stamp, &value.to_le_bytes()));
    }
}

/// A message and its parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message<'a> {
    pub head: Part<'a>,
    parts: &'a Pile,
    from: usize,
    to: usize,
}

impl<'a> Message<'a> {
    /// The parts from one to another of a pile are those of this message.
    pub(super) fn new(message: &'a Named, parts: &'a Pile, range: Range<usize>) -> Self {
        Self { head: message.as_part(), parts, from: range.start, to: range.end }
    }

    pub(super) fn parts(&self) -> impl ExactSizeIterator<Item = Part<'a>> + use<'a> {
        self.parts.parts(self.from..self.to)
    }

    /// Leaves out what comes from a part on.
    pub(super) fn before(self, part: &str) -> Self {
        let at = self.parts().position(|named| named.id == part);
        Self { to: at.map_or(self.to, |at| self.from + at), ..self }
    }

    /// How many bytes it has.
    pub(super) fn length(&self) -> u32 {
        let lengths = self.parts().chain([self.head]).map(|part| part.record.map_or(0, str::len));
        u32::try_from(lengths.sum::<usize>()).unwrap_or(u32::MAX)
    }

    /// It in the form in which the client exports it; `None` where something of it cannot be read.
    pub(super) fn to_record(self) -> Option<Value> {
        let value = |part: Part<'_>| {
            let Ok(Value::Object(fields)) = serde_json::from_str(part.record.ok()?) else { return None };
            let mut whole = serde_json::Map::from_iter([("id".to_owned(), Value::from(part.id))]);
            whole.extend(fields);
            Some(Value::Object(whole))
        };
        let parts: Option<Vec<Value>> = self.parts().map(value).collect();
        Some(serde_json::json!({ "info": value(self.head)?, "parts": parts? }))
    }
}

/// A message with its parts that was looked up.
#[derive(Debug)]
pub(super) struct Found {
    pub message: Named,
    pub parts: Pile,
}

impl Found {
    pub(super) fn as_message(&self) -> Message<'_> {
        Message::new(&self.message, &self.parts, 0..self.parts.len())
    }
}

/// Where a session can be looked up.
pub(super) trait Kept {
    fn session(&self) -> rusqlite::Result<Option<Session>>;
    /// All messages in the order in which they happened.
    fn heads(&self) -> rusqlite::Result<Vec<Head>>;
    /// Takes the parts into the stamps of all messages, without reading what they say.
    fn weigh(&self, _heads: &mut [Head]) -> rusqlite::Result<()> {
        Ok(())
    }
    /// Lays the parts of a message on a pile; tells their weight where it is not in the stamps from the beginning.
    fn parts(&self, message: &str, pile: &mut Pile) -> rusqlite::Result<Option<Weight>>;
    /// The message whose name has this digest.
    fn message(&self, digest: u64) -> rusqlite::Result<Option<Found>>;
}

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

fn time(millis: i64) -> Option<Timestamp> {
    (millis > 0).then(|| Timestamp::from_millis(millis))
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

/// A file that the client exported.
pub(super) struct Exported {
    session: Session,
    messages: Vec<(Named, Vec<Named>)>,
}

impl Exported {
    /// Reads it; `None` where it is no such file.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let export: WireExport<'_> = serde_json::from_str(without_status(text)).ok()?;
        let session = Session::of(export.info);
        let message = |(index, message): (usize, &WireExported<'_>)| {
            let part = |(at, part): (usize, &&RawValue)| named(part, &format!("{index}.{at}"));
            let parts = message.parts.iter().enumerate().map(part).collect();
            (named(message.info, &format!("message {index}")), parts)
        };
        let messages = export.messages.iter().enumerate().map(message).collect();
        Some(Self { session, messages })
    }
}

/// An export without the line that the client says before it, which older ones did not keep apart.
pub(super) fn without_status(text: &str) -> &str {
    let status = text.strip_prefix("Exporting session: ").and_then(|rest| rest.split_once('\n'));
    status.map_or(text, |(_, export)| export)
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
        let head = |(message, parts): &(Named, Vec<Named>)| {
            let texts = parts.iter().chain([message]).filter_map(|named| match &named.raw {
                Raw::Text(text) => Some(text.as_bytes()),
                Raw::Bad(_) => None,
            });
            Head { message: message.clone(), stamp: texts.fold(ids::digest(&message.id), ids::digest_on) }
        };
        Ok(self.messages.iter().map(head).collect())
    }

    fn parts(&self, id: &str, pile: &mut Pile) -> rusqlite::Result<Option<Weight>> {
        let found = self.messages.iter().find(|(message, _)| message.id == id);
        if let Some((_, parts)) = found {
            pile.extend(parts);
        }
        Ok(None)
    }

    fn message(&self, digest: u64) -> rusqlite::Result<Option<Found>> {
        let found = self.messages.iter().find(|(message, _)| ids::digest(&message.id) == digest);
        let found = found.map(|(message, parts)| {
            let mut pile = Pile::default();
            pile.extend(parts);
            Found { message: message.clone(), parts: pile }
        });
        Ok(found)
    }
}
