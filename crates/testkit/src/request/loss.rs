//! What a target's format cannot hold: the same for all sources, so it is data about the target.

use crate::client::Agent;

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

/// What stands in the place of an image that is no longer sent.
pub(super) const REMOVED: &str = "[image data removed - already processed by model]";

impl Loss {
    /// For people.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Structure => "calls and outcomes are text",
            Self::Images => "no images",
            Self::OutcomeImages => "no images in outcomes",
            Self::OldImages => "no images from before the last three turns",
        }
    }
}

/// Which targets lose what, and why; a target that is not here holds everything.
const LOSSES: &[(Agent, &[Loss], &str)] = &[
    (
        Agent::Aider,
        &[Loss::Structure, Loss::Images],
        "its history is text of the user and of the model, and nothing else",
    ),
    (Agent::Openclaw, &[Loss::OldImages], "it keeps older ones and sends none of its own, either"),
];

/// What a target loses.
pub fn losses(agent: Agent) -> &'static [Loss] {
    LOSSES.iter().find(|(target, ..)| *target == agent).map_or(&[], |(_, losses, _)| *losses)
}

/// Why it does.
pub fn reason(agent: Agent) -> Option<&'static str> {
    LOSSES.iter().find(|(target, ..)| *target == agent).map(|(.., reason)| *reason)
}
