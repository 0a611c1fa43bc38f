//! What pi's tools mean, and how a meaning is spelt in them.

use carryover_core::transcript::{Action, Call, Change, Hunk};
use serde_json::{Value, json};

use super::questions;
use crate::formats::tree::blocks::{Home, Spelt};

/// The inputs of the tools that have a counterpart elsewhere; which fields are there depends on the tool.
#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct WireInput {
    command: Option<String>,
    #[serde(alias = "file_path")]
    path: Option<String>,
    offset: Option<u64>,
    limit: Option<u64>,
    content: Option<String>,
    pattern: Option<String>,
    glob: Option<String>,
    agent: Option<String>,
    task: Option<String>,
}

/// The part of an outcome's record that tells the change in whole lines.
#[derive(serde::Deserialize)]
struct WireResult {
    message: WireResultMessage,
}

#[derive(serde::Deserialize)]
struct WireResultMessage {
    details: WireDetails,
}

#[derive(serde::Deserialize)]
struct WireDetails {
    diff: String,
}

/// What a call means.
pub(super) fn action(call: &Call, outcome: Option<&str>) -> Action {
    let input: WireInput = call.input.read().unwrap_or_default();
    let meaning = match call.tool.as_str() {
        "bash" => input.command.map(|command| Action::Run { command, workdir: None }),
        "read" => input.path.map(|path| read(path, input.offset, input.limit)),
        "write" => input.path.zip(input.content).map(|(path, content)| Action::Write { path, content }),
        "edit" => input.path.map(|path| edit(path, outcome)),
        "grep" => input.pattern.map(|pattern| Action::Grep { pattern, path: input.path, glob: input.glob }),
        "find" => input.pattern.map(|pattern| Action::Glob { pattern, path: input.path }),
        "subagent" => input.task.map(|prompt| Action::Delegate { prompt, description: input.agent }),
        _ => questions::asked(call),
    };
    meaning.unwrap_or(Action::Other)
}

fn read(path: String, offset: Option<u64>, limit: Option<u64>) -> Action {
    const IMAGES: &[&str] = &["png", "jpg", "jpeg", "gif", "webp", "bmp"];
    let extension = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    if IMAGES.contains(&extension.as_str()) {
        return Action::View { path };
    }
    Action::Read { path, offset, limit }
}

/// The call names parts of lines; only its outcome tells the lines as a whole. Without it, no hunks are known.
fn edit(path: String, outcome: Option<&str>) -> Action {
    let result = outcome.and_then(|record| serde_json::from_str::<WireResult>(record).ok());
    let hunks = result.map(|result| hunks(&result.message.details.diff)).unwrap_or_default();
    Action::Edit(vec![Change::Update { path, moved_to: None, hunks }])
}

/// Reads the client's own diff: a sign, the number of the line, a space, the line. Lines left out have no number.
fn hunks(diff: &str) -> Vec<Hunk> {
    let mut hunks = Vec::new();
    let mut hunk = empty();
    for line in diff.lines() {
        let sign = line.bytes().next();
        let numbered = line.get(1..).unwrap_or_default().trim_start_matches(' ');
        let digits = numbered.bytes().take_while(u8::is_ascii_digit).count();
        let text = numbered[digits..].strip_prefix(' ').unwrap_or_default();
        if digits == 0 {
            hunks.push(std::mem::replace(&mut hunk, empty()));
            continue;
        }
        if matches!(sign, Some(b' ' | b'-')) {
            hunk.old.push_str(text);
            hunk.old.push('\n');
        }
        if matches!(sign, Some(b' ' | b'+')) {
            hunk.new.push_str(text);
            hunk.new.push('\n');
        }
    }
    hunks.push(hunk);
    hunks.retain(|hunk| hunk.old != hunk.new);
    hunks
}

fn empty() -> Hunk {
    Hunk { context: None, old: String::new(), new: String::new(), everywhere: false }
}

