//! Records that Codex wrote itself: they are written back, each once, and not translated.

use std::collections::{BTreeMap, BTreeSet};

use carryover_core::transcript::Origin;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::item::{self, Ground};
use super::wire::{WireItem, WireLoose};
use crate::{Carried, WriteRequest};

/// A record to write back.
#[derive(Debug)]
pub(super) enum Native {
    Item(Box<RawValue>),
    Compaction(Box<RawValue>),
    /// It was written with another of its entries and begins here.
    Written(u64),
}

type Record = (u16, u64);

/// The records of a request that are written back.
#[derive(Debug)]
pub(super) struct Natives<'a> {
    entries: &'a [Carried],
    usable: BTreeSet<usize>,
    written: BTreeMap<Record, u64>,
}

impl<'a> Natives<'a> {
    pub(super) fn of(request: &'a WriteRequest<'a>) -> Self {
        // A record of which something was cut would bring the whole back.
        let cut: BTreeSet<Record> = request.entries.iter().filter(|carried| carried.clipped).map(record).collect();
        let first = request.entries.first().map(record);
        let is_usable = |carried: &Carried| {
            let raw = carried.native.as_deref().filter(|_| carried.agent == "codex" && !cut.contains(&record(carried)));
            match raw.and_then(parse) {
                Some(Native::Item(_)) => true,
                // A compaction begins the context anew: with anything before it, it must be told again, not repeated.
                Some(Native::Compaction(_)) => request.brief.is_none() && first == Some(record(carried)),
                Some(Native::Written(_)) | None => false,
            }
        };
        let usable = (0..request.entries.len()).filter(|index| is_usable(&request.entries[*index])).collect();
        Self { entries: request.entries, usable, written: BTreeMap::new() }
    }

    pub(super) fn has(&self, index: usize) -> bool {
        self.usable.contains(&index)
    }

    /// The record of an entry, if it is to be written back.
    pub(super) fn take(&mut self, index: usize) -> Option<Native> {
        if !self.usable.remove(&index) {
            return None;
        }
        let carried = &self.entries[index];
        match self.written.get(&record(carried)) {
            Some(offset) => Some(Native::Written(*offset)),
            None => carried.native.as_deref().and_then(parse),
        }
    }

    pub(super) fn wrote(&mut self, index: usize, offset: u64) {
        self.written.insert(record(&self.entries[index]), offset);
    }

    /// The entry must be written in our words after all.
    pub(super) fn forget(&mut self, index: usize) {
        self.usable.remove(&index);
    }
}

fn record(carried: &Carried) -> Record {
    carried.entry.key.record()
}

/// The payload of a record for the model; the bare records of the first versions are their own payload.
fn parse(raw: &str) -> Option<Native> {
    let loose: WireLoose<'_> = serde_json::from_str(raw).ok()?;
    match (loose.kind.as_deref()?, loose.payload) {
        ("response_item", Some(payload)) => Some(Native::Item(payload.to_owned())),
        ("compacted", Some(payload)) => compaction(payload.get()).map(Native::Compaction),
        (_, None) => RawValue::from_string(raw.trim().to_owned()).ok().map(Native::Item),
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
fn compaction(payload: &str) -> Option<Box<RawValue>> {
    let mut items: WireItems<'_> = serde_json::from_str(payload).ok()?;
    items.replacement_history.retain(|item| is_of_the_conversation(item.get()));
    serde_json::value::to_raw_value(&items).ok()
}

fn is_of_the_conversation(raw: &str) -> bool {
    let Ok(item) = serde_json::from_str::<WireItem<'_>>(raw) else { return true };
    let ground = Ground { file: 0, offset: 0, bytes: &[], compressed: true };
    item::read(&item, &ground).iter().any(|(origin, _)| *origin != Origin::Harness)
}
