//! Words for how a session stands, and for what a carry loses; more than one screen says them.

use carryover_agents::Loss;
use carryover_core::distill::StateKind;

use crate::quantity;

/// How a session stands, in a sentence.
pub(crate) fn describe_state(kind: StateKind) -> &'static str {
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

/// How much of something was lost.
pub(crate) fn count_lost(loss: &Loss) -> String {
    if loss.what == "reasoning" {
        return quantity::format_count(loss.count, "piece of thinking", "pieces of thinking");
    }
    let (one, many) = match (loss.what.strip_suffix("ies"), loss.what.strip_suffix('s')) {
        (Some(stem), _) => (format!("{stem}y"), loss.what.to_owned()),
        (None, Some(stem)) => (stem.to_owned(), loss.what.to_owned()),
        (None, None) => (loss.what.to_owned(), format!("{}s", loss.what)),
    };
    quantity::format_count(loss.count, &one, &many)
}
