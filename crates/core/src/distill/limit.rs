//! The limit that ended the session, where nothing came after it.

use super::digest::{Digest, short};
use super::{Deed, Item, Limit, Voice};
use crate::transcript::{Failure, FailureKind};

pub(super) fn limit(digest: &Digest<'_>) -> Option<Limit> {
    let steps = digest.story.steps.iter().rev();
    for step in steps {
        match &step.deed {
            Deed::Failure(failure) if is_limit(failure) => {
                let text = short(&failure.message, 300);
                let what = Item { text, voice: Voice::Tool, at: step.at, cites: vec![step.key] };
                return Some(Limit { what, resets_at: failure.resets_at });
            }
            // A prompt after the limit may have met the same wall; work after it has not.
            Deed::Reply { .. } | Deed::Call { .. } | Deed::Reasoning { .. } | Deed::Summary { .. } => return None,
            Deed::Failure(_) | Deed::Prompt { .. } | Deed::Attached { .. } => {}
        }
    }
    None
}

pub(super) fn is_limit(failure: &Failure) -> bool {
    matches!(failure.kind, FailureKind::RateLimit | FailureKind::Billing)
}
