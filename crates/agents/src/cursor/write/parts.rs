//! Parts of messages: words, images, calls and outcomes as the client keeps them.

use carryover_core::transcript::{Blob, BlobLocation, Call, Outcome, Part, text_of};
use serde_json::{Value, json};

use super::outcome::with_exit_code;
use crate::cursor::{FACTS, dialect};
use crate::formats::calls::CallWriter;
use crate::formats::losses::{count_loss, describe_omitted, is_common_image};
use crate::formats::relocate::Relocation;
use crate::{CarriedEntry, Loss};

/// The longest name of a call that all APIs take.
const MAX_ID_CHARS: usize = 64;

/// Spells parts and keeps the names of calls straight.
pub(super) struct PartWriter<'a> {
    pub(super) calls: CallWriter<'a>,
}

impl<'a> PartWriter<'a> {
    pub(super) fn new(project: &'a str, moves: Option<Relocation<'a>>) -> Self {
        Self { calls: CallWriter::new(project, moves, MAX_ID_CHARS) }
    }

    /// Takes note of the calls in a message that is written back as it was, and moves their paths.
    pub(super) fn note_calls(&mut self, message: &mut Value) {
        let parts = message.get_mut("content").and_then(Value::as_array_mut);
        for call in parts.into_iter().flatten().filter(|part| part["type"] == "tool-call") {
            if let Some(args) = call.get_mut("args") {
                self.calls.move_paths(args);
            }
            if let Some(id) = call["toolCallId"].as_str() {
                self.calls.note_call(id, call["toolName"].as_str().unwrap_or_default());
            }
        }
    }

    pub(super) fn make_call(&mut self, call: &Call, carried: &CarriedEntry) -> Value {
        // What is spelt in the client's own tools stays as it was.
        let is_own = carried.agent == FACTS.id && call.tool.starts_with(|letter: char| letter.is_ascii_uppercase());
        let own = (!is_own).then(|| dialect::translate_action(&carried.action, self.calls.project_dirs())).flatten();
        let (written, args) = self.calls.write_call(call, own);
        json!({ "type": "tool-call", "toolCallId": written.id, "toolName": written.tool, "args": args })
    }

    pub(super) fn make_outcome(&self, outcome: &Outcome, losses: &mut Vec<Loss>) -> Value {
        let call = self.calls.find_call(&outcome.call).cloned().unwrap_or_default();
        let mut shown = Vec::new();
        let mut texts = Vec::new();
        for part in &outcome.parts {
            match part {
                Part::Text(_) => texts.push(part.clone()),
                Part::Blob(blob) => match image_data(blob, losses) {
                    Ok(data) => shown.push(json!({ "type": "image", "data": data, "mimeType": blob.media_type })),
                    Err(text) => texts.push(Part::Text(text)),
                },
            }
        }
        let mut text = text_of(&texts);
        if let Some(code) = outcome.exit_code.filter(|code| *code != 0) {
            text = with_exit_code(&text, code);
        }
        shown.insert(0, json!({ "type": "text", "text": text }));
        let is_error = outcome.status.is_failure();
        let mut result = json!({
            "type": "tool-result", "toolCallId": call.id, "toolName": call.tool, "result": text, "experimental_content": shown,
        });
        if is_error {
            result["isError"] = json!(true);
        }
        json!({
            "role": "tool", "id": call.id, "content": [result],
            "providerOptions": { "cursor": { "highLevelToolCallResult": { "isError": is_error } } },
        })
    }
}

/// The parts of a message in the user's place.
pub(super) fn make_content(parts: &[Part], wrap: impl Fn(&str) -> String, losses: &mut Vec<Loss>) -> Vec<Value> {
    let text = |text: String| json!({ "type": "text", "text": text });
    let part = |part: &Part| match part {
        Part::Text(words) => text(wrap(words)),
        Part::Blob(blob) => match image_data(blob, losses) {
            Ok(data) => json!({ "type": "image", "image": data, "mimeType": blob.media_type }),
            Err(words) => text(wrap(&words)),
        },
    };
    parts.iter().map(part).collect()
}

/// The Base64 of an image, or the text that stands for what the client does not take.
fn image_data(blob: &Blob, losses: &mut Vec<Loss>) -> Result<String, String> {
    if let (BlobLocation::Inline(data), true) = (&blob.location, is_common_image(blob)) {
        return Ok(data.to_string());
    }
    count_loss(losses, "attachment", "the client takes images (PNG, JPEG, GIF, WebP) only");
    Err(describe_omitted(blob))
}
