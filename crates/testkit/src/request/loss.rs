//! Losses by a target's format: the same for all sources, so they are data about the target (`ConformanceLab`).

/// Something that cannot be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Calls and outcomes become text.
    Structure,
    /// Images are left out.
    Images,
    /// Images stay in prompts, but not in outcomes.
    OutcomeImages,
    /// Images stay where they are, and only those of the last turns are sent; each of the others leaves a mark.
    OldImages,
}

/// The text in the place of an image that is no longer sent.
pub(super) const REMOVED_IMAGE: &str = "[image data removed - already processed by model]";

impl Loss {
    /// For people.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Structure => "calls and outcomes are text",
            Self::Images => "no images",
            Self::OutcomeImages => "no images in outcomes",
            Self::OldImages => "no images from before the last three turns",
        }
    }
}
