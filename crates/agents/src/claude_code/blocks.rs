//! Content blocks: calls, outcomes, text and images as the Messages API spells them.

use std::collections::BTreeMap;

use carryover_core::transcript::{Action, Blob, Call, CallId, Outcome, Part, Place, Status, text_of};
use serde_json::{Value, json};

use super::dialect;
use crate::formats::ids::{Names, clean};
use crate::formats::relocate::Relocation;
use crate::{Carried, Loss};

/// Spells blocks and keeps the names of calls straight.
pub(super) struct Blocks<'a> {
    project: &'a str,
    moves: Option<Relocation<'a>>,
    names: Names,
    /// The ids and tools under which calls were written.
    calls: BTreeMap<CallId, (String, String)>,
    pub(super) translated: usize,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(project: &'a str, moves: Option<Relocation<'a>>) -> Self {
        Self { project, moves, names: Names::default(), calls: BTreeMap::new(), translated: 0 }
    }

    /// Takes note of the calls in a record that is written back as it was.
    pub(super) fn know(&mut self, record: &Value) {
        for block in record["message"]["content"].as_array().into_iter().flatten() {
            if let (Some("tool_use"), Some(id)) = (block["type"].as_str(), block["id"].as_str()) {
                let tool = block["name"].as_str().unwrap_or_default().to_owned();
                let name = self.names.unique(id, 128);
                self.calls.insert(CallId(id.into()), (name, tool));
            }
        }
    }

    fn home(&self) -> dialect::Home<'a> {
        dialect::Home { project: self.project, old_project: self.moves.map(|moves| moves.old) }
    }

    pub(super) fn call(&mut self, call: &Call, carried: &Carried) -> Value {
        // The client's own call is not translated into itself, which would lose what its meaning does not need.
        let own = carried.agent == super::FACTS.id && dialect::action(call, None) != Action::Other;
        let spelt = if own { None } else { dialect::spell(call, &carried.action, self.home()) };
        self.translated += usize::from(spelt.is_some());
        let (tool, mut input) = match spelt {
            Some(spelt) => (spelt.tool.to_owned(), spelt.input),
            None => (clean(&call.tool, 128), dialect::object(&call.input)),
        };
        if let Some(moves) = self.moves {
            moves.value(&mut input);
        }
        let id = self.names.unique(&call.id.0, 128);
        self.calls.insert(call.id.clone(), (id.clone(), tool.clone()));
        json!({ "type": "tool_use", "id": id, "name": tool, "input": input })
    }

    /// The outcome's block, and what the client draws of it on the screen.
    pub(super) fn outcome(&mut self, outcome: &Outcome, losses: &mut Vec<Loss>) -> (Value, Option<Value>) {
        let (id, tool) = self.calls.get(&outcome.call).cloned().unwrap_or_default();
        let failed = outcome.status != Status::Done;
        let mut content = content(&outcome.parts, losses);
        if let (Some(code), Value::String(text)) = (outcome.exit_code.filter(|code| *code != 0), &content) {
            content = json!(format!("Exit code {code}\n{text}"));
        }
        let mut block = json!({ "type": "tool_result", "tool_use_id": id, "content": content });
        if failed {
            block["is_error"] = json!(true);
        }
        let drawn = (tool == "Bash").then(|| shell_result(outcome, &content));
        (block, drawn)
    }
}

/// Text alone is a string; with images it is a list.
pub(super) fn content(parts: &[Part], losses: &mut Vec<Loss>) -> Value {
    if parts.iter().all(|part| matches!(part, Part::Text(_))) {
        return json!(text_of(parts));
    }
    parts.iter().map(|part| block(part, losses)).collect()
}

fn shell_result(outcome: &Outcome, content: &Value) -> Value {
    match content {
        Value::String(text) if outcome.status != Status::Done => json!(format!("Error: {text}")),
        _ => json!({
            "stdout": text_of(&outcome.parts), "stderr": "", "interrupted": false, "isImage": false,
            "noOutputExpected": false,
        }),
    }
}

fn block(part: &Part, losses: &mut Vec<Loss>) -> Value {
    match part {
        Part::Text(text) => json!({ "type": "text", "text": text }),
        Part::Blob(blob) => attached(blob, losses),
    }
}

fn attached(blob: &Blob, losses: &mut Vec<Loss>) -> Value {
    let kind = match blob.media_type.as_str() {
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" => "image",
        "application/pdf" => "document",
        _ => "",
    };
    if let (Place::Inline(data), false) = (&blob.place, kind.is_empty()) {
        let source = json!({ "type": "base64", "media_type": blob.media_type, "data": &**data });
        return json!({ "type": kind, "source": source });
    }
    lose(losses, "attachment", "the API takes images (PNG, JPEG, GIF, WebP) and PDF only");
    let name = blob.name.as_deref().unwrap_or("a file");
    json!({ "type": "text", "text": format!("[{name}: {}, not carried over]", blob.media_type) })
}

/// Moves paths where they are data: in the inputs of calls, and in what the client keeps about files. What was said and
/// what came back stays as it was.
pub(super) fn move_paths(record: &mut Value, moves: Relocation<'_>) {
    for field in ["toolUseResult", "attachment"] {
        if let Some(value) = record.get_mut(field) {
            moves.value(value);
        }
    }
    let Some(message) = record.get_mut("message") else { return };
    for block in message["content"].as_array_mut().into_iter().flatten() {
        if block["type"] == "tool_use" {
            moves.value(&mut block["input"]);
        }
    }
}

/// Counts a loss.
pub(super) fn lose(losses: &mut Vec<Loss>, what: &'static str, reason: &'static str) {
    match losses.iter_mut().find(|loss| loss.what == what && loss.reason == reason) {
        Some(loss) => loss.count += 1,
        None => losses.push(Loss { what, count: 1, reason }),
    }
}
