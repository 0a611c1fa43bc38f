//! The meaning of the tools that the extension and the editor give to a model.

use carryover_core::plain::one_line;
use carryover_core::transcript::{
    Action, Answer, Call, Change, Hunk, Outcome, Part, PlanStep, Question, Refusal, StepState,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::turn::{CANCELLED_WORDS, EDIT_TOOL, outcome_of};
use super::{CopilotVscode, wire};
use crate::Dialect;
use crate::codex::patch;
use crate::formats::refusal;
use crate::formats::translation::{
    FileChange, NativeCall, ProjectDirs, replaced_text, single_change, update_file, with_fields,
};
use crate::formats::tree::exit_line;

/// Tools by the names that the extension registers them under, which the editor shows, and by those that its model is told.
const TOOL_NAMES: &[(&str, &str)] = &[
    ("copilot_applyPatch", "apply_patch"),
    ("copilot_createFile", "create_file"),
    ("copilot_editNotebook", "edit_notebook_file"),
    ("copilot_fetchWebPage", "fetch_webpage"),
    ("copilot_findFiles", "file_search"),
    ("copilot_findTextInFiles", "grep_search"),
    ("copilot_insertEdit", "insert_edit_into_file"),
    ("copilot_multiReplaceString", "multi_replace_string_in_file"),
    ("copilot_readFile", "read_file"),
    ("copilot_replaceString", "replace_string_in_file"),
    ("copilot_viewImage", "view_image"),
    ("vscode_fetchWebPage_internal", "fetch_webpage"),
];

/// The tool that runs commands.
pub(super) const SHELL_TOOL: &str = "run_in_terminal";

/// So many lines are read where nobody says how many.
const MAX_READ_LINES: u64 = 2_000;

/// The inputs of the tools that have a counterpart elsewhere; which fields are there depends on the tool.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct WireInput {
    command: Option<String>,
    file_path: Option<String>,
    #[serde(alias = "offset")]
    start_line: Option<f64>,
    end_line: Option<f64>,
    /// Counted from zero, in older extensions.
    start_line_number_base_zero: Option<f64>,
    end_line_number_base_zero: Option<f64>,
    limit: Option<f64>,
    content: Option<String>,
    old_string: Option<String>,
    new_string: Option<String>,
    replacements: Option<Vec<WireReplacement>>,
    /// A patch.
    input: Option<String>,
    query: Option<String>,
    include_pattern: Option<String>,
    urls: Option<Vec<String>>,
    todo_list: Option<Vec<WireTodo>>,
    prompt: Option<String>,
    description: Option<String>,
    questions: Option<Vec<WireQuestion>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireReplacement {
    file_path: String,
    old_string: String,
    new_string: String,
}

#[derive(Deserialize)]
struct WireTodo {
    title: String,
    #[serde(default)]
    status: String,
}

#[derive(Deserialize)]
struct WireQuestion {
    header: String,
    question: String,
    #[serde(default)]
    options: Vec<WireOption>,
}

#[derive(Deserialize)]
struct WireOption {
    label: String,
}

impl Dialect for CopilotVscode {
    fn action(&self, call: &Call, _outcome: Option<&str>) -> Action {
        let input: WireInput = call.input.read_as().unwrap_or_default();
        let meaning = match model_name(&call.tool) {
            SHELL_TOOL => input.command.map(|command| Action::Run { command, workdir: None }),
            "read_file" => read_action(input),
            "view_image" => input.file_path.map(|path| Action::View { path }),
            "create_file" => input.file_path.zip(input.content).map(|(path, content)| Action::Write { path, content }),
            "replace_string_in_file" => replace_action(input),
            "multi_replace_string_in_file" => input.replacements.map(|list| Action::Edit(group_replacements(list))),
            // The model writes a sketch, which another one fits in: what became of it is not told.
            "insert_edit_into_file" | "edit_notebook_file" | EDIT_TOOL => {
                input.file_path.map(|path| update_file(path, Vec::new()))
            }
            "apply_patch" => patch_text(call, input).and_then(|text| patch::parse(&text)).map(Action::Edit),
            "grep_search" => {
                input.query.map(|pattern| Action::Grep { pattern, path: None, glob: input.include_pattern })
            }
            "file_search" => input.query.map(|pattern| Action::Glob { pattern, path: None }),
            "fetch_webpage" => input.urls.and_then(single_url).map(|url| Action::Fetch { url }),
            "manage_todo_list" => input.todo_list.map(|list| Action::Plan(list.into_iter().map(plan_step).collect())),
            "runSubagent" => input.prompt.map(|prompt| Action::Delegate { prompt, description: input.description }),
            "search_subagent" | "execution_subagent" => {
                input.query.map(|prompt| Action::Delegate { prompt, description: input.description })
            }
            "vscode_askQuestions" => input.questions.map(|list| Action::Ask(list.into_iter().map(question).collect())),
            _ => None,
        };
        meaning.unwrap_or(Action::Other)
    }

    /// The answers stand in the outcome by the headers of their questions; one that was skipped has none.
    fn answers(&self, call: &Call, record: &str) -> Vec<Answer> {
        let input: WireInput = call.input.read_as().unwrap_or_default();
        let Some(questions) = input.questions else { return Vec::new() };
        let Some(told) = wire::parse_leniently(record).and_then(|request| outcome_of(request, &call.id)) else {
            return Vec::new();
        };
        let Ok(told) = serde_json::from_str::<Value>(&told) else { return Vec::new() };
        let answer = |question: WireQuestion| {
            let answer = answer_words(&told["answers"][&question.header])?;
            Some(Answer { question: question.question, answer })
        };
        questions.into_iter().filter_map(answer).collect()
    }

    fn strip_harness_text(&self, outcome: &mut Outcome) {
        exit_line::strip_exit_line(outcome, exit_code_lines);
    }

    fn refusal(&self, outcome: &Outcome) -> Option<Refusal> {
        let is_cancelled = matches!(outcome.parts.first(), Some(Part::Text(text)) if text.starts_with(CANCELLED_WORDS));
        is_cancelled.then(Refusal::default).or_else(|| refusal::find_common_refusal(outcome))
    }
}

/// The lines by which the extension tells its model how a command ended.
pub(super) fn exit_code_lines(code: i32) -> Vec<String> {
    vec![format!("{}{code}", exit_line::EXIT_CODE_PREFIX)]
}

/// Spells a foreign call in the tools of the extension and the editor, where the meaning is exact.
pub(super) fn translate_action(action: &Action, dirs: ProjectDirs<'_>) -> Option<NativeCall> {
    let at = |path: &str| json!({ "filePath": dirs.resolve_path(path) });
    Some(match action {
        Action::Run { command, workdir } => {
            let command = dirs.prefix_cd(command, workdir.as_deref());
            let told = one_line(&command, 80);
            let input = json!({ "command": command, "explanation": told, "goal": told, "mode": "sync" });
            NativeCall::new(SHELL_TOOL, input)
        }
        Action::View { path } => NativeCall::new("view_image", at(path)),
        Action::Read { path, offset, limit } => NativeCall::new("read_file", read_input(at(path), *offset, *limit)),
        Action::Write { path, content } => create_file(at(path), content),
        Action::Edit(changes) => match single_change(changes)? {
            FileChange::Create { path, content } => create_file(at(path), content),
            FileChange::Replace { hunks, .. } if hunks.iter().any(|hunk| hunk.everywhere) => return None,
            FileChange::Replace { path, hunks } => replace_text(&at(path), hunks),
        },
        Action::Glob { pattern, path: None } => NativeCall::new("file_search", json!({ "query": pattern })),
        Action::Plan(steps) => {
            let steps = steps.iter().enumerate();
            let todos = steps.map(|(at, step)| json!({ "id": at + 1, "title": step.text, "status": state_word(step) }));
            NativeCall::new("manage_todo_list", json!({ "todoList": todos.collect::<Vec<_>>() }))
        }
        _ => return None,
    })
}

fn create_file(input: Value, content: &str) -> NativeCall {
    NativeCall::new("create_file", with_fields(input, &[("content", Some(content))]))
}

/// The tool wants both lines; a whole file is as much of it as other clients read at once.
fn read_input(input: Value, offset: Option<u64>, limit: Option<u64>) -> Value {
    let first = offset.unwrap_or(1).max(1);
    let last = first.saturating_add(limit.unwrap_or(MAX_READ_LINES)).saturating_sub(1);
    with_fields(input, &[("startLine", Some(first)), ("endLine", Some(last))])
}

fn replace_text(at: &Value, hunks: &[Hunk]) -> NativeCall {
    let replacement = |hunk: &Hunk| {
        let (old, new) = replaced_text(hunk);
        with_fields(at.clone(), &[("oldString", Some(old)), ("newString", Some(new))])
    };
    match hunks {
        [hunk] => NativeCall::new("replace_string_in_file", replacement(hunk)),
        hunks => {
            let replacements: Vec<Value> = hunks.iter().map(replacement).collect();
            let input = json!({ "explanation": "several places", "replacements": replacements });
            NativeCall::new("multi_replace_string_in_file", input)
        }
    }
}

fn state_word(step: &PlanStep) -> &'static str {
    match step.state {
        StepState::Done => "completed",
        StepState::InProgress => "in-progress",
        StepState::Pending => "not-started",
    }
}

