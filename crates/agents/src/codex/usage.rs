//! What a `read_token_count` event tells: the tokens of the last reply, and how far the limits are used up.

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Failure, FailureKind, Limit, NodeId, Tokens, Usage};

use super::wire::{WireLimit, WireTokenCount, WireTokenInfo, WireTokens};

/// A note of the tokens. A limit that is used up ends the turn; the versions before 0.148 say it nowhere else.
pub(super) fn make_bodies(told: &WireTokenCount<'_>, at: Option<Timestamp>) -> Vec<Body> {
    let windows = told.rate_limits.as_ref().map(|limits| [limits.primary.as_ref(), limits.secondary.as_ref()]);
    let windows = windows.unwrap_or_default();
    let is_full = |limit: &&WireLimit| limit.used_percent.is_some_and(|used| used >= 100.0);
    let full = windows.into_iter().flatten().filter(is_full);
    let full = full.max_by_key(|limit| (limit.resets_at, limit.resets_in_seconds));
    let usage =
        Usage { limits: windows.map(|limit| limit.and_then(|limit| to_limit(limit, at))), ..counted_usage(told) };
    let failed = full.map(|limit| {
        let message = "the usage limit is reached".to_owned();
        let resets_at = reset_time(limit, at);
        Body::Failure(Box::new(Failure { kind: FailureKind::RateLimit, message, resets_at }))
    });
    failed.into_iter().chain([usage.into_body()]).collect()
}

/// The event is told again when nothing but a limit has changed; the sum so far tells whether a reply came in between.
fn counted_usage(told: &WireTokenCount<'_>) -> Usage {
    let Some(WireTokenInfo { total_token_usage, last_token_usage: Some(last) }) = &told.info else {
        return Usage::default();
    };
    let reply = total_token_usage.map(|total| NodeId::from_name(total.get()));
    Usage::for_reply(to_tokens(last), reply).unwrap_or_default()
}

fn to_tokens(told: &WireTokens) -> Tokens {
    Tokens {
        input: told.input.unwrap_or_default(),
        output: told.output.unwrap_or_default(),
        cache_read: told.cached_input.unwrap_or_default(),
        cache_written: told.cache_write_input.unwrap_or_default(),
        reasoning: told.reasoning_output.unwrap_or_default(),
    }
}

fn to_limit(limit: &WireLimit, at: Option<Timestamp>) -> Option<Limit> {
    let used_percent = limit.used_percent.filter(|used| used.is_finite())?;
    Some(Limit { used_percent, window_minutes: limit.window_minutes, resets_at: reset_time(limit, at) })
}

fn reset_time(limit: &WireLimit, at: Option<Timestamp>) -> Option<Timestamp> {
    let seconds = |seconds: i64| seconds.saturating_mul(1000);
    let fixed = limit.resets_at.map(|at| Timestamp::from_millis(seconds(at)));
    let after = at.zip(limit.resets_in_seconds).map(|(at, wait)| at.plus_millis(seconds(wait)));
    fixed.or(after)
}
