//! Content blocks: calls, outcomes, text and images as the Messages API spells them.

use carryover_core::transcript::{Action, Blob, BlobLocation, Call, Outcome, Part, text_of};
use serde_json::{Value, json};

use super::dialect;
use crate::formats::calls::CallWriter;
use crate::formats::losses::{count_loss, describe_omitted, is_common_image};
use crate::formats::relocate::Relocation;
use crate::{CarriedEntry, Loss};

/// The longest name that the API takes.
const LONGEST_NAME: usize = 128;

/// Spells blocks and keeps the names of calls straight.
pub(super) struct BlockWriter<'a> {
    pub(super) calls: CallWriter<'a>,
}

impl<'a> BlockWriter<'a> {
    pub(super) fn new(project: &'a str, moves: Option<Relocation<'a>>) -> Self {
        Self { calls: CallWriter::new(project, moves, LONGEST_NAME) }
    }

    /// Takes note of the calls in a record that is written back as it was.
    pub(super) fn note_calls(&mut self, record: &Value) {
        for block in record["message"]["content"].as_array().into_iter().flatten() {
            if let (Some("tool_use"), Some(id)) = (block["type"].as_str(), block["id"].as_str()) {
                self.calls.rename_call(id, block["name"].as_str().unwrap_or_default());
            }
        }
    }

    pub(super) fn write_call(&mut self, call: &Call, carried: &CarriedEntry) -> Value {
        // The client's own call is not translated into itself, which would lose what its meaning does not need.
        let is_own = carried.agent == super::FACTS.id && dialect::interpret_call(call, None) != Action::Other;
        let dirs = self.calls.project_dirs();
        let own = if is_own { None } else { dialect::translate_action(call, &carried.action, dirs) };
        let (written, input) = self.calls.write_call(call, own);
        json!({ "type": "tool_use", "id": written.id, "name": written.tool, "input": input })
    }

    /// The outcome's block, and what the client draws of it on the screen.
    pub(super) fn write_outcome(&mut self, outcome: &Outcome, losses: &mut Vec<Loss>) -> (Value, Option<Value>) {
        let call = self.calls.find_call(&outcome.call).cloned().unwrap_or_default();
        let failed = outcome.status.is_failure();
        let mut content = make_content(&outcome.parts, losses);
        if let (Some(code), Value::String(text)) = (outcome.exit_code.filter(|code| *code != 0), &content) {
            content = json!(format!("Exit code {code}\n{text}"));
        }
        let mut block = json!({ "type": "tool_result", "tool_use_id": call.id, "content": content });
        if failed {
            block["is_error"] = json!(true);
        }
        let drawn = (call.tool == "Bash").then(|| shell_result(outcome, &content));
        (block, drawn)
    }
}

/// Text alone is a string; with images it is a list.
pub(super) fn make_content(parts: &[Part], losses: &mut Vec<Loss>) -> Value {
    if parts.iter().all(|part| matches!(part, Part::Text(_))) {
        return json!(text_of(parts));
    }
    parts.iter().map(|part| make_block(part, losses)).collect()
}

fn shell_result(outcome: &Outcome, content: &Value) -> Value {
    match content {
        Value::String(text) if outcome.status.is_failure() => json!(format!("Error: {text}")),
        _ => json!({
            "stdout": text_of(&outcome.parts), "stderr": "", "interrupted": false, "isImage": false,
            "noOutputExpected": false,
        }),
    }
}

fn make_block(part: &Part, losses: &mut Vec<Loss>) -> Value {
    match part {
        Part::Text(text) => json!({ "type": "text", "text": text }),
        Part::Blob(blob) => blob_block(blob, losses),
    }
}

fn blob_block(blob: &Blob, losses: &mut Vec<Loss>) -> Value {
    let kind = match blob.media_type.as_str() {
        "application/pdf" => "document",
        _ if is_common_image(blob) => "image",
        _ => "",
    };
    if let (BlobLocation::Inline(data), false) = (&blob.location, kind.is_empty()) {
        let source = json!({ "type": "base64", "media_type": blob.media_type, "data": &**data });
        return json!({ "type": kind, "source": source });
    }
    count_loss(losses, "attachment", "the API takes images (PNG, JPEG, GIF, WebP) and PDF only");
    json!({ "type": "text", "text": describe_omitted(blob) })
}

/// Moves paths where they are data: in the inputs of calls, and in what the client keeps about files. What was said and
/// what came back stays as it was.
pub(super) fn relocate_paths(record: &mut Value, moves: Relocation<'_>) {
    for field in ["toolUseResult", "attachment"] {
        if let Some(value) = record.get_mut(field) {
            moves.move_value(value);
        }
    }
    let blocks = record.pointer_mut("/message/content").and_then(Value::as_array_mut);
    for call in blocks.into_iter().flatten().filter(|block| block["type"] == "tool_use") {
        if let Some(input) = call.get_mut("input") {
            moves.move_value(input);
        }
    }
}
