//! The meaning of calls, by the names and inputs that tools have in the editor, in the command line client and in transcripts.

use carryover_core::transcript::{Action, Answer, Call, Change, Hunk, Outcome, PlanStep, Question, Refusal, text_cow};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Cursor;
use super::ide::REJECTED_WORDS;
use super::lenient::{Lenient, parse_nested};
use super::write::strip_exit_code;
use crate::Dialect;
use crate::formats::translation::{
    FileChange, NativeCall, ProjectDirs, format_step_state, parse_step_state, read_or_view, replaced_text,
    single_change, update_file, with_fields,
};
use crate::formats::{patch, refusal};

/// Images that tools show to the model.
const IMAGE_ENDINGS: &[&str] = &["png", "jpg", "jpeg", "gif", "webp"];

/// An input, by all names that its fields have had.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "snake_case")]
struct WireInput {
    #[serde(alias = "target_file", alias = "targetFile", alias = "file_path", alias = "filePath")]
    #[serde(alias = "relative_workspace_path", alias = "relativeWorkspacePath")]
    path: Lenient<String>,
    command: Lenient<String>,
    #[serde(alias = "working_directory", alias = "workingDirectory")]
    cwd: Lenient<String>,
    #[serde(alias = "start_line_one_indexed", alias = "startLineOneIndexed")]
    offset: Lenient<u64>,
    limit: Lenient<u64>,
    #[serde(alias = "content", alias = "file_text")]
    contents: Lenient<String>,
    #[serde(alias = "oldString")]
    old_string: Lenient<String>,
    #[serde(alias = "newString")]
    new_string: Lenient<String>,
    #[serde(alias = "replaceAll")]
    replace_all: Lenient<bool>,
    pattern: Lenient<String>,
    query: Lenient<String>,
    #[serde(alias = "include_pattern", alias = "includePattern")]
    glob: Lenient<String>,
    #[serde(alias = "globPattern")]
    glob_pattern: Lenient<String>,
    #[serde(alias = "targetDirectory")]
    target_directory: Lenient<String>,
    url: Lenient<String>,
    prompt: Lenient<String>,
    description: Lenient<String>,
    patch: Lenient<String>,
    plan: Lenient<String>,
    todos: Lenient<Vec<WireTodo>>,
    merge: Lenient<bool>,
    questions: Lenient<Vec<WireQuestion>>,
}

#[derive(Deserialize)]
struct WireTodo {
    #[serde(default)]
    content: Lenient<String>,
    #[serde(default)]
    status: Lenient<String>,
}

#[derive(Deserialize)]
struct WireQuestion {
    #[serde(default)]
    id: Lenient<String>,
    #[serde(default, alias = "question")]
    prompt: Lenient<String>,
    #[serde(default)]
    options: Lenient<Vec<WireOption>>,
}

#[derive(Deserialize)]
struct WireOption {
    #[serde(default)]
    id: Lenient<String>,
    #[serde(default)]
    label: Lenient<String>,
}

impl Dialect for Cursor {
    fn action(&self, call: &Call, outcome: Option<&str>) -> Action {
        let input: WireInput = call.input.read_as().unwrap_or_default();
        read_action(&call.tool, input, call, outcome).unwrap_or(Action::Other)
    }

    fn answers(&self, call: &Call, outcome: &str) -> Vec<Answer> {
        let input: WireInput = call.input.read_as().unwrap_or_default();
        let result = find_result(outcome).unwrap_or_default();
        let chosen = result["answers"].as_array().or_else(|| result.pointer("/success/answers")?.as_array());
        let questions = input.questions.0.unwrap_or_default();
        chosen.into_iter().flatten().filter_map(|answer| read_answer(&questions, answer)).collect()
    }

    fn refusal(&self, outcome: &Outcome) -> Option<Refusal> {
        let is_rejected = text_cow(&outcome.parts).starts_with(REJECTED_WORDS);
        is_rejected.then(Refusal::default).or_else(|| refusal::find_common_refusal(outcome))
    }

    fn strip_harness_text(&self, outcome: &mut Outcome) {
        strip_exit_code(outcome);
    }
}

