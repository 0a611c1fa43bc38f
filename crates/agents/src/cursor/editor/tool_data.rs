//! What a tool did, as the editor keeps it in a bubble: the call and what came of it, each as JSON in a text.

use carryover_core::transcript::{Action, Call, Outcome, Status};
use serde_json::{Value, json};

use crate::CarriedEntry;
use crate::cursor::write::with_exit_code;
use crate::cursor::{FACTS, dialect};
use crate::formats::calls::CallWriter;
use crate::formats::translation::{NativeCall, ProjectDirs, with_fields};

/// The kind of a bubble that tells of a tool.
pub(super) const TOOL_CAPABILITY: u64 = 15;

/// The editor's own tools of which both the input and the result are known, with their numbers. A tool that has a number
/// is shown in a form of its own, for which the result has to be in one, too; any other is shown as it is.
const SHELL: (&str, u64) = ("run_terminal_command_v2", 15);
const READ: (&str, u64) = ("read_file_v2", 40);

/// A call without an outcome, and the id under which it is known.
pub(super) fn make_tool_data(calls: &mut CallWriter<'_>, call: &Call, carried: &CarriedEntry) -> Value {
    let own = translate_call(call, carried, calls.project_dirs());
    let (written, args) = calls.write_call(call, own);
    let (params, number) = match written.tool.as_str() {
        tool if tool == SHELL.0 => (shell_params(&args), Some(SHELL.1)),
        tool if tool == READ.0 => (read_params(&args), Some(READ.1)),
        _ => (args.clone(), None),
    };
    let data = json!({
        "toolCallId": written.id, "name": written.tool, "rawArgs": args.to_string(), "params": params.to_string(),
        "status": "cancelled", "result": "",
    });
    with_fields(data, &[("tool", number)])
}

/// Its own tools by the names that the editor has for them, and others by those that its model knows them by.
fn translate_call(call: &Call, carried: &CarriedEntry, dirs: ProjectDirs<'_>) -> Option<NativeCall> {
    let told = dialect::translate_action(&carried.action, dirs);
    match (&carried.action, told) {
        (Action::Run { .. }, Some(told)) => Some(NativeCall::new(SHELL.0, told.input)),
        (Action::Read { .. } | Action::View { .. }, Some(told)) => Some(NativeCall::new(READ.0, told.input)),
        // What is spelt in the client's own tools stays as it was.
        (_, told) => told.filter(|_| carried.agent != FACTS.id || call.tool.is_empty()),
    }
}

fn shell_params(args: &Value) -> Value {
    json!({ "command": args["command"], "cwd": args["working_directory"].as_str().unwrap_or_default() })
}

fn read_params(args: &Value) -> Value {
    let params = json!({ "targetFile": args["path"] });
    with_fields(params, &[("offset", args["offset"].as_u64()), ("limit", args["limit"].as_u64())])
}

/// Adds what came of a call.
pub(super) fn add_outcome(data: &mut Value, outcome: &Outcome, text: &str) {
    let tool = data["name"].as_str().unwrap_or_default();
    let code = outcome.exit_code;
    let (result, is_told) = match tool {
        tool if tool == SHELL.0 => {
            let result = json!({ "output": text, "rejected": false });
            (with_fields(result, &[("exitCodeV2", code)]).to_string(), code.is_some())
        }
        tool if tool == READ.0 => (json!({ "contents": text }).to_string(), false),
        _ => match code.filter(|code| *code != 0) {
            Some(code) => (with_exit_code(text, code), false),
            None => (text.to_owned(), false),
        },
    };
    let status = match outcome.status {
        Status::Interrupted => "cancelled",
        // The code tells that the command failed; the tool did not.
        Status::Failed if !is_told => "error",
        Status::Done | Status::Ended | Status::Failed => "completed",
    };
    data["result"] = json!(result);
    data["status"] = json!(status);
    data["additionalData"] = json!({ "status": status });
}
