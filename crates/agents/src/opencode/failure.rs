//! Turns that ended badly.

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Failure, FailureKind};
use serde_json::value::RawValue;

use super::wire::{WireError, WireErrorData, WireTime, parse_lenient};

/// The failure that the client noted.
pub(super) fn from_error(raw: &RawValue, time: WireTime) -> Failure {
    let Some(error) = parse_lenient::<WireError<'_>>(Some(raw)) else {
        return Failure { kind: FailureKind::Other, message: String::new(), resets_at: None };
    };
    let data: WireErrorData = parse_lenient(error.data).unwrap_or_default();
    let kind = match (&*error.name, data.status_code) {
        ("MessageAbortedError", _) => FailureKind::Interrupted,
        ("ContextOverflowError", _) => FailureKind::ContextTooLong,
        ("ProviderAuthError", _) | (_, Some(401 | 403)) => FailureKind::Authentication,
        (_, Some(402)) => FailureKind::Billing,
        (_, Some(429)) => FailureKind::RateLimit,
        (_, Some(500..)) => FailureKind::Server,
        _ => kind_from_message(data.message.as_deref().unwrap_or_default()),
    };
    let message = data.message.clone().unwrap_or_else(|| error.name.to_string());
    Failure { kind, message, resets_at: find_reset_time(&data, time) }
}

/// Some providers answer without a status, or with another one.
fn kind_from_message(message: &str) -> FailureKind {
    let lower = message.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    match () {
        () if says(&["rate limit", "rate_limit", "usage limit", "usage_limit", "too many requests"]) => {
            FailureKind::RateLimit
        }
        () if says(&["insufficient credits", "insufficient balance", "insufficient_quota", "credit balance"]) => {
            FailureKind::Billing
        }
        () if says(&["context length", "maximum context", "context window"]) => FailureKind::ContextTooLong,
        () => FailureKind::Other,
    }
}

/// Whether the user stopped it.
pub(super) fn is_interrupted(failure: &Failure) -> bool {
    failure.kind == FailureKind::Interrupted
}

/// The server says how long to wait, in seconds or milliseconds, from its answer on.
fn find_reset_time(data: &WireErrorData, time: WireTime) -> Option<Timestamp> {
    let headers = data.response_headers.as_ref()?;
    let number = |name: &str| headers.get(name)?.as_str()?.trim().parse::<u32>().ok().map(i64::from);
    let wait = number("retry-after-ms").or_else(|| number("retry-after").map(|seconds| seconds * 1000))?;
    let from = time.completed.or(time.created)?;
    Some(Timestamp::from_millis(from).plus_millis(wait))
}
