//! What the client's tools mean, and how a meaning is spelt in them.

use carryover_core::json::Json;
use carryover_core::transcript::{Action, Answer, Call, Change, Outcome, Part, PlanStep, Question, StepState};
use serde::Deserialize;
use serde_json::{Value, json};

use super::diff;
use super::wire::{WireExported, WireNoted, WirePart, lenient};
use crate::formats::patch;

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

/// What a call means.
pub(super) fn action(call: &Call, outcome: Option<&str>) -> Action {
    let input: WireInput = call.input.read().unwrap_or_default();
    let meaning = match call.tool.as_str() {
        "bash" => input.command.map(|command| Action::Run { command, workdir: input.workdir }),
        "read" => input.file_path.map(|path| read(path, input.offset, input.limit)),
        "write" => input.file_path.zip(input.content).map(|(path, content)| Action::Write { path, content }),
        "edit" => input.file_path.map(|path| edit(call, path, input.old_string.as_deref(), outcome)),
        "apply_patch" => input.patch_text.map(|text| Action::Edit(patch::changed_files(&text))),
        "grep" => input.pattern.map(|pattern| Action::Grep { pattern, path: input.path, glob: input.include }),
        "glob" => input.pattern.map(|pattern| Action::Glob { pattern, path: input.path }),
        "webfetch" => input.url.map(|url| Action::Fetch { url }),
        "todowrite" => input.todos.map(|todos| Action::Plan(todos.into_iter().map(step).collect())),
        "multiedit" => input.file_path.map(|path| edit(call, path, None, None)),
        "question" => input.questions.map(|questions| Action::Ask(questions.into_iter().map(question).collect())),
        // The plan is in a file of its own; the call itself says nothing.
        "plan_exit" => Some(Action::Propose { plan: String::new() }),
        "task" => input.prompt.map(|prompt| Action::Delegate { prompt, description: input.description }),
        _ => None,
    };
    meaning.unwrap_or(Action::Other)
}

fn read(path: String, offset: Option<u64>, limit: Option<u64>) -> Action {
    const IMAGES: &[&str] = &["png", "jpg", "jpeg", "gif", "webp"];
    let extension = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    if IMAGES.contains(&extension.as_str()) {
        return Action::View { path };
    }
    Action::Read { path, offset, limit }
}

/// The call names parts of lines; only what the client noted beside its outcome tells the lines as a whole.
fn edit(call: &Call, path: String, old: Option<&str>, outcome: Option<&str>) -> Action {
    let noted = outcome.and_then(|record| noted(record, &call.id.0));
    let hunks = noted.and_then(|noted| diff::hunks(&noted.diff?, old.unwrap_or_default())).unwrap_or_default();
    Action::Edit(vec![Change::Update { path, moved_to: None, hunks }])
}

/// What the client noted about one call of a message.
fn noted(record: &str, call: &str) -> Option<WireNoted> {
    let message: WireExported<'_> = serde_json::from_str(record).ok()?;
    message.parts.iter().find_map(|part| {
        let part: WirePart<'_> = lenient(Some(part))?;
        part.call.is_some_and(|id| &*id == call).then(|| lenient(part.state?.metadata))?
    })
}

fn question(asked: WireQuestion) -> Question {
    Question { text: asked.question, options: asked.options.into_iter().map(|option| option.label).collect() }
}

/// What the user answered, each question in its place; one may have several choices, or none.
pub(super) fn answers(call: &Call, outcome: &str) -> Vec<Answer> {
    let input: WireInput = call.input.read().unwrap_or_default();
    let questions = input.questions.filter(|_| call.tool == "question").unwrap_or_default();
    let given = noted(outcome, &call.id.0).map(|noted| noted.answers).unwrap_or_default();
    let answer = |(asked, given): (WireQuestion, Vec<String>)| {
        (!given.is_empty()).then(|| Answer { question: asked.question, answer: given.join(", ") })
    };
    questions.into_iter().zip(given).filter_map(answer).collect()
}

fn step(todo: WireTodo) -> PlanStep {
    let state = match todo.status.as_str() {
        "completed" => StepState::Done,
        "in_progress" => StepState::InProgress,
        _ => StepState::Pending,
    };
    PlanStep { text: todo.content, state }
}

