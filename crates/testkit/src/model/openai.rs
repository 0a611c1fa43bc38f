//! The Responses API of `OpenAI`, as far as its command-line client uses it.
//! See <https://platform.openai.com/docs/api-reference/responses-streaming>.

use serde_json::{Value, json};
use uuid::Uuid;

use super::http::{HttpRequest, HttpResponse};
use super::server::RequestKind;
use super::turn::{Block, Failure, Turn};

pub(super) fn classify_request(incoming: &HttpRequest, body: &Value) -> RequestKind {
    let metadata = incoming.header("x-codex-turn-metadata");
    let metadata: Value = metadata.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let offers_tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty())
        || body["input"].as_array().is_some_and(|items| items.iter().any(|item| item["type"] == "additional_tools"));
    let structured = body.pointer("/text/format/schema").is_some();
    let is_sub_agent =
        metadata["session_id"] != metadata["thread_id"] || incoming.header("x-openai-subagent").is_some();
    match metadata["request_kind"].as_str() {
        _ if structured => RequestKind::Side,
        Some("compaction") => RequestKind::Compaction,
        // Older clients do not say it; but only a compaction comes without tools.
        None if !offers_tools => RequestKind::Compaction,
        _ if is_sub_agent => RequestKind::SubAgent,
        _ => RequestKind::Main,
    }
}

pub(super) fn make_response(turn: &Turn, body: &Value) -> HttpResponse {
    if let Some(failure) = &turn.failure {
        return failure_response(failure);
    }
    let asks_for_sealed = body["input"].as_array().and_then(|items| items.last());
    let asks_for_sealed = asks_for_sealed.is_some_and(|last| last["type"] == "compaction_trigger");
    let items: Vec<Value> =
        if asks_for_sealed { vec![sealed_summary(turn)] } else { turn.blocks.iter().map(block_item).collect() };
    let tokens = body.to_string().len() / 4;
    let usage = json!({
        "input_tokens": tokens, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 42,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": tokens + 42,
    });
    let base =
        json!({"id": new_id("resp"), "object": "response", "created_at": 1, "model": body["model"], "output": []});
    let mut completed = base.clone();
    completed["status"] = json!("completed");
    completed["output"] = json!(items);
    completed["usage"] = usage;
    if body["stream"] != true {
        return HttpResponse::from_json(200, &completed);
    }
    let mut created = base;
    created["status"] = json!("in_progress");
    let mut events = vec![json!({"type": "response.created", "response": created})];
    for (index, item) in items.iter().enumerate() {
        item_events(index, item, &mut events);
    }
    events.push(json!({"type": "response.completed", "response": completed}));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    HttpResponse::from_events(&events)
}

/// The summary of a remote compaction is opaque to the client.
pub(super) fn make_compacted_response(turn: &Turn) -> HttpResponse {
    HttpResponse::from_json(200, &json!({"output": [sealed_summary(turn)]}))
}

fn sealed_summary(turn: &Turn) -> Value {
    let text: Vec<&str> = turn.blocks.iter().filter_map(Block::as_text).collect();
    json!({"type": "compaction", "id": new_id("cmp"), "encrypted_content": text.join("\n")})
}

fn failure_response(failure: &Failure) -> HttpResponse {
    let error = json!({"type": failure.code, "code": failure.code, "message": failure.message});
    HttpResponse::from_json(failure.status, &json!({"error": error}))
}

fn new_id(prefix: &str) -> String {
    format!("{prefix}_{}", Uuid::new_v4().simple())
}

fn block_item(block: &Block) -> Value {
    match block {
        Block::Text(text) => json!({
            "type": "message", "id": new_id("msg"), "status": "completed", "role": "assistant",
            "content": [{"type": "output_text", "annotations": [], "logprobs": [], "text": text}],
        }),
        Block::Reasoning { text, seal } => json!({
            "type": "reasoning", "id": new_id("rs"), "encrypted_content": seal,
            "summary": [{"type": "summary_text", "text": text}],
        }),
        Block::Call { id: call_id, name, namespace, input } => {
            let mut call = json!({
                "type": "function_call", "id": new_id("fc"), "status": "completed", "name": name,
                "arguments": input.to_string(), "call_id": call_id,
            });
            if let Some(namespace) = namespace {
                call["namespace"] = json!(namespace);
            }
            call
        }
        Block::Custom { id: call_id, name, input } => json!({
            "type": "custom_tool_call", "id": new_id("ctc"), "status": "completed", "name": name,
            "input": input, "call_id": call_id,
        }),
    }
}

fn item_events(index: usize, item: &Value, events: &mut Vec<Value>) {
    let at = |event: &str, more: Value| {
        let mut event = json!({"type": event, "output_index": index, "item_id": item["id"]});
        for (key, value) in more.as_object().into_iter().flatten() {
            event[key] = value.clone();
        }
        event
    };
    let mut added = item.clone();
    match item["type"].as_str() {
        Some("message") => {
            added["content"] = json!([]);
            let text = &item["content"][0]["text"];
            events.push(at("response.output_item.added", json!({"item": added})));
            events.push(at(
                "response.content_part.added",
                json!({"content_index": 0, "part": {"type": "output_text", "text": "", "annotations": []}}),
            ));
            events.push(at("response.output_text.delta", json!({"content_index": 0, "delta": text})));
            events.push(at("response.output_text.done", json!({"content_index": 0, "text": text})));
        }
        Some("reasoning") => {
            added["summary"] = json!([]);
            let text = &item["summary"][0]["text"];
            events.push(at("response.output_item.added", json!({"item": added})));
            events.push(at(
                "response.reasoning_summary_part.added",
                json!({"summary_index": 0, "part": {"type": "summary_text", "text": ""}}),
            ));
            events.push(at("response.reasoning_summary_text.delta", json!({"summary_index": 0, "delta": text})));
            events.push(at("response.reasoning_summary_text.done", json!({"summary_index": 0, "text": text})));
        }
        _ => events.push(at("response.output_item.added", json!({"item": added}))),
    }
    events.push(at("response.output_item.done", json!({"item": item})));
}
