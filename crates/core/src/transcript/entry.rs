//! One thing that happened in a session.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};

use super::Body;
use crate::time::Timestamp;

/// Where an entry stands in its source, which is also its identity and its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EntryKey {
    /// Which of the header's files; a session that was forked by reference has several.
    pub file: u16,
    /// Where the record begins: a byte offset, or, where records have names and no places, a digest of its name.
    pub offset: u64,
    /// The n-th thing in its record.
    pub part: u16,
    /// How many bytes the record has.
    pub length: u32,
}

impl EntryKey {
    /// The short name by which people and programs ask for the entry again.
    pub fn reference(self) -> EntryRef {
        EntryRef { file: self.file, offset: self.offset, part: self.part }
    }

    /// The record as a whole: the same for all entries that one record makes.
    pub fn record(self) -> (u16, u64) {
        (self.file, self.offset)
    }
}

/// An entry by its place, in few letters: `3f9a`, `3f9a.2` for the third thing in its record, `1-3f9a` in the session's
/// second file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct EntryRef {
    file: u16,
    offset: u64,
    part: u16,
}

impl EntryRef {
    /// Whether it is the place of this entry.
    pub fn points_to(self, key: EntryKey) -> bool {
        self == key.reference()
    }
}

impl fmt::Display for EntryRef {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file > 0 {
            write!(out, "{}-", self.file)?;
        }
        write!(out, "{:x}", self.offset)?;
        if self.part > 0 { write!(out, ".{}", self.part) } else { Ok(()) }
    }
}

impl FromStr for EntryRef {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WRONG: &str = "a place is written as `brief` shows it: 3f9a, 3f9a.2 or 1-3f9a";
        let (file, rest) = text.split_once('-').map_or((Ok(0), text), |(file, rest)| (file.parse(), rest));
        let (offset, part) = rest.split_once('.').map_or((rest, Ok(0)), |(offset, part)| (offset, part.parse()));
        match (file, u64::from_str_radix(offset, 16), part) {
            (Ok(file), Ok(offset), Ok(part)) => Ok(Self { file, offset, part }),
            _ => Err(WRONG),
        }
    }
}

/// Writes keys as references, for JSON that is read by others.
pub(crate) fn as_references<S: Serializer>(keys: &[EntryKey], out: S) -> Result<S::Ok, S::Error> {
    out.collect_seq(keys.iter().map(|key| key.reference().to_string()))
}

/// The name of a record in a tree of records, hashed: clients do not insist on real UUIDs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u64);

impl NodeId {
    /// Hashes a name (FNV-1a with a final mix; nothing depends on it being hard to invert).
    pub fn from_name(name: &str) -> Self {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in name.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Self(hash ^ (hash >> 31))
    }

    /// The hash, for digests of what was read.
    pub fn to_bits(self) -> u64 {
        self.0
    }
}

/// The place of a record in a branching store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    pub id: NodeId,
    pub parent: Option<NodeId>,
    /// Records that belong to one message, and live or die together.
    pub group: Option<NodeId>,
}

/// Who said it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    User,
    Agent,
    /// The client itself: reminders, environment blocks. The next client brings its own.
    Harness,
    /// Brought along with the user's words: a hook's output, or a file that the client attached.
    Hook,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub key: EntryKey,
    pub at: Option<Timestamp>,
    pub origin: Origin,
    /// Said in a sub-agent's conversation that the store keeps inside this one.
    pub side: bool,
    pub node: Option<Node>,
    pub body: Body,
}

impl Entry {
    /// Drops the text; the position stays, and the kind.
    pub fn reduce(&mut self) {
        self.body.reduce();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_as_they_are_written() {
        for (file, offset, part, text) in
            [(0, 0x3f9a, 0, "3f9a"), (0, 0, 2, "0.2"), (1, u64::MAX, 0, "1-ffffffffffffffff")]
        {
            let key = EntryKey { file, offset, part, length: 7 };
            assert_eq!(key.reference().to_string(), text);
            assert!(text.parse::<EntryRef>().is_ok_and(|read| read.points_to(key)));
        }
        for wrong in ["", "x", "1-", "3f.", "-1", "@3f9a"] {
            assert!(wrong.parse::<EntryRef>().is_err(), "{wrong}");
        }
    }
}
