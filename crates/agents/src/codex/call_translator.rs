//! Calls and contents in Codex's own words.
//!
//! A call is translated only where Codex has a tool that does exactly the same with arguments that would replay;
//! every other call keeps its name and its input, which the client loads unchanged.

use carryover_core::transcript::{
    Action, Blob, BlobLocation, Call, CallForm, Change, Outcome, Part, Status, StepState,
};
use serde_json::{Value, json};

use super::patch;
use crate::formats::ids;
use crate::formats::relocate::Relocation;
use crate::{CarriedEntry, Version};

/// The longest name of a tool or a call that the API takes.
pub(super) const MAX_API_NAME_CHARS: usize = 64;

/// From here on the client offers no `update_plan`, and says so when it is called.
const NO_PLAN_TOOL_FROM: Version = Version(0, 148, 0);

/// Translates calls; the result depends on the project and on the client's version.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallTranslator<'a> {
    pub(super) project: &'a str,
    pub(super) moves: Option<Relocation<'a>>,
    pub(super) version: Version,
}

/// A call as it was written, for its outcome and for the screen.
#[derive(Debug)]
pub(super) struct WrittenCall<'a> {
    pub(super) id: String,
    pub(super) call: &'a Call,
    pub(super) action: &'a Action,
    /// Free text in, so the outcome has another kind too.
    pub(super) is_custom: bool,
    /// A command that was put into the client's own words; its outcome gets the client's header.
    pub(super) is_command: bool,
}

/// An item, and how it came about.
pub(super) struct CallItem {
    pub(super) item: Value,
    pub(super) is_custom: bool,
    pub(super) is_translated: bool,
}

impl CallTranslator<'_> {
    pub(super) fn translate_call(&self, carried: &CarriedEntry, call: &Call, id: &str) -> CallItem {
        if carried.agent == "codex" {
            return self.rebuild_own_call(call, id);
        }
        let translated = match &carried.action {
            Action::Run { command, workdir } => {
                Some(function_item("exec_command", &self.command_input(command, workdir.as_deref()), id))
            }
            Action::Edit(changes) => patch::render(changes, |path| self.project_relative(path))
                .map(|text| custom_item("apply_patch", &text, id)),
            Action::Write { path, content } => {
                let change = Change::Add { path: path.clone(), content: content.clone() };
                patch::render(&[change], |path| self.project_relative(path))
                    .map(|text| custom_item("apply_patch", &text, id))
            }
            Action::View { path } => {
                Some(function_item("view_image", &json!({ "path": self.relocate_path(path) }), id))
            }
            Action::Plan(steps) if self.version < NO_PLAN_TOOL_FROM => {
                let steps: Vec<Value> =
                    steps.iter().map(|step| json!({ "step": step.text, "status": step_status(step.state) })).collect();
                Some(function_item("update_plan", &json!({ "plan": steps }), id))
            }
            _ => None,
        };
        match translated {
            Some(item) => CallItem { is_custom: item["type"] == "custom_tool_call", item, is_translated: true },
            None => CallItem { item: self.keep_call(call, id), is_custom: false, is_translated: false },
        }
    }

    /// A call of Codex's own that is not written back as it was, because something of it was cut.
    fn rebuild_own_call(&self, call: &Call, id: &str) -> CallItem {
        if let (CallForm::Freeform, Some(text)) = (call.form, call.input.read_as::<String>()) {
            return CallItem { item: custom_item(&call.tool, &text, id), is_custom: true, is_translated: false };
        }
        let mut item = self.keep_call(call, id);
        if let Some((namespace, name)) = call.tool.split_once('.') {
            item["name"] = json!(name);
            item["namespace"] = json!(namespace);
        }
        CallItem { item, is_custom: false, is_translated: false }
    }

    /// The call under its own name, its paths moved with the project.
    fn keep_call(&self, call: &Call, id: &str) -> Value {
        let input = self.moves.map_or_else(|| call.input.clone(), |moves| moves.move_json(&call.input));
        let is_object = input.as_str().trim_start().starts_with('{');
        let arguments =
            if is_object { input.as_str().to_owned() } else { json!({ "input": input.to_value() }).to_string() };
        let name = ids::clean_name(&call.tool, MAX_API_NAME_CHARS);
        json!({ "type": "function_call", "name": name, "arguments": arguments, "call_id": id })
    }

    fn command_input(&self, command: &str, workdir: Option<&str>) -> Value {
        match workdir.map(|workdir| self.relocate_path(workdir)) {
            Some(workdir) if workdir != self.project => json!({ "cmd": command, "workdir": workdir }),
            _ => json!({ "cmd": command }),
        }
    }

    /// A path where it is now.
    pub(super) fn relocate_path(&self, path: &str) -> String {
        self.moves.and_then(|moves| moves.move_path(path)).unwrap_or_else(|| path.to_owned())
    }

    /// A path as patches name it: from the project on, where it lies in it.
    fn project_relative(&self, path: &str) -> String {
        let path = self.relocate_path(path);
        let inside = path.strip_prefix(self.project).and_then(|rest| rest.strip_prefix(['/', '\\']));
        inside.map_or_else(|| path.clone(), str::to_owned)
    }

    /// The whole path of what a patch names.
    pub(super) fn absolute_path(&self, path: &str) -> String {
        let path = self.relocate_path(path);
        let absolute = path.starts_with(['/', '\\']) || path.get(1..2) == Some(":");
        if absolute { path } else { format!("{}/{path}", self.project) }
    }
}

