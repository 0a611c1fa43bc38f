//! The events of a session in the making: one after the other, each naming the one before.

use std::collections::{BTreeMap, BTreeSet};

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Blob, Call, CallId, Outcome, Part, Place, Status, text_of};
use serde_json::{Value, json};

use super::{dialect, outcome, prompt};
use crate::formats::ids::{Ids, Names, clean};
use crate::formats::introduced::{self, introduced};
use crate::formats::relocate::Relocation;
use crate::{Carried, Loss, Origins, WrittenAs};

/// Longer names of tools and calls are refused by some of the APIs behind this client.
const LONGEST_NAME: usize = 64;

/// An event, and the entries that it holds.
struct Line {
    value: Value,
    entries: Vec<usize>,
}

/// A message of the agent that may still grow.
#[derive(Default)]
struct Message {
    reasoning: String,
    content: String,
    requests: Vec<Value>,
    calls: BTreeSet<CallId>,
    entries: Vec<usize>,
    at: Option<Timestamp>,
}

/// The events, and the names of calls kept straight.
pub(super) struct Events<'a> {
    project: &'a str,
    moves: Option<Relocation<'a>>,
    model: Option<&'a str>,
    ids: Ids,
    names: Names,
    /// The ids and tools under which calls were written.
    calls: BTreeMap<CallId, (String, String)>,
    /// The assets that have been written.
    assets: BTreeSet<String>,
    shells: usize,
    parent: Option<String>,
    at: Timestamp,
    message: Message,
    lines: Vec<Line>,
    pub(super) losses: Vec<Loss>,
    pub(super) translated: usize,
}

impl<'a> Events<'a> {
    pub(super) fn new(
        project: &'a str,
        moves: Option<Relocation<'a>>,
        model: Option<&'a str>,
        ids: Ids,
        at: Timestamp,
    ) -> Self {
        Self {
            project,
            moves,
            model,
            ids,
            names: Names::default(),
            calls: BTreeMap::new(),
            assets: BTreeSet::new(),
            shells: 0,
            parent: None,
            at,
            message: Message::default(),
            lines: Vec::new(),
            losses: Vec::new(),
            translated: 0,
        }
    }

    /// Notes when the next event happened; times never run back.
    pub(super) fn tick(&mut self, at: Option<Timestamp>) {
        self.at = at.map_or(self.at, |at| at.max(self.at));
    }

    /// One event, after the message that the agent was in the midst of.
    pub(super) fn put(&mut self, kind: &str, data: &Value, entries: Vec<usize>) {
        self.end_message();
        self.push(kind, data, entries);
    }

    fn push(&mut self, kind: &str, data: &Value, entries: Vec<usize>) {
        let id = self.ids.uuid();
        let value = json!({
            "type": kind, "data": data, "id": id, "timestamp": self.at.to_string(), "parentId": self.parent,
        });
        self.parent = Some(id);
        self.lines.push(Line { value, entries });
    }

    pub(super) fn prompt(&mut self, parts: &[Part], index: usize) {
        let mut text: Vec<String> = Vec::new();
        let mut attachments = Vec::new();
        for part in parts {
            match part {
                Part::Text(words) => text.push(words.clone()),
                Part::Blob(blob) => match image(blob) {
                    Some(mut attachment) => {
                        attachment["type"] = json!("blob");
                        if let Some(name) = &blob.name {
                            let moved = self.moves.and_then(|moves| moves.path(name));
                            attachment["displayName"] = json!(moved.as_ref().unwrap_or(name));
                        }
                        attachments.push(attachment);
                    }
                    None => text.push(self.left_out(blob)),
                },
            }
        }
        let mut content = text.join("\n\n");
        if let Some(introduced) = introduced(&content, prompt::is_typed) {
            content = introduced;
            lose(&mut self.losses, introduced::WHAT, introduced::REASON);
        }
        let mut data = json!({ "content": content });
        if !attachments.is_empty() {
            data["attachments"] = json!(attachments);
        }
        self.put("user.message", &data, vec![index]);
    }

    pub(super) fn reply(&mut self, parts: &[Part], index: usize) {
        // Words that come while calls wait for their outcomes belong to the same message: no API takes them between.
        if self.message.calls.is_empty() && !self.message.content.is_empty() {
            self.end_message();
        }
        append(&mut self.message.content, &text_of(parts));
        self.of_message(index);
    }

