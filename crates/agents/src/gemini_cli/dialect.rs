//! What Gemini CLI's tools mean, and how a meaning is spelt in them.

use carryover_core::json::Json;
use carryover_core::transcript::{Action, Call, Change, Hunk, PlanStep, Question, StepState};
use serde_json::{Value, json};

/// The inputs of the tools that have a counterpart elsewhere; which fields are there depends on the tool.
#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct WireInput {
    command: Option<String>,
    #[serde(alias = "absolute_path", alias = "path")]
    file_path: Option<String>,
    #[serde(alias = "directory")]
    dir_path: Option<String>,
    start_line: Option<u64>,
    end_line: Option<u64>,
    /// Counted from zero, in older clients.
    offset: Option<u64>,
    limit: Option<u64>,
    content: Option<String>,
    pattern: Option<String>,
    #[serde(alias = "include")]
    include_pattern: Option<String>,
    prompt: Option<String>,
    #[serde(alias = "objective")]
    task: Option<String>,
    agent_name: Option<String>,
    todos: Option<Vec<WireTodo>>,
    questions: Option<Vec<WireQuestion>>,
    #[serde(alias = "plan_path")]
    plan_filename: Option<String>,
}

#[derive(serde::Deserialize)]
struct WireQuestion {
    question: String,
    #[serde(default)]
    options: Option<Vec<WireOption>>,
}

#[derive(serde::Deserialize)]
struct WireOption {
    label: String,
}

#[derive(serde::Deserialize)]
struct WireTodo {
    #[serde(default)]
    description: String,
    #[serde(default)]
    status: String,
}

/// The part of a record that tells a change in whole lines.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireChanged {
    tool_calls: Vec<WireChangedBy>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireChangedBy {
    #[serde(default)]
    id: String,
    #[serde(default)]
    result_display: Value,
}

/// What a call means.
pub(super) fn action(call: &Call, outcome: Option<&str>) -> Action {
    let input: WireInput = call.input.read().unwrap_or_default();
    let folder = input.dir_path.clone().or_else(|| input.file_path.clone());
    let meaning = match call.tool.as_str() {
        "run_shell_command" => input.command.map(|command| Action::Run { command, workdir: input.dir_path }),
        "read_file" => read(input),
        "write_file" => input.file_path.zip(input.content).map(|(path, content)| Action::Write { path, content }),
        "replace" | "edit" => input.file_path.map(|path| edit(call, path, outcome)),
        "grep_search" | "search_file_content" => {
            input.pattern.map(|pattern| Action::Grep { pattern, path: folder, glob: input.include_pattern })
        }
        "glob" => input.pattern.map(|pattern| Action::Glob { pattern, path: folder }),
        "write_todos" => input.todos.map(|todos| Action::Plan(todos.into_iter().map(step).collect())),
        "ask_user" => input.questions.map(|questions| Action::Ask(questions.into_iter().map(question).collect())),
        // The plan is in a file that was written before.
        "exit_plan_mode" => input.plan_filename.map(|plan| Action::Propose { plan }),
        "invoke_agent" | "codebase_investigator" => {
            let description = input.agent_name;
            input.prompt.or(input.task).map(|prompt| Action::Delegate { prompt, description })
        }
        _ => None,
    };
    meaning.unwrap_or(Action::Other)
}

fn read(input: WireInput) -> Option<Action> {
    const IMAGES: &[&str] = &["png", "jpg", "jpeg", "gif", "webp", "svg", "bmp"];
    let path = input.file_path?;
    let extension = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    if IMAGES.contains(&extension.as_str()) {
        return Some(Action::View { path });
    }
    let offset = input.start_line.or(input.offset.map(|offset| offset.saturating_add(1)));
    let first = offset.unwrap_or(1);
    let limit = input.end_line.map(|last| (last + 1).saturating_sub(first)).or(input.limit);
    Some(Action::Read { path, offset, limit })
}

/// The call names parts of lines; only what is shown of its outcome tells the lines as a whole.
fn edit(call: &Call, path: String, outcome: Option<&str>) -> Action {
    let changed = outcome.and_then(|record| serde_json::from_str::<WireChanged>(record).ok());
    let shown = changed.and_then(|changed| changed.tool_calls.into_iter().find(|by| by.id == *call.id.0));
    let diff = shown.as_ref().and_then(|by| by.result_display["fileDiff"].as_str()).unwrap_or_default();
    Action::Edit(vec![Change::Update { path, moved_to: None, hunks: hunks(diff) }])
}

