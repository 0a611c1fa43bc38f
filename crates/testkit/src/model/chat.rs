//! The chat completions API of `OpenAI`, which most clients speak to a provider of the user's own.
//! See <https://platform.openai.com/docs/api-reference/chat-streaming>.

use serde_json::{Value, json};
use uuid::Uuid;

use super::http::{HttpRequest, HttpResponse};
use super::server::RequestKind;
use super::turn::{Block, Failure, Turn};
use super::{FLAT_MODEL, SIDE_MODEL};

/// Agents that clients start by themselves, beside the conversation, with tools of their own.
const HOUSEKEEPING_MARKS: &[&str] = &["memory extraction", "auto-memory"];

/// Words of which every client's prompt for a compaction has one, and of its other prompts none.
const SUMMARY_MARKS: &[&str] = &[
    "<state_snapshot>",
    "context summarization assistant",
    "context checkpoint",
    "anchored summary",
    "provide a detailed prompt for continuing our conversation",
    "summary of the conversation so far",
];

pub(super) fn classify_request(incoming: &HttpRequest, body: &Value) -> RequestKind {
    let is = |name: &str| body["model"].as_str().is_some_and(|model| model.contains(name));
    let offers_tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let instruction = instruction_text(body);
    let says = |words: &[&str]| words.iter().any(|word| instruction.contains(word));
    if is(SIDE_MODEL) || body.pointer("/response_format/json_schema").is_some() || says(HOUSEKEEPING_MARKS) {
        RequestKind::Side
    } else if says(SUMMARY_MARKS) {
        RequestKind::Compaction
    } else if is(FLAT_MODEL) {
        RequestKind::Main
    } else if !offers_tools {
        RequestKind::Side
    } else if is_sub_agent(incoming, body) {
        RequestKind::SubAgent
    } else {
        RequestKind::Main
    }
}

/// A header says it, or the first words of the system message do.
fn is_sub_agent(incoming: &HttpRequest, body: &Value) -> bool {
    let told = incoming.header("x-interaction-type").is_some_and(|kind| kind.ends_with("subagent"))
        || incoming.header("x-parent-session-id").is_some();
    let system =
        array_items(&body["messages"]).first().map(|message| flat_text(&message["content"])).unwrap_or_default();
    let start: String = system.chars().take(200).collect::<String>().to_lowercase();
    told || start.contains("subagent") || start.contains("sub-agent")
}

/// The text that tells the purpose of a request: the system message and the last message of all.
fn instruction_text(body: &Value) -> String {
    let messages = array_items(&body["messages"]);
    let system = messages.first().filter(|message| message["role"] != "user");
    let texts = system.into_iter().chain(messages.last()).map(|message| flat_text(&message["content"]));
    texts.collect::<Vec<_>>().join("\n").to_lowercase()
}

fn array_items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn flat_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        parts => array_items(parts).iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"),
    }
}

pub(super) fn make_response(turn: &Turn, body: &Value) -> HttpResponse {
    if let Some(failure) = &turn.failure {
        return failure_response(failure);
    }
    let message = make_message(turn);
    let finish = if message["tool_calls"].is_null() { "stop" } else { "tool_calls" };
    let tokens = body.to_string().len() / 4;
    let usage = json!({"prompt_tokens": tokens, "completion_tokens": 42, "total_tokens": tokens + 42});
    let id = format!("chatcmpl-{}", Uuid::new_v4().simple());
    let base = json!({"id": id, "created": 1, "model": body["model"]});
    let of = |object: &str, choices: Value| {
        let mut value = base.clone();
        value["object"] = json!(object);
        value["choices"] = choices;
        value
    };
    if body["stream"] != true {
        let mut whole = of("chat.completion", json!([{"index": 0, "message": message, "finish_reason": finish}]));
        whole["usage"] = usage;
        return HttpResponse::from_json(200, &whole);
    }
    let chunk = |delta: Value, finish: Value| {
        of("chat.completion.chunk", json!([{"index": 0, "delta": delta, "finish_reason": finish}]))
    };
    let mut chunks: Vec<Value> = message_deltas(&message).into_iter().map(|delta| chunk(delta, Value::Null)).collect();
    chunks.push(chunk(json!({}), json!(finish)));
    let mut last = of("chat.completion.chunk", json!([]));
    last["usage"] = usage;
    chunks.push(last);
    HttpResponse::from_chunks(&chunks, "data: [DONE]\n\n")
}

/// The whole answer: this API has one text, one list of calls, and reasoning as most servers add it.
fn make_message(turn: &Turn) -> Value {
    let texts: Vec<&str> = turn.blocks.iter().filter_map(Block::as_text).collect();
    let mut message = json!({"role": "assistant", "content": texts.join("\n")});
    let calls: Vec<Value> = turn.blocks.iter().filter_map(tool_call).collect();
    for block in &turn.blocks {
        if let Block::Reasoning { text, .. } = block {
            message["reasoning_content"] = json!(text);
        }
    }
    if texts.is_empty() {
        message["content"] = Value::Null;
    }
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    message
}

fn tool_call(block: &Block) -> Option<Value> {
    let (id, name, arguments) = match block {
        Block::Call { id, name, input, .. } => (id, name, input.to_string()),
        Block::Custom { id, name, input } => (id, name, json!({"input": input}).to_string()),
        _ => return None,
    };
    Some(json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}))
}

fn message_deltas(message: &Value) -> Vec<Value> {
    let mut deltas = vec![json!({"role": "assistant", "content": ""})];
    for key in ["reasoning_content", "content"] {
        if message[key].is_string() {
            deltas.push(json!({key: message[key]}));
        }
    }
    for (index, call) in array_items(&message["tool_calls"]).iter().enumerate() {
        let mut call = call.clone();
        call["index"] = json!(index);
        deltas.push(json!({"tool_calls": [call]}));
    }
    deltas
}

fn failure_response(failure: &Failure) -> HttpResponse {
    let error = json!({"type": failure.code, "code": failure.code, "message": failure.message, "param": null});
    // The vendor's own libraries heed it; whoever does not tries again, and is refused again.
    HttpResponse::from_json(failure.status, &json!({"error": error})).with_header("x-should-retry", "false")
}