    pub(super) fn reasoning(&mut self, text: &str, index: usize) {
        let reason = if text.is_empty() {
            "sealed by its vendor, with no text to show"
        } else {
            "shown, but not sent to the model: this client sends no reasoning of an earlier run"
        };
        lose(&mut self.losses, "reasoning", reason);
        if self.message.calls.is_empty() && !self.message.content.is_empty() {
            self.end_message();
        }
        append(&mut self.message.reasoning, text);
        self.of_message(index);
    }

    pub(super) fn call(&mut self, call: &Call, carried: &Carried, index: usize) {
        let home = dialect::Home { project: self.project, old_project: self.moves.map(|moves| moves.old) };
        let spelt = dialect::spell(&carried.action, home);
        self.translated += usize::from(spelt.is_some());
        let (tool, mut input) = match spelt {
            Some(spelt) => (spelt.tool.to_owned(), spelt.input),
            None => (clean(&call.tool, LONGEST_NAME), dialect::object(&call.input)),
        };
        if let Some(moves) = self.moves {
            moves.value(&mut input);
        }
        let id = self.names.unique(&call.id.0, LONGEST_NAME);
        self.calls.insert(call.id.clone(), (id.clone(), tool.clone()));
        let request = json!({ "toolCallId": id, "name": tool, "arguments": input, "type": "function" });
        self.message.requests.push(request);
        self.message.calls.insert(call.id.clone());
        self.of_message(index);
    }

    pub(super) fn outcome(&mut self, outcome: &Outcome, index: usize) {
        self.end_message_of(&outcome.call);
        let (id, tool) = self.calls.get(&outcome.call).cloned().unwrap_or_default();
        let text = text_of(&outcome.parts);
        let is_shell = tool == "bash" && outcome.exit_code.is_some() && outcome.status != Status::Interrupted;
        let data = if outcome.status == Status::Done || is_shell {
            self.result(&id, &text, outcome, is_shell)
        } else {
            for blob in outcome.parts.iter().filter_map(as_blob) {
                let _ = self.left_out(blob);
            }
            let code = if outcome.status == Status::Interrupted { "interrupted" } else { "failure" };
            json!({ "toolCallId": id, "success": false, "error": { "message": text, "code": code } })
        };
        self.push("tool.execution_complete", &data, vec![index]);
    }

    fn result(&mut self, id: &str, text: &str, outcome: &Outcome, is_shell: bool) -> Value {
        let mut content = text.to_owned();
        let mut images = Vec::new();
        for blob in outcome.parts.iter().filter_map(as_blob) {
            match image(blob) {
                Some(mut image) => {
                    image["type"] = json!("image");
                    images.push(image);
                }
                None => append(&mut content, &self.left_out(blob)),
            }
        }
        let mut data = json!({ "toolCallId": id, "success": true });
        if let (true, Some(code)) = (is_shell, outcome.exit_code) {
            let line = outcome::ending(self.shells, code);
            let feed = if content.is_empty() || content.ends_with('\n') { "" } else { "\n" };
            content = format!("{content}{feed}{line}");
            data["shellExecution"] = json!({ "exitCode": code });
            self.shells += 1;
        }
        data["result"] = json!({ "content": content });
        if !images.is_empty() {
            data["result"]["binaryResultsForLlm"] = json!(images);
        }
        data
    }

    /// A record of this client's own: everything stays but what ties it to its old file.
    pub(super) fn native(&mut self, mut value: Value, blobs: &[&Blob], entries: Vec<usize>) {
        let call = value["data"]["toolCallId"].as_str().map(|id| CallId(id.into()));
        match &call {
            Some(call) => self.end_message_of(call),
            None => self.end_message(),
        }
        self.tick(value["timestamp"].as_str().and_then(Timestamp::parse));
        self.bring_assets(&value["data"], blobs);
        if let Some((id, _)) = call.and_then(|call| self.calls.get(&call)) {
            value["data"]["toolCallId"] = json!(id);
        }
        let mut starts = Vec::new();
        let requests = value.pointer_mut("/data/toolRequests").and_then(Value::as_array_mut);
        for request in requests.into_iter().flatten() {
            self.know(request);
            starts.push(start(request));
        }
        value["parentId"] = json!(self.parent);
        let id = value["id"].as_str().map_or_else(|| self.ids.uuid(), str::to_owned);
        value["id"] = json!(id);
        self.parent = Some(id);
        self.lines.push(Line { value, entries });
        for start in &starts {
            self.push("tool.execution_start", start, Vec::new());
        }
    }

