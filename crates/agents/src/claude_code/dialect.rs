//! The meaning of Claude Code's tools, and how a meaning is spelt in them.

use carryover_core::transcript::{Action, Answer, Call, Hunk, Outcome, PlanStep, Question, StepChange, StepState};
use serde_json::{Value, json};

use super::{ClaudeCode, answers, boilerplate};
use crate::Dialect;
use crate::formats::diff::{add_signed_line, empty_hunk};
use crate::formats::translation::{
    FileChange, NativeCall, ProjectDirs, format_step_state, keep_explanation, parse_step_state, read_or_view,
    replaced_text, single_change, update_file, with_fields,
};

/// The endings of images, which the client shows to the model where it reads them.
const IMAGES: &[&str] = &["png", "jpg", "jpeg", "gif", "webp"];

/// The inputs of the tools that have a counterpart elsewhere; which fields are there depends on the tool.
#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct WireInput {
    command: Option<String>,
    file_path: Option<String>,
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
    subject: Option<String>,
    #[serde(rename = "taskId")]
    task_id: Option<String>,
    status: Option<String>,
    notebook_path: Option<String>,
    questions: Option<Vec<WireQuestion>>,
    plan: Option<String>,
}

#[derive(serde::Deserialize)]
struct WireQuestion {
    question: String,
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
    tool_use_result: WirePatched,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct WirePatched {
    structured_patch: Vec<WireHunk>,
}

#[derive(serde::Deserialize)]
struct WireHunk {
    lines: Vec<String>,
}

/// The part of an outcome's record that names a step which was made.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireCreated {
    tool_use_result: WireTask,
}

#[derive(serde::Deserialize)]
struct WireTask {
    task: WireNamed,
}

#[derive(serde::Deserialize)]
struct WireNamed {
    id: String,
}

/// The part of an outcome's record that holds the plan which was approved.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireApproved {
    tool_use_result: WirePlan,
}

#[derive(serde::Deserialize)]
struct WirePlan {
    plan: String,
}

impl Dialect for ClaudeCode {
    fn action(&self, call: &Call, outcome: Option<&str>) -> Action {
        interpret_call(call, outcome)
    }

    fn answers(&self, call: &Call, outcome: &str) -> Vec<Answer> {
        answers::read_answers(call, outcome)
    }

    fn strip_harness_text(&self, outcome: &mut Outcome) {
        boilerplate::strip_exit_code(outcome);
    }
}

/// The meaning of a call.
pub(super) fn interpret_call(call: &Call, outcome: Option<&str>) -> Action {
    let input: WireInput = call.input.read_as().unwrap_or_default();
    let meaning = match call.tool.as_str() {
        "Bash" => input.command.map(|command| Action::Run { command, workdir: None }),
        "Read" => input.file_path.map(|path| read_or_view(path, IMAGES, input.offset, input.limit)),
        "Write" => input.file_path.zip(input.content).map(|(path, content)| Action::Write { path, content }),
        "Edit" | "MultiEdit" => input.file_path.map(|path| edit_action(path, outcome)),
        "NotebookEdit" => input.notebook_path.map(|path| edit_action(path, None)),
        "AskUserQuestion" => {
            input.questions.map(|questions| Action::Ask(questions.into_iter().map(make_question).collect()))
        }
        "ExitPlanMode" | "exit_plan_mode" => Some(Action::Propose { plan: proposed_plan(input.plan, outcome) }),
        "Grep" => input.pattern.map(|pattern| Action::Grep { pattern, path: input.path, glob: input.glob }),
        "Glob" => input.pattern.map(|pattern| Action::Glob { pattern, path: input.path }),
        "WebFetch" => input.url.map(|url| Action::Fetch { url }),
        "TodoWrite" => input.todos.map(|todos| Action::Plan(todos.into_iter().map(plan_step).collect())),
        "TaskCreate" => input.subject.map(|text| Action::Step(StepChange::Add { id: created_id(outcome), text })),
        "TaskUpdate" => input.task_id.map(|id| Action::Step(step_change(id, input.subject, input.status.as_deref()))),
        "Task" | "Agent" => input.prompt.map(|prompt| Action::Delegate { prompt, description: input.description }),
        _ => None,
    };
    meaning.unwrap_or(Action::Other)
}

