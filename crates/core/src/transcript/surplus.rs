//! A bound for files that are full of junk: of records that hold nothing but their place, the first are kept. Millions of
//! them fit into a small file, and each would cost as much memory as one that says something.

use super::{Body, Entry, Rejected};

/// How many records that cannot be read are noted one by one.
pub const MAX_NOTED: usize = 100_000;

const AND_MORE: &str = "from here on there are too many of them to be noted";

/// What readers call records that cannot be read, or name no kind.
const HOLLOW: &[&str] = &["", "rejected", "unknown", "record.unknown"];

/// Counts what holds nothing but its place.
#[derive(Debug, Default)]
pub struct Surplus {
    n_hollow: usize,
}

impl Surplus {
    /// Whether an entry is one more of those that hold nothing but their place, when there are plenty of them.
    pub fn is_surplus(&mut self, entry: &Entry) -> bool {
        let is_hollow = entry.node.is_none() && matches!(&entry.body, Body::Opaque(kind) if HOLLOW.contains(&&**kind));
        is_hollow && self.is_one_too_many()
    }

    /// The same for who counts before there are entries.
    pub fn is_one_too_many(&mut self) -> bool {
        self.n_hollow += 1;
        self.n_hollow > MAX_NOTED
    }
}

/// Notes a record that cannot be read. One more than `MAX_NOTED` stands for all that follow.
pub fn note_rejected(noted: &mut Vec<Rejected>, rejected: Rejected) {
    match noted.len() {
        ..MAX_NOTED => noted.push(rejected),
        MAX_NOTED => noted.push(Rejected { reason: AND_MORE, ..rejected }),
        _ => {}
    }
}