    /// Takes note of a call in a record that is written back, and moves its paths.
    fn know(&mut self, request: &mut Value) {
        if let Some(moves) = self.moves {
            moves.value(&mut request["arguments"]);
        }
        let id = request["toolCallId"].as_str().unwrap_or_default().to_owned();
        let tool = request["name"].as_str().unwrap_or_default().to_owned();
        let name = self.names.unique(&id, LONGEST_NAME);
        request["toolCallId"] = json!(name);
        self.calls.insert(CallId(id.into()), (name, tool));
    }

    /// The bytes that a record refers to stand in events of their own, before it.
    fn bring_assets(&mut self, data: &Value, blobs: &[&Blob]) {
        let lists = [&data["attachments"], &data["result"]["binaryResultsForLlm"]];
        let shown = lists.into_iter().filter_map(Value::as_array).flatten();
        let shown = shown.filter(|item| item.get("data").is_some() || item.get("assetId").is_some());
        for (item, blob) in shown.zip(blobs) {
            let (Some(id), Place::Inline(bytes)) = (item["assetId"].as_str(), &blob.place) else { continue };
            if self.assets.insert(id.to_owned()) {
                let kind = if blob.is_image() { "image" } else { "resource" };
                let asset = json!({
                    "assetId": id, "type": kind, "mimeType": blob.media_type, "byteLength": item["byteLength"],
                    "data": &**bytes,
                });
                self.push("session.binary_asset", &asset, Vec::new());
            }
        }
    }

    /// The client's own compaction.
    pub(super) fn compaction(&mut self, summary: &str, entries: Vec<usize>) {
        let data = json!({ "success": true, "summaryContent": summary });
        self.put("session.compaction_complete", &data, entries);
    }

    fn of_message(&mut self, index: usize) {
        self.message.entries.push(index);
        self.message.at = Some(self.at);
    }

    fn end_message_of(&mut self, call: &CallId) {
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
        let now = self.at;
        self.at = message.at.unwrap_or(now);
        let starts: Vec<Value> = message.requests.iter().map(start).collect();
        let mut data = json!({
            "messageId": self.ids.uuid(), "content": message.content, "toolRequests": message.requests,
        });
        if let Some(model) = self.model {
            data["model"] = json!(model);
        }
        if !message.reasoning.is_empty() {
            data["reasoningText"] = json!(message.reasoning);
        }
        self.push("assistant.message", &data, message.entries);
        for start in &starts {
            self.push("tool.execution_start", start, Vec::new());
        }
        self.at = now;
    }

    fn left_out(&mut self, blob: &Blob) -> String {
        lose(&mut self.losses, "attachment", "the client takes images (PNG, JPEG, GIF, WebP) only");
        let name = blob.name.as_deref().unwrap_or("a file");
        format!("[{name}: {}, not carried over]", blob.media_type)
    }

    /// The bytes of the file, and where in it which entries are.
    pub(super) fn finish(&mut self) -> (Vec<u8>, Origins) {
        self.end_message();
        let mut bytes = Vec::new();
        let mut origins = Vec::new();
        for line in &self.lines {
            let offset = bytes.len() as u64;
            origins.extend(line.entries.iter().map(|entry| WrittenAs { entry: *entry, offset }));
            bytes.extend_from_slice(line.value.to_string().as_bytes());
            bytes.push(b'\n');
        }
        origins.sort_by_key(|written| written.entry);
        (bytes, origins)
    }
}

/// What the client draws a call from.
fn start(request: &Value) -> Value {
    json!({
        "toolCallId": request["toolCallId"], "toolName": request["name"], "arguments": request["arguments"],
    })
}

fn append(text: &mut String, more: &str) {
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
fn image(blob: &Blob) -> Option<Value> {
    let taken = matches!(blob.media_type.as_str(), "image/png" | "image/jpeg" | "image/gif" | "image/webp");
    let Place::Inline(data) = &blob.place else { return None };
    taken.then(|| json!({ "mimeType": blob.media_type, "data": &**data }))
}

/// Counts a loss.
fn lose(losses: &mut Vec<Loss>, what: &'static str, reason: &'static str) {
    match losses.iter_mut().find(|loss| loss.what == what && loss.reason == reason) {
        Some(loss) => loss.count += 1,
        None => losses.push(Loss { what, count: 1, reason }),
    }
}
