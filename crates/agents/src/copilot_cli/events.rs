//! The events of a session in the making: one after the other, each naming the one before.

use std::collections::BTreeSet;

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Blob, BlobLocation, Call, CallId, Outcome, Part, Status, text_of};
use serde_json::{Value, json};

use super::{dialect, outcome, prompt};
use crate::formats::calls::CallWriter;
use crate::formats::ids::Ids;
use crate::formats::losses::{count_loss, describe_omitted, is_common_image};
use crate::formats::relocate::Relocation;
use crate::formats::session_lines::{LineChain, LineWriter, WrittenFile, record_time};
use crate::formats::user_marks::{self, mark_as_user};
use crate::{CarriedEntry, Loss};

/// Longer names of tools and calls are refused by some of the APIs behind this client.
const MAX_NAME_CHARS: usize = 64;

/// A message of the agent that may still grow.
#[derive(Default)]
struct OpenMessage {
    reasoning: String,
    content: String,
    requests: Vec<Value>,
    calls: BTreeSet<CallId>,
    entries: Vec<usize>,
    at: Option<Timestamp>,
}

/// The events, and the names of calls kept straight.
pub(super) struct EventWriter<'a> {
    moves: Option<Relocation<'a>>,
    model: Option<&'a str>,
    chain: LineChain,
    calls: CallWriter<'a>,
    /// The assets that have been written.
    assets: BTreeSet<String>,
    n_shells: usize,
    message: OpenMessage,
    losses: Vec<Loss>,
}

impl<'a> EventWriter<'a> {
    pub(super) fn new(
        project: &'a str,
        moves: Option<Relocation<'a>>,
        model: Option<&'a str>,
        ids: Ids,
        at: Timestamp,
    ) -> Self {
        Self {
            moves,
            model,
            chain: LineChain::new(ids, Ids::next_uuid, at),
            calls: CallWriter::new(project, moves, MAX_NAME_CHARS),
            assets: BTreeSet::new(),
            n_shells: 0,
            message: OpenMessage::default(),
            losses: Vec::new(),
        }
    }

    /// Notes when the next event happened; times never run back.
    pub(super) fn advance_clock(&mut self, at: Option<Timestamp>) {
        self.chain.raise_time(at);
    }

    /// One event, after the message that the agent was in the midst of.
    pub(super) fn put_event(&mut self, kind: &str, data: &Value, entries: Vec<usize>) {
        self.end_message();
        self.push_event(kind, data, entries);
    }

    fn push_event(&mut self, kind: &str, data: &Value, entries: Vec<usize>) {
        let id = self.chain.new_name();
        let value = json!({
            "type": kind, "data": data, "id": id, "timestamp": self.chain.at.to_string(),
            "parentId": self.chain.parent,
        });
        self.chain.push_line(value, id, entries);
    }

    pub(super) fn write_prompt(&mut self, parts: &[Part], index: usize) {
        let mut text: Vec<String> = Vec::new();
        let mut attachments = Vec::new();
        for part in parts {
            match part {
                Part::Text(words) => text.push(words.clone()),
                Part::Blob(blob) => match image_data(blob) {
                    Some(mut attachment) => {
                        attachment["type"] = json!("blob");
                        if let Some(name) = &blob.name {
                            let moved = self.moves.and_then(|moves| moves.move_path(name));
                            attachment["displayName"] = json!(moved.as_ref().unwrap_or(name));
                        }
                        attachments.push(attachment);
                    }
                    None => text.push(self.leave_out(blob)),
                },
            }
        }
        let mut content = text.join("\n\n");
        if let Some(introduced) = mark_as_user(&content, prompt::is_typed) {
            content = introduced;
            count_loss(&mut self.losses, user_marks::LOSS_KIND, user_marks::LOSS_REASON);
        }
        let mut data = json!({ "content": content });
        if !attachments.is_empty() {
            data["attachments"] = json!(attachments);
        }
        self.put_event("user.message", &data, vec![index]);
    }

