//! The meaning of the client's tools, and how a meaning is spelt in them.

use carryover_core::transcript::{Action, Answer, Call, Hunk, Outcome, Part, PlanStep, Question, StepState};
use serde::Deserialize;
use serde_json::{Value, json};

use super::wire::{WireExported, WireNoted, WirePart, parse_lenient};
use super::{OpenCode, diff};
use crate::Dialect;
use crate::formats::patch;
use crate::formats::translation::{
    FileChange, NativeCall, ProjectDirs, format_step_state, parse_step_state, read_or_view, replaced_text,
    single_change, update_file, with_fields,
};

/// The endings of images, which the client shows to the model where it reads them.
const IMAGES: &[&str] = &["png", "jpg", "jpeg", "gif", "webp"];

/// The inputs of the tools that have a counterpart elsewhere; which fields are there depends on the tool.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct WireInput {
    command: Option<String>,
    workdir: Option<String>,
    file_path: Option<String>,
    path: Option<String>,
    offset: Option<u64>,
    limit: Option<u64>,
    content: Option<String>,
    old_string: Option<String>,
    pattern: Option<String>,
    include: Option<String>,
    url: Option<String>,
    prompt: Option<String>,
    description: Option<String>,
    todos: Option<Vec<WireTodo>>,
    patch_text: Option<String>,
    questions: Option<Vec<WireQuestion>>,
}

#[derive(Deserialize)]
struct WireQuestion {
    question: String,
    #[serde(default)]
    options: Vec<WireOption>,
}

#[derive(Deserialize)]
struct WireOption {
    label: String,
}

#[derive(Deserialize)]
struct WireTodo {
    content: String,
    #[serde(default)]
    status: String,
}

impl Dialect for OpenCode {
    fn action(&self, call: &Call, outcome: Option<&str>) -> Action {
        let input: WireInput = call.input.read_as().unwrap_or_default();
        let meaning = match call.tool.as_str() {
            "bash" => input.command.map(|command| Action::Run { command, workdir: input.workdir }),
            "read" => input.file_path.map(|path| read_or_view(path, IMAGES, input.offset, input.limit)),
            "write" => input.file_path.zip(input.content).map(|(path, content)| Action::Write { path, content }),
            "edit" => input.file_path.map(|path| edit_action(call, path, input.old_string.as_deref(), outcome)),
            "apply_patch" => input.patch_text.map(|text| Action::Edit(patch::changed_files(&text))),
            "grep" => input.pattern.map(|pattern| Action::Grep { pattern, path: input.path, glob: input.include }),
            "glob" => input.pattern.map(|pattern| Action::Glob { pattern, path: input.path }),
            "webfetch" => input.url.map(|url| Action::Fetch { url }),
            "todowrite" => input.todos.map(|todos| Action::Plan(todos.into_iter().map(plan_step).collect())),
            "multiedit" => input.file_path.map(|path| edit_action(call, path, None, None)),
            "question" => {
                input.questions.map(|questions| Action::Ask(questions.into_iter().map(to_question).collect()))
            }
            // The plan is in a file of its own; the call itself says nothing.
            "plan_exit" => Some(Action::Propose { plan: String::new() }),
            "task" => input.prompt.map(|prompt| Action::Delegate { prompt, description: input.description }),
            _ => None,
        };
        meaning.unwrap_or(Action::Other)
    }

    /// The user's answers, each question in its place; one may have several choices, or none.
    fn answers(&self, call: &Call, outcome: &str) -> Vec<Answer> {
        let input: WireInput = call.input.read_as().unwrap_or_default();
        let questions = input.questions.filter(|_| call.tool == "question").unwrap_or_default();
        let given = find_notes(outcome, &call.id.0).map(|noted| noted.answers).unwrap_or_default();
        let answer = |(asked, given): (WireQuestion, Vec<String>)| {
            (!given.is_empty()).then(|| Answer { question: asked.question, answer: given.join(", ") })
        };
        questions.into_iter().zip(given).filter_map(answer).collect()
    }

