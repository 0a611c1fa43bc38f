//! The tokens that a reply cost, as a record of a tree tells them.

use carryover_core::transcript::{Tokens, Usage};

use super::wire::Message;

/// Tokens read from and written to a cache are not in `input`; those of reasoning are in `output`.
#[derive(serde::Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct WireUsage {
    input: Option<u64>,
    output: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    reasoning: Option<u64>,
}

/// The usage in a message of the agent's.
pub fn read_usage<W>(message: &Message<'_, W>) -> Option<Usage> {
    let wire: WireUsage = serde_json::from_str(message.usage?.get()).ok()?;
    let (cache_read, cache_written) = (wire.cache_read.unwrap_or_default(), wire.cache_write.unwrap_or_default());
    let tokens = Tokens {
        input: wire.input.unwrap_or_default().saturating_add(cache_read).saturating_add(cache_written),
        output: wire.output.unwrap_or_default(),
        cache_read,
        cache_written,
        reasoning: wire.reasoning.unwrap_or_default(),
    };
    Usage::for_reply(tokens, None)
}