    pub(super) fn write_reply(&mut self, parts: &[Part], index: usize) {
        // Words that come while calls wait for their outcomes belong to the same message: no API takes them between.
        if self.message.calls.is_empty() && !self.message.content.is_empty() {
            self.end_message();
        }
        append_paragraph(&mut self.message.content, &text_of(parts));
        self.add_to_message(index);
    }

    pub(super) fn write_reasoning(&mut self, text: &str, index: usize) {
        let reason = if text.is_empty() {
            "sealed by its vendor, with no text to show"
        } else {
            "shown, but not sent to the model: this client sends no reasoning of an earlier run"
        };
        count_loss(&mut self.losses, "reasoning", reason);
        if self.message.calls.is_empty() && !self.message.content.is_empty() {
            self.end_message();
        }
        append_paragraph(&mut self.message.reasoning, text);
        self.add_to_message(index);
    }

    pub(super) fn write_call(&mut self, call: &Call, carried: &CarriedEntry, index: usize) {
        let own = dialect::translate_action(&carried.action, self.calls.project_dirs());
        let (written, input) = self.calls.write_call(call, own);
        let request = json!({ "toolCallId": written.id, "name": written.tool, "arguments": input, "type": "function" });
        self.message.requests.push(request);
        self.message.calls.insert(call.id.clone());
        self.add_to_message(index);
    }

    pub(super) fn write_outcome(&mut self, outcome: &Outcome, index: usize) {
        self.end_message_with(&outcome.call);
        let call = self.calls.find_call(&outcome.call).cloned().unwrap_or_default();
        let text = text_of(&outcome.parts);
        let is_shell = call.tool == "bash" && outcome.exit_code.is_some() && outcome.status != Status::Interrupted;
        let data = if !outcome.status.is_failure() || is_shell {
            self.result_data(&call.id, &text, outcome, is_shell)
        } else {
            for blob in outcome.parts.iter().filter_map(as_blob) {
                let _ = self.leave_out(blob);
            }
            let code = if outcome.status == Status::Interrupted { "interrupted" } else { "failure" };
            json!({ "toolCallId": call.id, "success": false, "error": { "message": text, "code": code } })
        };
        self.push_event("tool.execution_complete", &data, vec![index]);
    }

    fn result_data(&mut self, id: &str, text: &str, outcome: &Outcome, is_shell: bool) -> Value {
        let mut content = text.to_owned();
        let mut images = Vec::new();
        for blob in outcome.parts.iter().filter_map(as_blob) {
            match image_data(blob) {
                Some(mut image) => {
                    image["type"] = json!("image");
                    images.push(image);
                }
                None => append_paragraph(&mut content, &self.leave_out(blob)),
            }
        }
        let mut data = json!({ "toolCallId": id, "success": true });
        if let (true, Some(code)) = (is_shell, outcome.exit_code) {
            let line = outcome::exit_line(self.n_shells, code);
            let feed = if content.is_empty() || content.ends_with('\n') { "" } else { "\n" };
            content = format!("{content}{feed}{line}");
            data["shellExecution"] = json!({ "exitCode": code });
            self.n_shells += 1;
        }
        data["result"] = json!({ "content": content });
        if !images.is_empty() {
            data["result"]["binaryResultsForLlm"] = json!(images);
        }
        data
    }

    /// A record of this client's own: everything stays but what ties it to its old file.
    pub(super) fn write_native(&mut self, mut value: Value, blobs: &[&Blob], entries: Vec<usize>) {
        let call = value["data"]["toolCallId"].as_str().map(|id| CallId(id.into()));
        match &call {
            Some(call) => self.end_message_with(call),
            None => self.end_message(),
        }
        self.advance_clock(record_time(&value));
        self.write_assets(&value["data"], blobs);
        if let Some(written) = call.and_then(|call| self.calls.find_call(&call)) {
            value["data"]["toolCallId"] = json!(written.id);
        }
        let mut starts = Vec::new();
        let requests = value.pointer_mut("/data/toolRequests").and_then(Value::as_array_mut);
        for request in requests.into_iter().flatten() {
            self.note_call(request);
            starts.push(start_data(request));
        }
        value["parentId"] = json!(self.chain.parent);
        let id = value["id"].as_str().map_or_else(|| self.chain.ids.next_uuid(), str::to_owned);
        value["id"] = json!(id);
        self.chain.push_line(value, id, entries);
        for start in &starts {
            self.push_event("tool.execution_start", start, Vec::new());
        }
    }

