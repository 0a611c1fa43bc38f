//! Messages in the making: what the agent said and called, and what came back.

use std::collections::BTreeMap;

use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{Blob, BlobLocation, Call, CallId, Outcome, Part, Status, text_of};
use serde_json::{Value, json};

use super::dialect;
use super::native::NativeRecord;
use super::write::{HIDDEN_TEXT, OutputLine};
use crate::formats::calls::translate_call;
use crate::formats::ids::{Ids, UniqueNames};
use crate::formats::losses::{count_loss, describe_omitted};
use crate::formats::relocate::Relocation;
use crate::formats::translation::ProjectDirs;
use crate::{CarriedEntry, Loss};

/// The longest name that the API takes.
const MAX_NAME_CHARS: usize = 64;
/// The tool that runs commands.
const SHELL_TOOL: &str = "run_shell_command";
/// How much of an outcome the screen shows.
const MAX_SHOWN_BYTES: usize = 4_000;

/// A message of the agent's that may still grow.
struct OpenMessage {
    /// The client's own record that it comes from.
    native_id: Option<String>,
    value: Value,
    entries: Vec<usize>,
}

/// Where a call was written.
struct WrittenCall {
    id: String,
    tool: String,
    /// The line and the place in what it shows; the line is open while it is the next to come.
    shown: (usize, usize),
}

/// Where a piece of a message comes from.
#[derive(Clone, Copy)]
pub(super) struct PieceSource<'n> {
    /// The client's own record that it stood in.
    pub native: Option<&'n NativeRecord>,
    pub at: Timestamp,
    /// Index into the request's entries.
    pub index: usize,
}

/// The lines of a session, in the making.
pub(super) struct MessageWriter<'a> {
    project: &'a str,
    moves: Option<Relocation<'a>>,
    model: Option<&'a str>,
    lines: Vec<OutputLine>,
    open_message: Option<OpenMessage>,
    answers: Option<OpenMessage>,
    names: UniqueNames,
    calls: BTreeMap<CallId, WrittenCall>,
    pub(super) ids: Ids,
    pub(super) losses: Vec<Loss>,
    pub(super) translated: usize,
}

