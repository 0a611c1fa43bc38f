//! What entries cost in a window, estimated.

use super::{Item, outcome_parts};
use crate::tokens;
use crate::transcript::{Body, Entry, Part};

/// What the frame around a message costs.
const FRAME: u64 = 4;

/// The tokens of an entry whose outputs are cut to `cap` bytes each.
fn of_entry(entry: &Entry, cap: usize) -> u64 {
    let bytes = match &entry.body {
        Body::Outcome(_) => outcome_parts(entry).iter().map(|part| part.text_len().min(cap)).sum(),
        body => body.text_len(),
    };
    let blobs = entry.body.parts().iter().filter(|part| matches!(part, Part::Blob(_))).count();
    tokens::of_bytes(bytes) + FRAME + tokens::IMAGE * blobs as u64
}

pub(super) fn of_text(text: &str) -> u64 {
    of_bytes(text.len())
}

pub(super) fn of_bytes(bytes: usize) -> u64 {
    tokens::of_bytes(bytes) + FRAME
}

pub(super) fn total(items: &[Item<'_>], cap: usize) -> u64 {
    items.iter().map(|item| of_entry(item.entry, cap)).sum()
}

/// For every index, what the entries from there on cost.
pub(super) fn suffixes(items: &[Item<'_>], cap: usize) -> Vec<u64> {
    let mut costs = vec![0; items.len() + 1];
    for (index, item) in items.iter().enumerate().rev() {
        costs[index] = costs[index + 1] + of_entry(item.entry, cap);
    }
    costs
}
