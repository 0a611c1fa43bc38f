//! Commands that the client ran: those that the user typed to it, and those that the model proposed and the user let run.
//!
//! Their output stands in the log of requests alone, where the user let the client send it.

use carryover_core::json::Json;
use carryover_core::transcript::{Action, Body, Call, CallForm, CallId, Outcome, Part, Status};
use serde::{Deserialize, Serialize};

/// The tool's name in such a call.
pub(super) const TOOL_NAME: &str = "run";

/// The input of such a call.
#[derive(Serialize, Deserialize)]
struct WireRun {
    command: String,
}

/// The command line in what the user typed to the client.
pub(super) fn typed_command(said: &str) -> Option<String> {
    let (name, words) = said.split_once(char::is_whitespace).unwrap_or((said, ""));
    let command = match name {
        "/run" | "/test" => words.trim().to_owned(),
        "/git" => format!("git {}", words.trim()),
        _ => said.strip_prefix('!')?.trim().to_owned(),
    };
    Some(command).filter(|command| !command.is_empty())
}

/// Whether the client sends what a command gave back only where it failed.
pub(super) fn is_test(said: &str) -> bool {
    said.starts_with("/test ")
}

/// The call of a command; `offset` is that of its line, by which it is named.
pub(super) fn make_call(command: String, offset: u64) -> Option<Body> {
    let input = serde_json::to_value(WireRun { command }).ok()?;
    let call = Call {
        id: call_id(offset),
        tool: TOOL_NAME.to_owned(),
        input: Json::from_value(&input),
        form: CallForm::Function,
    };
    Some(Body::Call(Box::new(call)))
}

/// The end of a test that failed: the client has added what it gave back.
pub(super) fn failed_outcome(said: &str, offset: u64) -> Body {
    let parts = vec![Part::Text(said.to_owned())];
    Body::Outcome(Box::new(Outcome { call: call_id(offset), status: Status::Failed, exit_code: None, parts }))
}

fn call_id(offset: u64) -> CallId {
    CallId(format!("run-{offset}").into())
}

/// The action of such a call.
pub(super) fn interpret_call(call: &Call) -> Action {
    let run = call.input.read_as::<WireRun>();
    run.map_or(Action::Other, |run| Action::Run { command: run.command, workdir: None })
}
