//! What the client's tools mean, and how a meaning is spelt in them.

use carryover_core::transcript::{Action, Call, Change, Hunk, PlanStep, StepState};
use serde_json::{Value, json};

use super::wire::WireDetails;
use crate::formats::patch;
use crate::formats::tree::blocks::{Home, Spelt};

/// The inputs of the tools that have a counterpart elsewhere; which fields are there depends on the tool.
#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct WireInput {
    command: Option<String>,
    workdir: Option<String>,
    #[serde(alias = "file_path")]
    path: Option<String>,
    offset: Option<u64>,
    limit: Option<u64>,
    content: Option<String>,
    pattern: Option<String>,
    glob: Option<String>,
    url: Option<String>,
    task: Option<String>,
    label: Option<String>,
    /// A patch.
    input: Option<String>,
    plan: Option<Vec<WireStep>>,
}

#[derive(serde::Deserialize)]
struct WireStep {
    step: String,
    #[serde(default)]
    status: String,
}

/// The part of an outcome's record that tells a change in whole lines.
#[derive(serde::Deserialize)]
struct WireResult {
    message: WireResultMessage,
}

#[derive(serde::Deserialize)]
struct WireResultMessage {
    details: WireDetails,
}

/// What a call means.
pub(super) fn action(call: &Call, outcome: Option<&str>) -> Action {
    let input: WireInput = call.input.read().unwrap_or_default();
    let workdir = input.workdir.filter(|folder| !folder.is_empty());
    let meaning = match call.tool.as_str() {
        "exec" | "bash" => input.command.map(|command| Action::Run { command, workdir }),
        "read" => input.path.map(|path| read(path, input.offset, input.limit)),
        "view_image" => input.path.map(|path| Action::View { path }),
        "write" => input.path.zip(input.content).map(|(path, content)| Action::Write { path, content }),
        "edit" => input.path.map(|path| edit(path, outcome)),
        "apply_patch" => {
            input.input.map(|text| patch::changed_files(&text)).filter(|changes| !changes.is_empty()).map(Action::Edit)
        }
        "update_plan" => input.plan.map(|steps| Action::Plan(steps.into_iter().map(step).collect())),
        "grep" => input.pattern.map(|pattern| Action::Grep { pattern, path: input.path, glob: input.glob }),
        "find" => input.pattern.map(|pattern| Action::Glob { pattern, path: input.path }),
        "web_fetch" => input.url.map(|url| Action::Fetch { url }),
        "sessions_spawn" => input.task.map(|prompt| Action::Delegate { prompt, description: input.label }),
        _ => None,
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

fn step(step: WireStep) -> PlanStep {
    let state = match step.status.as_str() {
        "completed" => StepState::Done,
        "in_progress" => StepState::InProgress,
        _ => StepState::Pending,
    };
    PlanStep { text: step.step, state }
}

/// The call names parts of lines; only its outcome tells the lines as a whole. Without it, no hunks are known.
fn edit(path: String, outcome: Option<&str>) -> Action {
    let result = outcome.and_then(|record| serde_json::from_str::<WireResult>(record).ok());
    let diff = result.and_then(|result| result.message.details.diff).unwrap_or_default();
    Action::Edit(vec![Change::Update { path, moved_to: None, hunks: hunks(&diff) }])
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

/// Spells a foreign call in the client's own tools, where the meaning is exact.
pub(super) fn spell(action: &Action, home: Home<'_>) -> Option<Spelt> {
    let spelt = |tool, input| Some(Spelt { tool, input });
    match action {
        Action::Run { command, workdir } => {
            let mut input = json!({ "command": command });
            // A command that is run in the project needs no folder.
            if let Some(folder) = workdir.as_deref().filter(|folder| !home.is(folder)) {
                input["workdir"] = json!(folder);
            }
            spelt("exec", input)
        }
        Action::View { path } => spelt("read", json!({ "path": path })),
        Action::Read { path, offset, limit } => spelt("read", read_input(path, *offset, *limit)),
        Action::Write { path, content } => spelt("write", json!({ "path": path, "content": content })),
        Action::Edit(changes) => match changes.as_slice() {
            [change] => spell_change(change),
            _ => None,
        },
        // The other tools are found by a search of the client's, and called through another.
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

#[cfg(test)]
mod tests {
    use carryover_core::json::Json;
    use carryover_core::transcript::{CallForm, CallId};

    use super::*;

    const HOME: Home<'_> = Home { project: "/p", old_project: None };

    fn call(tool: &str, input: &Value) -> Call {
        let input = Json::from_value(input);
        Call { id: CallId("c".into()), tool: tool.into(), input, form: CallForm::Function }
    }

    #[test]
    fn an_edit_is_known_in_whole_lines_from_its_outcome() {
        let edits = json!([{ "oldText": "a - b", "newText": "a + b" }]);
        let edit = call("edit", &json!({ "path": "calc.py", "edits": edits }));
        let diff = " 1 def add(a, b):\n-2     return a - b\n+2     return a + b";
        let record = json!({ "message": { "details": { "diff": diff } } }).to_string();
        let Action::Edit(changes) = action(&edit, Some(&record)) else { panic!("no edit") };
        let Change::Update { hunks, .. } = &changes[0] else { panic!("no update") };
        assert_eq!(hunks[0].old, "def add(a, b):\n    return a - b\n");
        assert_eq!(hunks[0].new, "def add(a, b):\n    return a + b\n");
        let spelt = spell(&Action::Edit(changes), HOME).unwrap();
        assert_eq!(spelt.tool, "edit");
        assert_eq!(spelt.input["edits"][0]["oldText"], "def add(a, b):\n    return a - b");
    }

    #[test]
    fn patches_and_plans_are_known() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-x\n+y\n*** Delete File: b.rs\n*** End Patch";
        let Action::Edit(changes) = action(&call("apply_patch", &json!({ "input": patch })), None) else {
            panic!("no edit")
        };
        assert_eq!(changes.iter().map(Change::path).collect::<Vec<_>>(), ["a.rs", "b.rs"]);
        let plan = call("update_plan", &json!({ "plan": [{ "step": "read", "status": "completed" }] }));
        let steps = vec![PlanStep { text: "read".into(), state: StepState::Done }];
        assert_eq!(action(&plan, None), Action::Plan(steps));
    }

    #[test]
    fn commands_keep_their_folder() {
        let run = call("exec", &json!({ "command": "ls", "workdir": "/w" }));
        let meaning = action(&run, None);
        assert_eq!(meaning, Action::Run { command: "ls".into(), workdir: Some("/w".into()) });
        assert_eq!(spell(&meaning, HOME).unwrap().input, json!({ "command": "ls", "workdir": "/w" }));
    }
}