/// The call names parts of lines; only its outcome tells the lines as a whole. Without it, no hunks are known.
fn edit_action(path: String, outcome: Option<&str>) -> Action {
    let patched = outcome.and_then(|record| serde_json::from_str::<WireResult>(record).ok());
    let hunks = patched.map(|result| result.tool_use_result.structured_patch).unwrap_or_default();
    update_file(path, hunks.iter().map(parse_hunk).collect())
}

fn parse_hunk(wire: &WireHunk) -> Hunk {
    let mut hunk = empty_hunk();
    wire.lines.iter().for_each(|line| add_signed_line(&mut hunk, line));
    hunk
}

fn make_question(wire: WireQuestion) -> Question {
    Question { text: wire.question, options: wire.options.into_iter().map(|option| option.label).collect() }
}

/// The plan as it was approved, for the user may have changed it; else as it was laid before the user. Where the agent
/// keeps it in a file of its own, the call does not tell it, and a refusal does not either.
fn proposed_plan(plan: Option<String>, outcome: Option<&str>) -> String {
    let approved = outcome.and_then(|record| serde_json::from_str::<WireApproved>(record).ok());
    approved.map(|approved| approved.tool_use_result.plan).or(plan).unwrap_or_default()
}

fn plan_step(todo: WireTodo) -> PlanStep {
    PlanStep { text: todo.content, state: parse_step_state(&todo.status).unwrap_or(StepState::Pending) }
}

/// The client numbers the steps; the call does not know yet which number it gets.
fn created_id(outcome: Option<&str>) -> Option<String> {
    let record = serde_json::from_str::<WireCreated>(outcome?).ok()?;
    Some(record.tool_use_result.task.id)
}

fn step_change(id: String, text: Option<String>, status: Option<&str>) -> StepChange {
    match status {
        Some("deleted") => StepChange::Drop { id },
        status => StepChange::Update { id, text, state: status.and_then(parse_step_state) },
    }
}

/// Spells a foreign call in Claude Code's own tools, where the meaning is exact.
pub(super) fn translate_action(call: &Call, action: &Action, dirs: ProjectDirs<'_>) -> Option<NativeCall> {
    let at = |path: &str| json!({ "file_path": dirs.resolve_path(path) });
    Some(match action {
        Action::Run { command, workdir } => {
            NativeCall::new("Bash", json!({ "command": dirs.prefix_cd(command, workdir.as_deref()) }))
        }
        Action::View { path } => NativeCall::new("Read", at(path)),
        Action::Read { path, offset, limit } => {
            NativeCall::new("Read", with_fields(at(path), &[("offset", *offset), ("limit", *limit)]))
        }
        Action::Write { path, content } => write_file(at(path), content),
        Action::Edit(changes) => match single_change(changes)? {
            FileChange::Create { path, content } => write_file(at(path), content),
            FileChange::Replace { path, hunks } => spell_edit(at(path), hunks),
        },
        Action::Plan(steps) => NativeCall::new("TodoWrite", keep_explanation(todo_input(steps), call)),
        _ => return None,
    })
}

fn write_file(input: Value, content: &str) -> NativeCall {
    NativeCall::new("Write", with_fields(input, &[("content", Some(content))]))
}

fn spell_edit(mut input: Value, hunks: &[Hunk]) -> NativeCall {
    if let [hunk] = hunks {
        return NativeCall { tool: "Edit", input: replacement_input(input, hunk) };
    }
    input["edits"] = hunks.iter().map(|hunk| replacement_input(json!({}), hunk)).collect();
    NativeCall { tool: "MultiEdit", input }
}

fn replacement_input(input: Value, hunk: &Hunk) -> Value {
    let (old, new) = replaced_text(hunk);
    with_fields(input, &[("old_string", Some(old)), ("new_string", Some(new))])
}

