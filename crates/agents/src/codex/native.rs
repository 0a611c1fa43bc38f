//! Records that Codex wrote itself: they are written back, each once, and not translated.

use std::collections::{BTreeMap, BTreeSet};

use carryover_core::transcript::Origin;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::item::{self, RecordBytes};
use super::wire::{WireItem, WireLoose};
use crate::{CarriedEntry, WriteRequest};

/// A record to write back.
#[derive(Debug)]
pub(super) enum NativeRecord {
    Item(Box<RawValue>),
    Compaction(Box<RawValue>),
    /// It was written with another of its entries and begins here.
    Written(u64),
}

type RecordKey = (u16, u64);

/// The records of a request that are written back.
#[derive(Debug)]
pub(super) struct NativeRecords<'a> {
    entries: &'a [CarriedEntry],
    usable: BTreeSet<usize>,
    written: BTreeMap<RecordKey, u64>,
}

impl<'a> NativeRecords<'a> {
    pub(super) fn from_request(request: &'a WriteRequest<'a>) -> Self {
        // A record of which something was cut would bring the whole back.
        let cut: BTreeSet<RecordKey> =
            request.entries.iter().filter(|carried| carried.clipped).map(record_key).collect();
        let first = request.entries.first().map(record_key);
        let is_usable = |carried: &CarriedEntry| {
            let raw =
                carried.native.as_deref().filter(|_| carried.agent == "codex" && !cut.contains(&record_key(carried)));
            match raw.and_then(parse) {
                Some(NativeRecord::Item(_)) => true,
                // A compaction begins the context anew: with anything before it, it must be told again, not repeated.
                Some(NativeRecord::Compaction(_)) => request.brief.is_none() && first == Some(record_key(carried)),
                Some(NativeRecord::Written(_)) | None => false,
            }
        };
        let usable = (0..request.entries.len()).filter(|index| is_usable(&request.entries[*index])).collect();
        Self { entries: request.entries, usable, written: BTreeMap::new() }
    }

    pub(super) fn contains(&self, index: usize) -> bool {
        self.usable.contains(&index)
    }

    /// The record of an entry, if it is to be written back.
    pub(super) fn take_record(&mut self, index: usize) -> Option<NativeRecord> {
        if !self.usable.remove(&index) {
            return None;
        }
        let carried = &self.entries[index];
        match self.written.get(&record_key(carried)) {
            Some(offset) => Some(NativeRecord::Written(*offset)),
            None => carried.native.as_deref().and_then(parse),
        }
    }

    pub(super) fn note_written(&mut self, index: usize, offset: u64) {
        self.written.insert(record_key(&self.entries[index]), offset);
    }

    /// The entry must be written in our words after all.
    pub(super) fn forget(&mut self, index: usize) {
        self.usable.remove(&index);
    }
}

fn record_key(carried: &CarriedEntry) -> RecordKey {
    carried.entry.key.record()
}

/// The payload of a record for the model; the bare records of the first versions are their own payload.
fn parse(raw: &str) -> Option<NativeRecord> {
    let loose: WireLoose<'_> = serde_json::from_str(raw).ok()?;
    match (loose.kind.as_deref()?, loose.payload) {
        ("response_item", Some(payload)) => Some(NativeRecord::Item(payload.to_owned())),
        ("compacted", Some(payload)) => filter_compaction(payload.get()).map(NativeRecord::Compaction),
        (_, None) => RawValue::from_string(raw.trim().to_owned()).ok().map(NativeRecord::Item),
        _ => None,
    }
}

/// A compaction's items, unread.
#[derive(Serialize, Deserialize)]
struct WireItems<'a> {
    #[serde(borrow)]
    message: &'a RawValue,
    #[serde(borrow)]
    replacement_history: Vec<&'a RawValue>,
}

/// A compaction without what the harness had said: permissions and surroundings of then are not those of now, and the
/// client says the present ones itself.
fn filter_compaction(payload: &str) -> Option<Box<RawValue>> {
    let mut items: WireItems<'_> = serde_json::from_str(payload).ok()?;
    items.replacement_history.retain(|item| is_conversation(item.get()));
    serde_json::value::to_raw_value(&items).ok()
}

/// Whether an item holds more than what the client itself says.
pub(super) fn is_conversation(raw: &str) -> bool {
    let Ok(item) = serde_json::from_str::<WireItem<'_>>(raw) else { return true };
    let ground = RecordBytes { file: 0, offset: 0, bytes: &[], compressed: true };
    item::read_bodies(&item, &ground).iter().any(|(origin, _)| *origin != Origin::Harness)
}
