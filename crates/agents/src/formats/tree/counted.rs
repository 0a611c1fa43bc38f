//! What a reply cost, as a record of a tree tells it.

use carryover_core::transcript::{Tokens, Usage};

use super::wire::Message;

/// What was read from and written to a cache is not in `input`; what was thought is in `output`.
#[derive(serde::Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct WireUsage {
    input: Option<u64>,
    output: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    reasoning: Option<u64>,
}

/// What a message of the agent's tells.
pub fn usage<W>(message: &Message<'_, W>) -> Option<Usage> {
    let wire: WireUsage = serde_json::from_str(message.usage?.get()).ok()?;
    let (cache_read, cache_written) = (wire.cache_read.unwrap_or_default(), wire.cache_write.unwrap_or_default());
    let tokens = Tokens {
        input: wire.input.unwrap_or_default().saturating_add(cache_read).saturating_add(cache_written),
        output: wire.output.unwrap_or_default(),
        cache_read,
        cache_written,
        reasoning: wire.reasoning.unwrap_or_default(),
    };
    Usage::of(tokens, None)
}