/// Spells a foreign call in the command line client's own tools, where the meaning is exact.
pub(super) fn translate_action(action: &Action, dirs: ProjectDirs<'_>) -> Option<NativeCall> {
    let at = |path: &str| json!({ "path": dirs.resolve_path(path) });
    let write =
        |path: &str, content: &str| NativeCall::new("Write", with_fields(at(path), &[("contents", Some(content))]));
    Some(match action {
        Action::Run { command, workdir } => {
            let folder = dirs.other_folder(workdir.as_deref()).map(|folder| dirs.resolve_path(folder));
            let input = json!({ "command": command });
            NativeCall::new("Shell", with_fields(input, &[("working_directory", folder.as_deref())]))
        }
        Action::View { path } => NativeCall::new("Read", at(path)),
        Action::Read { path, offset, limit } => {
            NativeCall::new("Read", with_fields(at(path), &[("offset", *offset), ("limit", *limit)]))
        }
        Action::Write { path, content } => write(path, content),
        Action::Edit(changes) => match changes.as_slice() {
            [Change::Delete { path }] => NativeCall::new("Delete", at(path)),
            changes => match single_change(changes)? {
                FileChange::Create { path, content } => write(path, content),
                FileChange::Replace { path, hunks: [hunk] } => {
                    let (old, new) = replaced_text(hunk);
                    let input = with_fields(at(path), &[("old_string", Some(old)), ("new_string", Some(new))]);
                    let everywhere = hunk.everywhere.then_some(true);
                    NativeCall::new("StrReplace", with_fields(input, &[("replace_all", everywhere)]))
                }
                FileChange::Replace { .. } => return None,
            },
        },
        Action::Grep { pattern, path, glob } => {
            let input = json!({ "pattern": pattern });
            NativeCall::new("Grep", with_fields(input, &[("path", path.as_deref()), ("glob", glob.as_deref())]))
        }
        Action::Glob { pattern, path } => {
            let input = json!({ "glob_pattern": pattern });
            NativeCall::new("Glob", with_fields(input, &[("target_directory", path.as_deref())]))
        }
        Action::Fetch { url } => NativeCall::new("WebFetch", json!({ "url": url })),
        Action::Plan(steps) => NativeCall::new("TodoWrite", json!({ "merge": false, "todos": todo_input(steps) })),
        _ => return None,
    })
}

fn todo_input(steps: &[PlanStep]) -> Value {
    let todo = |(number, step): (usize, &PlanStep)| json!({ "id": (number + 1).to_string(), "content": step.text, "status": format_step_state(step.state) });
    steps.iter().enumerate().map(todo).collect()
}

fn read_action(tool: &str, input: WireInput, call: &Call, outcome: Option<&str>) -> Option<Action> {
    let (path, offset, limit) = (input.path.0, input.offset.0, input.limit.0);
    Some(match tool {
        "Shell" | "run_terminal_cmd" | "run_terminal_command_v2" => {
            let workdir = input.cwd.0.filter(|folder| !folder.is_empty());
            Action::Run { command: input.command.0?, workdir }
        }
        "Read" | "read_file" | "read_file_v2" => read_or_view(path?, IMAGE_ENDINGS, offset, limit),
        "Write" | "write" | "create_file" => Action::Write { path: path?, content: input.contents.0? },
        "StrReplace" | "Edit" | "search_replace" | "edit_file" | "edit_file_v2" => {
            let hunk = |(old, new)| Hunk { context: None, old, new, everywhere: input.replace_all.0 == Some(true) };
            let hunk = input.old_string.0.zip(input.new_string.0).map(hunk);
            // An edit that is sketched, or streamed into the file, tells which file it changed.
            match (hunk, input.contents.0) {
                (None, Some(content)) => Action::Write { path: path?, content },
                (hunk, _) => update_file(path?, hunk.into_iter().collect()),
            }
        }
        "Delete" | "delete_file" => Action::Edit(vec![Change::Delete { path: path? }]),
        "ApplyPatch" | "apply_patch" => {
            let text = input.patch.0.or_else(|| call.input.read_as::<String>())?;
            Action::Edit(Some(patch::changed_files(&text)).filter(|changes| !changes.is_empty())?)
        }
        "Grep" | "grep_search" | "ripgrep_raw_search" | "grep" => {
            Action::Grep { pattern: input.pattern.0.or(input.query.0)?, path, glob: input.glob.0 }
        }
        "Glob" | "glob_file_search" | "file_search" => {
            let pattern = input.glob_pattern.0.or(input.pattern.0).or(input.query.0)?;
            Action::Glob { pattern, path: input.target_directory.0.or(path) }
        }
        "WebFetch" | "web_fetch" | "fetch" => Action::Fetch { url: input.url.0? },
        "Task" | "task" | "task_v2" => Action::Delegate { prompt: input.prompt.0?, description: input.description.0 },
        "TodoWrite" | "todo_write" => read_plan(input.todos.0.unwrap_or_default(), input.merge.0, outcome)?,
        "CreatePlan" | "create_plan" => Action::Propose { plan: input.plan.0? },
        "AskQuestion" | "ask_question" => {
            Action::Ask(input.questions.0?.iter().filter_map(WireQuestion::to_question).collect())
        }
        _ => return None,
    })
}

