//! The meaning of Qwen Code's tools, and how a meaning is spelt in them.

use carryover_core::transcript::{Action, Answer, Call, Outcome, PlanStep, Question, StepState};
use serde_json::{Value, json};

use super::{QwenCode, answer, outcome};
use crate::formats::diff::parse_hunks;
use crate::formats::translation::{
    FileChange, NativeCall, ProjectDirs, format_step_state, parse_step_state, read_or_view, replaced_text,
    single_change, update_file, with_fields,
};
use crate::{Dialect, Version};

/// The endings of images, which the client shows to the model where it reads them.
const IMAGE_EXTENSIONS: &[&str] = &["png", "jpg", "jpeg", "gif", "webp", "bmp"];

/// Clients from here on have the tool for plans turned off unless the user asks for it.
const PLANS_OFF_SINCE: Version = Version(0, 24, 0);

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

impl Dialect for QwenCode {
    fn action(&self, call: &Call, outcome: Option<&str>) -> Action {
        let input: WireInput = call.input.read_as().unwrap_or_default();
        let file = input.file_path.or(input.absolute_path);
        let meaning = match call.tool.as_str() {
            "run_shell_command" => input.command.map(|command| Action::Run { command, workdir: input.directory }),
            "read_file" => file.map(|path| read_action(path, input.offset, input.limit)),
            "write_file" => file.zip(input.content).map(|(path, content)| Action::Write { path, content }),
            "edit" | "replace" => file.map(|path| edit_action(path, outcome)),
            "grep_search" | "search_file_content" => {
                input.pattern.map(|pattern| Action::Grep { pattern, path: input.path, glob: input.glob })
            }
            "glob" => input.pattern.map(|pattern| Action::Glob { pattern, path: input.path }),
            "web_fetch" => input.url.map(|url| Action::Fetch { url }),
            "todo_write" => input.todos.map(|todos| Action::Plan(todos.into_iter().map(plan_step).collect())),
            "notebook_edit" => input.notebook_path.map(|path| edit_action(path, outcome)),
            "ask_user_question" => ask_action(call),
            "exit_plan_mode" => input.plan.map(|plan| Action::Propose { plan }),
            "agent" | "task" => input.prompt.map(|prompt| Action::Delegate { prompt, description: input.description }),
            _ => None,
        };
        meaning.unwrap_or(Action::Other)
    }

    fn answers(&self, call: &Call, outcome: &str) -> Vec<Answer> {
        answer::from_outcome(call, outcome)
    }

    fn strip_harness_text(&self, outcome: &mut Outcome) {
        outcome::strip_wrapping(outcome);
    }
}

/// Lines are counted from 0 here and from 1 elsewhere.
fn read_action(path: String, offset: Option<u64>, limit: Option<u64>) -> Action {
    read_or_view(path, IMAGE_EXTENSIONS, offset.map(|offset| offset.saturating_add(1)), limit)
}

/// The call names parts of lines; only its outcome tells the lines as a whole. Without it, no hunks are known.
fn edit_action(path: String, outcome: Option<&str>) -> Action {
    let result = outcome.and_then(|record| serde_json::from_str::<WireResult>(record).ok());
    let diff = result.map(|result| result.tool_call_result.result_display.file_diff).unwrap_or_default();
    update_file(path, parse_hunks(&diff))
}

fn ask_action(call: &Call) -> Option<Action> {
    let asked: WireQuestions = call.input.read_as()?;
    let question = |asked: WireQuestion| Question {
        text: asked.question,
        options: asked.options.into_iter().map(|option| option.label).collect(),
    };
    Some(Action::Ask(asked.questions.into_iter().map(question).collect()))
}

fn plan_step(todo: WireTodo) -> PlanStep {
    PlanStep { text: todo.content, state: parse_step_state(&todo.status).unwrap_or(StepState::Pending) }
}

