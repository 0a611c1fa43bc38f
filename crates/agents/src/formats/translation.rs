//! Pieces from which dialects are made: paths, folders, changes, steps and inputs of calls, as most clients have them.
//!
//! A dialect spells what its client has an exact tool for. Every other call keeps its own tool, which is never wrong.

use carryover_core::json::Json;
use carryover_core::transcript::{Action, Call, Change, Hunk, StepState};
use serde_json::{Value, json};

use super::relocate::Relocation;

/// A call in a client's own tools.
#[cfg_attr(test, derive(Debug, PartialEq))]
pub(crate) struct NativeCall {
    pub tool: &'static str,
    pub input: Value,
}

impl NativeCall {
    pub(crate) fn new(tool: &'static str, input: Value) -> Self {
        Self { tool, input }
    }
}

/// The folder in which the session goes on, and the one in which it was.
#[derive(Clone, Copy)]
pub(crate) struct ProjectDirs<'a> {
    pub current: &'a str,
    pub former: Option<&'a str>,
}

impl<'a> ProjectDirs<'a> {
    pub(crate) fn new(current: &'a str, moves: Option<Relocation<'a>>) -> Self {
        Self { current, former: moves.map(|moves| moves.old) }
    }

    /// The folder of a command, if it is not the project: there every client's shell starts by itself.
    pub(crate) fn other_folder<'w>(&self, workdir: Option<&'w str>) -> Option<&'w str> {
        workdir.filter(|folder| *folder != self.current && Some(*folder) != self.former)
    }

    /// The command, after a step into its folder where that is another one.
    pub(crate) fn prefix_cd(&self, command: &str, workdir: Option<&str>) -> String {
        match self.other_folder(workdir) {
            Some(folder) => format!("cd '{}' && {command}", folder.replace('\'', r"'\''")),
            None => command.to_owned(),
        }
    }

    /// The path from the root on.
    pub(crate) fn resolve_path(&self, path: &str) -> String {
        let rooted =
            path.starts_with(['/', '\\', '~']) || path.get(1..3).is_some_and(|drive| drive == ":\\" || drive == ":/");
        if rooted { path.to_owned() } else { format!("{}/{}", self.current, path.trim_start_matches("./")) }
    }
}

/// The input of a call that keeps its own tool: an object, as the APIs demand.
pub(crate) fn wrap_input(input: &Json) -> Value {
    match input.to_value() {
        object @ Value::Object(_) => object,
        other => json!({ "input": other }),
    }
}

/// Adds the fields that have a value.
pub(crate) fn with_fields<T: Into<Value> + Copy>(mut input: Value, fields: &[(&str, Option<T>)]) -> Value {
    for (name, value) in fields {
        if let Some(value) = *value {
            input[*name] = value.into();
        }
    }
    input
}

/// Whether a path names an image, by the endings for which the client shows its model a picture.
pub(crate) fn is_image(path: &str, endings: &[&str]) -> bool {
    endings.contains(&path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase().as_str())
}

/// The meaning of a tool that shows images to its model and reads everything else.
pub(crate) fn read_or_view(path: String, endings: &[&str], offset: Option<u64>, limit: Option<u64>) -> Action {
    if is_image(&path, endings) { Action::View { path } } else { Action::Read { path, offset, limit } }
}

/// A change of one file in its place.
pub(crate) fn update_file(path: String, hunks: Vec<Hunk>) -> Action {
    Action::Edit(vec![Change::Update { path, moved_to: None, hunks }])
}

/// A change that a client can make with one call.
pub(crate) enum FileChange<'a> {
    Create {
        path: &'a str,
        content: &'a str,
    },
    /// At least one hunk, each of which names the text that it replaces.
    Replace {
        path: &'a str,
        hunks: &'a [Hunk],
    },
}

/// The change of one file by which a patch can be spelt. Several files in one patch, files that move or go, and
/// insertions without surroundings, which name no place that could be found again, have no counterpart.
pub(crate) fn single_change(changes: &[Change]) -> Option<FileChange<'_>> {
    match changes {
        [Change::Add { path, content }] => Some(FileChange::Create { path, content }),
        [Change::Update { path, moved_to: None, hunks }] => {
            let names_places = !hunks.is_empty() && hunks.iter().all(|hunk| !hunk.old.is_empty());
            names_places.then_some(FileChange::Replace { path, hunks })
        }
        _ => None,
    }
}

/// The old and the new text of a hunk. The last line feed belongs to neither side, for a file may end without one.
pub(crate) fn replaced_text(hunk: &Hunk) -> (&str, &str) {
    match (hunk.old.strip_suffix('\n'), hunk.new.strip_suffix('\n')) {
        (Some(old), Some(new)) => (old, new),
        _ => (&hunk.old, &hunk.new),
    }
}

/// The state of a step, by the words that most clients use.
pub(crate) fn parse_step_state(status: &str) -> Option<StepState> {
    match status {
        "completed" => Some(StepState::Done),
        "in_progress" => Some(StepState::InProgress),
        "pending" => Some(StepState::Pending),
        _ => None,
    }
}

/// The same the other way round.
pub(crate) fn format_step_state(state: StepState) -> &'static str {
    match state {
        StepState::Pending => "pending",
        StepState::InProgress => "in_progress",
        StepState::Done => "completed",
    }
}

/// Whatever else a call said about its plan stays beside the steps.
pub(crate) fn keep_explanation(mut input: Value, call: &Call) -> Value {
    if let Some(explanation) = call.input.to_value().get("explanation").filter(|value| value.is_string()) {
        input["explanation"] = explanation.clone();
    }
    input
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_from_the_root_on() {
        let dirs = ProjectDirs { current: "/p", former: Some("/old") };
        for (path, expected) in [("./a", "/p/a"), ("a/b", "/p/a/b"), ("/x", "/x"), ("~/x", "~/x"), ("C:\\x", "C:\\x")] {
            assert_eq!(dirs.resolve_path(path), expected);
        }
    }

    #[test]
    fn a_command_goes_into_its_folder_unless_that_is_the_project() {
        let dirs = ProjectDirs { current: "/p", former: Some("/old") };
        assert_eq!(dirs.prefix_cd("ls", Some("/o'k")), r"cd '/o'\''k' && ls");
        for folder in [None, Some("/p"), Some("/old")] {
            assert_eq!(dirs.prefix_cd("ls", folder), "ls");
        }
    }
}
