//! One bubble: words of the user or the agent, a thought, what a tool did, or an error.

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Fact, Opaque, Origin, Part, Reasoning, Tokens, Usage};
use serde::Deserialize;
use serde_json::Value;

use super::blocks::BubbleBlock;
use super::composer::WireTiming;
use super::images;
use super::tool_call::WireToolCall;
use crate::cursor::failure::read_error_details;
use crate::cursor::lenient::{self, Lenient, parse_nested};

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct WireBubble {
    #[serde(rename = "type")]
    kind: Lenient<i64>,
    text: Lenient<String>,
    /// The same in the form of the editor's input, as JSON in a text.
    rich_text: Lenient<String>,
    created_at: Lenient<String>,
    timing_info: Lenient<WireTiming>,
    thinking: Lenient<WireThinking>,
    tool_former_data: Lenient<WireToolCall>,
    token_count: Lenient<WireTokens>,
    model_info: Lenient<WireModel>,
    images: Lenient<Vec<Value>>,
    context: Lenient<WireContext>,
    error_details: Lenient<Value>,
}

#[derive(Deserialize)]
struct WireThinking {
    #[serde(default)]
    text: Lenient<String>,
    #[serde(default)]
    signature: Lenient<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireTokens {
    #[serde(default)]
    input_tokens: Lenient<u64>,
    #[serde(default)]
    output_tokens: Lenient<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireModel {
    model_name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireContext {
    #[serde(default)]
    selected_images: Lenient<Vec<Value>>,
}

/// What a bubble says.
pub(in crate::cursor) struct ReadBubble {
    pub at: Option<Timestamp>,
    pub bodies: Vec<(Origin, Body)>,
    pub facts: Vec<Fact>,
}

/// Reads a bubble. One that the conversation does not name tells no more than an error.
pub(in crate::cursor) fn read_bubble(text: &str, name: &str, is_stray: bool) -> serde_json::Result<ReadBubble> {
    let bubble: WireBubble = serde_json::from_str(text)?;
    let timed = || bubble.timing_info.0.as_ref()?.client_start_time.0.and_then(lenient::time);
    let at = bubble.created_at.0.as_deref().and_then(Timestamp::parse).or_else(timed);
    let failure = bubble.error_details.0.as_ref().and_then(read_error_details);
    let failure = failure.map(|failure| (Origin::Harness, Body::Failure(Box::new(failure))));
    if is_stray {
        let bodies = vec![failure.unwrap_or((Origin::Harness, Body::known("bubble/left")))];
        return Ok(ReadBubble { at, bodies, facts: Vec::new() });
    }
    let mut facts = Vec::new();
    let model = bubble.model_info.0.as_ref().and_then(|model| model.model_name.clone());
    facts.extend(model.filter(|model| model != "default").map(Fact::Model));
    let mut bodies = match bubble.kind.0 {
        Some(1) => bubble.prompt_bodies(),
        Some(2) => bubble.reply_bodies(name),
        Some(kind) => vec![(Origin::Harness, Body::unknown(format!("bubble/{kind}")))],
        None => vec![(Origin::Harness, Body::unknown(""))],
    };
    bodies.extend(failure);
    if bodies.is_empty() {
        bodies.push((Origin::Harness, Body::known("bubble/empty")));
    }
    Ok(ReadBubble { at, bodies, facts })
}

impl WireBubble {
    fn prompt_bodies(self) -> Vec<(Origin, Body)> {
        let written = || self.rich_text.0.as_deref().and_then(parse_nested::<Value>).map(|text| rich_words(&text));
        let words = self.text.0.clone().filter(|words| !words.trim().is_empty()).or_else(written);
        let mut parts: Vec<Part> = words.filter(|words| !words.trim().is_empty()).map(Part::Text).into_iter().collect();
        let images = images::read_images(&self.images.0.unwrap_or_default());
        let selected = self.context.0.and_then(|context| context.selected_images.0).unwrap_or_default();
        // A chosen image is in the bubble as well, unless it was left in its file.
        parts.extend(if images.is_empty() { images::read_selected(&selected) } else { images });
        let Some(first) = parts.first_mut() else {
            return vec![(Origin::Harness, Body::Opaque(Opaque::Wordless))];
        };
        let block = if let Part::Text(words) = first { BubbleBlock::find(words) } else { None };
        let block = block.map(|(block, inner)| (block, inner.to_owned()));
        if let Some((_, inner)) = &block {
            *first = Part::Text(inner.clone());
        }
        vec![match block {
            Some((BubbleBlock::Attached, _)) => (Origin::Hook, Body::Prompt(parts)),
            Some((BubbleBlock::Summary, _)) => (Origin::Agent, Body::Summary(parts)),
            None => (Origin::User, Body::Prompt(parts)),
        }]
    }

    fn reply_bodies(self, name: &str) -> Vec<(Origin, Body)> {
        let mut bodies = Vec::new();
        if let Some(thinking) = self.thinking.0 {
            let text = thinking.text.0.unwrap_or_default();
            let sealed = thinking.signature.0.is_some_and(|signature| !signature.is_empty());
            if sealed || !text.trim().is_empty() {
                bodies.push((Origin::Agent, Body::Reasoning(Box::new(Reasoning { text, sealed }))));
            }
        }
        let words = self.text.0.filter(|words| !words.trim().is_empty());
        bodies.extend(words.map(|words| (Origin::Agent, Body::Reply(vec![Part::Text(words)]))));
        bodies.extend(self.tool_former_data.0.into_iter().flat_map(|tool| tool.into_bodies(name)));
        let tokens = self.token_count.0.map(|count| Tokens {
            input: count.input_tokens.0.unwrap_or_default(),
            output: count.output_tokens.0.unwrap_or_default(),
            ..Tokens::default()
        });
        let usage = tokens.and_then(|tokens| Usage::for_reply(tokens, None));
        bodies.extend(usage.map(|usage| (Origin::Harness, usage.into_body())));
        bodies
    }
}

/// The words in the form of the editor's input, which has been of two kinds: a tree of nodes, some of which have a text.
fn rich_words(node: &Value) -> String {
    if let Some(text) = node["text"].as_str() {
        return text.to_owned();
    }
    let below = ["root", "children", "content"].iter().find_map(|name| node.get(name));
    match below {
        Some(Value::Array(nodes)) => {
            let is_inline = nodes.iter().any(|node| node["text"].is_string());
            nodes.iter().map(rich_words).collect::<Vec<_>>().join(if is_inline { "" } else { "\n" })
        }
        Some(node) => rich_words(node),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_are_found_in_both_forms_of_the_editors_input() {
        let lexical = json!({"root": {"children": [{"children": [{"text": "Rename "}, {"text": "it"}]}, {"children": [{"text": "now"}]}]}});
        let prose = json!({"type": "doc", "content": [{"type": "paragraph", "content": [{"type": "text", "text": "Rename it"}]}]});
        assert_eq!(rich_words(&lexical), "Rename it\nnow");
        assert_eq!(rich_words(&prose), "Rename it");
        assert_eq!(rich_words(&json!(7)), "");
    }
}
