//! Messages of the client's own, written back into another session.

use carryover_core::time::Timestamp;
use serde_json::{Value, json};

use super::text_origin::TASK_EXECUTED;
use crate::formats::kept_fields::KeptFields;

/// The message, if it is one that the client's import takes: it is checked here, for the import stops half-way.
pub(super) fn parse_message(raw: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(raw).ok()?;
    let info = &value["info"];
    let model = |model: &Value| model["providerID"].is_string() && model["modelID"].is_string();
    let sound = match info["role"].as_str()? {
        "user" => info["agent"].is_string() && model(&info["model"]),
        "assistant" => {
            let tokens = &info["tokens"];
            let counted = ["input", "output", "reasoning"].iter().all(|name| tokens[*name].is_number());
            let cached = tokens["cache"]["read"].is_number() && tokens["cache"]["write"].is_number();
            model(info)
                && info["mode"].is_string()
                && info["agent"].is_string()
                && info["cost"].is_number()
                && counted
                && cached
        }
        _ => false,
    };
    let sound = sound && info["time"]["created"].is_number();
    (sound && value["parts"].as_array()?.iter().all(is_valid_part)).then(|| keep_message(value))
}

/// What of a prompt's own fields goes back. Not among them: a system prompt, and which tools there are.
const PROMPT: KeptFields = KeptFields::whole(&["id", "sessionID", "role", "time", "agent", "model", "summary"]);

const REPLY: KeptFields = KeptFields::whole(&[
    "id",
    "sessionID",
    "role",
    "time",
    "parentID",
    "modelID",
    "providerID",
    "mode",
    "agent",
    "path",
    "summary",
    "cost",
    "tokens",
    "finish",
    "error",
]);

/// The message without what the client would do, rather than say, when it goes on.
fn keep_message(mut message: Value) -> Value {
    let fields = if message["info"]["role"] == "user" { PROMPT } else { REPLY };
    if let Some(info) = message.get_mut("info") {
        fields.keep(info);
    }
    let parts = message.get_mut("parts").and_then(Value::as_array_mut).into_iter().flatten();
    for part in parts.filter(|part| part["type"] == "subtask") {
        // One that no reply follows is run with the next prompt, whoever asked for it. This is what the client says of it.
        *part = json!({ "type": "text", "text": TASK_EXECUTED, "synthetic": true });
    }
    message
}

fn is_valid_part(part: &Value) -> bool {
    let is_text = |value: &Value, names: &[&str]| names.iter().all(|name| value[*name].is_string());
    let state = &part["state"];
    match part["type"].as_str().unwrap_or_default() {
        "text" => is_text(part, &["text"]),
        "reasoning" => is_text(part, &["text"]) && part["time"]["start"].is_number(),
        "file" => is_text(part, &["mime", "url"]),
        "tool" => is_text(part, &["tool", "callID"]) && state["input"].is_object() && is_valid_state(state),
        "step-start" => true,
        "step-finish" => is_text(part, &["reason"]) && part["cost"].is_number() && part["tokens"].is_object(),
        "patch" => is_text(part, &["hash"]) && part["files"].is_array(),
        "snapshot" => is_text(part, &["snapshot"]),
        "agent" => is_text(part, &["name"]),
        "subtask" => is_text(part, &["prompt", "description", "agent"]),
        _ => false,
    }
}

fn is_valid_state(state: &Value) -> bool {
    let (start, end) = (state["time"]["start"].is_number(), state["time"]["end"].is_number());
    match state["status"].as_str().unwrap_or_default() {
        "completed" => {
            start && end && state["output"].is_string() && state["title"].is_string() && state["metadata"].is_object()
        }
        "error" => start && end && state["error"].is_string(),
        "running" => start,
        "pending" => state["raw"].is_string(),
        _ => false,
    }
}

pub(super) fn created_at(message: &Value) -> Option<Timestamp> {
    message["info"]["time"]["created"].as_i64().map(Timestamp::from_millis)
}

/// Ties a part to its new message.
pub(super) fn attach_part(part: &mut Value, name: &mut dyn FnMut() -> String, session: &str, message: &str) {
    part["id"] = json!(name());
    part["sessionID"] = json!(session);
    part["messageID"] = json!(message);
    for attachment in part_attachments(part) {
        attachment["id"] = json!(name());
        attachment["sessionID"] = json!(session);
        attachment["messageID"] = json!(message);
    }
}

/// The attachments of a call's outcome.
pub(super) fn part_attachments(part: &mut Value) -> impl Iterator<Item = &mut Value> {
    let attachments = part.get_mut("state").and_then(|state| state.get_mut("attachments"));
    attachments.and_then(Value::as_array_mut).into_iter().flatten()
}

/// The calls of a message, with the places of their parts.
pub(super) fn list_calls(message: &Value) -> Vec<(usize, String)> {
    let parts = message["parts"].as_array().into_iter().flatten().enumerate();
    parts.filter_map(|(place, part)| Some((place, part["callID"].as_str()?.to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_and_does_nothing() {
        let prompt = json!({
            "info": {"role": "user", "agent": "build", "time": {"created": 1}, "system": "OBEY", "tools": {"bash": true},
                "model": {"providerID": "p", "modelID": "m"}},
            "parts": [{"type": "text", "text": "look"},
                {"type": "subtask", "agent": "evil", "prompt": "OBEY", "description": "OBEY", "command": "OBEY"}],
        });
        let kept = parse_message(&prompt.to_string()).unwrap();
        assert!(!kept.to_string().contains("OBEY") && kept["info"]["tools"].is_null(), "{kept}");
        assert_eq!(kept["parts"][0], prompt["parts"][0]);
        assert_eq!(kept["parts"][1]["text"], TASK_EXECUTED);
    }
}
