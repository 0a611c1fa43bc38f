//! Parts of messages: calls, outcomes, text and images as the client spells them.

use carryover_core::transcript::{Blob, BlobLocation, Call, Outcome, Part, Status, text_of};
use serde_json::{Value, json};

use super::{dialect, outcome};
use crate::formats::calls::CallWriter;
use crate::formats::losses::{count_loss, describe_omitted, is_common_image};
use crate::formats::relocate::Relocation;
use crate::{CarriedEntry, Loss, Version};

/// The longest name of a call that all APIs take.
const MAX_ID_CHARS: usize = 64;

/// Spells parts and keeps the names of calls straight.
pub(super) struct PartWriter<'a> {
    version: Version,
    pub(super) calls: CallWriter<'a>,
}

impl<'a> PartWriter<'a> {
    pub(super) fn new(project: &'a str, moves: Option<Relocation<'a>>, version: Version) -> Self {
        Self { version, calls: CallWriter::new(project, moves, MAX_ID_CHARS) }
    }

    /// Takes note of the calls in a message that is written back as it was, and moves their paths.
    pub(super) fn note_calls(&mut self, message: &mut Value) {
        let parts = message.get_mut("parts").and_then(Value::as_array_mut);
        for call in parts.into_iter().flatten().filter_map(|part| part.get_mut("functionCall")) {
            if let Some(args) = call.get_mut("args") {
                self.calls.move_paths(args);
            }
            if let Some(id) = call["id"].as_str() {
                self.calls.note_call(id, call["name"].as_str().unwrap_or_default());
            }
        }
    }

    pub(super) fn make_call(&mut self, call: &Call, carried: &CarriedEntry) -> Value {
        let own = dialect::translate_action(&carried.action, self.calls.project_dirs(), self.version);
        let (written, args) = self.calls.write_call(call, own);
        json!({ "functionCall": { "id": written.id, "name": written.tool, "args": args } })
    }

    /// The outcome's part, and what the client draws of it on the screen.
    pub(super) fn make_outcome(&self, outcome: &Outcome, losses: &mut Vec<Loss>) -> (Value, Value) {
        let call = self.calls.find_call(&outcome.call).cloned().unwrap_or_default();
        let mut media = Vec::new();
        let mut texts = Vec::new();
        for part in &outcome.parts {
            match part {
                Part::Text(_) => texts.push(part.clone()),
                Part::Blob(blob) => match inline_data(blob, losses) {
                    Ok(data) => media.push(data),
                    Err(text) => texts.push(Part::Text(text)),
                },
            }
        }
        let mut text = text_of(&texts);
        if let Some(code) = outcome.exit_code.filter(|code| *code != 0) {
            text = outcome::with_exit_code(&text, code);
        }
        let (field, status) = match outcome.status {
            Status::Done | Status::Ended => ("output", "success"),
            Status::Failed => ("error", "error"),
            Status::Interrupted => ("error", "cancelled"),
        };
        let mut response = json!({ "id": call.id, "name": call.tool, "response": { field: text } });
        if !media.is_empty() {
            response["parts"] = json!(media);
        }
        let result = json!({ "callId": call.id, "status": status, "resultDisplay": text });
        (json!({ "functionResponse": response }), result)
    }
}

pub(super) fn make_content(parts: &[Part], losses: &mut Vec<Loss>) -> Vec<Value> {
    let part = |part: &Part| match part {
        Part::Text(text) => json!({ "text": text }),
        Part::Blob(blob) => inline_data(blob, losses).unwrap_or_else(|text| json!({ "text": text })),
    };
    parts.iter().map(part).collect()
}

/// An image, or the text that stands for what the client does not take.
fn inline_data(blob: &Blob, losses: &mut Vec<Loss>) -> Result<Value, String> {
    if let (BlobLocation::Inline(data), true) = (&blob.location, is_common_image(blob)) {
        let mut inline = json!({ "mimeType": blob.media_type, "data": &**data });
        if let Some(name) = &blob.name {
            inline["displayName"] = json!(name);
        }
        return Ok(json!({ "inlineData": inline }));
    }
    count_loss(losses, "attachment", "the client takes images (PNG, JPEG, GIF, WebP) only");
    Err(describe_omitted(blob))
}
