//! Parts of messages: calls, outcomes, text and images as the client spells them.

use std::collections::BTreeMap;

use carryover_core::transcript::{Blob, Call, CallId, Outcome, Part, Place, Status, text_of};
use serde_json::{Value, json};

use super::{dialect, outcome};
use crate::formats::ids::{Names, clean};
use crate::formats::relocate::Relocation;
use crate::{Carried, Loss, Version};

/// The longest name of a call that all APIs take.
const LONGEST_ID: usize = 64;

/// Spells parts and keeps the names of calls straight.
pub(super) struct Parts<'a> {
    project: &'a str,
    moves: Option<Relocation<'a>>,
    version: Version,
    names: Names,
    /// The ids and tools under which calls were written.
    calls: BTreeMap<CallId, (String, String)>,
    pub(super) translated: usize,
}

impl<'a> Parts<'a> {
    pub(super) fn new(project: &'a str, moves: Option<Relocation<'a>>, version: Version) -> Self {
        Self { project, moves, version, names: Names::default(), calls: BTreeMap::new(), translated: 0 }
    }

    /// Takes note of the calls in a message that is written back as it was, and moves their paths.
    pub(super) fn know(&mut self, message: &mut Value) {
        let parts = message.get_mut("parts").and_then(Value::as_array_mut);
        for part in parts.into_iter().flatten() {
            let Some(call) = part.get_mut("functionCall") else { continue };
            if let (Some(moves), Some(args)) = (self.moves, call.get_mut("args")) {
                moves.value(args);
            }
            if let Some(id) = call["id"].as_str() {
                let tool = call["name"].as_str().unwrap_or_default().to_owned();
                self.names.unique(id, usize::MAX);
                self.calls.insert(CallId(id.into()), (id.to_owned(), tool));
            }
        }
    }

    pub(super) fn call(&mut self, call: &Call, carried: &Carried) -> Value {
        let old_project = self.moves.map(|moves| moves.old);
        let home = dialect::Home { project: self.project, old_project, version: self.version };
        let spelt = dialect::spell(&carried.action, home);
        self.translated += usize::from(spelt.is_some());
        let (tool, mut args) = match spelt {
            Some(spelt) => (spelt.tool.to_owned(), spelt.input),
            None => (clean(&call.tool, LONGEST_ID), dialect::object(&call.input)),
        };
        if let Some(moves) = self.moves {
            moves.value(&mut args);
        }
        let id = self.names.unique(&call.id.0, LONGEST_ID);
        self.calls.insert(call.id.clone(), (id.clone(), tool.clone()));
        json!({ "functionCall": { "id": id, "name": tool, "args": args } })
    }

    /// The outcome's part, and what the client draws of it on the screen.
    pub(super) fn outcome(&self, outcome: &Outcome, losses: &mut Vec<Loss>) -> (Value, Value) {
        let (id, tool) = self.calls.get(&outcome.call).cloned().unwrap_or_default();
        let mut media = Vec::new();
        let mut texts = Vec::new();
        for part in &outcome.parts {
            match part {
                Part::Text(_) => texts.push(part.clone()),
                Part::Blob(blob) => match data(blob, losses) {
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
            Status::Done => ("output", "success"),
            Status::Failed => ("error", "error"),
            Status::Interrupted => ("error", "cancelled"),
        };
        let mut response = json!({ "id": id, "name": tool, "response": { field: text } });
        if !media.is_empty() {
            response["parts"] = json!(media);
        }
        let result = json!({ "callId": id, "status": status, "resultDisplay": text });
        (json!({ "functionResponse": response }), result)
    }
}

pub(super) fn content(parts: &[Part], losses: &mut Vec<Loss>) -> Vec<Value> {
    let part = |part: &Part| match part {
        Part::Text(text) => json!({ "text": text }),
        Part::Blob(blob) => data(blob, losses).unwrap_or_else(|text| json!({ "text": text })),
    };
    parts.iter().map(part).collect()
}

/// An image, or the text that stands for what the client does not take.
fn data(blob: &Blob, losses: &mut Vec<Loss>) -> Result<Value, String> {
    let native = matches!(blob.media_type.as_str(), "image/png" | "image/jpeg" | "image/gif" | "image/webp");
    if let (Place::Inline(data), true) = (&blob.place, native) {
        let mut inline = json!({ "mimeType": blob.media_type, "data": &**data });
        if let Some(name) = &blob.name {
            inline["displayName"] = json!(name);
        }
        return Ok(json!({ "inlineData": inline }));
    }
    lose(losses, "attachment", "the client takes images (PNG, JPEG, GIF, WebP) only");
    Err(format!("[{}: {}, not carried over]", blob.name.as_deref().unwrap_or("a file"), blob.media_type))
}

/// Counts a loss.
pub(super) fn lose(losses: &mut Vec<Loss>, what: &'static str, reason: &'static str) {
    match losses.iter_mut().find(|loss| loss.what == what && loss.reason == reason) {
        Some(loss) => loss.count += 1,
        None => losses.push(Loss { what, count: 1, reason }),
    }
}
