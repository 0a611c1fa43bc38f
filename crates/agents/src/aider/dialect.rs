//! Calls and what came back from them, in words.
//!
//! The model has no tools here. It shows a whole file under its name and a change as a block of what to search and what
//! to put in its place, and the client carries both out; that is how edits are told. Everything else becomes a sentence
//! with what was asked as a quotation. Calls are numbered, so that what came back names its call.

use std::fmt::Write as _;

use carryover_core::transcript::{
    Action, Blob, Call, CallForm, Change, Hunk, Outcome, Part, PlanStep, Status, StepState,
};

use super::{Aider, commits, edits, shell};
use crate::Dialect;
use crate::formats::relocate::Relocation;

/// Where the work is and was.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProjectPaths<'a> {
    pub(super) project: &'a str,
    pub(super) moves: Option<Relocation<'a>>,
}

impl ProjectPaths<'_> {
    /// A path as the client writes it: from the project on, where it lies in there.
    fn relative_path(&self, path: &str) -> String {
        let below = |root: &str| {
            let rest = path.strip_prefix(root)?;
            rest.strip_prefix(['/', '\\']).filter(|rest| !rest.is_empty())
        };
        let old = self.moves.and_then(|moves| below(moves.old));
        below(self.project).or(old).unwrap_or(path).to_owned()
    }
}

impl Dialect for Aider {
    /// The model has no tools here: it writes its edits into its replies, and the client carries them out.
    fn action(&self, call: &Call, _outcome: Option<&str>) -> Action {
        match call.tool.as_str() {
            commits::TOOL_NAME => commits::interpret_call(call),
            edits::TOOL_NAME => edits::interpret_call(call),
            shell::TOOL_NAME => shell::interpret_call(call),
            _ => Action::Other,
        }
    }
}

/// A call in words, and whether they are the client's own way to say it.
pub(super) fn describe_call(number: usize, call: &Call, action: &Action, home: ProjectPaths<'_>) -> (String, bool) {
    let (said, own) = match action {
        Action::Write { path, content } => {
            (format!("I wrote this file:\n\n{}", format_listing(&home.relative_path(path), content)), true)
        }
        Action::Edit(changes) if changes.iter().any(has_content) => (describe_edit(changes, home), true),
        action => (describe_action(call, action, home), false),
    };
    (format!("[call {number}] {said}"), own)
}

fn describe_action(call: &Call, action: &Action, home: ProjectPaths<'_>) -> String {
    match action {
        Action::Run { command, workdir } => {
            let place =
                workdir.as_deref().map(|folder| format!(" in `{}`", home.relative_path(folder))).unwrap_or_default();
            format!("I ran this command{place}:\n\n{}", fence_block("bash", command))
        }
        Action::Read { path, offset, limit } => {
            let from = offset.map(|line| format!(" from line {line} on")).unwrap_or_default();
            let lines = limit.map(|lines| format!(", {lines} lines")).unwrap_or_default();
            format!("I read `{}`{from}{lines}.", home.relative_path(path))
        }
        Action::View { path } => format!("I looked at the image `{}`.", home.relative_path(path)),
        Action::Grep { pattern, path, glob } => {
            let files = glob.as_deref().map(|glob| format!(", files `{glob}`")).unwrap_or_default();
            format!(
                "I searched for this text{}{files}:\n\n{}",
                path_suffix(path.as_deref(), home),
                fence_block("", pattern)
            )
        }
        Action::Glob { pattern, path } => {
            format!("I looked for files `{pattern}`{}.", path_suffix(path.as_deref(), home))
        }
        Action::Fetch { url } => format!("I fetched {url}"),
        Action::Plan(steps) => format!("My plan:\n\n{}", format_plan(steps)),
        Action::Delegate { prompt, .. } => format!("I gave this to a helper:\n\n{}", fence_block("", prompt)),
        Action::Write { .. }
        | Action::Edit(_)
        | Action::Step(_)
        | Action::Ask(_)
        | Action::Propose { .. }
        | Action::Other => describe_other(call, home),
    }
}

