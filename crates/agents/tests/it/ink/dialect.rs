//! The meaning of calls.

use carryover_core::transcript::{Action, Call};
use serde::Deserialize;

#[derive(Deserialize)]
struct ShellInput {
    command: String,
}

pub(super) fn action(call: &Call) -> Action {
    match call.tool.as_str() {
        "shell" => {
            call.input.read().map_or(Action::Other, |ShellInput { command }| Action::Run { command, workdir: None })
        }
        _ => Action::Other,
    }
}
