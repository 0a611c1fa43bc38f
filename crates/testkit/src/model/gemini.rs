//! The Gemini API, as far as its command-line client uses it.
//! See <https://ai.google.dev/api/generate-content>.

use serde_json::{Value, json};
use uuid::Uuid;

use super::http::{HttpRequest, HttpResponse};
use super::server::RequestKind;
use super::turn::{Block, Failure, Turn};

/// Whether a path asks a model for an answer, whatever comes before the model's name.
pub(super) fn is_generate_route(route: &str) -> bool {
    route.ends_with(":generateContent") || route.ends_with(":streamGenerateContent")
}

pub(super) fn is_count_route(route: &str) -> bool {
    route.ends_with(":countTokens")
}

pub(super) fn count_tokens(incoming: &HttpRequest) -> HttpResponse {
    HttpResponse::from_json(200, &json!({"totalTokens": incoming.body.len() / 4 + 1}))
}

pub(super) fn classify_request(body: &Value) -> RequestKind {
    let names = tool_names(body);
    let instruction = instruction_text(&body["systemInstruction"]);
    let wants_json = body.pointer("/generationConfig/responseMimeType").is_some_and(|kind| kind == "application/json");
    if wants_json {
        RequestKind::Side
    } else if instruction.contains("<state_snapshot>") {
        RequestKind::Compaction
    } else if names.is_empty() {
        RequestKind::Side
    } else if names.contains(&"complete_task") {
        // Only a sub-agent hands its work in.
        RequestKind::SubAgent
    } else {
        RequestKind::Main
    }
}

fn tool_names(body: &Value) -> Vec<&str> {
    let declared = array_items(&body["tools"]).iter().flat_map(|tool| array_items(&tool["functionDeclarations"]));
    declared.filter_map(|function| function["name"].as_str()).collect()
}

fn array_items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn instruction_text(instruction: &Value) -> String {
    let parts = array_items(&instruction["parts"]).iter().filter_map(|part| part["text"].as_str());
    parts.collect::<Vec<_>>().join("\n")
}

pub(super) fn make_response(turn: &Turn, incoming: &HttpRequest, body: &Value) -> HttpResponse {
    if let Some(failure) = &turn.failure {
        return failure_response(failure);
    }
    let parts: Vec<Value> = turn.blocks.iter().map(block_part).collect();
    let route = incoming.route();
    let model = route.rsplit('/').next().and_then(|name| name.split(':').next()).unwrap_or_default();
    let tokens = body.to_string().len() / 4;
    let usage = json!({
        "promptTokenCount": tokens, "candidatesTokenCount": 42, "thoughtsTokenCount": 0, "totalTokenCount": tokens + 42,
    });
    let id = Uuid::new_v4().simple().to_string();
    let answer = |parts: &[Value], is_last: bool| {
        let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": parts}});
        let mut answer = json!({"modelVersion": model, "responseId": id});
        if is_last {
            candidate["finishReason"] = json!("STOP");
            answer["usageMetadata"] = usage.clone();
        }
        answer["candidates"] = json!([candidate]);
        answer
    };
    if route.ends_with(":generateContent") {
        return HttpResponse::from_json(200, &answer(&parts, true));
    }
    let last = parts.len().saturating_sub(1);
    let chunks: Vec<Value> = parts.chunks(1).enumerate().map(|(index, parts)| answer(parts, index == last)).collect();
    HttpResponse::from_chunks(&chunks, "")
}

fn block_part(block: &Block) -> Value {
    match block {
        Block::Text(text) => json!({"text": text}),
        Block::Reasoning { text, .. } => json!({"text": text, "thought": true}),
        Block::Call { id, name, input, .. } => json!({"functionCall": {"id": id, "name": name, "args": input}}),
        Block::Custom { id, name, input } => {
            json!({"functionCall": {"id": id, "name": name, "args": {"input": input}}})
        }
    }
}

/// A quota of the day: the client gives up at once, where it would try ten times after a plain refusal.
fn failure_response(failure: &Failure) -> HttpResponse {
    let violation = json!({
        "quotaMetric": "generativelanguage.googleapis.com/generate_content_requests",
        "quotaId": "GenerateRequestsPerDayPerProjectPerModel",
    });
    let details = json!([{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]}]);
    let error = json!({"code": failure.status, "message": failure.message, "status": failure.code, "details": details});
    HttpResponse::from_json(failure.status, &json!({"error": error}))
}
