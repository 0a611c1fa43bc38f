//! Turns that ended badly, by the words that the client shows for them.

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Failure, FailureKind};

/// The client shows this when the user stops a turn.
pub(super) const CANCELLED_MESSAGE: &str = "Request cancelled.";

/// Words by which a message is sorted; the first that occurs decides.
const KIND_WORDS: &[(&str, FailureKind)] = &[
    ("quota", FailureKind::RateLimit),
    ("rate limit", FailureKind::RateLimit),
    ("resource_exhausted", FailureKind::RateLimit),
    ("429", FailureKind::RateLimit),
    ("usage limit", FailureKind::RateLimit),
    ("api key", FailureKind::Authentication),
    ("unauthenticated", FailureKind::Authentication),
    ("permission_denied", FailureKind::Authentication),
    ("401", FailureKind::Authentication),
    ("403", FailureKind::Authentication),
    ("billing", FailureKind::Billing),
    ("exceeds the maximum number of tokens", FailureKind::ContextTooLong),
    ("context window", FailureKind::ContextTooLong),
    ("unavailable", FailureKind::Server),
    ("overloaded", FailureKind::Server),
    ("internal error", FailureKind::Server),
    ("status: 5", FailureKind::Server),
];

/// Sorts the message of an error.
pub(super) fn from_message(message: String, at: Option<Timestamp>) -> Failure {
    let lower = message.to_lowercase();
    let kind = KIND_WORDS.iter().find(|(sign, _)| lower.contains(sign)).map_or(FailureKind::Other, |(_, kind)| *kind);
    let resets_at = at.zip(parse_reset_after(&lower)).map(|(at, millis)| at.plus_millis(millis));
    Failure { kind, message, resets_at }
}

/// A turn that the user stopped.
pub(super) fn cancelled_turn() -> Failure {
    Failure { kind: FailureKind::Interrupted, message: CANCELLED_MESSAGE.to_owned(), resets_at: None }
}

/// A turn that failed, of which the client keeps no more than that its prompt is gone.
pub(super) fn withdrawn_turn() -> Failure {
    let message = "the turn could not be finished, and the client took its prompt back".to_owned();
    Failure { kind: FailureKind::Other, message, resets_at: None }
}

/// `reset after 1h2m3s`, in milliseconds.
fn parse_reset_after(message: &str) -> Option<i64> {
    let (_, rest) = message.split_once("reset after ")?;
    let mut total = 0_i64;
    let mut number = String::new();
    for letter in rest.chars() {
        let unit = match letter {
            '0'..='9' => {
                number.push(letter);
                continue;
            }
            'd' => 86_400_000,
            'h' => 3_600_000,
            'm' => 60_000,
            's' => 1_000,
            _ => break,
        };
        total = total.saturating_add(number.parse::<i64>().ok()?.saturating_mul(unit));
        number.clear();
    }
    (total > 0).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_tells_when_it_ends() {
        let at = Timestamp::parse("2026-11-15T00:00:00.000Z");
        let failure = from_message("You have exhausted your capacity. Your quota will reset after 1h2m3s.".into(), at);
        assert_eq!(failure.kind, FailureKind::RateLimit);
        assert_eq!(failure.resets_at.unwrap().to_string(), "2026-11-15T01:02:03.000Z");
        assert_eq!(from_message("something else".into(), at).kind, FailureKind::Other);
    }
}