    /// Takes note of a call in a record that is written back, and moves its paths.
    fn note_call(&mut self, request: &mut Value) {
        self.calls.move_paths(&mut request["arguments"]);
        let id = request["toolCallId"].as_str().unwrap_or_default();
        let name = self.calls.rename_call(id, request["name"].as_str().unwrap_or_default());
        request["toolCallId"] = json!(name);
    }

    /// The bytes that a record refers to stand in events of their own, before it.
    fn write_assets(&mut self, data: &Value, blobs: &[&Blob]) {
        let lists = [&data["attachments"], &data["result"]["binaryResultsForLlm"]];
        let shown = lists.into_iter().filter_map(Value::as_array).flatten();
        let shown = shown.filter(|item| item.get("data").is_some() || item.get("assetId").is_some());
        for (item, blob) in shown.zip(blobs) {
            let (Some(id), BlobLocation::Inline(bytes)) = (item["assetId"].as_str(), &blob.location) else { continue };
            if self.assets.insert(id.to_owned()) {
                let kind = if blob.is_image() { "image" } else { "resource" };
                let asset = json!({
                    "assetId": id, "type": kind, "mimeType": blob.media_type, "byteLength": item["byteLength"],
                    "data": &**bytes,
                });
                self.push_event("session.binary_asset", &asset, Vec::new());
            }
        }
    }

    /// The client's own compaction.
    pub(super) fn write_compaction(&mut self, summary: &str, entries: Vec<usize>) {
        let data = json!({ "success": true, "summaryContent": summary });
        self.put_event("session.compaction_complete", &data, entries);
    }

    fn add_to_message(&mut self, index: usize) {
        self.message.entries.push(index);
        self.message.at = Some(self.chain.at);
    }

    fn end_message_with(&mut self, call: &CallId) {
        if self.message.calls.contains(call) {
            self.end_message();
        }
    }

    /// Writes down the agent's message. One with neither words nor calls would be refused by the APIs.
    fn end_message(&mut self) {
        let message = std::mem::take(&mut self.message);
        if message.content.is_empty() && message.requests.is_empty() {
            return;
        }
        let now = self.chain.at;
        self.chain.at = message.at.unwrap_or(now);
        let starts: Vec<Value> = message.requests.iter().map(start_data).collect();
        let mut data = json!({
            "messageId": self.chain.ids.next_uuid(), "content": message.content, "toolRequests": message.requests,
        });
        if let Some(model) = self.model {
            data["model"] = json!(model);
        }
        if !message.reasoning.is_empty() {
            data["reasoningText"] = json!(message.reasoning);
        }
        self.push_event("assistant.message", &data, message.entries);
        for start in &starts {
            self.push_event("tool.execution_start", start, Vec::new());
        }
        self.chain.at = now;
    }

    fn leave_out(&mut self, blob: &Blob) -> String {
        count_loss(&mut self.losses, "attachment", "the client takes images (PNG, JPEG, GIF, WebP) only");
        describe_omitted(blob)
    }

    pub(super) fn finish(mut self) -> WrittenFile {
        self.end_message();
        let mut file = LineWriter::default();
        file.write_lines(&self.chain.lines);
        file.finish(self.losses, self.calls.translated)
    }
}

/// The data from which the client draws a call.
fn start_data(request: &Value) -> Value {
    json!({
        "toolCallId": request["toolCallId"], "toolName": request["name"], "arguments": request["arguments"],
    })
}

fn append_paragraph(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}

fn as_blob(part: &Part) -> Option<&Blob> {
    match part {
        Part::Blob(blob) => Some(blob),
        Part::Text(_) => None,
    }
}

/// An image with its bytes, where the client takes it.
fn image_data(blob: &Blob) -> Option<Value> {
    let BlobLocation::Inline(data) = &blob.location else { return None };
    is_common_image(blob).then(|| json!({ "mimeType": blob.media_type, "data": &**data }))
}
