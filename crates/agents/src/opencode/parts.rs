//! Parts of messages, as the client's import wants them.

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Blob, BlobLocation, Outcome, Part, text_of};
use serde_json::{Value, json};

use crate::Loss;
use crate::formats::losses::{count_loss, describe_omitted, is_common_image};

/// The token counts of a step.
pub(super) fn token_counts(input: u64) -> Value {
    json!({ "input": input, "output": 0, "reasoning": 0, "cache": { "read": 0, "write": 0 } })
}

/// A part of a prompt.
pub(super) fn prompt_part(part: &Part, losses: &mut Vec<Loss>) -> Value {
    match part {
        Part::Text(text) => json!({ "type": "text", "text": text }),
        Part::Blob(blob) => {
            file_part(blob).unwrap_or_else(|| json!({ "type": "text", "text": placeholder_text(blob, losses) }))
        }
    }
}

/// A part of a reply; the agent's messages hold text only.
pub(super) fn reply_text(part: &Part, losses: &mut Vec<Loss>) -> String {
    match part {
        Part::Text(text) => text.clone(),
        Part::Blob(blob) => placeholder_text(blob, losses),
    }
}

fn file_part(blob: &Blob) -> Option<Value> {
    let fits = is_common_image(blob) || blob.media_type == "application/pdf";
    let BlobLocation::Inline(data) = &blob.location else { return None };
    let url = format!("data:{};base64,{data}", blob.media_type);
    let mut part = json!({ "type": "file", "mime": blob.media_type, "url": url });
    if let Some(name) = &blob.name {
        part["filename"] = json!(name);
    }
    fits.then_some(part)
}

fn placeholder_text(blob: &Blob, losses: &mut Vec<Loss>) -> String {
    let reason = "the client sends images (PNG, JPEG, GIF, WebP) and PDF only, and none of the agent's own";
    count_loss(losses, "attachment", reason);
    describe_omitted(blob)
}

/// A call that has no outcome yet; the client answers one that never gets any.
pub(super) fn call_part(tool: &str, id: &str, input: &Value, at: Timestamp) -> Value {
    let state = json!({ "status": "running", "input": input, "time": { "start": at.millis() } });
    json!({ "type": "tool", "tool": tool, "callID": id, "state": state })
}

/// Gives a call its outcome; one that has its own already keeps it.
pub(super) fn complete_call(part: &mut Value, outcome: &Outcome, at: Timestamp, losses: &mut Vec<Loss>) {
    if matches!(part["state"]["status"].as_str(), Some("completed" | "error")) {
        return;
    }
    let input = part["state"]["input"].take();
    let start = part["state"]["time"]["start"].as_i64().unwrap_or(at.millis());
    let time = json!({ "start": start, "end": at.millis().max(start) });
    let text = text_of(&outcome.parts);
    let blobs = outcome.parts.iter().filter_map(|part| match part {
        Part::Blob(blob) => Some(blob),
        Part::Text(_) => None,
    });
    let mut stand_ins = Vec::new();
    let mut attachments = Vec::new();
    for blob in blobs {
        match file_part(blob) {
            Some(attachment) => attachments.push(attachment),
            None => stand_ins.push(placeholder_text(blob, losses)),
        }
    }
    let text = std::iter::once(text).chain(stand_ins).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n");
    // A command that failed has an outcome like any other, with its exit code; a tool that failed has an error.
    let failed = outcome.status.is_failure() && outcome.exit_code.is_none() && attachments.is_empty();
    if failed {
        part["state"] = json!({ "status": "error", "input": input, "error": text, "time": time });
        return;
    }
    let mut metadata = json!({ "output": text, "truncated": false });
    if let Some(code) = outcome.exit_code {
        metadata["exit"] = json!(code);
    }
    let title = ["command", "filePath", "pattern"].iter().find_map(|name| input[*name].as_str());
    let title = title.unwrap_or_default().to_owned();
    part["state"] = json!({
        "status": "completed", "input": input, "output": text, "title": title, "metadata": metadata, "time": time,
    });
    if !attachments.is_empty() {
        part["state"]["attachments"] = json!(attachments);
    }
}