fn path_suffix(path: Option<&str>, home: ProjectPaths<'_>) -> String {
    path.map(|path| format!(" in `{}`", home.relative_path(path))).unwrap_or_default()
}

fn describe_other(call: &Call, home: ProjectPaths<'_>) -> String {
    let input = home.moves.map_or_else(|| call.input.clone(), |moves| moves.move_json(&call.input));
    let text = match (call.form, input.to_value()) {
        (CallForm::Freeform, serde_json::Value::String(text)) => fence_block("", &text),
        _ => fence_block("json", input.as_str()),
    };
    format!("I used the tool `{}` with this input:\n\n{text}", call.tool)
}

fn format_plan(steps: &[PlanStep]) -> String {
    let line = |step: &PlanStep| {
        let mark = match step.state {
            StepState::Pending => "[ ]",
            StepState::InProgress => "[~]",
            StepState::Done => "[x]",
        };
        format!("- {mark} {}", step.text)
    };
    steps.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Some agents name the file alone.
fn has_content(change: &Change) -> bool {
    match change {
        Change::Update { moved_to, hunks, .. } => moved_to.is_some() || !hunks.is_empty(),
        Change::Add { .. } | Change::Delete { .. } => true,
    }
}

fn describe_edit(changes: &[Change], home: ProjectPaths<'_>) -> String {
    let mut out = "I made these changes:".to_owned();
    for change in changes {
        let path = home.relative_path(change.path());
        out.push_str("\n\n");
        match change {
            Change::Add { content, .. } => out.push_str(&format_listing(&path, content)),
            Change::Delete { .. } => out.extend(["`", &path, "` is deleted."]),
            Change::Update { moved_to, hunks, .. } => {
                let blocks = hunks.iter().map(|hunk| format_replacement(&path, hunk));
                let moved = moved_to.iter().map(|to| format!("`{path}` is now `{}`.", home.relative_path(to)));
                out.push_str(&blocks.chain(moved).collect::<Vec<_>>().join("\n\n"));
            }
        }
    }
    out
}

fn format_replacement(path: &str, hunk: &Hunk) -> String {
    let (old, new) = (whole_lines(&hunk.old), whole_lines(&hunk.new));
    let body = format!("<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE");
    let everywhere = if hunk.everywhere { "\n\n(wherever it occurs)" } else { "" };
    format!("{path}\n{}{everywhere}", fence_block("", &body))
}

fn format_listing(path: &str, content: &str) -> String {
    format!("{path}\n{}", fence_block("", content))
}

fn whole_lines(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

/// A quotation between fences that are longer than any in it.
fn fence_block(language: &str, text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.saturating_add(1).max(3));
    format!("{fence}{language}\n{}{fence}", whole_lines(text))
}

/// The outcome of a call, in words.
pub(super) fn describe_outcome(number: Option<usize>, outcome: &Outcome, text: &str) -> String {
    let mut head = match number {
        Some(number) => format!("[result of call {number}"),
        None => "[result".to_owned(),
    };
    head.push_str(match outcome.status {
        Status::Done | Status::Ended => "",
        Status::Failed => ", failed",
        Status::Interrupted => ", interrupted",
    });
    if let Some(code) = outcome.exit_code {
        // Writing into a string does not fail.
        let _ = write!(head, ", exit code {code}");
    }
    if text.trim().is_empty() { format!("{head}] nothing") } else { format!("{head}]\n\n{}", fence_block("", text)) }
}

/// The text of some parts, with words in the place of what is not text.
pub(super) fn parts_text(parts: &[Part], mut stood_in: impl FnMut(&Blob)) -> String {
    let text = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Blob(blob) => {
            stood_in(blob);
            let what = if blob.is_image() { "image" } else { "file" };
            let name = blob.name.as_deref().map(|name| format!(" {name}")).unwrap_or_default();
            format!("[{what}{name} ({}), not carried over]", blob.media_type)
        }
    };
    parts.iter().map(text).collect::<Vec<_>>().join("\n\n")
}
