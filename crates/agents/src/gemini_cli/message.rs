//! Messages in the making: what the agent said and called, and what came back.

use std::collections::BTreeMap;

use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{Blob, Call, CallId, Outcome, Part, Place, Status, text_of};
use serde_json::{Value, json};

use super::dialect;
use super::native::Native;
use super::write::{Line, UNSEEN};
use crate::formats::calls::spell_call;
use crate::formats::ids::{Ids, Names};
use crate::formats::losses::{count_loss, describe_omitted};
use crate::formats::relocate::Relocation;
use crate::formats::spelling::ProjectDirs;
use crate::{Carried, Loss};

/// The longest name that the API takes.
const LONGEST_NAME: usize = 64;
/// The tool that runs commands.
const SHELL: &str = "run_shell_command";
/// How much of an outcome the screen shows.
const LONGEST_SHOWN: usize = 4_000;

/// A message of the agent's that may still grow.
struct Open {
    /// The client's own record that it comes from.
    of: Option<String>,
    value: Value,
    entries: Vec<usize>,
}

/// Where a call was written.
struct Written {
    id: String,
    tool: String,
    /// The line and the place in what it shows; the line is open while it is the next to come.
    shown: (usize, usize),
}

/// Where a piece of a message comes from.
#[derive(Clone, Copy)]
pub(super) struct Piece<'n> {
    /// The client's own record that it stood in.
    pub native: Option<&'n Native>,
    pub at: Timestamp,
    /// Index into the request's entries.
    pub index: usize,
}

/// The lines of a session, in the making.
pub(super) struct Messages<'a> {
    project: &'a str,
    moves: Option<Relocation<'a>>,
    model: Option<&'a str>,
    lines: Vec<Line>,
    open: Option<Open>,
    answers: Option<Open>,
    names: Names,
    calls: BTreeMap<CallId, Written>,
    pub(super) ids: Ids,
    pub(super) losses: Vec<Loss>,
    pub(super) translated: usize,
}

impl<'a> Messages<'a> {
    pub(super) fn new(project: &'a str, moves: Option<Relocation<'a>>, model: Option<&'a str>, ids: Ids) -> Self {
        Self {
            project,
            moves,
            model,
            lines: Vec::new(),
            open: None,
            answers: None,
            names: Names::default(),
            calls: BTreeMap::new(),
            ids,
            losses: Vec::new(),
            translated: 0,
        }
    }

