//! The client's own log of its requests, from 2.1.300 on: what it told the model besides the conversation.
//!
//! A shape (system prompt and tools) has a line of its own before the first request that has it. Only digests leave
//! this file.

use std::collections::BTreeMap;

use carryover_core::json::Json;
use carryover_core::transcript::{Condition, Fact, OfferedTool, StartSetting, TextDigest};
use serde_json::Value;

use crate::formats::digest::{digest_prompt, digest_tool};
use crate::formats::text::{Text, text_or_none};

/// The loop of the session itself: on its terminal, or printing. Titles, summaries and sub-agents ask as others.
const OWN_LOOPS: &[&str] = &["repl_main_thread", "sdk"];
/// Behind the name of the loop in its terminal, where the style is not the usual one.
const STYLE_MARK: &str = ":outputStyle:";
const USUAL_STYLE: &str = "default";
/// A style of the user's own, which an attachment names.
const OWN_STYLE: &str = "custom";
/// A session has a handful.
const MAX_SHAPES: usize = 50;

/// The shapes that were seen, by the names that the client gives them.
#[derive(Default)]
pub(super) struct RequestLog {
    shapes: BTreeMap<String, (Option<TextDigest>, Vec<OfferedTool>)>,
    last_shape: String,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireShapeRecord<'a> {
    #[serde(borrow)]
    shape_hash: Text<'a>,
    shape: WireShape,
}

#[derive(serde::Deserialize)]
struct WireShape {
    #[serde(default)]
    system: WireSystem,
    #[serde(default)]
    tools: Vec<Value>,
}

/// One text, or blocks of text.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum WireSystem {
    Text(String),
    Blocks(Vec<WireBlock>),
}

#[derive(serde::Deserialize)]
struct WireBlock {
    #[serde(default)]
    text: String,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireRequest<'a> {
    #[serde(borrow)]
    query_source: Text<'a>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    shape_hash: Option<Text<'a>>,
    /// Present on what a sub-agent asks.
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    agent_id: Option<Text<'a>>,
    #[serde(default)]
    params: BTreeMap<String, Json>,
}

impl Default for WireSystem {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl RequestLog {
    /// Takes in a line of the log; a line that was trimmed, or has another shape, tells nothing.
    pub(super) fn read_line(&mut self, kind: &str, line: &[u8]) -> Vec<Fact> {
        match kind {
            "api-request-shape" => {
                if let Ok(record) = serde_json::from_slice::<WireShapeRecord<'_>>(line) {
                    self.add_shape(record);
                }
                Vec::new()
            }
            "api-request" => serde_json::from_slice(line).map(|request| self.read_request(request)).unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    fn add_shape(&mut self, record: WireShapeRecord<'_>) {
        if self.shapes.len() >= MAX_SHAPES {
            return;
        }
        let texts: Vec<String> = match record.shape.system {
            WireSystem::Text(text) => vec![text],
            WireSystem::Blocks(blocks) => blocks.into_iter().map(|block| block.text).collect(),
        };
        let tools = record.shape.tools.iter().map(digest_tool).collect();
        self.shapes.insert(record.shape_hash.to_string(), (digest_prompt(&texts), tools));
    }

    fn read_request(&mut self, request: WireRequest<'_>) -> Vec<Fact> {
        let (source, style) = match request.query_source.split_once(STYLE_MARK) {
            Some((source, style)) => (source, style),
            None => (&*request.query_source, USUAL_STYLE),
        };
        if request.agent_id.is_some() || !OWN_LOOPS.contains(&source) {
            return Vec::new();
        }
        let mut facts = Vec::new();
        if source != "sdk" && style != OWN_STYLE {
            facts.push(Fact::StartSetting(StartSetting::OutputStyle(style.to_owned())));
        }
        facts.extend(request.shape_hash.map(|hash| self.change_shape(&hash)).unwrap_or_default());
        let mut params = request.params;
        params.remove("model");
        if !params.is_empty() {
            facts.push(Fact::Condition(Condition::Sampling(params)));
        }
        facts
    }

    /// What the session's loop asks with from here on, where that is another shape than before.
    fn change_shape(&mut self, hash: &str) -> Vec<Fact> {
        let Some((prompt, tools)) = self.shapes.get(hash).filter(|_| self.last_shape != hash) else {
            return Vec::new();
        };
        hash.clone_into(&mut self.last_shape);
        let prompt = prompt.clone().map(Condition::SystemPrompt);
        prompt.into_iter().chain([Condition::Tools(tools.clone())]).map(Fact::Condition).collect()
    }
}

#[cfg(test)]
mod tests {
    use carryover_core::transcript::{Conditions, Header};

