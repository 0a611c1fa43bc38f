//! The meaning of steps.

use carryover_core::transcript::{Action, Call};

use super::Windsurf;
use super::wire::{WireCommand, WireFile};
use crate::Dialect;

impl Dialect for Windsurf {
    fn action(&self, call: &Call, _outcome: Option<&str>) -> Action {
        let file = || call.input.read_as::<WireFile>();
        let meaning = match call.tool.as_str() {
            "code_action" => file()
                .and_then(|file| Some(Action::Write { path: local_path(&file.path?), content: file.new_content? })),
            "view_file" => {
                file().and_then(|file| Some(Action::Read { path: local_path(&file.path?), offset: None, limit: None }))
            }
            "run_command" => call
                .input
                .read_as::<WireCommand>()
                .and_then(|run| Some(Action::Run { command: run.command?, workdir: run.cwd })),
            _ => None,
        };
        meaning.unwrap_or(Action::Other)
    }
}

/// A path, which some steps have as an address.
pub(super) fn local_path(path: &str) -> String {
    path.strip_prefix("file://").unwrap_or(path).to_owned()
}
