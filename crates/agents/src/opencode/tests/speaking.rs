//! Whose words stand in a session, and what was asked and answered.

use carryover_core::transcript::{Action, Body, FailureKind, Question, Status, Transcript};
use serde_json::{Value, json};

use super::{read, render_live, source};
use crate::opencode::OpenCode;
use crate::{Dialect, Discovery, Reader};

fn message(id: usize, role: &str, parts: &[Value]) -> Value {
    let info = json!({ "id": format!("msg_{id:04}"), "sessionID": "ses_1", "role": role, "time": { "created": id } });
    let part = |(at, part): (usize, &Value)| {
        let mut part = part.clone();
        part["id"] = json!(format!("prt_{id:04}{at:04}"));
        part
    };
    json!({ "info": info, "parts": parts.iter().enumerate().map(part).collect::<Vec<_>>() })
}

fn text(text: &str, synthetic: bool) -> Value {
    json!({ "type": "text", "text": text, "synthetic": synthetic })
}

/// Reads an export of these messages, as an older client writes it: with its status before it.
fn session(messages: &[Value]) -> (Transcript, tempfile::TempDir) {
    let info =
        json!({ "id": "ses_1", "title": "t", "directory": "/p", "version": "1.18.33", "time": { "created": 0 } });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("export.json");
    let export = json!({ "info": info, "messages": messages });
    let written = format!("Exporting session: ses_1\n{export:#}");
    assert!(OpenCode.recognises(&path, written.as_bytes()));
    std::fs::write(&path, written).unwrap();
    (read(&source(&path)), folder)
}

#[test]
fn what_the_client_says_in_the_users_place_is_sent_and_not_theirs() {
    let init = "Create or update `AGENTS.md` for this repository.\n\nUser-provided focus or constraints (honor \
                these):\nonly tests\n\n## How to investigate\n\nRead.";
    let (transcript, _folder) = session(&[
        message(1, "user", &[text(init, false)]),
        message(2, "user", &[text("The following tool was executed by the user", true)]),
        message(3, "user", &[json!({ "type": "subtask", "prompt": "p", "description": "d", "agent": "a" })]),
        message(
            4,
            "user",
            &[text("look at this", false), text("Called the Read tool with the following input: {}", true)],
        ),
    ]);
    insta::assert_snapshot!(render_live(&transcript), @r#"
    user prompt "only tests"
    hook prompt "Create or update `AGENTS.md` for this repository.\n\nUser-provided focus or constraints (honor these):\n\n\n## How to investiga
    hook prompt "The following tool was executed by the user"
    hook prompt "The following tool was executed by the user"
    user prompt "look at this"
    hook prompt "Called the Read tool with the following input: {}"
    "#);
}

#[test]
fn questions_are_asked_and_answered_and_a_plan_is_proposed() {
    let asked = json!([
        { "question": "Which?", "header": "h", "options": [{ "label": "a", "description": "" }, { "label": "b" }] },
        { "question": "And?", "options": [] },
    ]);
    let question = json!({ "type": "tool", "tool": "question", "callID": "c1", "state": { "status": "completed",
        "input": { "questions": asked }, "output": "User has answered", "title": "",
        "metadata": { "answers": [["a", "b"], []] }, "time": { "start": 1, "end": 2 } } });
    let plan = json!({ "type": "tool", "tool": "plan_exit", "callID": "c2", "state": { "status": "error", "input": {},
        "error": "The user dismissed this question", "time": { "start": 1, "end": 2 } } });
    let (transcript, _folder) = session(&[message(1, "assistant", &[question, plan])]);
    let calls: Vec<_> = transcript
        .entries
        .iter()
        .filter_map(|entry| if let Body::Call(call) = &entry.body { Some((entry.key, call)) } else { None })
        .collect();
    let which = Question { text: "Which?".into(), options: vec!["a".into(), "b".into()] };
    let and = Question { text: "And?".into(), options: Vec::new() };
    assert_eq!(OpenCode.action(calls[0].1, None), Action::Ask(vec![which, and]));
    let record = OpenCode.read_record(&transcript.header, calls[0].0).unwrap();
    let answers = OpenCode.answers(calls[0].1, &record);
    assert_eq!(answers.len(), 1);
    assert_eq!((answers[0].question.as_str(), answers[0].answer.as_str()), ("Which?", "a, b"));
    assert!(matches!(OpenCode.action(calls[1].1, None), Action::Propose { .. }));
    let refused = |entry: &carryover_core::transcript::Entry| match &entry.body {
        Body::Outcome(outcome) => outcome.call == calls[1].1.id && outcome.status == Status::Failed,
        _ => false,
    };
    assert!(transcript.entries.iter().any(refused));
}

#[test]
fn a_limit_without_a_status_is_one_by_its_words() {
    let mut limited = message(1, "assistant", &[]);
    limited["info"]["error"] =
        json!({ "name": "UnknownError", "data": { "message": "Usage limit reached for today" } });
    let (transcript, _folder) = session(&[limited]);
    let kinds: Vec<FailureKind> = transcript
        .entries
        .iter()
        .filter_map(|entry| if let Body::Failure(failure) = &entry.body { Some(failure.kind) } else { None })
        .collect();
    assert_eq!(kinds, [FailureKind::RateLimit]);
}
