//! A bound for files that are full of junk: of records that hold nothing but their place, the first are kept. Millions of
//! them fit into a small file, and each would cost as much memory as one that says something.

use super::{Body, Entry, RejectedRecord};

/// How many records that cannot be read are noted one by one.
pub const MAX_NOTED: usize = 100_000;

const TOO_MANY_REASON: &str = "from here on there are too many of them to be noted";

/// Counts what holds nothing but its place.
#[derive(Debug, Default)]
pub struct Surplus {
    n_empty: usize,
}

impl Surplus {
    /// Whether an entry is one more of those that hold nothing but their place, when there are plenty of them.
    pub fn is_surplus(&mut self, entry: &Entry) -> bool {
        let is_hollow = entry.node.is_none() && matches!(&entry.body, Body::Opaque(opaque) if opaque.is_hollow());
        is_hollow && self.is_one_too_many()
    }

    /// The same for who counts before there are entries.
    pub fn is_one_too_many(&mut self) -> bool {
        self.n_empty += 1;
        self.n_empty > MAX_NOTED
    }
}

/// Notes a record that cannot be read. One more than `MAX_NOTED` stands for all that follow.
pub fn note_rejected(noted: &mut Vec<RejectedRecord>, rejected: RejectedRecord) {
    match noted.len() {
        ..MAX_NOTED => noted.push(rejected),
        MAX_NOTED => noted.push(RejectedRecord { reason: TOO_MANY_REASON, ..rejected }),
        _ => {}
    }
}