    pub(super) fn project(&self) -> &'a str {
        self.project
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.open.is_none() && self.answers.is_none()
    }

    pub(super) fn push(&mut self, line: Line) {
        self.lines.push(line);
    }

    pub(super) fn take_lines(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.lines)
    }

    /// The last line, if it stands in the user's place.
    pub(super) fn last_of_user(&mut self) -> Option<&mut Line> {
        self.lines.last_mut().filter(|line| line.value["type"] == "user")
    }

    /// Ends the message that is being made.
    pub(super) fn close(&mut self) {
        if let Some(mut open) = self.open.take() {
            let parts = open.value["content"].as_array().into_iter().flatten();
            let text = parts.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n\n");
            open.value["displayContent"] = json!(if text.is_empty() { UNSEEN } else { &text });
            self.lines.push(Line::new(open.value, open.entries));
        }
        if let Some(mut answers) = self.answers.take() {
            answers.value["id"] = json!(self.ids.uuid());
            self.lines.push(Line::new(answers.value, answers.entries));
        }
    }

    /// The message that an entry of the agent's belongs to; entries of one own record stay together.
    fn of_agent(&mut self, piece: Piece<'_>) -> &mut Open {
        let Piece { native, at, .. } = piece;
        let of = native.map(|native| native.id().to_owned());
        let goes_on = self.answers.is_none() && self.open.as_ref().is_some_and(|open| open.of == of);
        if !goes_on {
            self.close();
        }
        let (model, ids) = (self.model, &mut self.ids);
        self.open.get_or_insert_with(|| {
            let id = of.clone().unwrap_or_else(|| ids.uuid());
            let mut value = json!({ "id": id, "timestamp": at.to_string(), "type": "gemini", "content": [] });
            if let Some(model) = model {
                value["model"] = json!(model);
            }
            for name in ["timestamp", "model", "tokens", "thoughts"] {
                if let Some(field) = native.and_then(|native| native.field(name)) {
                    value[name] = field.clone();
                }
            }
            Open { of, value, entries: Vec::new() }
        })
    }

    pub(super) fn reply(&mut self, parts: &[Part], piece: Piece<'_>) {
        let mut content = content(parts, &mut self.losses);
        // Texts that follow each other in one message are one text.
        let last = self.open.as_ref().and_then(|open| open.value["content"].as_array()?.last());
        if piece.native.is_none() && last.is_some_and(|last| last.get("text").is_some()) {
            self.close();
        }
        let open = self.of_agent(piece);
        if let (Some(all), Some(new)) = (open.value["content"].as_array_mut(), content.as_array_mut()) {
            all.append(new);
        }
        open.entries.push(piece.index);
    }

    /// A thought stands beside the content; one that comes later begins another message.
    pub(super) fn thought(&mut self, text: &str, piece: Piece<'_>) {
        let Piece { native, at, .. } = piece;
        if native.is_none() && self.open.as_ref().is_some_and(|open| open.value["content"] != json!([])) {
            self.close();
        }
        let open = self.of_agent(piece);
        let told = native.is_some_and(|native| native.field("thoughts").is_some_and(|thoughts| *thoughts != json!([])));
        if !told {
            let thought = json!({ "subject": "", "description": text, "timestamp": at.to_string() });
            push(&mut open.value, "thoughts", thought);
        }
        open.entries.push(piece.index);
    }

    pub(super) fn call(&mut self, call: &Call, carried: &Carried, piece: Piece<'_>) {
        let Piece { native, at, .. } = piece;
        let is_own = carried.agent == super::FACTS.id;
        let dirs = ProjectDirs::new(self.project, self.moves);
        let own = if is_own { None } else { dialect::spell(call, &carried.action, dirs) };
        self.translated += usize::from(own.is_some());
        let (tool, args) = spell_call(call, own, LONGEST_NAME, self.moves);
        // The client cuts an id at its first double underscore; its own are made for that.
        let id = if is_own { call.id.0.to_string() } else { call.id.0.replace("__", "_") };
        let id = self.names.unique(&id, LONGEST_NAME.max(id.len()));
        let shown = if let Some(shown) = native.and_then(|native| native.shown(&call.id.0)) {
            shown_again(shown, &id, &args)
        } else {
            let subject = carried.action.subject();
            let moved = self.moves.and_then(|moves| moves.path(&subject));
            let about = moved.as_deref().unwrap_or(if subject.is_empty() { &call.tool } else { &subject });
            json!({
                "id": format!("ui-{id}"), "name": tool, "args": args, "status": "success",
                "timestamp": at.to_string(), "displayName": tool, "description": one_line(about, 200),
                "resultDisplay": "", "renderOutputAsMarkdown": false,
            })
        };
        let open = self.of_agent(piece);
        push(&mut open.value, "content", json!({ "functionCall": { "id": id, "name": tool, "args": args } }));
        push(&mut open.value, "toolCalls", shown);
        let place = open.value["toolCalls"].as_array().map_or(0, |shown| shown.len() - 1);
        open.entries.push(piece.index);
        self.calls.insert(call.id.clone(), Written { id, tool, shown: (self.lines.len(), place) });
    }

    pub(super) fn outcome(&mut self, outcome: &Outcome, piece: Piece<'_>) {
        let Piece { native, at, index } = piece;
        let losses = &mut self.losses;
        let Some(Written { id, tool, shown }) = self.calls.get(&outcome.call) else { return };
        let parts = native.and_then(|native| native.response(&outcome.call.0));
        let parts = parts.unwrap_or_else(|| {
            let mut parts = vec![json!({
                "functionResponse": { "id": id, "name": tool, "response": response(outcome, tool) },
            })];
            parts.extend(outcome.parts.iter().filter_map(|part| match part {
                Part::Blob(blob) => Some(attached(blob, losses)),
                Part::Text(_) => None,
            }));
            parts
        });
        let (line, place) = *shown;
        let of_line = if line == self.lines.len() { self.open.as_mut().map(|open| &mut open.value) } else { None };
        if let Some(value) = of_line.or_else(|| self.lines.get_mut(line).map(|line| &mut line.value)) {
            show(&mut value["toolCalls"][place], outcome, tool);
        }
        // The calls come first: their message ends where the first outcome begins.
        if self.open.is_some() {
            self.close();
        }
        let answers = self.answers.get_or_insert_with(|| Open {
            of: None,
            value: json!({
                "id": "", "timestamp": at.to_string(), "type": "user", "content": [], "displayContent": UNSEEN,
            }),
            entries: Vec::new(),
        });
        for part in parts {
            push(&mut answers.value, "content", part);
        }
        answers.entries.push(index);
    }
}

