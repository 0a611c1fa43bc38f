//! Edits that the client committed, as calls of its own.
//!
//! The model has no tools: it writes what it wants into its reply, and the client carries that out and commits it. What
//! became of a file stands in the commit alone. The model is shown its reply and not the commit, so these calls are the
//! client's: they tell what happened, and are no part of the context.

use carryover_core::json::Json;
use carryover_core::transcript::{Action, Body, Call, CallForm, CallId, Change, Outcome, Part, Status};
use serde::{Deserialize, Serialize};

use super::edits::{WireChange, WireHunk};
use crate::formats::git::{ChangedFile, Repository};

/// The tool's name in such a call.
pub(super) const TOOL_NAME: &str = "commit";
/// Lines around a change, by which its place is found again.
const CONTEXT_LINES: usize = 3;

/// The input of such a call.
#[derive(Serialize, Deserialize)]
struct WireCommit {
    commit: String,
    message: String,
    changes: Vec<WireChange>,
}

/// The call and its outcome, where the client said that it committed and the commit is still there.
pub(super) fn make_bodies(said: &str, repository: &Repository) -> Option<[Body; 2]> {
    let (commit, message) = said.strip_prefix("Commit ")?.split_once(' ')?;
    let changes = repository.read_changes(commit)?.iter().map(make_change).collect();
    let input = WireCommit { commit: commit.to_owned(), message: message.to_owned(), changes };
    let input = Json::from_value(&serde_json::to_value(input).ok()?);
    let id = CallId(format!("commit-{commit}").into());
    let outcome =
        Outcome { call: id.clone(), status: Status::Done, exit_code: None, parts: vec![Part::Text(said.to_owned())] };
    let call = Call { id, tool: TOOL_NAME.to_owned(), input, form: CallForm::Function };
    Some([Body::Call(Box::new(call)), Body::Outcome(Box::new(outcome))])
}

/// A file that is not text is named, and no more.
fn make_change(changed: &ChangedFile) -> WireChange {
    let path = changed.path.clone();
    let text = |bytes: &Option<Vec<u8>>| {
        bytes.as_deref().map(|bytes| std::str::from_utf8(bytes).unwrap_or_default().to_owned())
    };
    match (text(&changed.old), text(&changed.new)) {
        (_, None) => WireChange::Deleted { path },
        (None, Some(content)) => WireChange::Added { path, content },
        (Some(old), Some(new)) => WireChange::Changed { path, hunks: diff_hunks(&old, &new) },
    }
}

fn diff_hunks(old: &str, new: &str) -> Vec<WireHunk> {
    let diff = similar::TextDiff::from_lines(old, new);
    let hunk = |group: Vec<similar::DiffOp>| {
        let mut hunk = WireHunk { old: String::new(), new: String::new() };
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            if change.tag() != similar::ChangeTag::Insert {
                hunk.old.push_str(change.value());
            }
            if change.tag() != similar::ChangeTag::Delete {
                hunk.new.push_str(change.value());
            }
        }
        hunk
    };
    diff.grouped_ops(CONTEXT_LINES).into_iter().map(hunk).collect()
}

/// The action of such a call.
pub(super) fn interpret_call(call: &Call) -> Action {
    let Some(commit) = call.input.read_as::<WireCommit>() else { return Action::Other };
    Action::Edit(commit.changes.into_iter().map(Change::from).collect())
}
