//! The tokens that a call of the model cost, from the record that stands before what the model said.

use carryover_core::transcript::{Fact, NodeId, Tokens, Usage};

use super::wire::WireUsageRecord;

/// The note, and the model that it names. One whose shape has changed tells nothing.
pub(super) fn from_data(data: &str) -> (Usage, Option<Fact>) {
    let Ok(WireUsageRecord { usage: wire }) = serde_json::from_str(data) else { return (Usage::default(), None) };
    let tokens = Tokens {
        input: wire.input_tokens.unwrap_or_default(),
        output: wire.output_tokens.unwrap_or_default(),
        cache_read: wire.cache_read_tokens.unwrap_or_default(),
        cache_written: wire.cache_write_tokens.unwrap_or_default(),
        reasoning: wire.reasoning_tokens.unwrap_or_default(),
    };
    let model = wire.model.as_deref();
    let usage = Usage { tokens, model: model.map(NodeId::from_name), precedes: true, ..Usage::default() };
    (usage, model.map(|model| Fact::UsedModel(model.to_owned())))
}
