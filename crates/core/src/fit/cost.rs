//! The cost of entries in a window, estimated.

use super::{ContextItem, outcome_parts};
use crate::tokens;
use crate::transcript::{Body, Entry, Part};

/// The tokens of the frame around a message.
const FRAME_TOKENS: u64 = 4;

/// The tokens of an entry whose outputs are cut to `cap` bytes each.
fn estimate_entry(entry: &Entry, cap: usize) -> u64 {
    let bytes = match &entry.body {
        Body::Outcome(_) => outcome_parts(entry).iter().map(|part| part.text_len().min(cap)).sum(),
        body => body.text_len(),
    };
    let blobs = entry.body.parts().iter().filter(|part| matches!(part, Part::Blob(_))).count();
    tokens::estimate_bytes(bytes) + FRAME_TOKENS + tokens::PER_IMAGE * blobs as u64
}

pub(super) fn estimate_text(text: &str) -> u64 {
    estimate_bytes(text.len())
}

pub(super) fn estimate_bytes(bytes: usize) -> u64 {
    tokens::estimate_bytes(bytes) + FRAME_TOKENS
}

pub(super) fn estimate_total(items: &[ContextItem<'_>], cap: usize) -> u64 {
    items.iter().map(|item| estimate_entry(item.entry, cap)).sum()
}

/// For every index, what the entries from there on cost.
pub(super) fn suffix_sums(items: &[ContextItem<'_>], cap: usize) -> Vec<u64> {
    let mut costs = vec![0; items.len() + 1];
    for (index, item) in items.iter().enumerate().rev() {
        costs[index] = costs[index + 1] + estimate_entry(item.entry, cap);
    }
    costs
}