    /// Takes off what the client says where a command said nothing, and what it adds where it was stopped.
    fn strip_harness_text(&self, outcome: &mut Outcome) {
        if let Some(Part::Text(text)) = outcome.parts.first_mut() {
            if let Some(at) = text.find("\n\n<shell_metadata>\n").filter(|_| text.ends_with("</shell_metadata>")) {
                text.truncate(at);
            }
            if text == "(no output)" {
                text.clear();
            }
        }
    }
}

/// The call names parts of lines; only what the client noted beside its outcome tells the lines as a whole.
fn edit_action(call: &Call, path: String, old: Option<&str>, outcome: Option<&str>) -> Action {
    let noted = outcome.and_then(|record| find_notes(record, &call.id.0));
    let hunks = noted.and_then(|noted| diff::parse_hunks(&noted.diff?, old.unwrap_or_default())).unwrap_or_default();
    update_file(path, hunks)
}

/// The client's notes on one call of a message.
fn find_notes(record: &str, call: &str) -> Option<WireNoted> {
    let message: WireExported<'_> = serde_json::from_str(record).ok()?;
    message.parts.iter().find_map(|part| {
        let part: WirePart<'_> = parse_lenient(Some(part))?;
        part.call.is_some_and(|id| &*id == call).then(|| parse_lenient(part.state?.metadata))?
    })
}

fn to_question(asked: WireQuestion) -> Question {
    Question { text: asked.question, options: asked.options.into_iter().map(|option| option.label).collect() }
}

fn plan_step(todo: WireTodo) -> PlanStep {
    PlanStep { text: todo.content, state: parse_step_state(&todo.status).unwrap_or(StepState::Pending) }
}

/// Spells a foreign call in the client's own tools, where the meaning is exact.
pub(super) fn translate_action(action: &Action, dirs: ProjectDirs<'_>) -> Option<NativeCall> {
    let at = |path: &str| json!({ "filePath": dirs.resolve_path(path) });
    Some(match action {
        Action::Run { command, workdir } => {
            let folder = dirs.other_folder(workdir.as_deref());
            NativeCall::new("bash", with_fields(json!({ "command": command }), &[("workdir", folder)]))
        }
        Action::View { path } => NativeCall::new("read", at(path)),
        Action::Read { path, offset, limit } => {
            NativeCall::new("read", with_fields(at(path), &[("offset", *offset), ("limit", *limit)]))
        }
        Action::Write { path, content } => write_file(at(path), content),
        Action::Edit(changes) => match single_change(changes)? {
            FileChange::Create { path, content } => write_file(at(path), content),
            FileChange::Replace { path, hunks: [hunk] } => NativeCall::new("edit", edit_input(at(path), hunk)),
            FileChange::Replace { .. } => return None,
        },
        Action::Glob { pattern, path } => {
            let folder = path.as_deref().map(|path| dirs.resolve_path(path));
            NativeCall::new("glob", with_fields(json!({ "pattern": pattern }), &[("path", folder.as_deref())]))
        }
        Action::Plan(steps) => NativeCall::new("todowrite", todo_input(steps)),
        _ => return None,
    })
}

fn write_file(input: Value, content: &str) -> NativeCall {
    NativeCall::new("write", with_fields(input, &[("content", Some(content))]))
}

fn edit_input(input: Value, hunk: &Hunk) -> Value {
    let (old, new) = replaced_text(hunk);
    let mut input = with_fields(input, &[("oldString", Some(old)), ("newString", Some(new))]);
    if hunk.everywhere {
        input["replaceAll"] = json!(true);
    }
    input
}

fn todo_input(steps: &[PlanStep]) -> Value {
    let todo = |step: &PlanStep| json!({ "content": step.text, "status": format_step_state(step.state), "priority": "medium" });
    json!({ "todos": steps.iter().map(todo).collect::<Vec<_>>() })
}
