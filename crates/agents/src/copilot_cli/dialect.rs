//! The meaning of Copilot CLI's tools, and how a meaning is spelt in them.

use carryover_core::plain::one_line;
use carryover_core::transcript::{Action, Answer, Call, Outcome, Question};
use serde_json::{Value, json};

use super::wire::{WireComplete, WireEvent};
use super::{CopilotCli, outcome};
use crate::Dialect;
use crate::codex::patch;
use crate::formats::diff::parse_hunks;
use crate::formats::translation::{
    FileChange, NativeCall, ProjectDirs, is_image, replaced_text, single_change, update_file, with_fields,
};

/// The endings of images, which the client shows to the model where it looks at them.
const IMAGE_EXTENSIONS: &[&str] = &["png", "jpg", "jpeg", "gif", "webp"];

/// The inputs of the tools that have a counterpart elsewhere; which fields are there depends on the tool.
#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct WireInput {
    command: Option<String>,
    path: Option<String>,
    view_range: Option<Vec<i64>>,
    file_text: Option<String>,
    pattern: Option<String>,
    /// One path, or several.
    paths: Option<Value>,
    glob: Option<String>,
    url: Option<String>,
    prompt: Option<String>,
    description: Option<String>,
    #[serde(alias = "message")]
    question: Option<String>,
    choices: Option<Vec<String>>,
    summary: Option<String>,
}

impl Dialect for CopilotCli {
    fn action(&self, call: &Call, outcome: Option<&str>) -> Action {
        let input: WireInput = call.input.read_as().unwrap_or_default();
        let place = input.path.clone().or_else(|| input.paths.as_ref()?.as_str().map(str::to_owned));
        let meaning = match call.tool.as_str() {
            "bash" | "powershell" => input.command.map(|command| Action::Run { command, workdir: None }),
            "view" => input.path.map(|path| view_action(path, input.view_range.as_deref())),
            "create" => input.path.zip(input.file_text).map(|(path, content)| Action::Write { path, content }),
            "edit" => input.path.map(|path| edit_action(path, outcome)),
            "str_replace_editor" => editor_action(input, outcome),
            "apply_patch" => call.input.read_as::<String>().and_then(|text| patch::parse(&text)).map(Action::Edit),
            "ask_user" => {
                let options = input.choices.unwrap_or_default();
                input.question.map(|text| Action::Ask(vec![Question { text, options }]))
            }
            // The plan is in a file of the session's; the call has what is told of it.
            "exit_plan_mode" => input.summary.map(|plan| Action::Propose { plan }),
            "grep" => input.pattern.map(|pattern| Action::Grep { pattern, path: place, glob: input.glob }),
            "glob" => input.pattern.map(|pattern| Action::Glob { pattern, path: place }),
            "web_fetch" => input.url.map(|url| Action::Fetch { url }),
            "task" => input.prompt.map(|prompt| Action::Delegate { prompt, description: input.description }),
            _ => None,
        };
        meaning.unwrap_or(Action::Other)
    }

    /// The user's answer; where nobody is there to answer, the client says so in the user's place.
    fn answers(&self, call: &Call, record: &str) -> Vec<Answer> {
        const ANSWER_PREFIXES: &[&str] = &["User responded: ", "User selected: ", "User answered: "];
        const ABSENT_PREFIX: &str = "The user is not available to respond";
        let Action::Ask(questions) = self.action(call, None) else { return Vec::new() };
        let Some(told) = outcome_text(record) else { return Vec::new() };
        let answer = ANSWER_PREFIXES.iter().find_map(|words| told.strip_prefix(words)).map(str::trim);
        let answer = answer.filter(|answer| !answer.is_empty() && !answer.starts_with(ABSENT_PREFIX));
        let asked = questions.into_iter().zip(answer);
        asked.map(|(question, answer)| Answer { question: question.text, answer: answer.to_owned() }).collect()
    }

    fn strip_harness_text(&self, outcome: &mut Outcome) {
        outcome::strip_exit_line(outcome);
    }
}

/// The first versions have one tool for all work on files.
fn editor_action(input: WireInput, outcome: Option<&str>) -> Option<Action> {
    let path = input.path?;
    match input.command.as_deref()? {
        "view" => Some(view_action(path, input.view_range.as_deref())),
        "create" => input.file_text.map(|content| Action::Write { path, content }),
        "str_replace" | "insert" => Some(edit_action(path, outcome)),
        _ => None,
    }
}

fn outcome_text(record: &str) -> Option<String> {
    let event: WireEvent<'_> = serde_json::from_str(record).ok()?;
    let complete: WireComplete<'_> = serde_json::from_str(event.data?.get()).ok()?;
    Some(complete.result?.content.to_string())
}

fn view_action(path: String, range: Option<&[i64]>) -> Action {
    if is_image(&path, IMAGE_EXTENSIONS) {
        return Action::View { path };
    }
    let Some(&[first, last]) = range else { return Action::Read { path, offset: None, limit: None } };
    // An end of -1 is the file's.
    let limit = last.checked_sub(first).and_then(|more| u64::try_from(more).ok()).map(|more| more + 1);
    Action::Read { path, offset: u64::try_from(first).ok(), limit }
}

/// The call names parts of lines; only the diff in its outcome tells the lines as a whole. Without it, no hunks are
/// known.
fn edit_action(path: String, outcome: Option<&str>) -> Action {
    update_file(path, outcome.and_then(outcome_diff).map(|diff| parse_hunks(&diff)).unwrap_or_default())
}

