//! The tokens that a reply cost, from `tokens`.

use carryover_core::transcript::{NodeId, Tokens, Usage};

use super::wire::WireRecord;

/// Tokens read from a cache are in `input`, those of thoughts are not in `output`; `total` is their sum.
#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct WireTokens {
    input: Option<u64>,
    output: Option<u64>,
    cached: Option<u64>,
    thoughts: Option<u64>,
}

/// The usage that a message of the agent's tells. A message is written again when it grows, and counts once.
pub(super) fn from_record(record: &WireRecord<'_>) -> Option<Usage> {
    let wire: WireTokens = serde_json::from_str(record.tokens?.get()).ok()?;
    let reasoning = wire.thoughts.unwrap_or_default();
    let tokens = Tokens {
        input: wire.input.unwrap_or_default(),
        output: wire.output.unwrap_or_default().saturating_add(reasoning),
        cache_read: wire.cached.unwrap_or_default(),
        cache_written: 0,
        reasoning,
    };
    let usage = Usage::for_reply(tokens, record.id.as_deref().map(NodeId::from_name))?;
    Some(Usage { model: record.model.as_deref().map(NodeId::from_name), ..usage })
}
