//! How often each kind of secret was masked when a capsule was made.

use std::collections::BTreeMap;

use carryover_core::redact::mask_kinds;

/// How often, for each kind.
pub(crate) type MaskCounts = BTreeMap<String, usize>;

/// Adds the masks that stand in a text.
pub(crate) fn add_masks(counts: &mut MaskCounts, text: &str) {
    for kind in mask_kinds(text) {
        *counts.entry(kind.to_owned()).or_default() += 1;
    }
}

/// Takes those away that stood there before anything was masked: a session may speak of a mask, or have read one.
pub(crate) fn subtract_masks(counts: &mut MaskCounts, before: &MaskCounts) {
    counts.retain(|kind, count| {
        *count = count.saturating_sub(before.get(kind).copied().unwrap_or(0));
        *count > 0
    });
}