fn push(value: &mut Value, list: &str, item: Value) {
    match value[list].as_array_mut() {
        Some(items) => items.push(item),
        None => value[list] = json!([item]),
    }
}

/// What the screen showed of an own call, under a name by which the client will not take it for the call itself.
fn shown_again(shown: &Value, id: &str, args: &Value) -> Value {
    let mut shown = shown.clone();
    if let Some(fields) = shown.as_object_mut() {
        fields.remove("result");
        fields.insert("id".into(), json!(format!("ui-{id}")));
        fields.insert("args".into(), args.clone());
    }
    shown
}

/// Shows how a call ended. A command that ran has succeeded in the client's eyes, whatever its exit code; what failed is
/// not shown at all.
fn show(shown: &mut Value, outcome: &Outcome, tool: &str) {
    if shown["resultDisplay"] == "" {
        let text = text_of(&outcome.parts);
        shown["resultDisplay"] = json!(text[..text.floor_char_boundary(LONGEST_SHOWN)]);
        shown["status"] = json!(match outcome.status {
            Status::Done => "success",
            Status::Failed if outcome.exit_code.is_some() && tool == SHELL => "success",
            Status::Failed => "error",
            Status::Interrupted => "cancelled",
        });
    }
}

/// What the model is told of an outcome: a command that failed is told by its exit code, in the client's own words.
fn response(outcome: &Outcome, tool: &str) -> Value {
    let text = text_of(&outcome.parts);
    match (outcome.status, outcome.exit_code.filter(|code| *code != 0)) {
        (_, Some(code)) if tool == SHELL => {
            let output = if text.is_empty() { "(empty)" } else { text.trim_end_matches('\n') };
            json!({ "output": format!("Output: {output}\nExit Code: {code}") })
        }
        (_, Some(code)) => json!({ "error": format!("{text}\nExit Code: {code}") }),
        (Status::Done, None) => json!({ "output": text }),
        (_, None) => json!({ "error": text }),
    }
}

/// The parts of a text with images.
pub(super) fn content(parts: &[Part], losses: &mut Vec<Loss>) -> Value {
    let parts = parts.iter().map(|part| match part {
        Part::Text(text) => json!({ "text": text }),
        Part::Blob(blob) => attached(blob, losses),
    });
    parts.collect()
}

fn attached(blob: &Blob, losses: &mut Vec<Loss>) -> Value {
    if let Place::Inline(data) = &blob.place {
        return json!({ "inlineData": { "mimeType": blob.media_type, "data": &**data } });
    }
    count_loss(losses, "attachment", "it is not in reach");
    json!({ "text": describe_omitted(blob) })
}
