//! The cost of a reply, from `message.usage`.
//!
//! Tokens read from or written to a cache are not in `input_tokens`. A message of several blocks is several lines, each
//! with the same figures; in 1.0 and 2.0 the first of them were written before the model had ended.

use carryover_core::transcript::{NodeId, Tokens, Usage};
use serde_json::value::RawValue;

#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct WireUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens_details: Option<WireDetails>,
}

#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct WireDetails {
    thinking_tokens: Option<u64>,
}

/// The usage that a line gives for its message.
pub(super) fn from_message(usage: Option<&RawValue>, message: Option<&str>) -> Option<Usage> {
    let wire: WireUsage = serde_json::from_str(usage?.get()).ok()?;
    let cache_read = wire.cache_read_input_tokens.unwrap_or_default();
    let cache_written = wire.cache_creation_input_tokens.unwrap_or_default();
    let uncached = wire.input_tokens.unwrap_or_default();
    let tokens = Tokens {
        input: uncached.saturating_add(cache_read).saturating_add(cache_written),
        output: wire.output_tokens.unwrap_or_default(),
        cache_read,
        cache_written,
        reasoning: wire.output_tokens_details.and_then(|details| details.thinking_tokens).unwrap_or_default(),
    };
    Usage::for_reply(tokens, message.map(NodeId::from_name))
}
