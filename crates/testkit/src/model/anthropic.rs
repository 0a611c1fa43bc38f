//! The Anthropic Messages API, as far as its command-line client uses it.
//! See <https://docs.anthropic.com/en/api/messages-streaming>.

use serde_json::{Value, json};
use uuid::Uuid;

use super::http::{HttpRequest, HttpResponse};
use super::server::RequestKind;
use super::turn::{Block, Failure, Turn};

/// Long enough to show that a client joins the pieces, short enough to be cheap.
const DELTA_CHARS: usize = 4_000;

pub(super) fn classify_request(incoming: &HttpRequest, body: &Value) -> RequestKind {
    let no_tools = body["tools"].as_array().is_none_or(Vec::is_empty);
    let last_prompt = last_user_text(body);
    // All versions ask for a summary in these two elements, and for nothing else.
    let wants_summary = last_prompt.contains("<analysis>") && last_prompt.contains("<summary>");
    let structured = body.pointer("/output_config/format").is_some() || body.get("output_format").is_some();
    let housekeeping = last_prompt.contains("[SUGGESTION MODE") || last_prompt.trim_end().ends_with("Warmup");
    if body["max_tokens"] == 1 {
        RequestKind::Side
    } else if wants_summary {
        RequestKind::Compaction
    } else if structured || housekeeping || no_tools {
        RequestKind::Side
    } else if is_sub_agent(incoming, body) {
        RequestKind::SubAgent
    } else {
        RequestKind::Main
    }
}

/// Newer clients say it in a header; older ones only show it by not offering the delegating tool.
fn is_sub_agent(incoming: &HttpRequest, body: &Value) -> bool {
    if incoming.header("x-claude-code-agent-id").is_some() {
        return true;
    }
    let delegates = |tool: &Value| matches!(tool["name"].as_str(), Some("Task" | "Agent"));
    !body["tools"].as_array().is_some_and(|tools| tools.iter().any(delegates))
}

fn last_user_text(body: &Value) -> String {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let last = messages.iter().rev().find(|message| message["role"] == "user");
    last.map(|message| flat_text(&message["content"])).unwrap_or_default()
}

fn flat_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

pub(super) fn make_response(turn: &Turn, body: &Value) -> HttpResponse {
    if let Some(failure) = &turn.failure {
        return failure_response(failure);
    }
    let blocks: Vec<Value> = turn.blocks.iter().map(content_block).collect();
    let calls = turn.blocks.iter().any(|block| !matches!(block, Block::Text(_) | Block::Reasoning { .. }));
    let stop_reason = if calls { "tool_use" } else { "end_turn" };
    let usage = json!({
        "input_tokens": body.to_string().len() / 4, "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0, "output_tokens": 42, "service_tier": "standard",
    });
    // Clients merge records that share a message id, so ids are unique over all servers.
    let mut message = json!({
        "id": format!("msg_01{}", Uuid::new_v4().simple()), "type": "message", "role": "assistant",
        "model": body["model"], "content": blocks, "stop_reason": stop_reason, "stop_sequence": null, "usage": usage,
    });
    if body["stream"] != true {
        return HttpResponse::from_json(200, &message);
    }
    message["content"] = json!([]);
    message["stop_reason"] = Value::Null;
    let mut events = vec![json!({"type": "message_start", "message": message})];
    for (index, block) in blocks.iter().enumerate() {
        block_events(index, block, &mut events);
    }
    let delta = json!({"stop_reason": stop_reason, "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": delta, "usage": usage}));
    events.push(json!({"type": "message_stop"}));
    HttpResponse::from_events(&events)
}

/// Says at once that a retry is pointless: the scenario wants the failure, not the wait.
fn failure_response(failure: &Failure) -> HttpResponse {
    let error = json!({"type": failure.code, "message": failure.message});
    let body = json!({"type": "error", "error": error, "request_id": "req_scripted"});
    HttpResponse::from_json(failure.status, &body).with_header("x-should-retry", "false")
}

fn content_block(block: &Block) -> Value {
    match block {
        Block::Text(text) => json!({"type": "text", "text": text}),
        Block::Reasoning { text, seal } => {
            json!({"type": "thinking", "thinking": text, "signature": seal})
        }
        Block::Call { id, name, input, .. } => json!({"type": "tool_use", "id": id, "name": name, "input": input}),
        Block::Custom { id, name, input } => {
            json!({"type": "tool_use", "id": id, "name": name, "input": {"input": input}})
        }
    }
}

fn block_events(index: usize, block: &Value, events: &mut Vec<Value>) {
    let (start, deltas) = match block["type"].as_str() {
        Some("text") => {
            let text = block["text"].as_str().unwrap_or_default();
            let deltas = split_pieces(text).into_iter().map(|piece| json!({"type": "text_delta", "text": piece}));
            (json!({"type": "text", "text": ""}), deltas.collect())
        }
        Some("thinking") => {
            let thinking = json!({"type": "thinking_delta", "thinking": block["thinking"]});
            let signature = json!({"type": "signature_delta", "signature": block["signature"]});
            (json!({"type": "thinking", "thinking": "", "signature": ""}), vec![thinking, signature])
        }
        _ => {
            let input = block["input"].to_string();
            let deltas = split_pieces(&input)
                .into_iter()
                .map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
            (json!({"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}), deltas.collect())
        }
    };
    events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
    for delta in deltas {
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
    }
    events.push(json!({"type": "content_block_stop", "index": index}));
}

fn split_pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(DELTA_CHARS).map(|chunk| chunk.iter().collect()).collect()
}
