//! The parts of a request that the editor needs to show it. One that lacks any of them is opened empty.

use carryover_core::transcript::{Outcome, Status};
use serde_json::{Value, json};

use super::dialect;

/// Who answers: the extension's agent, which the editor looks up by its name.
pub(super) fn agent() -> Value {
    json!({
        "extensionId": { "value": "GitHub.copilot-chat", "_lower": "github.copilot-chat" },
        "publisherDisplayName": "GitHub", "extensionPublisherId": "GitHub",
        "extensionDisplayName": "GitHub Copilot", "id": "github.copilot.editsAgent", "description": "",
        "metadata": { "themeIcon": { "id": "tools" }, "hasFollowups": false, "supportIssueReporting": false },
        "name": "agent", "fullName": "GitHub Copilot", "isDefault": true, "locations": ["panel"], "modes": ["agent"],
        "slashCommands": [], "disambiguation": [],
    })
}

/// Its mode, with the permissions that the editor gives by itself.
pub(super) fn mode() -> Value {
    json!({ "kind": "agent", "isBuiltin": true, "modeId": "agent", "permissionLevel": "default" })
}

/// The user's words, as one piece of text from the first letter to the last.
pub(super) fn message(text: &str) -> Value {
    let last = text.rsplit('\n').next().unwrap_or_default();
    // The editor counts as its language does.
    let (length, last_length) = (text.encode_utf16().count(), last.encode_utf16().count());
    let end_line = text.matches('\n').count() + 1;
    let part = json!({
        "range": { "start": 0, "endExclusive": length },
        "editorRange": {
            "startLineNumber": 1, "startColumn": 1, "endLineNumber": end_line, "endColumn": last_length + 1,
        },
        "text": text, "kind": "text",
    });
    json!({ "text": text, "parts": [part] })
}

/// The same as the extension sends it to its model.
pub(super) fn rendered(text: &str) -> Value {
    json!([{ "type": 1, "text": format!("<userRequest>\n{text}\n</userRequest>\n") }])
}

/// Words of the agent's.
pub(super) fn words(text: &str) -> Value {
    json!({ "value": text, "supportThemeIcons": false, "supportHtml": false })
}

pub(super) fn thinking(text: &str, id: &str) -> Value {
    json!({ "kind": "thinking", "value": text, "id": id })
}

/// A call as it is shown.
#[derive(Clone)]
pub(super) struct ShownCall {
    pub id: String,
    pub tool: String,
    pub input: Value,
}

impl ShownCall {
    /// The call with what it gave back.
    pub(super) fn invocation(&self, outcome: Option<(&Outcome, &str)>) -> Value {
        let message = format!("Ran {}", self.tool);
        let mut shown = json!({
            "kind": "toolInvocationSerialized", "invocationMessage": message, "pastTenseMessage": message,
            "isConfirmed": { "type": 1 }, "isComplete": true, "source": { "type": "internal", "label": "Built-In" },
            "toolCallId": self.id, "toolId": dialect::registered_name(&self.tool),
        });
        let Some((outcome, text)) = outcome else { return shown };
        // Of a command that failed without a number, only the other form can say so.
        let is_numbered = outcome.status != Status::Failed || outcome.exit_code.is_some();
        match self.input["command"].as_str().filter(|_| self.tool == dialect::SHELL_TOOL && is_numbered) {
            Some(command) => shown["toolSpecificData"] = terminal_data(command, outcome, text),
            None => {
                shown["resultDetails"] = json!({
                    "input": self.input.to_string(), "isError": outcome.status == Status::Failed,
                    "output": [{ "type": "embed", "isText": true, "value": text }],
                });
            }
        }
        shown
    }
}

fn terminal_data(command: &str, outcome: &Outcome, text: &str) -> Value {
    let mut data = json!({
        "kind": "terminal", "commandLine": { "original": command }, "language": "sh",
        "terminalCommandOutput": { "text": text.replace('\n', "\r\n") },
    });
    if let Some(code) = outcome.exit_code {
        data["terminalCommandState"] = json!({ "exitCode": code });
    }
    data
}
