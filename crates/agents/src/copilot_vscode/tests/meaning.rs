//! What calls mean.

use carryover_core::transcript::{
    Action, Answer, Body, Call, Change, Hunk, Outcome, Part, PlanStep, Question, Refusal, Status, StepState,
};
use serde_json::{Value, json};

use super::super::CopilotVscode;
use super::read_whole;
use crate::write_fixtures::function_call;
use crate::{Dialect, Reader};

fn action(tool: &str, input: &Value) -> Action {
    CopilotVscode.action(&function_call(tool, input), None)
}

fn update(path: &str, hunks: &[(&str, &str)]) -> Change {
    let hunk = |(old, new): &(&str, &str)| Hunk {
        context: None,
        old: (*old).to_owned(),
        new: (*new).to_owned(),
        everywhere: false,
    };
    Change::Update { path: path.to_owned(), moved_to: None, hunks: hunks.iter().map(hunk).collect() }
}

#[test]
fn tools_mean_the_same_by_both_of_their_names() {
    let read = json!({ "filePath": "/a", "startLine": 3, "endLine": 7.0 });
    for tool in ["read_file", "copilot_readFile"] {
        assert_eq!(action(tool, &read), Action::Read { path: "/a".into(), offset: Some(3), limit: Some(5) });
    }
    let old = json!({ "filePath": "/a", "startLineNumberBaseZero": 0, "endLineNumberBaseZero": 4 });
    assert_eq!(action("read_file", &old), Action::Read { path: "/a".into(), offset: Some(1), limit: Some(5) });
    let backwards = json!({ "filePath": "/a", "startLine": 9, "endLine": -1 });
    assert_eq!(action("read_file", &backwards), Action::Read { path: "/a".into(), offset: Some(9), limit: None });
}

#[test]
fn changes_by_every_tool_are_edits() {
    let replace = json!({ "filePath": "/a", "oldString": "x", "newString": "y" });
    assert_eq!(action("replace_string_in_file", &replace), Action::Edit(vec![update("/a", &[("x", "y")])]));
    let one = |path: &str| json!({ "filePath": path, "oldString": "x", "newString": "y" });
    let many = json!({ "explanation": "e", "replacements": [one("/a"), one("/b"), one("/a")] });
    let both = vec![update("/a", &[("x", "y"), ("x", "y")]), update("/b", &[("x", "y")])];
    assert_eq!(action("multi_replace_string_in_file", &many), Action::Edit(both));
    let sketch = json!({ "explanation": "e", "filePath": "/a", "code": "// ...existing code..." });
    assert_eq!(action("insert_edit_into_file", &sketch), Action::Edit(vec![update("/a", &[])]));
    let create = json!({ "filePath": "/a", "content": "x" });
    assert_eq!(action("create_file", &create), Action::Write { path: "/a".into(), content: "x".into() });
    let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n";
    let added = Action::Edit(vec![Change::Add { path: "a".into(), content: "x\n".into() }]);
    assert_eq!(action("apply_patch", &json!({ "input": patch, "explanation": "e" })), added);
    assert_eq!(action("apply_patch", &json!(patch)), added);
}

#[test]
fn everything_else_with_a_counterpart_is_known() {
    let run = action("run_in_terminal", &json!({ "command": "ls", "explanation": "e", "isBackground": false }));
    assert_eq!(run, Action::Run { command: "ls".into(), workdir: None });
    let grep = action("grep_search", &json!({ "query": "x", "isRegexp": true, "includePattern": "src/**" }));
    assert_eq!(grep, Action::Grep { pattern: "x".into(), path: None, glob: Some("src/**".into()) });
    assert_eq!(action("file_search", &json!({ "query": "*.rs" })), Action::Glob { pattern: "*.rs".into(), path: None });
    assert_eq!(action("fetch_webpage", &json!({ "urls": ["u"] })), Action::Fetch { url: "u".into() });
    assert_eq!(action("fetch_webpage", &json!({ "urls": ["u", "v"] })), Action::Other);
    let todo = json!({ "todoList": [{ "id": 1, "title": "a", "status": "completed" }, { "id": 2, "title": "b", "status": "not-started" }] });
    let step = |text: &str, state| PlanStep { text: text.to_owned(), state };
    assert_eq!(
        action("manage_todo_list", &todo),
        Action::Plan(vec![step("a", StepState::Done), step("b", StepState::Pending)])
    );
    let delegated = Action::Delegate { prompt: "p".into(), description: Some("d".into()) };
    assert_eq!(action("runSubagent", &json!({ "prompt": "p", "description": "d" })), delegated);
    assert_eq!(action("search_subagent", &json!({ "query": "p", "description": "d" })), delegated);
    assert_eq!(action("get_errors", &json!({ "filePaths": ["/a"] })), Action::Other);
    assert_eq!(action("read_file", &json!("not an object")), Action::Other);
}

#[test]
fn a_question_is_answered_in_the_words_of_the_user() {
    let transcript = read_whole("agent.jsonl");
    let calls = || {
        transcript.entries.iter().filter_map(|entry| match &entry.body {
            Body::Call(call) if call.tool == "vscode_askQuestions" => Some((entry.key, call)),
            _ => None,
        })
    };
    let (key, call): (_, &Call) = calls().next().map(|(key, call)| (key, &**call)).unwrap();
    let name = Question { text: "Which name?".into(), options: vec!["hello".into(), "hi".into()] };
    let docs = Question { text: "Docs, too?".into(), options: vec![] };
    assert_eq!(CopilotVscode.action(call, None), Action::Ask(vec![name, docs]));
    let record = CopilotVscode.read_record(&transcript.header, key).unwrap();
    let answers = CopilotVscode.answers(call, &record);
    assert_eq!(answers, [Answer { question: "Which name?".into(), answer: "hello".into() }]);
    assert_eq!(CopilotVscode.answers(call, "{}"), []);
}

#[test]
fn a_call_that_the_user_cancelled_was_turned_down() {
    let outcome = |text: &str| Outcome {
        call: carryover_core::transcript::CallId("c".into()),
        status: Status::Interrupted,
        exit_code: None,
        parts: vec![Part::Text(text.to_owned())],
    };
    assert_eq!(CopilotVscode.refusal(&outcome("The user cancelled the tool call.")), Some(Refusal::default()));
    assert_eq!(CopilotVscode.refusal(&outcome("It timed out.")), None);
}
