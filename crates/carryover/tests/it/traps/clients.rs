//! Homes with one session, from records of which the usual parts are added here.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::support::TestEnv;

/// What a record calls the project; each home has its own.
pub(super) const PROJECT: &str = "/home/you/calc";

const ID: &str = "7a9e0000-0000-4000-8000-000000000001";

fn home(path: &str, text: &str) -> TestEnv {
    let env = TestEnv::new();
    let project = json!(env.project()).to_string();
    env.write(path, &text.replace(PROJECT, project.trim_matches('"')));
    env
}

/// A minute passes between two records.
fn time(at: usize) -> String {
    format!("2026-11-15T08:{at:02}:00.000Z")
}

/// A session of Claude Code. Records hang one on the other, unless they name their parent; those of the queue are beside
/// the chain.
pub(super) fn claude_code(records: &[Value]) -> TestEnv {
    let mut lines = String::new();
    let mut parent = Value::Null;
    for (at, record) in records.iter().enumerate() {
        let mut record = record.clone();
        record["sessionId"] = json!(ID);
        record["timestamp"] = json!(time(at));
        if record["type"] != "queue-operation" {
            let named = |field: &str, usual: Value| record.get(field).cloned().unwrap_or(usual);
            let (uuid, on) = (named("uuid", json!(format!("u{at}"))), named("parentUuid", parent));
            (record["uuid"], record["parentUuid"]) = (uuid.clone(), on);
            record["version"] = record.get("version").cloned().unwrap_or_else(|| json!("2.1.325"));
            record["cwd"] = json!(PROJECT);
            record["isSidechain"] = json!(false);
            parent = uuid;
        }
        writeln!(lines, "{record}").unwrap();
    }
    home(&format!(".claude/projects/-home-you-calc/{ID}.jsonl"), &lines)
}

pub(super) fn user(content: impl Into<Value>) -> Value {
    json!({ "type": "user", "message": { "role": "user", "content": content.into() } })
}

/// A text that the client puts in the user's place.
pub(super) fn put_in(text: &str) -> Value {
    with(user(json!([{ "type": "text", "text": text }])), "isMeta", &json!(true))
}

pub(super) fn reply(text: &str) -> Value {
    assistant(&json!({ "type": "text", "text": text }))
}

pub(super) fn call(id: &str, tool: &str, input: &Value) -> Value {
    assistant(&json!({ "type": "tool_use", "id": id, "name": tool, "input": input }))
}

fn assistant(block: &Value) -> Value {
    let message = json!({ "role": "assistant", "model": "claude-opus-5-5", "content": [block] });
    json!({ "type": "assistant", "message": message })
}

pub(super) fn outcome(id: &str, text: &str) -> Value {
    user(json!([{ "type": "tool_result", "tool_use_id": id, "content": text }]))
}

pub(super) fn failed(id: &str, text: &str) -> Value {
    user(json!([{ "type": "tool_result", "tool_use_id": id, "content": text, "is_error": true }]))
}

/// A command and how it ended; what ends badly is told with its exit code.
pub(super) fn ran(id: &str, command: &str, code: i32, output: &str) -> [Value; 2] {
    let end = match code {
        0 => outcome(id, output),
        _ => failed(id, &format!("Exit code {code}\n{output}")),
    };
    [call(id, "Bash", &json!({ "command": command })), end]
}

/// A file of the project that was changed.
pub(super) fn edited(id: &str, path: &str, old: &str, new: &str) -> [Value; 2] {
    let path = format!("{PROJECT}/{path}");
    let input = json!({ "file_path": path, "old_string": old, "new_string": new });
    [call(id, "Edit", &input), outcome(id, &format!("The file {path} has been updated successfully."))]
}

/// The agent's plan: steps and how they stand.
pub(super) fn todos(id: &str, steps: &[(&str, &str)]) -> [Value; 2] {
    let step = |(text, state): &(&str, &str)| json!({ "content": text, "status": state, "activeForm": text });
    let steps: Vec<Value> = steps.iter().map(step).collect();
    [call(id, "TodoWrite", &json!({ "todos": steps })), outcome(id, "Todos have been modified successfully.")]
}

pub(super) fn with(mut record: Value, field: &str, value: &Value) -> Value {
    record[field] = value.clone();
    record
}

/// A session of Codex.
pub(super) fn codex(records: &[Value]) -> TestEnv {
    let meta = json!({ "id": ID, "timestamp": time(0), "cwd": PROJECT, "originator": "codex_cli_rs", "cli_version": "0.39.0" });
    let mut lines = String::new();
    for (at, record) in [json!({ "type": "session_meta", "payload": meta })].iter().chain(records).enumerate() {
        writeln!(lines, "{}", with(record.clone(), "timestamp", &json!(time(at)))).unwrap();
    }
    home(&format!(".codex/sessions/2026/11/15/rollout-2026-11-15T08-00-00-{ID}.jsonl"), &lines)
}

pub(super) fn item(payload: &Value) -> Value {
    json!({ "type": "response_item", "payload": payload })
}

pub(super) fn event(payload: &Value) -> Value {
    json!({ "type": "event_msg", "payload": payload })
}

pub(super) fn prompt(text: &str) -> Value {
    item(&json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": text }] }))
}

/// What the model says, which the client writes twice: for the screen and for the model.
pub(super) fn answer(text: &str) -> [Value; 2] {
    let content = json!([{ "type": "output_text", "text": text }]);
    [
        event(&json!({ "type": "agent_message", "message": text })),
        item(&json!({ "type": "message", "role": "assistant", "content": content })),
    ]
}

/// A command of the `shell` tool and how it ended.
pub(super) fn shell(id: &str, command: &[&str], code: i32, output: &str) -> [Value; 2] {
    let arguments = json!({ "command": command, "workdir": PROJECT }).to_string();
    let output = json!({ "output": output, "metadata": { "exit_code": code, "duration_seconds": 0.1 } }).to_string();
    [
        item(&json!({ "type": "function_call", "name": "shell", "arguments": arguments, "call_id": id })),
        item(&json!({ "type": "function_call_output", "call_id": id, "output": output })),
    ]
}

/// A chat of Aider.
pub(super) fn aider(chat: &str) -> TestEnv {
    let start = "\n# aider chat started at 2026-11-15 08:00:00\n\n> Aider v0.86.2  \n";
    home("calc/.aider.chat.history.md", &format!("{start}{chat}"))
}