/// The hunks of a unified diff.
fn hunks(diff: &str) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    for line in diff.lines() {
        if line.starts_with("@@") {
            hunks.push(Hunk { context: None, old: String::new(), new: String::new(), everywhere: false });
            continue;
        }
        let (Some(hunk), Some(kind)) = (hunks.last_mut(), line.bytes().next()) else { continue };
        let (old, new) = match kind {
            b' ' => (true, true),
            b'-' => (true, false),
            b'+' => (false, true),
            // "\ No newline at end of file"
            _ => (false, false),
        };
        for side in [old.then_some(&mut hunk.old), new.then_some(&mut hunk.new)].into_iter().flatten() {
            side.push_str(&line[1..]);
            side.push('\n');
        }
    }
    hunks
}

fn question(asked: WireQuestion) -> Question {
    let options = asked.options.unwrap_or_default().into_iter().map(|option| option.label).collect();
    Question { text: asked.question, options }
}

fn step(todo: WireTodo) -> PlanStep {
    let state = match todo.status.as_str() {
        "completed" | "cancelled" => StepState::Done,
        "in_progress" => StepState::InProgress,
        _ => StepState::Pending,
    };
    PlanStep { text: todo.description, state }
}

/// Where the session goes on, and where it was.
#[derive(Clone, Copy)]
pub(super) struct Home<'a> {
    pub project: &'a str,
    pub old_project: Option<&'a str>,
}

/// A call in Gemini CLI's own tools.
pub(super) struct Spelt {
    pub tool: &'static str,
    pub input: Value,
}

/// Spells a foreign call in Gemini CLI's own tools, where the meaning is exact.
pub(super) fn spell(call: &Call, action: &Action, home: Home<'_>) -> Option<Spelt> {
    let spelt = |tool, input| Some(Spelt { tool, input });
    match action {
        Action::Run { command, workdir } => spelt("run_shell_command", run_input(command, workdir.as_deref(), home)),
        Action::View { path } => spelt("read_file", json!({ "file_path": path })),
        Action::Read { path, offset, limit } => spelt("read_file", read_input(path, *offset, *limit)),
        Action::Write { path, content } => spelt("write_file", json!({ "file_path": path, "content": content })),
        Action::Edit(changes) => match changes.as_slice() {
            [change] => spell_change(change),
            _ => None,
        },
        Action::Grep { pattern, path, glob } if says_only(call, &["pattern", "path", "glob"]) => {
            let fields = [("dir_path", path.as_deref()), ("include_pattern", glob.as_deref())];
            spelt("grep_search", search_input(pattern, &fields))
        }
        Action::Glob { pattern, path } if says_only(call, &["pattern", "path"]) => {
            spelt("glob", search_input(pattern, &[("dir_path", path.as_deref())]))
        }
        Action::Plan(steps) => spelt("write_todos", todos(call, steps)),
        Action::Grep { .. }
        | Action::Glob { .. }
        | Action::Fetch { .. }
        | Action::Step(_)
        | Action::Delegate { .. }
        | Action::Ask(_)
        | Action::Propose { .. }
        | Action::Other => None,
    }
}

/// Whether a call has no more to it than these fields; one that has more would lose it.
fn says_only(call: &Call, fields: &[&str]) -> bool {
    call.input.value().as_object().is_some_and(|input| input.keys().all(|key| fields.contains(&key.as_str())))
}

/// One place in one file is what the tool changes.
fn spell_change(change: &Change) -> Option<Spelt> {
    match change {
        Change::Add { path, content } => {
            Some(Spelt { tool: "write_file", input: json!({ "file_path": path, "content": content }) })
        }
        Change::Update { path, moved_to: None, hunks } => {
            let [hunk] = hunks.as_slice() else { return None };
            // An insertion without surroundings names no place that could be found again.
            if hunk.old.is_empty() {
                return None;
            }
            let (old, new) = match (hunk.old.strip_suffix('\n'), hunk.new.strip_suffix('\n')) {
                (Some(old), Some(new)) => (old, new),
                _ => (hunk.old.as_str(), hunk.new.as_str()),
            };
            // The tool demands a sentence on what is done.
            let mut input = json!({
                "file_path": path, "instruction": "Replace the old lines by the new ones.", "old_string": old,
                "new_string": new,
            });
            if hunk.everywhere {
                input["allow_multiple"] = json!(true);
            }
            Some(Spelt { tool: "replace", input })
        }
        Change::Update { .. } | Change::Delete { .. } => None,
    }
}

