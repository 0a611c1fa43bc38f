//! Content blocks as clients of trees spell them: calls, outcomes, text and images.

use std::collections::BTreeMap;

use carryover_core::json::Json;
use carryover_core::transcript::{Action, Blob, Call, CallId, Outcome, Part, Place, Status};
use serde_json::{Value, json};

use crate::formats::ids::{Names, clean};
use crate::formats::relocate::Relocation;
use crate::{Carried, Loss};

/// The longest name of a call that all APIs take.
const LONGEST_ID: usize = 64;

/// A call in the client's own tools.
pub struct Spelt {
    pub tool: &'static str,
    pub input: Value,
}

/// Where the session goes on, and where it was.
#[derive(Clone, Copy)]
pub struct Home<'a> {
    pub project: &'a str,
    pub old_project: Option<&'a str>,
}

impl Home<'_> {
    /// Whether a folder is the project's, which is where the client runs commands.
    pub fn is(&self, folder: &str) -> bool {
        folder == self.project || Some(folder) == self.old_project
    }
}

/// What a client has of its own.
#[derive(Clone, Copy)]
pub struct Dialect {
    /// A foreign call in its own tools, where the meaning is exact.
    pub spell: fn(&Action, Home<'_>) -> Option<Spelt>,
    /// The text of an outcome with its exit code, as the client would have written it.
    pub with_exit_code: fn(&str, i32) -> String,
}

/// Spells blocks and keeps the names of calls straight.
pub struct Blocks<'a> {
    dialect: Dialect,
    project: &'a str,
    moves: Option<Relocation<'a>>,
    names: Names,
    /// The ids and tools under which calls were written.
    calls: BTreeMap<CallId, (String, String)>,
    pub translated: usize,
}

impl<'a> Blocks<'a> {
    pub fn new(dialect: Dialect, project: &'a str, moves: Option<Relocation<'a>>) -> Self {
        Self { dialect, project, moves, names: Names::default(), calls: BTreeMap::new(), translated: 0 }
    }

    /// Takes note of the calls in a message that is written back as it was, and moves their paths.
    pub fn know(&mut self, message: &mut Value) {
        let blocks = message.get_mut("content").and_then(Value::as_array_mut);
        for block in blocks.into_iter().flatten() {
            if block["type"] != "toolCall" {
                continue;
            }
            if let Some(moves) = self.moves {
                moves.value(&mut block["arguments"]);
            }
            if let Some(id) = block["id"].as_str() {
                let tool = block["name"].as_str().unwrap_or_default().to_owned();
                self.names.unique(id, usize::MAX);
                self.calls.insert(CallId(id.into()), (id.to_owned(), tool));
            }
        }
    }

    pub fn call(&mut self, call: &Call, carried: &Carried) -> Value {
        let home = Home { project: self.project, old_project: self.moves.map(|moves| moves.old) };
        let spelt = (self.dialect.spell)(&carried.action, home);
        self.translated += usize::from(spelt.is_some());
        let (tool, mut arguments) = match spelt {
            Some(spelt) => (spelt.tool.to_owned(), spelt.input),
            None => (clean(&call.tool, LONGEST_ID), object(&call.input)),
        };
        if let Some(moves) = self.moves {
            moves.value(&mut arguments);
        }
        let id = self.names.unique(&call.id.0, LONGEST_ID);
        self.calls.insert(call.id.clone(), (id.clone(), tool.clone()));
        json!({ "type": "toolCall", "id": id, "name": tool, "arguments": arguments })
    }

    pub fn outcome(&self, outcome: &Outcome, losses: &mut Vec<Loss>) -> Value {
        let (id, tool) = self.calls.get(&outcome.call).cloned().unwrap_or_default();
        let mut parts = outcome.parts.clone();
        if let Some(code) = outcome.exit_code.filter(|code| *code != 0) {
            self.add_exit_code(&mut parts, code);
        }
        json!({
            "role": "toolResult", "toolCallId": id, "toolName": tool, "content": content(&parts, losses),
            "isError": outcome.status != Status::Done,
        })
    }

    /// The code stands in the last line, which is where the client looks for it, too.
    fn add_exit_code(&self, parts: &mut Vec<Part>, code: i32) {
        let with_exit_code = self.dialect.with_exit_code;
        match parts.last_mut() {
            Some(Part::Text(text)) => *text = with_exit_code(text, code),
            _ => parts.push(Part::Text(with_exit_code("", code))),
        }
    }
}

/// The input of a call that keeps its own tool: an object, as the APIs demand.
fn object(input: &Json) -> Value {
    match input.value() {
        object @ Value::Object(_) => object,
        other => json!({ "input": other }),
    }
}

pub fn content(parts: &[Part], losses: &mut Vec<Loss>) -> Value {
    parts.iter().map(|part| block(part, losses)).collect()
}

fn block(part: &Part, losses: &mut Vec<Loss>) -> Value {
    match part {
        Part::Text(text) => json!({ "type": "text", "text": text }),
        Part::Blob(blob) => attached(blob, losses),
    }
}

fn attached(blob: &Blob, losses: &mut Vec<Loss>) -> Value {
    let native = matches!(blob.media_type.as_str(), "image/png" | "image/jpeg" | "image/gif" | "image/webp");
    if let (Place::Inline(data), true) = (&blob.place, native) {
        return json!({ "type": "image", "data": &**data, "mimeType": blob.media_type });
    }
    lose(losses, "attachment", "the client takes images (PNG, JPEG, GIF, WebP) only");
    let name = blob.name.as_deref().unwrap_or("a file");
    json!({ "type": "text", "text": format!("[{name}: {}, not carried over]", blob.media_type) })
}

/// Counts a loss.
pub fn lose(losses: &mut Vec<Loss>, what: &'static str, reason: &'static str) {
    match losses.iter_mut().find(|loss| loss.what == what && loss.reason == reason) {
        Some(loss) => loss.count += 1,
        None => losses.push(Loss { what, count: 1, reason }),
    }
}
