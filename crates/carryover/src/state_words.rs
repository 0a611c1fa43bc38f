//! How a session stands, in a few words.

use carryover_core::distill::StateKind;

/// The words for it; what was asked, or until when, is told beside them.
pub(crate) fn state_words(kind: StateKind) -> &'static str {
    match kind {
        StateKind::Empty => "nothing was said",
        StateKind::Waiting => "the agent had finished its turn and waits for the user",
        StateKind::MidTurn => "the agent was in the middle of a turn",
        StateKind::Unanswered => "the last prompt got no answer",
        StateKind::AskedUser => "the agent asked the user and got no answer",
        StateKind::Interrupted => "the user interrupted the agent",
        StateKind::Limit => "a limit stopped the agent",
        StateKind::ServiceError => "an error of the service stopped the agent",
    }
}
