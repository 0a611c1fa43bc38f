//! Records of the target's own on their way back: each is written once as it was, with all of its entries.

use std::collections::{BTreeMap, BTreeSet};

use crate::CarriedEntry;

/// Whose record, in which file, and where.
pub(crate) type RecordKey = (&'static str, u16, u64);

pub(crate) fn record_key(carried: &CarriedEntry) -> RecordKey {
    let (file, offset) = carried.entry.key.record();
    (carried.agent, file, offset)
}

/// Which records are written back, and in which lines they stand.
pub(crate) struct NativeRecords {
    /// A record of which something was cut to fit cannot be written back as it was.
    clipped: BTreeSet<RecordKey>,
    lines: BTreeMap<RecordKey, usize>,
}

impl NativeRecords {
    pub(crate) fn new(entries: &[CarriedEntry]) -> Self {
        let clipped = entries.iter().filter(|carried| carried.clipped).map(record_key).collect();
        Self { clipped, lines: BTreeMap::new() }
    }

    /// The record that an entry stands in, if it can be written back.
    pub(crate) fn find_record<'c>(&self, carried: &'c CarriedEntry) -> Option<&'c str> {
        carried.native.as_deref().filter(|_| !self.clipped.contains(&record_key(carried)))
    }

    /// The line in which the record of an entry stands already.
    pub(crate) fn find_line(&self, carried: &CarriedEntry) -> Option<usize> {
        self.find_record(carried).and_then(|_| self.lines.get(&record_key(carried)).copied())
    }

    pub(crate) fn note_line(&mut self, carried: &CarriedEntry, line: usize) {
        self.lines.insert(record_key(carried), line);
    }
}
