//! The tokens that a reply cost, from `usageMetadata`. The telemetry tells the same a second time.

use carryover_core::transcript::{NodeId, Tokens, Usage};

use super::wire::WireRecord;

/// Tokens read from a cache are part of the prompt. Whether those of thoughts are part of the candidates depends on the
/// API; the total tells.
#[derive(serde::Deserialize)]
struct WireUsage {
    #[serde(default, rename = "promptTokenCount")]
    prompt: Option<u64>,
    /// Every client writes it; where it is missing, the figures are an estimate of ours.
    #[serde(rename = "candidatesTokenCount")]
    candidates: u64,
    #[serde(default, rename = "thoughtsTokenCount")]
    thoughts: Option<u64>,
    #[serde(default, rename = "totalTokenCount")]
    total: Option<u64>,
    #[serde(default, rename = "cachedContentTokenCount")]
    cached: Option<u64>,
}

pub(super) fn from_record(record: &WireRecord<'_>) -> Option<Usage> {
    let wire: WireUsage = serde_json::from_str(record.usage_metadata?.get()).ok()?;
    let input = wire.prompt.unwrap_or_default();
    let beyond_input = wire.total.and_then(|total| total.checked_sub(input));
    let tokens = Tokens {
        input,
        output: beyond_input.unwrap_or_default().max(wire.candidates),
        cache_read: wire.cached.unwrap_or_default(),
        cache_written: 0,
        reasoning: wire.thoughts.unwrap_or_default(),
    };
    Usage::for_reply(tokens, record.uuid.as_deref().map(NodeId::from_name))
}