/// The client's shell starts in the project.
fn run_input(command: &str, workdir: Option<&str>, home: Home<'_>) -> Value {
    let mut input = json!({ "command": command });
    if let Some(folder) = workdir.filter(|folder| *folder != home.project && Some(*folder) != home.old_project) {
        input["dir_path"] = json!(folder);
    }
    input
}

fn read_input(path: &str, offset: Option<u64>, limit: Option<u64>) -> Value {
    let mut input = json!({ "file_path": path });
    if let Some(first) = offset {
        input["start_line"] = json!(first);
    }
    if let Some(limit) = limit {
        input["end_line"] = json!(offset.unwrap_or(1).saturating_add(limit).saturating_sub(1));
    }
    input
}

fn search_input(pattern: &str, fields: &[(&str, Option<&str>)]) -> Value {
    let mut input = json!({ "pattern": pattern });
    for (name, value) in fields {
        if let Some(value) = value {
            input[*name] = json!(value);
        }
    }
    input
}

/// Whatever else the call said about its plan stays beside the steps.
fn todos(call: &Call, steps: &[PlanStep]) -> Value {
    let todos: Vec<Value> = steps
        .iter()
        .map(|step| {
            let status = match step.state {
                StepState::Pending => "pending",
                StepState::InProgress => "in_progress",
                StepState::Done => "completed",
            };
            json!({ "description": step.text, "status": status })
        })
        .collect();
    let mut input = json!({ "todos": todos });
    if let Some(explanation) = call.input.value().get("explanation").filter(|value| value.is_string()) {
        input["explanation"] = explanation.clone();
    }
    input
}

/// The input of a call that keeps its own tool: an object, as the API demands.
pub(super) fn object(input: &Json) -> Value {
    match input.value() {
        object @ Value::Object(_) => object,
        other => json!({ "input": other }),
    }
}

#[cfg(test)]
mod tests {
    use carryover_core::transcript::{CallForm, CallId};

    use super::*;

    fn call(tool: &str, input: &Value) -> Call {
        let input = Json::from_value(input);
        Call { id: CallId("c".into()), tool: tool.into(), input, form: CallForm::Function }
    }

    #[test]
    fn an_edit_is_known_in_whole_lines_from_what_is_shown_of_it() {
        let edit = call("replace", &json!({ "file_path": "a.py", "old_string": "a - b", "new_string": "a + b" }));
        let record = r#"{"toolCalls":[{"id":"c","resultDisplay":{"fileDiff":"--- a\n+++ b\n@@ -1,2 +1,2 @@\n def add(a, b):\n-  return a - b\n+  return a + b\n"}}]}"#;
        let Action::Edit(changes) = action(&edit, Some(record)) else { panic!("no edit") };
        let Change::Update { hunks, .. } = &changes[0] else { panic!("no update") };
        assert_eq!(hunks[0].old, "def add(a, b):\n  return a - b\n");
        assert_eq!(hunks[0].new, "def add(a, b):\n  return a + b\n");
    }

    #[test]
    fn lines_are_counted_alike() {
        let lines = call("read_file", &json!({ "file_path": "a.rs", "start_line": 11, "end_line": 20 }));
        let meaning = action(&lines, None);
        assert_eq!(meaning, Action::Read { path: "a.rs".into(), offset: Some(11), limit: Some(10) });
        let spelt = spell(&lines, &meaning, Home { project: "/p", old_project: None }).unwrap();
        assert_eq!(spelt.input, json!({ "file_path": "a.rs", "start_line": 11, "end_line": 20 }));
    }

    #[test]
    fn a_search_that_says_more_keeps_its_own_tool() {
        let home = Home { project: "/p", old_project: None };
        let grep = Action::Grep { pattern: "x".into(), path: None, glob: None };
        assert!(spell(&call("Grep", &json!({ "pattern": "x" })), &grep, home).is_some());
        assert!(spell(&call("Grep", &json!({ "pattern": "x", "-A": 3 })), &grep, home).is_none());
    }
}
