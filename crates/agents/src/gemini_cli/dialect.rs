//! The meaning of Gemini CLI's tools, and how a meaning is spelt in them.

use carryover_core::transcript::{Action, Answer, Call, Hunk, Outcome, PlanStep, Question, StepState};
use serde_json::{Value, json};

use super::{GeminiCli, answer, boilerplate};
use crate::Dialect;
use crate::formats::diff::parse_hunks;
use crate::formats::translation::{
    FileChange, NativeCall, ProjectDirs, format_step_state, is_image, keep_explanation, parse_step_state,
    replaced_text, single_change, update_file, with_fields,
};

/// The endings of images, which the client shows to the model where it reads them.
const IMAGE_EXTENSIONS: &[&str] = &["png", "jpg", "jpeg", "gif", "webp", "svg", "bmp"];

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

impl Dialect for GeminiCli {
    fn action(&self, call: &Call, outcome: Option<&str>) -> Action {
        interpret_call(call, outcome)
    }

    fn answers(&self, call: &Call, outcome: &str) -> Vec<Answer> {
        answer::from_outcome(call, outcome)
    }

    fn strip_harness_text(&self, outcome: &mut Outcome) {
        boilerplate::strip_wrapping(outcome);
    }
}

/// The meaning of a call.
pub(super) fn interpret_call(call: &Call, outcome: Option<&str>) -> Action {
    let input: WireInput = call.input.read_as().unwrap_or_default();
    let folder = input.dir_path.clone().or_else(|| input.file_path.clone());
    let meaning = match call.tool.as_str() {
        "run_shell_command" => input.command.map(|command| Action::Run { command, workdir: input.dir_path }),
        "read_file" => read_action(input),
        "write_file" => input.file_path.zip(input.content).map(|(path, content)| Action::Write { path, content }),
        "replace" | "edit" => input.file_path.map(|path| edit_action(call, path, outcome)),
        "grep_search" | "search_file_content" => {
            input.pattern.map(|pattern| Action::Grep { pattern, path: folder, glob: input.include_pattern })
        }
        "glob" => input.pattern.map(|pattern| Action::Glob { pattern, path: folder }),
        "write_todos" => input.todos.map(|todos| Action::Plan(todos.into_iter().map(plan_step).collect())),
        "ask_user" => input.questions.map(|questions| Action::Ask(questions.into_iter().map(make_question).collect())),
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

fn read_action(input: WireInput) -> Option<Action> {
    let path = input.file_path?;
    if is_image(&path, IMAGE_EXTENSIONS) {
        return Some(Action::View { path });
    }
    let offset = input.start_line.or(input.offset.map(|offset| offset.saturating_add(1)));
    let first = offset.unwrap_or(1);
    let limit = input.end_line.map(|last| (last + 1).saturating_sub(first)).or(input.limit);
    Some(Action::Read { path, offset, limit })
}

/// The call names parts of lines; only what is shown of its outcome tells the lines as a whole.
fn edit_action(call: &Call, path: String, outcome: Option<&str>) -> Action {
    let changed = outcome.and_then(|record| serde_json::from_str::<WireChanged>(record).ok());
    let shown = changed.and_then(|changed| changed.tool_calls.into_iter().find(|by| by.id == *call.id.0));
    let diff = shown.as_ref().and_then(|by| by.result_display["fileDiff"].as_str()).unwrap_or_default();
    update_file(path, parse_hunks(diff))
}

fn make_question(asked: WireQuestion) -> Question {
    let options = asked.options.unwrap_or_default().into_iter().map(|option| option.label).collect();
    Question { text: asked.question, options }
}

fn plan_step(todo: WireTodo) -> PlanStep {
    let state = match todo.status.as_str() {
        "cancelled" => Some(StepState::Done),
        status => parse_step_state(status),
    };
    PlanStep { text: todo.description, state: state.unwrap_or(StepState::Pending) }
}

/// Spells a foreign call in Gemini CLI's own tools, where the meaning is exact.
pub(super) fn translate_action(call: &Call, action: &Action, dirs: ProjectDirs<'_>) -> Option<NativeCall> {
    Some(match action {
        Action::Run { command, workdir } => {
            let folder = dirs.other_folder(workdir.as_deref());
            NativeCall::new("run_shell_command", with_fields(json!({ "command": command }), &[("dir_path", folder)]))
        }
        Action::View { path } => NativeCall::new("read_file", json!({ "file_path": path })),
        Action::Read { path, offset, limit } => NativeCall::new("read_file", read_input(path, *offset, *limit)),
        Action::Write { path, content } => write_file(path, content),
        Action::Edit(changes) => match single_change(changes)? {
            FileChange::Create { path, content } => write_file(path, content),
            FileChange::Replace { path, hunks: [hunk] } => NativeCall::new("replace", replace_input(path, hunk)),
            // One place in one file is what the tool changes.
            FileChange::Replace { .. } => return None,
        },
        Action::Grep { pattern, path, glob } if has_only_fields(call, &["pattern", "path", "glob"]) => {
            let fields = [("dir_path", path.as_deref()), ("include_pattern", glob.as_deref())];
            NativeCall::new("grep_search", with_fields(json!({ "pattern": pattern }), &fields))
        }
        Action::Glob { pattern, path } if has_only_fields(call, &["pattern", "path"]) => {
            NativeCall::new("glob", with_fields(json!({ "pattern": pattern }), &[("dir_path", path.as_deref())]))
        }
        Action::Plan(steps) => NativeCall::new("write_todos", keep_explanation(todo_input(steps), call)),
        _ => return None,
    })
}

fn write_file(path: &str, content: &str) -> NativeCall {
    NativeCall::new("write_file", json!({ "file_path": path, "content": content }))
}

/// Whether a call has no more to it than these fields; one that has more would lose it.
fn has_only_fields(call: &Call, fields: &[&str]) -> bool {
    call.input.to_value().as_object().is_some_and(|input| input.keys().all(|key| fields.contains(&key.as_str())))
}

fn replace_input(path: &str, hunk: &Hunk) -> Value {
    let (old, new) = replaced_text(hunk);
    // The tool demands a sentence on what is done.
    let mut input = json!({
        "file_path": path, "instruction": "Replace the old lines by the new ones.", "old_string": old,
        "new_string": new,
    });
    if hunk.everywhere {
        input["allow_multiple"] = json!(true);
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

fn todo_input(steps: &[PlanStep]) -> Value {
    let todo = |step: &PlanStep| json!({ "description": step.text, "status": format_step_state(step.state) });
    json!({ "todos": steps.iter().map(todo).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write_fixtures::{function_call as call, hunks_of};

    #[test]
    fn an_edit_is_known_in_whole_lines_from_what_is_shown_of_it() {
        let edit = call("replace", &json!({ "file_path": "a.py", "old_string": "a - b", "new_string": "a + b" }));
        let record = r#"{"toolCalls":[{"id":"c","resultDisplay":{"fileDiff":"--- a\n+++ b\n@@ -1,2 +1,2 @@\n def add(a, b):\n-  return a - b\n+  return a + b\n"}}]}"#;
        let meaning = interpret_call(&edit, Some(record));
        let hunks = hunks_of(&meaning);
        assert_eq!(hunks[0].old, "def add(a, b):\n  return a - b\n");
        assert_eq!(hunks[0].new, "def add(a, b):\n  return a + b\n");
    }

    #[test]
    fn lines_are_counted_alike() {
        let lines = call("read_file", &json!({ "file_path": "a.rs", "start_line": 11, "end_line": 20 }));
        let meaning = interpret_call(&lines, None);
        assert_eq!(meaning, Action::Read { path: "a.rs".into(), offset: Some(11), limit: Some(10) });
        let spelt = translate_action(&lines, &meaning, ProjectDirs { current: "/p", former: None }).unwrap();
        assert_eq!(spelt.input, json!({ "file_path": "a.rs", "start_line": 11, "end_line": 20 }));
    }

    #[test]
    fn a_search_that_says_more_keeps_its_own_tool() {
        let home = ProjectDirs { current: "/p", former: None };
        let grep = Action::Grep { pattern: "x".into(), path: None, glob: None };
        assert!(translate_action(&call("Grep", &json!({ "pattern": "x" })), &grep, home).is_some());
        assert!(translate_action(&call("Grep", &json!({ "pattern": "x", "-A": 3 })), &grep, home).is_none());
    }
}