/// The name under which a tool is registered, by the one that its model is told.
pub(super) fn registered_name(tool: &str) -> &str {
    TOOL_NAMES.iter().find(|(_, name)| *name == tool).map_or(tool, |(registered, _)| registered)
}

/// The name of a tool that its model is told.
fn model_name(tool: &str) -> &str {
    TOOL_NAMES.iter().find(|(registered, _)| *registered == tool).map_or(tool, |(_, name)| name)
}

fn read_action(input: WireInput) -> Option<Action> {
    let path = input.file_path?;
    let first = input.start_line.or(input.start_line_number_base_zero.map(|line| line + 1.0)).and_then(as_line);
    let last = input.end_line.or(input.end_line_number_base_zero.map(|line| line + 1.0)).and_then(as_line);
    let range = first.zip(last).and_then(|(first, last)| Some(last.checked_sub(first)? + 1));
    Some(Action::Read { path, offset: first, limit: range.or(input.limit.and_then(as_line)) })
}

/// The number of a line; models write them with a point now and then.
fn as_line(number: f64) -> Option<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in the range that is asked for")]
    (0.0..1e12).contains(&number).then_some(number as u64)
}

fn replace_action(input: WireInput) -> Option<Action> {
    let (path, old, new) = (input.file_path?, input.old_string?, input.new_string?);
    Some(update_file(path, vec![Hunk { context: None, old, new, everywhere: false }]))
}

