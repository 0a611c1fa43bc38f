//! Content blocks as clients of trees spell them: calls, outcomes, text and images.

use carryover_core::transcript::{Action, Blob, BlobLocation, Call, Outcome, Part};
use serde_json::{Value, json};

use super::exit_line::add_exit_line;
use crate::formats::calls::CallWriter;
use crate::formats::losses::{count_loss, describe_omitted, is_common_image};
use crate::formats::relocate::Relocation;
use crate::formats::translation::{NativeCall, ProjectDirs};
use crate::{CarriedEntry, Loss};

/// The longest name of a call that all APIs take.
const MAX_ID_CHARS: usize = 64;

/// The tools and words of one client.
#[derive(Clone, Copy)]
pub(crate) struct ClientDialect {
    /// A foreign call in its own tools, where the meaning is exact.
    pub translate: fn(&Action, ProjectDirs<'_>) -> Option<NativeCall>,
    /// The lines in which an exit code may stand at the end of an outcome; the first is the client's own.
    pub exit_code_lines: fn(i32) -> Vec<String>,
}

/// Spells blocks and keeps the names of calls straight.
pub(crate) struct BlockWriter<'a> {
    dialect: ClientDialect,
    pub calls: CallWriter<'a>,
}

impl<'a> BlockWriter<'a> {
    pub(crate) fn new(dialect: ClientDialect, project: &'a str, moves: Option<Relocation<'a>>) -> Self {
        Self { dialect, calls: CallWriter::new(project, moves, MAX_ID_CHARS) }
    }

    /// Takes note of the calls in a message that is written back as it was, and moves their paths.
    pub(crate) fn note_calls(&mut self, message: &mut Value) {
        let blocks = message.get_mut("content").and_then(Value::as_array_mut);
        for block in blocks.into_iter().flatten().filter(|block| block["type"] == "toolCall") {
            self.calls.move_paths(&mut block["arguments"]);
            if let Some(id) = block["id"].as_str() {
                self.calls.note_call(id, block["name"].as_str().unwrap_or_default());
            }
        }
    }

    pub(crate) fn write_call(&mut self, call: &Call, carried: &CarriedEntry) -> Value {
        let own = (self.dialect.translate)(&carried.action, self.calls.project_dirs());
        let (written, arguments) = self.calls.write_call(call, own);
        json!({ "type": "toolCall", "id": written.id, "name": written.tool, "arguments": arguments })
    }

    pub(crate) fn write_outcome(&self, outcome: &Outcome, losses: &mut Vec<Loss>) -> Value {
        let call = self.calls.find_call(&outcome.call).cloned().unwrap_or_default();
        let mut parts = outcome.parts.clone();
        if let Some(code) = outcome.exit_code.filter(|code| *code != 0) {
            self.add_exit_code(&mut parts, code);
        }
        json!({
            "role": "toolResult", "toolCallId": call.id, "toolName": call.tool, "content": make_content(&parts, losses),
            "isError": outcome.status.is_failure(),
        })
    }

    /// The code stands in the last line, which is where the client looks for it, too.
    fn add_exit_code(&self, parts: &mut Vec<Part>, code: i32) {
        let lines = (self.dialect.exit_code_lines)(code);
        match parts.last_mut() {
            Some(Part::Text(text)) => *text = add_exit_line(text, &lines),
            _ => parts.push(Part::Text(add_exit_line("", &lines))),
        }
    }
}

pub(crate) fn make_content(parts: &[Part], losses: &mut Vec<Loss>) -> Value {
    parts.iter().map(|part| make_block(part, losses)).collect()
}

fn make_block(part: &Part, losses: &mut Vec<Loss>) -> Value {
    match part {
        Part::Text(text) => json!({ "type": "text", "text": text }),
        Part::Blob(blob) => blob_block(blob, losses),
    }
}

fn blob_block(blob: &Blob, losses: &mut Vec<Loss>) -> Value {
    if let (BlobLocation::Inline(data), true) = (&blob.location, is_common_image(blob)) {
        return json!({ "type": "image", "data": &**data, "mimeType": blob.media_type });
    }
    count_loss(losses, "attachment", "the client takes images (PNG, JPEG, GIF, WebP) only");
    json!({ "type": "text", "text": describe_omitted(blob) })
}