impl<'a> MessageWriter<'a> {
    pub(super) fn new(project: &'a str, moves: Option<Relocation<'a>>, model: Option<&'a str>, ids: Ids) -> Self {
        Self {
            project,
            moves,
            model,
            lines: Vec::new(),
            open_message: None,
            answers: None,
            names: UniqueNames::default(),
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
        self.lines.is_empty() && self.open_message.is_none() && self.answers.is_none()
    }

    pub(super) fn push_line(&mut self, line: OutputLine) {
        self.lines.push(line);
    }

    pub(super) fn take_lines(&mut self) -> Vec<OutputLine> {
        std::mem::take(&mut self.lines)
    }

    /// The last line, if it stands in the user's place.
    pub(super) fn last_user_line(&mut self) -> Option<&mut OutputLine> {
        self.lines.last_mut().filter(|line| line.value["type"] == "user")
    }

    /// Ends the message that is being made.
    pub(super) fn close_message(&mut self) {
        if let Some(mut open) = self.open_message.take() {
            let parts = open.value["content"].as_array().into_iter().flatten();
            let text = parts.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n\n");
            open.value["displayContent"] = json!(if text.is_empty() { HIDDEN_TEXT } else { &text });
            self.lines.push(OutputLine::new(open.value, open.entries));
        }
        if let Some(mut answers) = self.answers.take() {
            answers.value["id"] = json!(self.ids.next_uuid());
            self.lines.push(OutputLine::new(answers.value, answers.entries));
        }
    }

    /// The message that an entry of the agent's belongs to; entries of one own record stay together.
    fn agent_message(&mut self, piece: PieceSource<'_>) -> &mut OpenMessage {
        let PieceSource { native, at, .. } = piece;
        let of = native.map(|native| native.id().to_owned());
        let goes_on = self.answers.is_none() && self.open_message.as_ref().is_some_and(|open| open.native_id == of);
        if !goes_on {
            self.close_message();
        }
        let (model, ids) = (self.model, &mut self.ids);
        self.open_message.get_or_insert_with(|| {
            let id = of.clone().unwrap_or_else(|| ids.next_uuid());
            let mut value = json!({ "id": id, "timestamp": at.to_string(), "type": "gemini", "content": [] });
            if let Some(model) = model {
                value["model"] = json!(model);
            }
            for name in ["timestamp", "model", "tokens", "thoughts"] {
                if let Some(field) = native.and_then(|native| native.field(name)) {
                    value[name] = field.clone();
                }
            }
            OpenMessage { native_id: of, value, entries: Vec::new() }
        })
    }

    pub(super) fn write_reply(&mut self, parts: &[Part], piece: PieceSource<'_>) {
        let mut content = make_content(parts, &mut self.losses);
        // Texts that follow each other in one message are one text.
        let last = self.open_message.as_ref().and_then(|open| open.value["content"].as_array()?.last());
        if piece.native.is_none() && last.is_some_and(|last| last.get("text").is_some()) {
            self.close_message();
        }
        let open = self.agent_message(piece);
        if let (Some(all), Some(new)) = (open.value["content"].as_array_mut(), content.as_array_mut()) {
            all.append(new);
        }
        open.entries.push(piece.index);
    }

    /// A thought stands beside the content; one that comes later begins another message.
    pub(super) fn write_thought(&mut self, text: &str, piece: PieceSource<'_>) {
        let PieceSource { native, at, .. } = piece;
        if native.is_none() && self.open_message.as_ref().is_some_and(|open| open.value["content"] != json!([])) {
            self.close_message();
        }
        let open = self.agent_message(piece);
        let told = native.is_some_and(|native| native.field("thoughts").is_some_and(|thoughts| *thoughts != json!([])));
        if !told {
            let thought = json!({ "subject": "", "description": text, "timestamp": at.to_string() });
            push_item(&mut open.value, "thoughts", thought);
        }
        open.entries.push(piece.index);
    }

    pub(super) fn write_call(&mut self, call: &Call, carried: &CarriedEntry, piece: PieceSource<'_>) {
        let PieceSource { native, at, .. } = piece;
        let is_own = carried.agent == super::FACTS.id;
        let dirs = ProjectDirs::new(self.project, self.moves);
        let own = if is_own { None } else { dialect::translate_action(call, &carried.action, dirs) };
        self.translated += usize::from(own.is_some());
        let (tool, args) = translate_call(call, own, MAX_NAME_CHARS, self.moves);
        // The client cuts an id at its first double underscore; its own are made for that.
        let id = if is_own { call.id.0.to_string() } else { call.id.0.replace("__", "_") };
        let id = self.names.make_unique(&id, MAX_NAME_CHARS.max(id.len()));
        let shown = if let Some(shown) = native.and_then(|native| native.shown_call(&call.id.0)) {
            copy_shown(shown, &id, &args)
        } else {
            let subject = carried.action.subject();
            let moved = self.moves.and_then(|moves| moves.move_path(&subject));
            let about = moved.as_deref().unwrap_or(if subject.is_empty() { &call.tool } else { &subject });
            json!({
                "id": format!("ui-{id}"), "name": tool, "args": args, "status": "success",
                "timestamp": at.to_string(), "displayName": tool, "description": one_line(about, 200),
                "resultDisplay": "", "renderOutputAsMarkdown": false,
            })
        };
        let open = self.agent_message(piece);
        push_item(&mut open.value, "content", json!({ "functionCall": { "id": id, "name": tool, "args": args } }));
        push_item(&mut open.value, "toolCalls", shown);
        let place = open.value["toolCalls"].as_array().map_or(0, |shown| shown.len() - 1);
        open.entries.push(piece.index);
        self.calls.insert(call.id.clone(), WrittenCall { id, tool, shown: (self.lines.len(), place) });
    }

    pub(super) fn write_outcome(&mut self, outcome: &Outcome, piece: PieceSource<'_>) {
        let PieceSource { native, at, index } = piece;
        let losses = &mut self.losses;
        let Some(WrittenCall { id, tool, shown }) = self.calls.get(&outcome.call) else { return };
        let parts = native.and_then(|native| native.find_response(&outcome.call.0));
        let parts = parts.unwrap_or_else(|| {
            let mut parts = vec![json!({
                "functionResponse": { "id": id, "name": tool, "response": make_response(outcome, tool) },
            })];
            parts.extend(outcome.parts.iter().filter_map(|part| match part {
                Part::Blob(blob) => Some(make_attachment(blob, losses)),
                Part::Text(_) => None,
            }));
            parts
        });
        let (line, place) = *shown;
        let of_line =
            if line == self.lines.len() { self.open_message.as_mut().map(|open| &mut open.value) } else { None };
        if let Some(value) = of_line.or_else(|| self.lines.get_mut(line).map(|line| &mut line.value)) {
            show_outcome(&mut value["toolCalls"][place], outcome, tool);
        }
        // The calls come first: their message ends where the first outcome begins.
        if self.open_message.is_some() {
            self.close_message();
        }
        let answers = self.answers.get_or_insert_with(|| OpenMessage {
            native_id: None,
            value: json!({
                "id": "", "timestamp": at.to_string(), "type": "user", "content": [], "displayContent": HIDDEN_TEXT,
            }),
            entries: Vec::new(),
        });
        for part in parts {
            push_item(&mut answers.value, "content", part);
        }
        answers.entries.push(index);
    }
}

fn push_item(value: &mut Value, list: &str, item: Value) {
    match value[list].as_array_mut() {
        Some(items) => items.push(item),
        None => value[list] = json!([item]),
    }
}

/// The screen's view of an own call, under a name by which the client will not take it for the call itself.
fn copy_shown(shown: &Value, id: &str, args: &Value) -> Value {
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
fn show_outcome(shown: &mut Value, outcome: &Outcome, tool: &str) {
    if shown["resultDisplay"] == "" {
        let text = text_of(&outcome.parts);
        shown["resultDisplay"] = json!(text[..text.floor_char_boundary(MAX_SHOWN_BYTES)]);
        shown["status"] = json!(match outcome.status {
            Status::Done | Status::Ended => "success",
            Status::Failed if outcome.exit_code.is_some() && tool == SHELL_TOOL => "success",
            Status::Failed => "error",
            Status::Interrupted => "cancelled",
        });
    }
}

/// The outcome as the model sees it: a command that failed is told by its exit code, in the client's own words.
fn make_response(outcome: &Outcome, tool: &str) -> Value {
    let text = text_of(&outcome.parts);
    match (outcome.status, outcome.exit_code.filter(|code| *code != 0)) {
        (_, Some(code)) if tool == SHELL_TOOL => {
            let output = if text.is_empty() { "(empty)" } else { text.trim_end_matches('\n') };
            json!({ "output": format!("Output: {output}\nExit Code: {code}") })
        }
        (_, Some(code)) => json!({ "error": format!("{text}\nExit Code: {code}") }),
        (Status::Done | Status::Ended, None) => json!({ "output": text }),
        (_, None) => json!({ "error": text }),
    }
}

/// The parts of a text with images.
pub(super) fn make_content(parts: &[Part], losses: &mut Vec<Loss>) -> Value {
    let parts = parts.iter().map(|part| match part {
        Part::Text(text) => json!({ "text": text }),
        Part::Blob(blob) => make_attachment(blob, losses),
    });
    parts.collect()
}

fn make_attachment(blob: &Blob, losses: &mut Vec<Loss>) -> Value {
    if let BlobLocation::Inline(data) = &blob.location {
        return json!({ "inlineData": { "mimeType": blob.media_type, "data": &**data } });
    }
    count_loss(losses, "attachment", "it is not in reach");
    json!({ "text": describe_omitted(blob) })
}
