//! What the client shows of a call: display items, and the older events that say the same.

use carryover_core::transcript::{Action, Change, Outcome, Status, into_text};
use serde_json::{Map, Value, json};

use super::speech::{Asked, Speech};
use super::{outcome, patch};

/// More than this of an output is not shown anywhere.
const LONGEST_SHOWN: usize = 16 << 10;

/// A display item, and the event by which older clients show the same.
pub(super) struct Shown {
    pub(super) item: Value,
    pub(super) event: Option<Value>,
}

/// What is shown of a call and its outcome; calls that the client has no form for are not shown.
pub(super) fn show(asked: &Asked<'_>, outcome: &Outcome, speech: &Speech<'_>, turn: &str) -> Option<Shown> {
    match asked.action {
        Action::Run { command, workdir } => {
            Some(command_shown(asked, outcome, speech, command, workdir.as_deref(), turn))
        }
        Action::Edit(changes) => Some(changes_shown(asked, outcome, changes, speech, turn)),
        Action::Write { path, content } => {
            let change = Change::Add { path: path.clone(), content: content.clone() };
            Some(changes_shown(asked, outcome, &[change], speech, turn))
        }
        Action::View { path } => {
            let path = file_url(&speech.full(path));
            Some(Shown { item: json!({ "type": "ImageView", "id": asked.id, "path": path }), event: None })
        }
        _ => mcp_shown(asked, outcome),
    }
}

fn command_shown(
    asked: &Asked<'_>,
    outcome: &Outcome,
    speech: &Speech<'_>,
    command: &str,
    workdir: Option<&str>,
    turn: &str,
) -> Shown {
    let cwd = workdir.map_or_else(|| speech.project.to_owned(), |workdir| speech.full(workdir));
    let words = json!(["/bin/bash", "-lc", command]);
    let parsed = json!([{ "type": "unknown", "cmd": command }]);
    let text = shown_text(outcome);
    let failed = i32::from(outcome.status != Status::Done);
    let exit_code = outcome.exit_code.unwrap_or(failed);
    let duration = json!({ "secs": 0, "nanos": 0 });
    Shown {
        item: json!({
            "type": "CommandExecution", "id": asked.id, "command": words, "cwd": file_url(&cwd), "parsed_cmd": parsed,
            "source": "agent", "status": status(outcome), "aggregated_output": text, "exit_code": exit_code,
            "duration": duration,
        }),
        event: Some(json!({
            "type": "exec_command_end", "call_id": asked.id, "turn_id": turn, "command": words, "cwd": cwd,
            "parsed_cmd": parsed, "stdout": text, "stderr": "", "aggregated_output": text, "exit_code": exit_code,
            "duration": duration, "formatted_output": text, "status": status(outcome),
        })),
    }
}

fn changes_shown(asked: &Asked<'_>, outcome: &Outcome, changes: &[Change], speech: &Speech<'_>, turn: &str) -> Shown {
    let mut by_path = Map::new();
    for change in changes {
        let shown = match change {
            Change::Add { content, .. } => json!({ "type": "add", "content": content }),
            Change::Delete { .. } => json!({ "type": "delete", "content": "" }),
            Change::Update { moved_to, hunks, .. } => {
                let moved_to = moved_to.as_ref().map(|path| speech.full(path));
                json!({ "type": "update", "unified_diff": patch::unified_diff(hunks), "move_path": moved_to })
            }
        };
        by_path.insert(speech.full(change.path()), shown);
    }
    let (text, by_path) = (shown_text(outcome), Value::Object(by_path));
    let done = outcome.status == Status::Done;
    let (stdout, stderr) = if done { (text, String::new()) } else { (String::new(), text) };
    Shown {
        item: json!({
            "type": "FileChange", "id": asked.id, "changes": by_path, "status": status(outcome), "stdout": stdout,
            "stderr": stderr,
        }),
        event: Some(json!({
            "type": "patch_apply_end", "call_id": asked.id, "turn_id": turn, "stdout": stdout, "stderr": stderr,
            "success": done, "changes": by_path, "status": status(outcome),
        })),
    }
}

/// Calls to MCP servers, by the name that all agents give them: `mcp__server__tool`.
fn mcp_shown(asked: &Asked<'_>, outcome: &Outcome) -> Option<Shown> {
    let (server, tool) = asked.call.tool.strip_prefix("mcp__")?.split_once("__")?;
    let arguments = asked.call.input.value();
    let result = json!({ "content": [{ "type": "text", "text": shown_text(outcome) }] });
    let duration = json!({ "secs": 0, "nanos": 0 });
    let invocation = json!({ "server": server, "tool": tool, "arguments": arguments });
    Some(Shown {
        item: json!({
            "type": "McpToolCall", "id": asked.id, "server": server, "tool": tool, "arguments": arguments,
            "status": status(outcome), "result": result, "duration": duration,
        }),
        event: Some(json!({
            "type": "mcp_tool_call_end", "call_id": asked.id, "invocation": invocation, "duration": duration,
            "result": { "Ok": result },
        })),
    })
}

fn status(outcome: &Outcome) -> &'static str {
    if outcome.status == Status::Done { "completed" } else { "failed" }
}

fn shown_text(of: &Outcome) -> String {
    let mut stripped = of.clone();
    outcome::strip(&mut stripped);
    let mut text = into_text(stripped.parts);
    let end = text.floor_char_boundary(LONGEST_SHOWN);
    text.truncate(end);
    text
}

/// A path as the client writes it in display items.
pub(super) fn file_url(path: &str) -> String {
    let mut url = String::from("file://");
    let path = path.replace('\\', "/");
    if !path.starts_with('/') {
        url.push('/');
    }
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~/:".contains(&byte) {
            url.push(char::from(byte));
        } else {
            url.extend(['%', hex(byte >> 4), hex(byte & 15)]);
        }
    }
    url
}

fn hex(digit: u8) -> char {
    char::from_digit(u32::from(digit), 16).unwrap_or('0').to_ascii_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_urls() {
        assert_eq!(file_url("/home/dv/my repo"), "file:///home/dv/my%20repo");
        assert_eq!(file_url("C:\\repo"), "file:///C:/repo");
    }
}
