//! The meaning of calls.

use carryover_core::transcript::{Action, Call};
use serde::Deserialize;

use super::Ink;
use carryover_agents::Dialect;

#[derive(Deserialize)]
struct ShellInput {
    command: String,
}

impl Dialect for Ink {
    fn action(&self, call: &Call, _outcome: Option<&str>) -> Action {
        match call.tool.as_str() {
            "shell" => call
                .input
                .read_as()
                .map_or(Action::Other, |ShellInput { command }| Action::Run { command, workdir: None }),
            _ => Action::Other,
        }
    }
}