/// Spells a foreign call in Qwen Code's own tools of this version, where the meaning is exact.
pub(super) fn translate_action(action: &Action, dirs: ProjectDirs<'_>, version: Version) -> Option<NativeCall> {
    let at = |path: &str| json!({ "file_path": dirs.resolve_path(path) });
    Some(match action {
        Action::Run { command, workdir } => {
            let input = json!({ "command": command, "is_background": false });
            let folder = dirs.other_folder(workdir.as_deref()).map(|folder| dirs.resolve_path(folder));
            NativeCall::new("run_shell_command", with_fields(input, &[("directory", folder.as_deref())]))
        }
        Action::View { path } => NativeCall::new("read_file", at(path)),
        Action::Read { path, offset, limit } => {
            let offset = offset.map(|offset| offset.saturating_sub(1));
            NativeCall::new("read_file", with_fields(at(path), &[("offset", offset), ("limit", *limit)]))
        }
        Action::Write { path, content } => write_file(at(path), content),
        Action::Edit(changes) => match single_change(changes)? {
            FileChange::Create { path, content } => write_file(at(path), content),
            FileChange::Replace { path, hunks: [hunk] } if !hunk.everywhere => {
                let (old, new) = replaced_text(hunk);
                NativeCall::new("edit", with_fields(at(path), &[("old_string", Some(old)), ("new_string", Some(new))]))
            }
            FileChange::Replace { .. } => return None,
        },
        Action::Plan(steps) if version < PLANS_OFF_SINCE => {
            NativeCall::new("todo_write", json!({ "todos": todo_input(steps) }))
        }
        _ => return None,
    })
}

fn write_file(input: Value, content: &str) -> NativeCall {
    NativeCall::new("write_file", with_fields(input, &[("content", Some(content))]))
}

fn todo_input(steps: &[PlanStep]) -> Value {
    let todo = |(number, step): (usize, &PlanStep)| json!({ "id": (number + 1).to_string(), "content": step.text, "status": format_step_state(step.state) });
    steps.iter().enumerate().map(todo).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write_fixtures::{function_call as call, hunks_of};

    const VERSION: Version = Version(0, 24, 4);
    const DIRS: ProjectDirs<'_> = ProjectDirs { current: "/p", former: None };

    #[test]
    fn an_edit_is_known_in_whole_lines_from_its_outcome() {
        let edit = call("edit", &json!({ "file_path": "/p/a.py", "old_string": "a-b", "new_string": "a+b" }));
        let diff = "Index: a.py\n===\n--- a.py\tCurrent\n+++ a.py\tProposed\n@@ -1,2 +1,2 @@\n def f(a,b):\n\
                    -  return a-b\n+  return a+b\n\\ No newline at end of file\n";
        let record = json!({ "toolCallResult": { "resultDisplay": { "fileDiff": diff } } }).to_string();
        let meaning = QwenCode.action(&edit, Some(&record));
        let hunks = hunks_of(&meaning);
        assert_eq!(hunks[0].old, "def f(a,b):\n  return a-b\n");
        let spelt = translate_action(&meaning, DIRS, VERSION).unwrap();
        assert_eq!(spelt.input["new_string"], "def f(a,b):\n  return a+b");
    }

    #[test]
    fn lines_are_counted_from_zero() {
        let read = call("read_file", &json!({ "file_path": "/p/a", "offset": 4, "limit": 2 }));
        let meaning = QwenCode.action(&read, None);
        assert_eq!(meaning, Action::Read { path: "/p/a".into(), offset: Some(5), limit: Some(2) });
        assert_eq!(translate_action(&meaning, DIRS, VERSION).unwrap().input, read.input.to_value());
    }

    #[test]
    fn commands_elsewhere_name_their_folder() {
        let run = Action::Run { command: "ls".into(), workdir: Some("sub".into()) };
        let input = json!({ "command": "ls", "is_background": false, "directory": "/p/sub" });
        assert_eq!(translate_action(&run, DIRS, VERSION).unwrap().input, input);
    }
}
