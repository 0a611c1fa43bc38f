//! The meaning of pi's tools, and how a meaning is spelt in them.

use carryover_core::transcript::{Action, Answer, Call, Outcome};
use serde_json::json;

use super::{Pi, outcome, questions};
use crate::Dialect;
use crate::formats::translation::{NativeCall, ProjectDirs, read_or_view, update_file};
use crate::formats::tree::dialect::{IMAGE_EXTENSIONS, read_hunks, translate_file_action};

/// The inputs of the tools that have a counterpart elsewhere; which fields are there depends on the tool.
#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct WireInput {
    command: Option<String>,
    #[serde(alias = "file_path")]
    path: Option<String>,
    offset: Option<u64>,
    limit: Option<u64>,
    content: Option<String>,
    pattern: Option<String>,
    glob: Option<String>,
    agent: Option<String>,
    task: Option<String>,
}

impl Dialect for Pi {
    fn action(&self, call: &Call, outcome: Option<&str>) -> Action {
        let input: WireInput = call.input.read_as().unwrap_or_default();
        let meaning = match call.tool.as_str() {
            "bash" => input.command.map(|command| Action::Run { command, workdir: None }),
            "read" => input.path.map(|path| read_or_view(path, IMAGE_EXTENSIONS, input.offset, input.limit)),
            "write" => input.path.zip(input.content).map(|(path, content)| Action::Write { path, content }),
            "edit" => input.path.map(|path| update_file(path, read_hunks(outcome))),
            "grep" => input.pattern.map(|pattern| Action::Grep { pattern, path: input.path, glob: input.glob }),
            "find" => input.pattern.map(|pattern| Action::Glob { pattern, path: input.path }),
            "subagent" => input.task.map(|prompt| Action::Delegate { prompt, description: input.agent }),
            _ => questions::ask_action(call),
        };
        meaning.unwrap_or(Action::Other)
    }

    fn answers(&self, call: &Call, outcome: &str) -> Vec<Answer> {
        questions::read_answers(call, outcome)
    }

    fn strip_harness_text(&self, outcome: &mut Outcome) {
        outcome::strip_exit_code(outcome);
    }
}

/// Spells a foreign call in pi's own tools, where the meaning is exact. `grep` and `find` are there, but turned off
/// unless the user asks for them.
pub(super) fn translate_action(action: &Action, dirs: ProjectDirs<'_>) -> Option<NativeCall> {
    match action {
        Action::Run { command, workdir } => {
            Some(NativeCall::new("bash", json!({ "command": dirs.prefix_cd(command, workdir.as_deref()) })))
        }
        other => translate_file_action(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write_fixtures::{function_call as call, hunks_of};

    #[test]
    fn an_edit_is_known_in_whole_lines_from_its_outcome() {
        let edits = json!([{ "oldText": "a - b", "newText": "a + b" }, { "oldText": "x", "newText": "" }]);
        let edit = call("edit", &json!({ "path": "calc.py", "edits": edits }));
        let diff = "   1 def add(a, b):\n-  2     return a - b\n+  2     return a + b\n     ...\n  99 \n-100 x";
        let record = json!({ "message": { "details": { "diff": diff } } }).to_string();
        let meaning = Pi.action(&edit, Some(&record));
        let hunks = hunks_of(&meaning);
        assert_eq!(hunks[0].old, "def add(a, b):\n    return a - b\n");
        assert_eq!(hunks[0].new, "def add(a, b):\n    return a + b\n");
        assert_eq!((hunks[1].old.as_str(), hunks[1].new.as_str()), ("\nx\n", "\n"));
        let spelt = translate_action(&meaning, ProjectDirs { current: "/p", former: None }).unwrap();
        assert_eq!(spelt.tool, "edit");
        assert_eq!(spelt.input["edits"][0]["oldText"], "def add(a, b):\n    return a - b");
    }

    #[test]
    fn commands_elsewhere_go_there_first() {
        let run = Action::Run { command: "ls".into(), workdir: Some("/o'k".into()) };
        let spelt = translate_action(&run, ProjectDirs { current: "/p", former: None }).unwrap();
        assert_eq!(spelt.input["command"], r"cd '/o'\''k' && ls");
    }
}
