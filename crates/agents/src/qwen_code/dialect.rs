//! What Qwen Code's tools mean, and how a meaning is spelt in them.

use carryover_core::json::Json;
use carryover_core::transcript::{Action, Call, Change, Hunk, PlanStep, Question, StepState};
use serde_json::{Value, json};

use crate::Version;

/// Clients from here on have the tool for plans turned off unless the user asks for it.
const PLANS_ARE_OFF: Version = Version(0, 24, 0);

/// The inputs of the tools that have a counterpart elsewhere; which fields are there depends on the tool.
#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct WireInput {
    command: Option<String>,
    directory: Option<String>,
    file_path: Option<String>,
    absolute_path: Option<String>,
    path: Option<String>,
    offset: Option<u64>,
    limit: Option<u64>,
    content: Option<String>,
    pattern: Option<String>,
    glob: Option<String>,
    url: Option<String>,
    prompt: Option<String>,
    description: Option<String>,
    todos: Option<Vec<WireTodo>>,
    notebook_path: Option<String>,
    plan: Option<String>,
}

/// Questions; some models write them as text, and are refused.
#[derive(serde::Deserialize)]
pub(super) struct WireQuestions {
    pub questions: Vec<WireQuestion>,
}

#[derive(serde::Deserialize)]
pub(super) struct WireQuestion {
    pub question: String,
    #[serde(default)]
    pub header: String,
    #[serde(default)]
    options: Vec<WireOption>,
}

#[derive(serde::Deserialize)]
struct WireOption {
    label: String,
}

#[derive(serde::Deserialize)]
struct WireTodo {
    content: String,
    #[serde(default)]
    status: String,
}

/// The part of an outcome's record that tells the change in whole lines.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireResult {
    tool_call_result: WireShown,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireShown {
    result_display: WireDiff,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireDiff {
    file_diff: String,
}

/// What a call means.
pub(super) fn action(call: &Call, outcome: Option<&str>) -> Action {
    let input: WireInput = call.input.read().unwrap_or_default();
    let file = input.file_path.or(input.absolute_path);
    let meaning = match call.tool.as_str() {
        "run_shell_command" => input.command.map(|command| Action::Run { command, workdir: input.directory }),
        "read_file" => file.map(|path| read(path, input.offset, input.limit)),
        "write_file" => file.zip(input.content).map(|(path, content)| Action::Write { path, content }),
        "edit" | "replace" => file.map(|path| edit(path, outcome)),
        "grep_search" | "search_file_content" => {
            input.pattern.map(|pattern| Action::Grep { pattern, path: input.path, glob: input.glob })
        }
        "glob" => input.pattern.map(|pattern| Action::Glob { pattern, path: input.path }),
        "web_fetch" => input.url.map(|url| Action::Fetch { url }),
        "todo_write" => input.todos.map(|todos| Action::Plan(todos.into_iter().map(step).collect())),
        "notebook_edit" => input.notebook_path.map(|path| edit(path, outcome)),
        "ask_user_question" => ask(call),
        "exit_plan_mode" => input.plan.map(|plan| Action::Propose { plan }),
        "agent" | "task" => input.prompt.map(|prompt| Action::Delegate { prompt, description: input.description }),
        _ => None,
    };
    meaning.unwrap_or(Action::Other)
}

/// Lines are counted from 0 here and from 1 elsewhere.
fn read(path: String, offset: Option<u64>, limit: Option<u64>) -> Action {
    const IMAGES: &[&str] = &["png", "jpg", "jpeg", "gif", "webp", "bmp"];
    let extension = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    if IMAGES.contains(&extension.as_str()) {
        return Action::View { path };
    }
    Action::Read { path, offset: offset.map(|offset| offset.saturating_add(1)), limit }
}

/// The call names parts of lines; only its outcome tells the lines as a whole. Without it, no hunks are known.
fn edit(path: String, outcome: Option<&str>) -> Action {
    let result = outcome.and_then(|record| serde_json::from_str::<WireResult>(record).ok());
    let hunks = result.map(|result| hunks(&result.tool_call_result.result_display.file_diff)).unwrap_or_default();
    Action::Edit(vec![Change::Update { path, moved_to: None, hunks }])
}

/// Reads a unified diff.
fn hunks(diff: &str) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    for line in diff.lines() {
        if line.starts_with("@@ ") {
            hunks.push(Hunk { context: None, old: String::new(), new: String::new(), everywhere: false });
            continue;
        }
        let (Some(hunk), Some(text)) = (hunks.last_mut(), line.get(1..)) else { continue };
        // "\ No newline at end of file" is neither.
        if line.starts_with([' ', '-']) {
            hunk.old.push_str(text);
            hunk.old.push('\n');
        }
        if line.starts_with([' ', '+']) {
            hunk.new.push_str(text);
            hunk.new.push('\n');
        }
    }
    hunks
}