fn todo_input(steps: &[PlanStep]) -> Value {
    let todo = |step: &PlanStep| json!({ "content": step.text, "status": format_step_state(step.state), "activeForm": step.text });
    json!({ "todos": steps.iter().map(todo).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use carryover_core::transcript::Change;

    use super::*;
    use crate::write_fixtures::{function_call as call, hunks_of};

    #[test]
    fn an_edit_is_known_in_whole_lines_from_its_outcome() {
        let edit = call("Edit", &json!({ "file_path": "/p/a.py", "old_string": "a-b", "new_string": "a+b" }));
        let record = r#"{"toolUseResult":{"structuredPatch":[{"lines":[" def add(a,b):","-  return a-b","+  return a+b","\\ No newline"]}]}}"#;
        let meaning = interpret_call(&edit, Some(record));
        let hunks = hunks_of(&meaning);
        assert_eq!(hunks[0].old, "def add(a,b):\n  return a-b\n");
        assert_eq!(hunks[0].new, "def add(a,b):\n  return a+b\n");
    }

    #[test]
    fn a_step_is_named_by_its_outcome_and_changed_by_that_name() {
        let create = call("TaskCreate", &json!({ "subject": "Fix add", "description": "x", "activeForm": "Fixing" }));
        let record = r#"{"toolUseResult":{"task":{"id":"7","subject":"Fix add"}}}"#;
        let refused = r#"{"toolUseResult":"Error: No such tool available: TaskCreate."}"#;
        let added =
            |id: Option<&str>| Action::Step(StepChange::Add { id: id.map(str::to_owned), text: "Fix add".to_owned() });
        assert_eq!(interpret_call(&create, Some(record)), added(Some("7")));
        assert_eq!(interpret_call(&create, Some(refused)), added(None));
        assert_eq!(interpret_call(&create, None), added(None));

        let update = |input: &Value| match interpret_call(&call("TaskUpdate", input), None) {
            Action::Step(change) => change,
            other => panic!("{other:?}"),
        };
        let changed =
            |text: Option<&str>, state| StepChange::Update { id: "7".to_owned(), text: text.map(str::to_owned), state };
        assert_eq!(
            update(&json!({ "taskId": "7", "status": "in_progress" })),
            changed(None, Some(StepState::InProgress))
        );
        assert_eq!(update(&json!({ "taskId": "7", "subject": "Mend add" })), changed(Some("Mend add"), None));
        assert_eq!(update(&json!({ "taskId": "7", "status": "paused" })), changed(None, None));
        assert_eq!(update(&json!({ "taskId": "7", "status": "deleted" })), StepChange::Drop { id: "7".to_owned() });
        assert_eq!(interpret_call(&call("TaskUpdate", &json!({ "status": "completed" })), None), Action::Other);
    }

    #[test]
    fn a_cell_of_a_notebook_is_edited_in_its_file() {
        let edit = call("NotebookEdit", &json!({ "notebook_path": "/p/a.ipynb", "new_source": "x = 1" }));
        let changed = Change::Update { path: "/p/a.ipynb".to_owned(), moved_to: None, hunks: Vec::new() };
        assert_eq!(interpret_call(&edit, None), Action::Edit(vec![changed]));
    }

    #[test]
    fn questions_are_known_with_what_could_be_chosen() {
        let ask = call(
            "AskUserQuestion",
            &json!({ "questions": [
                { "question": "Which colour?", "header": "Colour", "multiSelect": false,
                  "options": [{ "label": "Red", "description": "warm" }, { "label": "Blue", "description": "cold" }] },
            ] }),
        );
        let options = vec!["Red".to_owned(), "Blue".to_owned()];
        assert_eq!(
            interpret_call(&ask, None),
            Action::Ask(vec![Question { text: "Which colour?".to_owned(), options }])
        );
    }

    #[test]
    fn a_plan_is_known_from_the_call_or_from_its_approval() {
        let proposed = |input: &Value, outcome| match interpret_call(&call("ExitPlanMode", input), outcome) {
            Action::Propose { plan } => plan,
            other => panic!("{other:?}"),
        };
        let approved = r#"{"toolUseResult":{"plan":"1. mend it well","isAgent":false,"filePath":"/h/plans/a.md"}}"#;
        let refused = r#"{"toolUseResult":"User rejected tool use"}"#;
        assert_eq!(proposed(&json!({ "plan": "1. mend it" }), Some(refused)), "1. mend it");
        assert_eq!(proposed(&json!({ "plan": "1. mend it" }), Some(approved)), "1. mend it well");
        assert_eq!(proposed(&json!({}), Some(approved)), "1. mend it well");
        assert_eq!(proposed(&json!({}), Some(refused)), "");
    }

    #[test]
    fn commands_elsewhere_go_there_first() {
        let run = Action::Run { command: "ls".into(), workdir: Some("/o'k".into()) };
        let spelt =
            translate_action(&call("x", &json!({})), &run, ProjectDirs { current: "/p", former: None }).unwrap();
        assert_eq!(spelt.input["command"], r"cd '/o'\''k' && ls");
    }
}
