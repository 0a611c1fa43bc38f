//! Losses of a write, counted by kind and reason, and the words that stand for a file which is not carried over.

use carryover_core::transcript::Blob;

use crate::Loss;

/// Counts a loss.
pub(crate) fn count_loss(losses: &mut Vec<Loss>, what: &'static str, reason: &'static str) {
    match losses.iter_mut().find(|loss| loss.what == what && loss.reason == reason) {
        Some(loss) => loss.count += 1,
        None => losses.push(Loss { what, count: 1, reason }),
    }
}

/// Whether a file is an image of a kind that every API takes.
pub(crate) fn is_common_image(blob: &Blob) -> bool {
    matches!(blob.media_type.as_str(), "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}

/// The text in the place of a file that the target does not take.
pub(crate) fn describe_omitted(blob: &Blob) -> String {
    format!("[{}: {}, not carried over]", blob.name.as_deref().unwrap_or("a file"), blob.media_type)
}