fn ask(call: &Call) -> Option<Action> {
    let asked: WireQuestions = call.input.read()?;
    let question = |asked: WireQuestion| Question {
        text: asked.question,
        options: asked.options.into_iter().map(|option| option.label).collect(),
    };
    Some(Action::Ask(asked.questions.into_iter().map(question).collect()))
}

fn step(todo: WireTodo) -> PlanStep {
    let state = match todo.status.as_str() {
        "completed" => StepState::Done,
        "in_progress" => StepState::InProgress,
        _ => StepState::Pending,
    };
    PlanStep { text: todo.content, state }
}

/// Where the session goes on, where it was, and with which client.
#[derive(Clone, Copy)]
pub(super) struct Home<'a> {
    pub project: &'a str,
    pub old_project: Option<&'a str>,
    pub version: Version,
}

/// A call in Qwen Code's own tools.
pub(super) struct Spelt {
    pub tool: &'static str,
    pub input: Value,
}

/// Spells a foreign call in Qwen Code's own tools, where the meaning is exact.
pub(super) fn spell(action: &Action, home: Home<'_>) -> Option<Spelt> {
    let project = home.project;
    let spelt = |tool, input| Some(Spelt { tool, input });
    match action {
        Action::Run { command, workdir } => spelt("run_shell_command", run_input(command, workdir.as_deref(), home)),
        Action::View { path } => spelt("read_file", json!({ "file_path": absolute(path, project) })),
        Action::Read { path, offset, limit } => spelt("read_file", read_input(path, *offset, *limit, project)),
        Action::Write { path, content } => {
            spelt("write_file", json!({ "file_path": absolute(path, project), "content": content }))
        }
        Action::Edit(changes) => match changes.as_slice() {
            [change] => spell_change(change, project),
            _ => None,
        },
        Action::Plan(steps) if home.version < PLANS_ARE_OFF => spelt("todo_write", json!({ "todos": todos(steps) })),
        Action::Plan(_)
        | Action::Step(_)
        | Action::Grep { .. }
        | Action::Glob { .. }
        | Action::Fetch { .. }
        | Action::Delegate { .. }
        | Action::Ask(_)
        | Action::Propose { .. }
        | Action::Other => None,
    }
}

/// One replacement in one file is an edit; more have no counterpart.
fn spell_change(change: &Change, project: &str) -> Option<Spelt> {
    match change {
        Change::Add { path, content } => Some(Spelt {
            tool: "write_file",
            input: json!({ "file_path": absolute(path, project), "content": content }),
        }),
        Change::Update { path, moved_to: None, hunks } => {
            let [hunk] = hunks.as_slice() else { return None };
            // An insertion without surroundings names no place that could be found again.
            if hunk.old.is_empty() || hunk.everywhere {
                return None;
            }
            let (old, new) = replacement(hunk);
            let file_path = absolute(path, project);
            Some(Spelt { tool: "edit", input: json!({ "file_path": file_path, "old_string": old, "new_string": new }) })
        }
        Change::Update { .. } | Change::Delete { .. } => None,
    }
}

