//! A session as it is stored, wherever that is: its messages with their parts, looked up one by one.

use std::ops::Range;

use carryover_core::time::Timestamp;
use serde_json::Value;

use super::part_buffer::{PartBuffer, RawPart};
use super::wire::{WireModel, WireRevert, WireRule, WireSession, parse_lenient};
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
    pub(super) fn from_wire(info: WireSession<'_>) -> Self {
        let owned = |text: Option<Text<'_>>| text.map(|text| text.0.into_owned());
        Self {
            id: info.id,
            title: owned(info.title),
            directory: owned(info.directory),
            version: owned(info.version),
            parent: info.parent,
            model: parse_lenient(info.model),
            revert: parse_lenient(info.revert),
            rules: parse_lenient(info.permission),
            created: info.time.created.and_then(time),
            updated: info.time.updated.and_then(time),
            children: Vec::new(),
        }
    }
}

/// A text that may be too long or no text.
#[derive(Debug, Clone)]
pub(super) enum RawRecord {
    Text(String),
    Unreadable(&'static str),
}

/// A record with its name.
#[derive(Debug, Clone)]
pub(super) struct NamedRecord {
    pub id: String,
    pub raw: RawRecord,
}

/// A message without its parts, and a digest by which a change of it is noticed, and of them once they are weighed.
#[derive(Debug)]
pub(super) struct MessageHead {
    pub message: NamedRecord,
    pub stamp: u64,
}

/// How many parts a message has, when they last changed, and how many bytes they are.
pub(super) type PartsSummary = [i64; 3];

impl MessageHead {
    /// Takes the parts into the stamp.
    pub(super) fn stamp_parts(&mut self, parts: Option<&PartsSummary>) {
        let values = parts.into_iter().flatten();
        self.stamp = values.fold(self.stamp, |stamp, value| ids::extend_digest(stamp, &value.to_le_bytes()));
    }
}

/// A message and its parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message<'a> {
    pub head: RawPart<'a>,
    parts: &'a PartBuffer,
    from: usize,
    to: usize,
}

impl<'a> Message<'a> {
    /// The parts from one to another of a pile are those of this message.
    pub(super) fn new(message: &'a NamedRecord, parts: &'a PartBuffer, range: Range<usize>) -> Self {
        Self { head: message.as_part(), parts, from: range.start, to: range.end }
    }

    pub(super) fn parts(&self) -> impl ExactSizeIterator<Item = RawPart<'a>> + use<'a> {
        self.parts.parts(self.from..self.to)
    }

    /// Leaves out what comes from a part on.
    pub(super) fn truncate_at(self, part: &str) -> Self {
        let at = self.parts().position(|named| named.id == part);
        Self { to: at.map_or(self.to, |at| self.from + at), ..self }
    }

    /// How many bytes it has.
    pub(super) fn byte_len(&self) -> u32 {
        let lengths = self.parts().chain([self.head]).map(|part| part.record.map_or(0, str::len));
        u32::try_from(lengths.sum::<usize>()).unwrap_or(u32::MAX)
    }

    /// It in the form in which the client exports it; `None` where something of it cannot be read.
    pub(super) fn to_record(self) -> Option<Value> {
        let parts: Option<Vec<Value>> = self.parts().map(part_value).collect();
        Some(serde_json::json!({ "info": part_value(self.head)?, "parts": parts? }))
    }

    /// The same, in which what cannot be read stands as the text that it is.
    pub(super) fn to_lenient_record(self) -> Value {
        let value = |part: RawPart<'_>| {
            let text = part.record.unwrap_or_else(|reason| reason);
            part_value(part).unwrap_or_else(|| serde_json::json!({ "id": part.id, "unreadable": text }))
        };
        let parts: Vec<Value> = self.parts().map(value).collect();
        serde_json::json!({ "info": value(self.head), "parts": parts })
    }
}

fn part_value(part: RawPart<'_>) -> Option<Value> {
    let Ok(Value::Object(fields)) = serde_json::from_str(part.record.ok()?) else { return None };
    let mut whole = serde_json::Map::from_iter([("id".to_owned(), Value::from(part.id))]);
    whole.extend(fields);
    Some(Value::Object(whole))
}

/// A message with its parts that was looked up.
#[derive(Debug)]
pub(super) struct FoundMessage {
    pub message: NamedRecord,
    pub parts: PartBuffer,
}

impl FoundMessage {
    pub(super) fn as_message(&self) -> Message<'_> {
        Message::new(&self.message, &self.parts, 0..self.parts.len())
    }
}

/// Where a session can be looked up.
pub(super) trait StoredSession {
    fn read_session(&self) -> rusqlite::Result<Option<Session>>;
    /// The session as a whole in the form in which the client exports it.
    fn session_record(&self) -> rusqlite::Result<Option<String>>;
    /// All messages in the order in which they happened.
    fn read_heads(&self) -> rusqlite::Result<Vec<MessageHead>>;
    /// Takes the parts into the stamps of all messages, without reading what they say.
    fn stamp_parts(&self, _heads: &mut [MessageHead]) -> rusqlite::Result<()> {
        Ok(())
    }
    /// Lays the parts of a message on a pile; tells their weight where it is not in the stamps from the beginning.
    fn read_parts(&self, message: &str, pile: &mut PartBuffer) -> rusqlite::Result<Option<PartsSummary>>;
    /// The message whose name has this digest.
    fn find_message(&self, digest: u64) -> rusqlite::Result<Option<FoundMessage>>;
}

/// A time, where there is any.
pub(super) fn time(millis: i64) -> Option<Timestamp> {
    (millis > 0).then(|| Timestamp::from_millis(millis))
}