fn function_item(name: &str, arguments: &Value, id: &str) -> Value {
    json!({ "type": "function_call", "name": name, "arguments": arguments.to_string(), "call_id": id })
}

fn custom_item(name: &str, input: &str, id: &str) -> Value {
    json!({ "type": "custom_tool_call", "status": "completed", "call_id": id, "name": name, "input": input })
}

fn step_status(state: StepState) -> &'static str {
    match state {
        StepState::Pending => "pending",
        StepState::InProgress => "in_progress",
        StepState::Done => "completed",
    }
}

/// The item of an outcome.
pub(super) fn outcome_item(asked: &WrittenCall<'_>, outcome: &Outcome, lost: &mut Vec<&'static str>) -> Value {
    let kind = if asked.is_custom { "custom_tool_call_output" } else { "function_call_output" };
    json!({ "type": kind, "call_id": asked.id, "output": outcome_output(asked, outcome, lost) })
}

fn outcome_output(asked: &WrittenCall<'_>, outcome: &Outcome, lost: &mut Vec<&'static str>) -> Value {
    let header = match outcome.exit_code {
        Some(code) if asked.is_command => format!("Process exited with code {code}\nOutput:\n"),
        _ => String::new(),
    };
    match &outcome.parts[..] {
        [] if outcome.status == Status::Interrupted => json!("aborted by user"),
        [] => json!(header),
        [Part::Text(text)] if text.is_empty() && outcome.status == Status::Interrupted => json!("aborted by user"),
        [Part::Text(text)] => json!(header + text),
        parts => {
            let mut items = content_items(parts, "input_text", lost);
            if !header.is_empty() {
                items.insert(0, json!({ "type": "input_text", "text": header }));
            }
            Value::Array(items)
        }
    }
}

/// The items of a user's message, or of an outcome. Blobs that cannot be held leave a word in their place.
pub(super) fn content_items(parts: &[Part], text_kind: &str, lost: &mut Vec<&'static str>) -> Vec<Value> {
    let mut items = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Part::Text(text) => items.push(json!({ "type": text_kind, "text": text })),
            Part::Blob(blob) => push_blob(&mut items, blob, text_kind, lost),
        }
    }
    items
}

fn push_blob(items: &mut Vec<Value>, blob: &Blob, text_kind: &str, lost: &mut Vec<&'static str>) {
    let url = match &blob.location {
        BlobLocation::Inline(data) if blob.is_image() => format!("data:{};base64,{data}", blob.media_type),
        BlobLocation::Remote(url) if blob.is_image() => url.clone(),
        _ => {
            lost.push(if blob.is_image() { "images" } else { "files" });
            let name = blob.name.as_deref().unwrap_or("unnamed");
            items.push(json!({ "type": text_kind, "text": format!("[{} {name}: not carried over]", blob.media_type) }));
            return;
        }
    };
    let image = json!({ "type": "input_image", "image_url": url });
    // The client's own way to say what an image is called.
    match blob.name.as_deref().filter(|name| !name.contains(['"', '\n'])) {
        Some(name) if text_kind == "input_text" => {
            items.push(json!({ "type": text_kind, "text": format!("<image name=[Image] path=\"{name}\">") }));
            items.push(image);
            items.push(json!({ "type": text_kind, "text": "</image>" }));
        }
        _ => items.push(image),
    }
}
