//! A session as it is stored, wherever that is: its messages with their parts, looked up one by one.

use std::ops::Range;

use carryover_core::time::Timestamp;
use serde_json::Value;

use super::pile::{Part, Pile};
use super::wire::{WireModel, WireRevert, WireRule, WireSession, lenient};
use crate::formats::ids;
use crate::formats::text::Text;

/// A session as a whole.
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
pub(super) trait StoredSession {
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

/// A time, where there is any.
pub(super) fn time(millis: i64) -> Option<Timestamp> {
    (millis > 0).then(|| Timestamp::from_millis(millis))
}
