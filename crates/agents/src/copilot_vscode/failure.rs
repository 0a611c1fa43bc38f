//! Why a request was not answered to its end.

use carryover_core::transcript::{Failure, FailureKind};

use super::wire::{WireError, WireRequest};

/// The states of a response, as the editor numbers them: it goes on, it was stopped, it failed, it waits for the user's word.
/// One that is over is the first.
const PENDING: u64 = 0;
const CANCELLED: u64 = 2;
const FAILED: u64 = 3;
const NEEDS_INPUT: u64 = 4;

/// The editor's own code for a request that the user stopped.
const CANCELLED_CODE: &str = "canceled";

/// The failure of a request, if it failed.
pub(super) fn find_failure(request: &WireRequest) -> Option<Failure> {
    let state = request.model_state.as_ref().map(|state| state.value);
    let error = request.result.as_ref().and_then(|result| result.error_details.as_ref());
    let error = error.or(request.response_error_details.as_ref());
    let is_cancelled = state == Some(CANCELLED) || state.is_none() && request.is_canceled == Some(true);
    if is_cancelled || error.is_some_and(|error| error.code.as_deref() == Some(CANCELLED_CODE)) {
        return Some(make_failure(FailureKind::Interrupted, "the request was canceled"));
    }
    match error {
        Some(error) => Some(make_failure(failure_kind(error), error.message.as_deref().unwrap_or_default())),
        None => (state == Some(FAILED)).then(|| make_failure(FailureKind::Other, "the request failed")),
    }
}

/// Whether a request was still being answered when this was written.
pub(super) fn is_open(request: &WireRequest) -> bool {
    request.model_state.as_ref().is_some_and(|state| matches!(state.value, PENDING | NEEDS_INPUT))
}

fn failure_kind(error: &WireError) -> FailureKind {
    match (error.is_rate_limited, error.is_quota_exceeded) {
        (Some(true), _) => FailureKind::RateLimit,
        (_, Some(true)) => FailureKind::Billing,
        _ => FailureKind::Other,
    }
}

fn make_failure(kind: FailureKind, message: &str) -> Failure {
    Failure { kind, message: message.to_owned(), resets_at: None }
}