/// The last line feed belongs to neither side, for a file may end without one.
fn replacement(hunk: &Hunk) -> (&str, &str) {
    match (hunk.old.strip_suffix('\n'), hunk.new.strip_suffix('\n')) {
        (Some(old), Some(new)) => (old, new),
        _ => (&hunk.old, &hunk.new),
    }
}

/// The client's shell starts in the project.
fn run_input(command: &str, workdir: Option<&str>, home: Home<'_>) -> Value {
    let mut input = json!({ "command": command, "is_background": false });
    if let Some(folder) = workdir.filter(|folder| *folder != home.project && Some(*folder) != home.old_project) {
        input["directory"] = json!(absolute(folder, home.project));
    }
    input
}

fn read_input(path: &str, offset: Option<u64>, limit: Option<u64>, project: &str) -> Value {
    let mut input = json!({ "file_path": absolute(path, project) });
    for (name, value) in [("offset", offset.map(|offset| offset.saturating_sub(1))), ("limit", limit)] {
        if let Some(value) = value {
            input[name] = value.into();
        }
    }
    input
}

fn todos(steps: &[PlanStep]) -> Value {
    let todo = |(number, step): (usize, &PlanStep)| {
        let status = match step.state {
            StepState::Pending => "pending",
            StepState::InProgress => "in_progress",
            StepState::Done => "completed",
        };
        json!({ "id": (number + 1).to_string(), "content": step.text, "status": status })
    };
    steps.iter().enumerate().map(todo).collect()
}

fn absolute(path: &str, project: &str) -> String {
    let rooted =
        path.starts_with(['/', '\\', '~']) || path.get(1..3).is_some_and(|drive| drive == ":\\" || drive == ":/");
    if rooted { path.to_owned() } else { format!("{project}/{}", path.trim_start_matches("./")) }
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

    const HOME: Home<'_> = Home { project: "/p", old_project: None, version: Version(0, 24, 4) };

    #[test]
    fn an_edit_is_known_in_whole_lines_from_its_outcome() {
        let edit = call("edit", &json!({ "file_path": "/p/a.py", "old_string": "a-b", "new_string": "a+b" }));
        let diff = "Index: a.py\n===\n--- a.py\tCurrent\n+++ a.py\tProposed\n@@ -1,2 +1,2 @@\n def f(a,b):\n\
                    -  return a-b\n+  return a+b\n\\ No newline at end of file\n";
        let record = json!({ "toolCallResult": { "resultDisplay": { "fileDiff": diff } } }).to_string();
        let meaning = action(&edit, Some(&record));
        let Action::Edit(changes) = &meaning else { panic!("no edit") };
        let Change::Update { hunks, .. } = &changes[0] else { panic!("no update") };
        assert_eq!(hunks[0].old, "def f(a,b):\n  return a-b\n");
        let spelt = spell(&meaning, HOME).unwrap();
        assert_eq!(spelt.input["new_string"], "def f(a,b):\n  return a+b");
    }

    #[test]
    fn lines_are_counted_from_zero() {
        let read = call("read_file", &json!({ "file_path": "/p/a", "offset": 4, "limit": 2 }));
        let meaning = action(&read, None);
        assert_eq!(meaning, Action::Read { path: "/p/a".into(), offset: Some(5), limit: Some(2) });
        assert_eq!(spell(&meaning, HOME).unwrap().input, read.input.value());
    }

    #[test]
    fn commands_elsewhere_name_their_folder() {
        let run = Action::Run { command: "ls".into(), workdir: Some("sub".into()) };
        let input = json!({ "command": "ls", "is_background": false, "directory": "/p/sub" });
        assert_eq!(spell(&run, HOME).unwrap().input, input);
    }
}