/// Takes off what the client says where a command said nothing, and what it adds where it was stopped.
pub(super) fn strip(outcome: &mut Outcome) {
    if let Some(Part::Text(text)) = outcome.parts.first_mut() {
        if let Some(at) = text.find("\n\n<shell_metadata>\n").filter(|_| text.ends_with("</shell_metadata>")) {
            text.truncate(at);
        }
        if text == "(no output)" {
            text.clear();
        }
    }
}

/// A call in the client's own tools.
#[derive(Debug, PartialEq)]
pub(super) struct Spelt {
    pub tool: &'static str,
    pub input: Value,
}

/// Spells a foreign call in the client's own tools, where the meaning is exact.
pub(super) fn spell(action: &Action, project: &str, old_project: Option<&str>) -> Option<Spelt> {
    let spelt = |tool, input| Some(Spelt { tool, input });
    match action {
        Action::Run { command, workdir } => {
            let mut input = json!({ "command": command });
            // The shell starts in the project.
            let elsewhere = |folder: &&str| *folder != project && Some(*folder) != old_project;
            if let Some(folder) = workdir.as_deref().filter(elsewhere) {
                input["workdir"] = json!(folder);
            }
            spelt("bash", input)
        }
        Action::View { path } => spelt("read", json!({ "filePath": absolute(path, project) })),
        Action::Read { path, offset, limit } => {
            let mut input = json!({ "filePath": absolute(path, project) });
            for (name, value) in [("offset", offset), ("limit", limit)] {
                if let Some(value) = value {
                    input[name] = json!(value);
                }
            }
            spelt("read", input)
        }
        Action::Write { path, content } => {
            spelt("write", json!({ "filePath": absolute(path, project), "content": content }))
        }
        Action::Edit(changes) => match changes.as_slice() {
            [change] => spell_change(change, project),
            _ => None,
        },
        Action::Glob { pattern, path } => {
            let mut input = json!({ "pattern": pattern });
            if let Some(path) = path {
                input["path"] = json!(absolute(path, project));
            }
            spelt("glob", input)
        }
        Action::Plan(steps) => spelt("todowrite", todos(steps)),
        Action::Grep { .. }
        | Action::Fetch { .. }
        | Action::Step(_)
        | Action::Delegate { .. }
        | Action::Ask(_)
        | Action::Propose { .. }
        | Action::Other => None,
    }
}

/// One replacement in one file is an edit; more than that has no counterpart.
fn spell_change(change: &Change, project: &str) -> Option<Spelt> {
    match change {
        Change::Add { path, content } => {
            Some(Spelt { tool: "write", input: json!({ "filePath": absolute(path, project), "content": content }) })
        }
        Change::Update { path, moved_to: None, hunks } => {
            // An insertion without surroundings names no place that could be found again.
            let [hunk] = hunks.as_slice() else { return None };
            if hunk.old.is_empty() {
                return None;
            }
            // The last line feed belongs to neither side, for a file may end without one.
            let (old, new) = match (hunk.old.strip_suffix('\n'), hunk.new.strip_suffix('\n')) {
                (Some(old), Some(new)) => (old, new),
                _ => (hunk.old.as_str(), hunk.new.as_str()),
            };
            let mut input = json!({ "filePath": absolute(path, project), "oldString": old, "newString": new });
            if hunk.everywhere {
                input["replaceAll"] = json!(true);
            }
            Some(Spelt { tool: "edit", input })
        }
        Change::Update { .. } | Change::Delete { .. } => None,
    }
}

fn todos(steps: &[PlanStep]) -> Value {
    let todo = |step: &PlanStep| {
        let status = match step.state {
            StepState::Pending => "pending",
            StepState::InProgress => "in_progress",
            StepState::Done => "completed",
        };
        json!({ "content": step.text, "status": status, "priority": "medium" })
    };
    json!({ "todos": steps.iter().map(todo).collect::<Vec<_>>() })
}

fn absolute(path: &str, project: &str) -> String {
    let rooted =
        path.starts_with(['/', '\\', '~']) || path.get(1..3).is_some_and(|drive| drive == ":\\" || drive == ":/");
    if rooted { path.to_owned() } else { format!("{project}/{}", path.trim_start_matches("./")) }
}

/// The input of a call that keeps its own tool: an object, as the client demands.
pub(super) fn object(input: &Json) -> Value {
    match input.value() {
        object @ Value::Object(_) => object,
        other => json!({ "input": other }),
    }
}
