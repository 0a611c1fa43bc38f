//! Calls as the client shows them: display items, and the older events that say the same.

use carryover_core::transcript::{Action, Change, Outcome, into_text};
use serde_json::{Map, Value, json};

use super::call_translator::{CallTranslator, WrittenCall};
use super::{outcome, patch};

/// More than this of an output is not shown anywhere.
const MAX_SHOWN_BYTES: usize = 16 << 10;

/// A display item, and the event by which older clients show the same.
pub(super) struct DisplayedCall {
    pub(super) item: Value,
    pub(super) event: Option<Value>,
}

/// The display of a call and its outcome; calls that the client has no form for are not shown.
pub(super) fn display_call(
    asked: &WrittenCall<'_>,
    outcome: &Outcome,
    speech: &CallTranslator<'_>,
    turn: &str,
) -> Option<DisplayedCall> {
    match asked.action {
        Action::Run { command, workdir } => {
            Some(display_command(asked, outcome, speech, command, workdir.as_deref(), turn))
        }
        Action::Edit(changes) => Some(display_changes(asked, outcome, changes, speech, turn)),
        Action::Write { path, content } => {
            let change = Change::Add { path: path.clone(), content: content.clone() };
            Some(display_changes(asked, outcome, &[change], speech, turn))
        }
        Action::View { path } => {
            let path = file_url(&speech.absolute_path(path));
            Some(DisplayedCall { item: json!({ "type": "ImageView", "id": asked.id, "path": path }), event: None })
        }
        _ => display_mcp_call(asked, outcome),
    }
}

fn display_command(
    asked: &WrittenCall<'_>,
    outcome: &Outcome,
    speech: &CallTranslator<'_>,
    command: &str,
    workdir: Option<&str>,
    turn: &str,
) -> DisplayedCall {
    let cwd = workdir.map_or_else(|| speech.project.to_owned(), |workdir| speech.absolute_path(workdir));
    let words = json!(["/bin/bash", "-lc", command]);
    let parsed = json!([{ "type": "unknown", "cmd": command }]);
    let text = display_text(outcome);
    let failed = i32::from(outcome.status.is_failure());
    let exit_code = outcome.exit_code.unwrap_or(failed);
    let duration = json!({ "secs": 0, "nanos": 0 });
    DisplayedCall {
        item: json!({
            "type": "CommandExecution", "id": asked.id, "command": words, "cwd": file_url(&cwd), "parsed_cmd": parsed,
            "source": "agent", "status": status_word(outcome), "aggregated_output": text, "exit_code": exit_code,
            "duration": duration,
        }),
        event: Some(json!({
            "type": "exec_command_end", "call_id": asked.id, "turn_id": turn, "command": words, "cwd": cwd,
            "parsed_cmd": parsed, "stdout": text, "stderr": "", "aggregated_output": text, "exit_code": exit_code,
            "duration": duration, "formatted_output": text, "status": status_word(outcome),
        })),
    }
}

fn display_changes(
    asked: &WrittenCall<'_>,
    outcome: &Outcome,
    changes: &[Change],
    speech: &CallTranslator<'_>,
    turn: &str,
) -> DisplayedCall {
    let mut by_path = Map::new();
    for change in changes {
        let shown = match change {
            Change::Add { content, .. } => json!({ "type": "add", "content": content }),
            Change::Delete { .. } => json!({ "type": "delete", "content": "" }),
            Change::Update { moved_to, hunks, .. } => {
                let moved_to = moved_to.as_ref().map(|path| speech.absolute_path(path));
                json!({ "type": "update", "unified_diff": patch::unified_diff(hunks), "move_path": moved_to })
            }
        };
        by_path.insert(speech.absolute_path(change.path()), shown);
    }
    let (text, by_path) = (display_text(outcome), Value::Object(by_path));
    let done = !outcome.status.is_failure();
    let (stdout, stderr) = if done { (text, String::new()) } else { (String::new(), text) };
    DisplayedCall {
        item: json!({
            "type": "FileChange", "id": asked.id, "changes": by_path, "status": status_word(outcome), "stdout": stdout,
            "stderr": stderr,
        }),
        event: Some(json!({
            "type": "patch_apply_end", "call_id": asked.id, "turn_id": turn, "stdout": stdout, "stderr": stderr,
            "success": done, "changes": by_path, "status": status_word(outcome),
        })),
    }
}

/// Calls to MCP servers, by the name that all agents give them: `mcp__server__tool`.
fn display_mcp_call(asked: &WrittenCall<'_>, outcome: &Outcome) -> Option<DisplayedCall> {
    let (server, tool) = asked.call.tool.strip_prefix("mcp__")?.split_once("__")?;
    let arguments = asked.call.input.to_value();
    let result = json!({ "content": [{ "type": "text", "text": display_text(outcome) }] });
    let duration = json!({ "secs": 0, "nanos": 0 });
    let invocation = json!({ "server": server, "tool": tool, "arguments": arguments });
    Some(DisplayedCall {
        item: json!({
            "type": "McpToolCall", "id": asked.id, "server": server, "tool": tool, "arguments": arguments,
            "status": status_word(outcome), "result": result, "duration": duration,
        }),
        event: Some(json!({
            "type": "mcp_tool_call_end", "call_id": asked.id, "invocation": invocation, "duration": duration,
            "result": { "Ok": result },
        })),
    })
}

fn status_word(outcome: &Outcome) -> &'static str {
    if outcome.status.is_failure() { "failed" } else { "completed" }
}

fn display_text(of: &Outcome) -> String {
    let mut stripped = of.clone();
    outcome::strip_header(&mut stripped);
    let mut text = into_text(stripped.parts);
    let end = text.floor_char_boundary(MAX_SHOWN_BYTES);
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
            url.extend(['%', hex_digit(byte >> 4), hex_digit(byte & 15)]);
        }
    }
    url
}

fn hex_digit(digit: u8) -> char {
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
