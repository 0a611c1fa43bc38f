//! One thing that happened in a session.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

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
    /// The record as a whole: the same for all entries that one record makes.
    pub fn record(self) -> (u16, u64) {
        (self.file, self.offset)
    }
}

/// The name of a record in a tree of records, hashed: clients do not insist on real UUIDs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u64);

impl NodeId {
    /// Hashes a name (FNV-1a with a final mix; nothing depends on it being hard to invert).
    pub fn of(name: &str) -> Self {
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
        let heavy = matches!(
            self.body,
            Body::Prompt(_) | Body::Reply(_) | Body::Reasoning(_) | Body::Call(_) | Body::Outcome(_) | Body::Summary(_)
        );
        if heavy {
            self.body = Body::Opaque(Cow::Borrowed(self.body.kind()));
        }
    }

    /// What the conversation consists of, for people: prompts of the user and replies.
    pub fn is_message(&self) -> bool {
        let spoken = match &self.body {
            Body::Prompt(_) => self.origin == Origin::User,
            Body::Reply(_) => true,
            // Entries that were reduced to their position keep their kind.
            Body::Opaque(kind) => kind == "reply" || (kind == "prompt" && self.origin == Origin::User),
            _ => false,
        };
        spoken && !self.side
    }
}