/// Spells a foreign call in pi's own tools, where the meaning is exact.
pub(super) fn spell(action: &Action, home: Home<'_>) -> Option<Spelt> {
    let spelt = |tool, input| Some(Spelt { tool, input });
    match action {
        Action::Run { command, workdir } => {
            spelt("bash", json!({ "command": in_folder(command, workdir.as_deref(), home) }))
        }
        Action::View { path } => spelt("read", json!({ "path": path })),
        Action::Read { path, offset, limit } => spelt("read", read_input(path, *offset, *limit)),
        Action::Write { path, content } => spelt("write", json!({ "path": path, "content": content })),
        Action::Edit(changes) => match changes.as_slice() {
            [change] => spell_change(change),
            _ => None,
        },
        // `grep` and `find` are there, but turned off unless the user asks for them.
        Action::Grep { .. }
        | Action::Glob { .. }
        | Action::Fetch { .. }
        | Action::Plan(_)
        | Action::Step(_)
        | Action::Delegate { .. }
        | Action::Ask(_)
        | Action::Propose { .. }
        | Action::Other => None,
    }
}

/// A patch of one file is an edit; several files in one patch have no counterpart.
fn spell_change(change: &Change) -> Option<Spelt> {
    match change {
        Change::Add { path, content } => {
            Some(Spelt { tool: "write", input: json!({ "path": path, "content": content }) })
        }
        Change::Update { path, moved_to: None, hunks } => {
            // An insertion without surroundings names no place, and every text must stand in the file once.
            if hunks.is_empty() || hunks.iter().any(|hunk| hunk.old.is_empty() || hunk.everywhere) {
                return None;
            }
            let edits: Vec<Value> = hunks.iter().map(replacement).collect();
            Some(Spelt { tool: "edit", input: json!({ "path": path, "edits": edits }) })
        }
        Change::Update { .. } | Change::Delete { .. } => None,
    }
}

/// The last line feed belongs to neither side, for a file may end without one.
fn replacement(hunk: &Hunk) -> Value {
    let (old, new) = match (hunk.old.strip_suffix('\n'), hunk.new.strip_suffix('\n')) {
        (Some(old), Some(new)) => (old, new),
        _ => (hunk.old.as_str(), hunk.new.as_str()),
    };
    json!({ "oldText": old, "newText": new })
}

fn read_input(path: &str, offset: Option<u64>, limit: Option<u64>) -> Value {
    let mut input = json!({ "path": path });
    for (name, value) in [("offset", offset), ("limit", limit)] {
        if let Some(value) = value {
            input[name] = value.into();
        }
    }
    input
}

/// The client's shell starts in the project.
fn in_folder(command: &str, workdir: Option<&str>, home: Home<'_>) -> String {
    match workdir {
        Some(folder) if !home.is(folder) => {
            format!("cd '{}' && {command}", folder.replace('\'', r"'\''"))
        }
        _ => command.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use carryover_core::json::Json;
    use carryover_core::transcript::{CallForm, CallId};

    use super::*;

    fn call(tool: &str, input: &Value) -> Call {
        let input = Json::from_value(input);
        Call { id: CallId("c".into()), tool: tool.into(), input, form: CallForm::Function }
    }

    #[test]
    fn an_edit_is_known_in_whole_lines_from_its_outcome() {
        let edits = json!([{ "oldText": "a - b", "newText": "a + b" }, { "oldText": "x", "newText": "" }]);
        let edit = call("edit", &json!({ "path": "calc.py", "edits": edits }));
        let diff = "   1 def add(a, b):\n-  2     return a - b\n+  2     return a + b\n     ...\n  99 \n-100 x";
        let record = json!({ "message": { "details": { "diff": diff } } }).to_string();
        let Action::Edit(changes) = action(&edit, Some(&record)) else { panic!("no edit") };
        let Change::Update { hunks, .. } = &changes[0] else { panic!("no update") };
        assert_eq!(hunks[0].old, "def add(a, b):\n    return a - b\n");
        assert_eq!(hunks[0].new, "def add(a, b):\n    return a + b\n");
        assert_eq!((hunks[1].old.as_str(), hunks[1].new.as_str()), ("\nx\n", "\n"));
        let spelt = spell(&Action::Edit(changes), Home { project: "/p", old_project: None }).unwrap();
        assert_eq!(spelt.tool, "edit");
        assert_eq!(spelt.input["edits"][0]["oldText"], "def add(a, b):\n    return a - b");
    }

    #[test]
    fn commands_elsewhere_go_there_first() {
        let run = Action::Run { command: "ls".into(), workdir: Some("/o'k".into()) };
        let spelt = spell(&run, Home { project: "/p", old_project: None }).unwrap();
        assert_eq!(spelt.input["command"], r"cd '/o'\''k' && ls");
    }
}
