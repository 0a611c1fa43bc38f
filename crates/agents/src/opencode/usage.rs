//! The tokens that a step cost, from its `step-finish`.

use carryover_core::transcript::{Tokens, Usage};
use serde_json::value::RawValue;

use super::wire::parse_lenient;

/// Tokens read from and written to a cache are not in `input`. Whether reasoning is in `output` depends on the
/// version; the total tells, where there is one.
#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct WireTokens {
    total: Option<u64>,
    input: Option<u64>,
    output: Option<u64>,
    reasoning: Option<u64>,
    cache: WireCache,
}

#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct WireCache {
    read: Option<u64>,
    write: Option<u64>,
}

pub(super) fn read_usage(tokens: Option<&RawValue>) -> Option<Usage> {
    let wire: WireTokens = parse_lenient(tokens)?;
    let (cache_read, cache_written) = (wire.cache.read.unwrap_or_default(), wire.cache.write.unwrap_or_default());
    let input = wire.input.unwrap_or_default().saturating_add(cache_read).saturating_add(cache_written);
    let beyond_input = wire.total.and_then(|total| total.checked_sub(input)).unwrap_or_default();
    let output = beyond_input.max(wire.output.unwrap_or_default());
    let reasoning = wire.reasoning.unwrap_or_default();
    Usage::for_reply(Tokens { input, output, cache_read, cache_written, reasoning }, None)
}
