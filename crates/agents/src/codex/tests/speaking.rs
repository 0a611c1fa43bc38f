//! Who speaks in a session, and how its calls and turns ended.

use carryover_core::transcript::{Action, Status};
use serde_json::{Value, json};

use super::*;

fn record_line(kind: &str, payload: &Value) -> String {
    json!({ "timestamp": "2025-10-01T10:00:00.000Z", "type": kind, "payload": payload }).to_string()
}

fn user_line(text: &str) -> String {
    let content = json!([{ "type": "input_text", "text": text }]);
    record_line("response_item", &json!({ "type": "message", "role": "user", "content": content }))
}

fn read_lines(lines: &[String]) -> Transcript {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rollout.jsonl");
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    read_whole(&path)
}

#[test]
fn only_what_was_typed_is_the_users() {
    let labelled = json!({
        "type": "message", "role": "user",
        "content": [
            { "type": "input_text", "text": "<skill>\n<name>tidy</name>\nSort.\n</skill>" },
            { "type": "input_text", "text": "<environment_context>mine</environment_context> is what I see" },
        ],
        "internal_chat_message_metadata_passthrough": { "content_item_kinds": ["skills.skill", "user.text"] },
    });
    let lines = [
        user_line("<environment_context>\n  <cwd>/r</cwd>\n</environment_context>"),
        user_line("# Context from my IDE setup:\n\n## Active file: a.rs\n\n## My request for Codex:\nfix it"),
        user_line("<turn_aborted>\ninterrupted\n</turn_aborted>"),
        user_line("what does <turn_aborted>x</turn_aborted> mean?"),
        record_line("response_item", &labelled),
    ];
    let transcript = read_lines(&lines);
    assert_eq!(transcript.header.title.as_deref(), Some("fix it"));
    let lines: Vec<String> = transcript.entries.iter().map(line_of).collect();
    insta::assert_snapshot!(lines.join("\n"), @r##"
    harness prompt "<environment_context>\n  <cwd>/r</cwd>\n</environment_context>"
    user prompt "fix it"
    hook prompt "# Context from my IDE setup:\n\n## Active file: a.rs"
    hook prompt "<turn_aborted>\ninterrupted\n</turn_aborted>"
    user prompt "what does <turn_aborted>x</turn_aborted> mean?"
    hook prompt "<skill>\n<name>tidy</name>\nSort.\n</skill>"
    user prompt "<environment_context>mine</environment_context> is what I see"
    "##);
}

#[test]
fn a_turn_that_is_taken_back_takes_its_context_along() {
    let lines = [
        user_line("first"),
        user_line("# Context from my IDE setup:\n\n## Active file: a.rs\n\n## My request for Codex:\nsecond"),
        record_line("event_msg", &json!({ "type": "thread_rolled_back", "num_turns": 1 })),
    ];
    assert_eq!(render_live(&read_lines(&lines)), "user prompt \"first\"\n");
}

#[test]
fn a_patch_that_did_not_fit_is_no_change() {
    let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-x\n+y\n*** End Patch";
    let call = |id: &str| {
        let arguments = json!({ "command": ["bash", "-lc", format!("apply_patch <<'EOF'\n{patch}\nEOF")] });
        let item =
            json!({ "type": "function_call", "name": "shell", "arguments": arguments.to_string(), "call_id": id });
        record_line("response_item", &item)
    };
    let ended = |id: &str, output: &str| {
        record_line("response_item", &json!({ "type": "function_call_output", "call_id": id, "output": output }))
    };
    let wrapped = |code: i32| {
        let metadata = json!({ "exit_code": code, "duration_seconds": 0.1 });
        json!({ "output": "said\n", "metadata": metadata }).to_string()
    };
    let endings = [
        (wrapped(0), Status::Done, Some(0)),
        (wrapped(1), Status::Failed, Some(1)),
        ("Exit code: 1\nWall time: 0 seconds\nOutput:\nno\n".to_owned(), Status::Failed, Some(1)),
        ("apply_patch verification failed: no such file".to_owned(), Status::Failed, None),
        ("error: Failed to find expected lines in a.rs:\nx".to_owned(), Status::Failed, None),
        ("patch rejected by user".to_owned(), Status::Failed, None),
    ];
    let lines: Vec<String> = endings.iter().flat_map(|(output, ..)| [call("c"), ended("c", output)]).collect();
    let transcript = read_lines(&lines);
    for (pair, (_, status, exit_code)) in transcript.entries.chunks(2).zip(endings) {
        let [Body::Call(call), Body::Outcome(outcome)] = [&pair[0].body, &pair[1].body] else { panic!("{pair:?}") };
        assert_eq!(Codex.action(call, None).subject(), "a.rs");
        assert!(matches!(Codex.action(call, None), Action::Edit(_)));
        assert_eq!((outcome.status, outcome.exit_code), (status, exit_code));
    }
}

#[test]
fn limits_and_interruptions_end_a_turn() {
    let window = json!({ "used_percent": 100.0, "window_minutes": 300, "resets_in_seconds": 3600 });
    let lines = [
        record_line("event_msg", &json!({ "type": "token_count", "info": null, "rate_limits": { "primary": window } })),
        record_line(
            "event_msg",
            &json!({ "type": "error", "message": "You've hit your usage limit. Try again later." }),
        ),
        record_line("event_msg", &json!({ "type": "error", "message": "stream disconnected" })),
        record_line("event_msg", &json!({ "type": "turn_aborted", "reason": "interrupted" })),
    ];
    let lines: Vec<String> = read_lines(&lines).entries.iter().map(line_of).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    harness failure RateLimit "the usage limit is reached" Some("2025-10-01T11:00:00.000Z")
    harness note note[]
    harness failure RateLimit "You've hit your usage limit. Try again later." None
    harness failure Other "stream disconnected" None
    harness failure Interrupted "interrupted" None
    "#);
}
