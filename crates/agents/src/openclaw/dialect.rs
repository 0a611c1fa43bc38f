//! The meaning of the client's tools, and how a meaning is spelt in them.

use carryover_core::transcript::{Action, Call, Outcome, PlanStep, StepState};
use serde_json::json;

use super::{OpenClaw, outcome};
use crate::Dialect;
use crate::formats::patch;
use crate::formats::translation::{NativeCall, ProjectDirs, parse_step_state, read_or_view, update_file, with_fields};
use crate::formats::tree::dialect::{IMAGE_EXTENSIONS, read_hunks, translate_file_action};

/// The inputs of the tools that have a counterpart elsewhere; which fields are there depends on the tool.
#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct WireInput {
    command: Option<String>,
    workdir: Option<String>,
    #[serde(alias = "file_path")]
    path: Option<String>,
    offset: Option<u64>,
    limit: Option<u64>,
    content: Option<String>,
    pattern: Option<String>,
    glob: Option<String>,
    url: Option<String>,
    task: Option<String>,
    label: Option<String>,
    /// A patch.
    input: Option<String>,
    plan: Option<Vec<WireStep>>,
}

#[derive(serde::Deserialize)]
struct WireStep {
    step: String,
    #[serde(default)]
    status: String,
}

impl Dialect for OpenClaw {
    fn action(&self, call: &Call, outcome: Option<&str>) -> Action {
        let input: WireInput = call.input.read_as().unwrap_or_default();
        let workdir = input.workdir.filter(|folder| !folder.is_empty());
        let meaning = match call.tool.as_str() {
            "exec" | "bash" => input.command.map(|command| Action::Run { command, workdir }),
            "read" => input.path.map(|path| read_or_view(path, IMAGE_EXTENSIONS, input.offset, input.limit)),
            "view_image" => input.path.map(|path| Action::View { path }),
            "write" => input.path.zip(input.content).map(|(path, content)| Action::Write { path, content }),
            "edit" => input.path.map(|path| update_file(path, read_hunks(outcome))),
            "apply_patch" => input
                .input
                .map(|text| patch::changed_files(&text))
                .filter(|changes| !changes.is_empty())
                .map(Action::Edit),
            "update_plan" => input.plan.map(|steps| Action::Plan(steps.into_iter().map(plan_step).collect())),
            "grep" => input.pattern.map(|pattern| Action::Grep { pattern, path: input.path, glob: input.glob }),
            "find" => input.pattern.map(|pattern| Action::Glob { pattern, path: input.path }),
            "web_fetch" => input.url.map(|url| Action::Fetch { url }),
            "sessions_spawn" => input.task.map(|prompt| Action::Delegate { prompt, description: input.label }),
            _ => None,
        };
        meaning.unwrap_or(Action::Other)
    }

    fn strip_harness_text(&self, outcome: &mut Outcome) {
        outcome::strip_exit_code(outcome);
    }
}

fn plan_step(step: WireStep) -> PlanStep {
    PlanStep { text: step.step, state: parse_step_state(&step.status).unwrap_or(StepState::Pending) }
}

/// Spells a foreign call in the client's own tools, where the meaning is exact. Those that are not about files are
/// found by a search of the client's, and called through another.
pub(super) fn translate_action(action: &Action, dirs: ProjectDirs<'_>) -> Option<NativeCall> {
    match action {
        Action::Run { command, workdir } => {
            let folder = dirs.other_folder(workdir.as_deref());
            Some(NativeCall::new("exec", with_fields(json!({ "command": command }), &[("workdir", folder)])))
        }
        other => translate_file_action(other),
    }
}

#[cfg(test)]
mod tests {
    use carryover_core::transcript::Change;

    use super::*;
    use crate::write_fixtures::{function_call as call, hunks_of};

    const DIRS: ProjectDirs<'_> = ProjectDirs { current: "/p", former: None };

    #[test]
    fn an_edit_is_known_in_whole_lines_from_its_outcome() {
        let edits = json!([{ "oldText": "a - b", "newText": "a + b" }]);
        let edit = call("edit", &json!({ "path": "calc.py", "edits": edits }));
        let diff = " 1 def add(a, b):\n-2     return a - b\n+2     return a + b";
        let record = json!({ "message": { "details": { "diff": diff } } }).to_string();
        let meaning = OpenClaw.action(&edit, Some(&record));
        let hunks = hunks_of(&meaning);
        assert_eq!(hunks[0].old, "def add(a, b):\n    return a - b\n");
        assert_eq!(hunks[0].new, "def add(a, b):\n    return a + b\n");
        let spelt = translate_action(&meaning, DIRS).unwrap();
        assert_eq!(spelt.tool, "edit");
        assert_eq!(spelt.input["edits"][0]["oldText"], "def add(a, b):\n    return a - b");
    }

    #[test]
    fn patches_and_plans_are_known() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-x\n+y\n*** Delete File: b.rs\n*** End Patch";
        let Action::Edit(changes) = OpenClaw.action(&call("apply_patch", &json!({ "input": patch })), None) else {
            panic!("no edit")
        };
        assert_eq!(changes.iter().map(Change::path).collect::<Vec<_>>(), ["a.rs", "b.rs"]);
        let plan = call("update_plan", &json!({ "plan": [{ "step": "read", "status": "completed" }] }));
        let steps = vec![PlanStep { text: "read".into(), state: StepState::Done }];
        assert_eq!(OpenClaw.action(&plan, None), Action::Plan(steps));
    }

    #[test]
    fn commands_keep_their_folder() {
        let run = call("exec", &json!({ "command": "ls", "workdir": "/w" }));
        let meaning = OpenClaw.action(&run, None);
        assert_eq!(meaning, Action::Run { command: "ls".into(), workdir: Some("/w".into()) });
        assert_eq!(translate_action(&meaning, DIRS).unwrap().input, json!({ "command": "ls", "workdir": "/w" }));
    }
}