fn outcome_diff(record: &str) -> Option<String> {
    let event: WireEvent<'_> = serde_json::from_str(record).ok()?;
    let complete: WireComplete<'_> = serde_json::from_str(event.data?.get()).ok()?;
    Some(complete.result?.detailed_content?.to_string())
}

/// Spells a foreign call in Copilot CLI's own tools, where the meaning is exact.
pub(super) fn translate_action(action: &Action, dirs: ProjectDirs<'_>) -> Option<NativeCall> {
    let at = |path: &str| json!({ "path": dirs.resolve_path(path) });
    Some(match action {
        Action::Run { command, workdir } => {
            let command = dirs.prefix_cd(command, workdir.as_deref());
            let description = one_line(&command, 80);
            NativeCall::new("bash", json!({ "command": command, "description": description }))
        }
        Action::View { path } => NativeCall::new("view", at(path)),
        Action::Read { path, offset, limit } => NativeCall::new("view", view_input(at(path), *offset, *limit)),
        Action::Write { path, content } => create_file(at(path), content),
        Action::Edit(changes) => match single_change(changes)? {
            FileChange::Create { path, content } => create_file(at(path), content),
            FileChange::Replace { path, hunks: [hunk] } if !hunk.everywhere => {
                let (old, new) = replaced_text(hunk);
                NativeCall::new("edit", with_fields(at(path), &[("old_str", Some(old)), ("new_str", Some(new))]))
            }
            FileChange::Replace { .. } => return None,
        },
        _ => return None,
    })
}

fn create_file(input: Value, content: &str) -> NativeCall {
    NativeCall::new("create", with_fields(input, &[("file_text", Some(content))]))
}

fn view_input(mut input: Value, offset: Option<u64>, limit: Option<u64>) -> Value {
    if offset.is_some() || limit.is_some() {
        let first = offset.unwrap_or(1).max(1);
        let last = limit.map_or(json!(-1), |limit| json!(first.saturating_add(limit).saturating_sub(1)));
        input["view_range"] = json!([first, last]);
    }
    input
}

#[cfg(test)]
mod tests {
    use carryover_core::transcript::Change;

    use super::*;
    use crate::write_fixtures::{function_call as call, hunks_of};

    #[test]
    fn an_edit_is_known_in_whole_lines_from_its_outcome() {
        let edit = call("edit", &json!({ "path": "/p/a.py", "old_str": "a - b", "new_str": "a + b" }));
        let diff = "\ndiff --git a/p/a.py b/p/a.py\n--- a/p/a.py\n+++ b/p/a.py\n@@ -1,3 +1,3 @@\n def add(a, b):\n-    return a - b\n+    return a + b\n \n";
        let record = json!({ "data": { "toolCallId": "c", "result": { "detailedContent": diff } } }).to_string();
        let meaning = CopilotCli.action(&edit, Some(&record));
        let hunks = hunks_of(&meaning);
        assert_eq!(hunks[0].old, "def add(a, b):\n    return a - b\n\n");
        assert_eq!(hunks[0].new, "def add(a, b):\n    return a + b\n\n");
    }

    #[test]
    fn changes_by_every_tool_are_edits() {
        let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n";
        let added = Action::Edit(vec![Change::Add { path: "a".into(), content: "x\n".into() }]);
        assert_eq!(CopilotCli.action(&call("apply_patch", &json!(patch)), None), added);
        let editor = |input: Value| CopilotCli.action(&call("str_replace_editor", &input), None);
        let created = editor(json!({ "command": "create", "path": "/a", "file_text": "x" }));
        assert_eq!(created, Action::Write { path: "/a".into(), content: "x".into() });
        let replaced = editor(json!({ "command": "str_replace", "path": "/a", "old_str": "x", "new_str": "y" }));
        assert_eq!(replaced.subject(), "/a");
        assert_eq!(replaced.kind(), "edit");
    }

    #[test]
    fn questions_are_answered_by_the_user_alone() {
        let ask = call("ask_user", &json!({ "question": "Which?", "choices": ["A", "B"] }));
        let question = Question { text: "Which?".into(), options: vec!["A".into(), "B".into()] };
        assert_eq!(CopilotCli.action(&ask, None), Action::Ask(vec![question]));
        let told = |content: &str| {
            let data = json!({ "toolCallId": "c", "success": true, "result": { "content": content } });
            CopilotCli.answers(&ask, &json!({ "type": "tool.execution_complete", "data": data }).to_string())
        };
        assert_eq!(
            told("User responded: the small one"),
            [Answer { question: "Which?".into(), answer: "the small one".into() }]
        );
        assert_eq!(told("User responded: The user is not available to respond and will review your work later."), []);
        let plan = call("exit_plan_mode", &json!({ "summary": "1. Look." }));
        assert_eq!(CopilotCli.action(&plan, None), Action::Propose { plan: "1. Look.".into() });
    }

    #[test]
    fn ranges_are_lines_and_their_number() {
        let read = |range| CopilotCli.action(&call("view", &json!({ "path": "/a", "view_range": range })), None);
        assert_eq!(read([3, 5]), Action::Read { path: "/a".into(), offset: Some(3), limit: Some(3) });
        assert_eq!(read([3, -1]), Action::Read { path: "/a".into(), offset: Some(3), limit: None });
        let home = ProjectDirs { current: "/p", former: None };
        assert_eq!(translate_action(&read([3, 5]), home).unwrap().input["view_range"], json!([3, 5]));
        assert_eq!(translate_action(&read([3, -1]), home).unwrap().input["view_range"], json!([3, -1]));
    }
}