/// The plan after a call. One that changes some steps names those only: then what came of it tells all.
fn read_plan(todos: Vec<WireTodo>, merge: Option<bool>, outcome: Option<&str>) -> Option<Action> {
    let step = |todo: WireTodo| {
        let state = todo.status.0.as_deref().and_then(parse_step_state)?;
        Some(PlanStep { text: todo.content.0.filter(|text| !text.is_empty())?, state })
    };
    let after = outcome.and_then(find_result).map(|result| result["finalTodos"].clone());
    let after: Option<Vec<WireTodo>> = after.and_then(|todos| serde_json::from_value(todos).ok());
    let todos = match after {
        Some(all) => all,
        None if merge == Some(true) => return None,
        None => todos,
    };
    Some(Action::Plan(todos.into_iter().filter_map(step).collect()))
}

/// What came of a call, in the record that holds both or in the one that answers it.
fn find_result(record: &str) -> Option<Value> {
    let record: Value = serde_json::from_str(record).ok()?;
    let nested = |value: &Value| value.as_str().and_then(parse_nested::<Value>).or_else(|| Some(value.clone()));
    let parts = record["content"].as_array().into_iter().flatten();
    let answered = parts.map(|part| &part["result"]).find(|result| !result.is_null());
    let result = record.pointer("/toolFormerData/result").or(answered);
    result.and_then(nested)
}

/// The answer to a question: its words, or those of the options that were chosen.
fn read_answer(questions: &[WireQuestion], answer: &Value) -> Option<Answer> {
    let id = answer["questionId"].as_str().or_else(|| answer["id"].as_str());
    let question = questions.iter().find(|question| question.id.0.as_deref() == id)?;
    let options = question.options.0.as_deref().unwrap_or_default();
    let label = |chosen: &Value| {
        let chosen = chosen.as_str()?;
        let option = options.iter().find(|option| option.id.0.as_deref() == Some(chosen));
        Some(option.and_then(|option| option.label.0.clone()).unwrap_or_else(|| chosen.to_owned()))
    };
    let chosen = ["selectedOptionIds", "selectedOptions"].iter().find_map(|name| answer[name].as_array());
    let mut words: Vec<String> = chosen.into_iter().flatten().filter_map(label).collect();
    let typed = ["freeformText", "text", "answer"].iter().find_map(|name| answer[name].as_str());
    words.extend(typed.filter(|text| !text.is_empty()).map(str::to_owned));
    let question = question.prompt.0.clone()?;
    (!words.is_empty()).then(|| Answer { question, answer: words.join(", ") })
}

impl WireQuestion {
    fn to_question(&self) -> Option<Question> {
        let options = self.options.0.as_deref().unwrap_or_default();
        let options = options.iter().filter_map(|option| option.label.0.clone()).collect();
        Some(Question { text: self.prompt.0.clone()?, options })
    }
}
