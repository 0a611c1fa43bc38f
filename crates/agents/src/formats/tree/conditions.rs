//! What the records of a tree tell of how the model is asked.

use carryover_core::json::Json;
use carryover_core::transcript::{Condition, Fact};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::wire::{Message, Record};
use crate::formats::digest::{digest_prompt, digest_tool};
use crate::formats::text::Text;

/// Through whom the model is reached from here on, and how hard it thinks.
pub(crate) fn setting_facts<W>(record: &Record<'_, W>) -> Vec<Fact> {
    let routing = record.provider.as_deref().map(routing);
    let level = record.thinking_level.as_deref();
    let level = level.map(|level| Condition::Setting("thinkingLevel", Json::from_value(&Value::from(level))));
    routing.into_iter().chain(level).map(Fact::Condition).collect()
}

/// Through whom a reply came.
pub(crate) fn reply_routing<W>(message: &Message<'_, W>) -> Option<Fact> {
    message.provider.as_deref().map(routing).map(Fact::Condition)
}

fn routing(provider: &str) -> Condition {
    Condition::Routing(provider.to_owned())
}

/// The prompt that a compaction puts before what it keeps.
pub(crate) fn compaction_facts<W>(record: &Record<'_, W>) -> Vec<Fact> {
    let message = record.system_message.map(RawValue::get);
    let message = message.and_then(|raw| serde_json::from_str::<Message<'_, Text<'_>>>(raw).ok());
    message.as_ref().map(prompt_facts).unwrap_or_default()
}

/// The prompt before the conversation, and the tools that it brings.
pub(crate) fn prompt_facts<W>(message: &Message<'_, W>) -> Vec<Fact> {
    let sections = message.sections.and_then(|raw| serde_json::from_str::<Map<String, Value>>(raw.get()).ok());
    let texts: Vec<&str> = sections.iter().flat_map(Map::values).filter_map(Value::as_str).collect();
    let Some(prompt) = digest_prompt(&texts) else { return Vec::new() };
    let tools = message.tools_added.and_then(|raw| serde_json::from_str::<Vec<Value>>(raw.get()).ok());
    let tools = tools.map(|tools| Condition::Tools(tools.iter().map(digest_tool).collect()));
    [Condition::SystemPrompt(prompt)].into_iter().chain(tools).map(Fact::Condition).collect()
}

#[cfg(test)]
mod tests {
    use carryover_core::transcript::Header;

    use super::super::wire::Record;
    use super::*;
    use crate::formats::digest::{digest_json, digest_text};

    fn learn(lines: &[&str]) -> Header {
        let mut header = Header::default();
        for line in lines {
            let record: Record<'_, Text<'_>> = serde_json::from_str(line).unwrap();
            let told = record.message.as_ref().map(prompt_facts).unwrap_or_default();
            let told = told.into_iter().chain(compaction_facts(&record));
            setting_facts(&record).into_iter().chain(told).for_each(|fact| header.learn(fact));
        }
        header
    }

    #[test]
    fn the_last_provider_and_level_are_told_and_the_prompt_by_its_digest() {
        let last = learn(&[
            r#"{"type":"model_change","provider":"first","modelId":"m"}"#,
            r#"{"type":"model_change","provider":"lab","modelId":"m"}"#,
            r#"{"type":"thinking_level_change","thinkingLevel":"high"}"#,
            r#"{"type":"message","message":{"role":"system","content":"","sections":{"preamble":"be brief","cwd":"/r"},
                "toolsAdded":[{"name":"read","description":"reads","parameters":{"type":"object"}}]}}"#,
            r#"{"type":"message","message":{"role":"user","content":"hi","sections":7,"toolsAdded":7}}"#,
        ])
        .conditions;
        assert_eq!(last.routing.as_deref(), Some("lab"));
        assert_eq!(last.sampling.unwrap()["thinkingLevel"].as_str(), r#""high""#);
        assert_eq!(last.system_prompt, Some(digest_text("be brief\n\n/r")));
        let tool = &last.tools.unwrap()[0];
        assert_eq!(tool.name, "read");
        assert_eq!(tool.schema_sha256, Some(digest_json(&serde_json::json!({"type": "object"}))));
        let compacted = r#"{"type":"compaction","systemMessage":{"role":"system","sections":{"preamble":"again"}}}"#;
        assert_eq!(learn(&[compacted]).conditions.system_prompt, Some(digest_text("again")));
    }
}