/// The replacements in each file, in the order in which the files come.
fn group_replacements(list: Vec<WireReplacement>) -> Vec<Change> {
    let mut changes: Vec<(String, Vec<Hunk>)> = Vec::new();
    for WireReplacement { file_path, old_string: old, new_string: new } in list {
        let hunk = Hunk { context: None, old, new, everywhere: false };
        match changes.iter_mut().find(|(path, _)| *path == file_path) {
            Some((_, hunks)) => hunks.push(hunk),
            None => changes.push((file_path, vec![hunk])),
        }
    }
    changes.into_iter().map(|(path, hunks)| Change::Update { path, moved_to: None, hunks }).collect()
}

/// A patch, which some models write without anything around it.
fn patch_text(call: &Call, input: WireInput) -> Option<String> {
    input.input.or_else(|| call.input.read_as::<String>())
}

/// One address; several have no counterpart.
fn single_url(urls: Vec<String>) -> Option<String> {
    <[String; 1]>::try_from(urls).ok().map(|[url]| url)
}

fn plan_step(todo: WireTodo) -> PlanStep {
    let state = match todo.status.as_str() {
        "completed" => StepState::Done,
        "in-progress" => StepState::InProgress,
        _ => StepState::Pending,
    };
    PlanStep { text: todo.title, state }
}

fn question(asked: WireQuestion) -> Question {
    Question { text: asked.question, options: asked.options.into_iter().map(|option| option.label).collect() }
}

/// The user's answer: what was chosen, and what was written beside it.
fn answer_words(answer: &Value) -> Option<String> {
    let chosen = answer["selected"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let words: Vec<&str> = chosen.chain(answer["freeText"].as_str()).filter(|words| !words.is_empty()).collect();
    (!words.is_empty()).then(|| words.join(", "))
}