    use super::*;
    use crate::formats::digest::{digest_json, digest_text};

    const SHAPE: &str = r#"{"type":"api-request-shape","shapeHash":"s1","shape":{
        "system":[{"type":"text","text":"be brief"},{"type":"text","text":"and kind"}],
        "tools":[{"name":"Read","description":"reads","input_schema":{"type":"object","required":["a"]}}]}}"#;

    fn learn(header: &mut Header, log: &mut RequestLog, kind: &str, line: &str) {
        for fact in log.read_line(kind, line.as_bytes()) {
            header.learn(fact);
        }
    }

    #[test]
    fn the_last_request_of_the_sessions_own_loop_tells_its_prompt_and_its_tools() {
        let (mut header, mut log) = (Header::default(), RequestLog::default());
        learn(&mut header, &mut log, "api-request-shape", SHAPE);
        assert_eq!(header.conditions, Conditions::default(), "no request had that shape yet");
        let other = SHAPE.replace("s1", "s2").replace("be brief", "name this").replace("Read", "Name");
        learn(&mut header, &mut log, "api-request-shape", &other);
        let request = r#"{"type":"api-request","querySource":"repl_main_thread:outputStyle:Explanatory",
            "shapeHash":"s1","params":{"model":"m-1","max_tokens":5,"thinking":{"type":"enabled"}}}"#;
        learn(&mut header, &mut log, "api-request", request);
        for source in ["generate_session_title", "agent:builtin:Explore", "compact", "sdk\",\"agentId\":\"a1"] {
            let request = format!(r#"{{"querySource":"{source}","shapeHash":"s2","params":{{"max_tokens":1}}}}"#);
            learn(&mut header, &mut log, "api-request", &request);
        }
        let last = &header.conditions;
        assert_eq!(last.system_prompt, Some(digest_text("be brief\n\nand kind")));
        let schema = digest_json(&serde_json::json!({"required": ["a"], "type": "object"}));
        let read = OfferedTool { name: "Read".to_owned(), schema_sha256: Some(schema) };
        assert_eq!(last.tools.as_deref(), Some([read].as_slice()));
        let sampling: Vec<&str> = last.sampling.iter().flatten().map(|(name, _)| name.as_str()).collect();
        assert_eq!(sampling, ["max_tokens", "thinking"]);
        assert_eq!(last.output_style.as_deref(), Some("Explanatory"));
        let plain = r#"{"querySource":"repl_main_thread","shapeHash":"s2","params":{}}"#;
        learn(&mut header, &mut log, "api-request", plain);
        assert_eq!(header.conditions.output_style.as_deref(), Some("default"));
        assert_eq!(header.conditions.tools.as_ref().unwrap()[0].name, "Name");
    }

    #[test]
    fn lines_that_were_trimmed_tell_nothing() {
        let mut log = RequestLog::default();
        for line in [r#"{"type":"api-request-shape","trimmed":true}"#, r#"{"type":"api-request","trimmed":true}"#, "{"]
        {
            assert_eq!(log.read_line("api-request-shape", line.as_bytes()), []);
            assert_eq!(log.read_line("api-request", line.as_bytes()), []);
        }
        assert!(log.shapes.is_empty());
    }
}
