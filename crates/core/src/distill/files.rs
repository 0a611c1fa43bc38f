//! The files that the session touched: what became of each, in which functions, and whether its tests pass.

use std::collections::BTreeMap;

use super::changes::{Touch, What};
use super::digest::Digest;
use super::role::Role;
use super::symbols::Symbols;
use super::{FileChange, FileTouched, TestState, testrun};
use crate::transcript::{Action, EntryKey};

/// Files that are told: those that were changed, and those that were read.
const CHANGED: usize = 200;
const READ: usize = 60;
/// Places that are cited for one file.
const CITED: usize = 6;
/// Runs of tests that are looked at for one file.
const RUNS: usize = 12;

struct State {
    change: FileChange,
    call: usize,
    /// In which order it was last changed, or else read.
    order: usize,
    cites: Vec<EntryKey>,
}

/// The most recently touched first.
pub(super) fn files(digest: &Digest<'_>, touches: &[Touch<'_>]) -> Vec<FileTouched> {
    let mut states: BTreeMap<&str, State> = BTreeMap::new();
    for (order, touch) in touches.iter().enumerate() {
        let call = &digest.calls[touch.call];
        let before = states.get(touch.path.as_str()).map(|state| state.change);
        let change = after(before, &touch.what, call.ended.map_or("", |ended| ended.text.as_str()));
        let state =
            states.entry(&touch.path).or_insert_with(|| State { change, call: touch.call, order, cites: Vec::new() });
        // To have read a file again is no news once it was changed.
        if matches!(touch.what, What::Read) && state.change != FileChange::Read {
            continue;
        }
        (state.change, state.call, state.order) = (change, touch.call, order);
        state.cites.push(call.key);
        let extra = state.cites.len().saturating_sub(CITED);
        state.cites.drain(..extra);
    }
    let mut states: Vec<(&str, State)> = states.into_iter().collect();
    states.sort_by_key(|(_, state)| std::cmp::Reverse(state.order));
    let mut symbols = Symbols::of(digest, touches);
    let runs = Runs::of(digest);
    let (mut changed, mut read) = (0, 0);
    states.retain(|(_, state)| {
        let (count, most) = if state.change == FileChange::Read { (&mut read, READ) } else { (&mut changed, CHANGED) };
        *count += 1;
        *count <= most
    });
    let told = states.into_iter().map(|(path, state)| {
        let is_changed = matches!(state.change, FileChange::Created | FileChange::Modified);
        FileTouched {
            path: path.to_owned(),
            change: in_git(digest, path, state.change),
            at: digest.calls[state.call].over_at(),
            symbols: if is_changed { symbols.touched(path) } else { Vec::new() },
            tests: is_changed.then(|| runs.state(path)).flatten(),
            cites: state.cites,
        }
    });
    told.collect()
}

/// What a file has become by one more change.
fn after(before: Option<FileChange>, what: &What<'_>, outcome: &str) -> FileChange {
    let was_new = before == Some(FileChange::Created);
    match what {
        What::Read => before.unwrap_or(FileChange::Read),
        What::Delete => FileChange::Deleted,
        What::Add(_) => FileChange::Created,
        What::Whole(_) | What::Made => match before {
            None if says_overwritten(outcome) => FileChange::Modified,
            None | Some(FileChange::Created | FileChange::Deleted) => FileChange::Created,
            Some(FileChange::Read | FileChange::Modified) => FileChange::Modified,
        },
        What::Hunks(_) | What::Altered if was_new => FileChange::Created,
        What::Hunks(_) | What::Altered => FileChange::Modified,
    }
}

fn says_overwritten(outcome: &str) -> bool {
    let head = outcome[..outcome.floor_char_boundary(300)].to_ascii_lowercase();
    ["has been updated", "overwr", "updated successfully", "file updated", "modified"]
        .iter()
        .any(|word| head.contains(word))
}

/// Git knows better whether a file is new.
fn in_git(digest: &Digest<'_>, path: &str, change: FileChange) -> FileChange {
    let Some(git) = &digest.workspace.git else { return change };
    let status = git.status.iter().find(|line| line.get(3..).is_some_and(|named| named.trim_matches('"') == path));
    match (status.and_then(|line| line.get(..2)), change) {
        (Some(" M" | "M " | "MM"), FileChange::Created) => FileChange::Modified,
        (Some("??" | "A " | "AM"), FileChange::Modified) => FileChange::Created,
        _ => change,
    }
}

/// The newest runs of tests: what they were run on and what they said.
struct Runs<'a> {
    newest: Vec<(&'a str, &'a str, bool)>,
}

impl<'a> Runs<'a> {
    fn of(digest: &Digest<'a>) -> Self {
        let mut newest = Vec::new();
        for call in digest.calls.iter().rev() {
            let (Action::Run { command, .. }, Some(ended)) = (call.action, call.ended) else { continue };
            if call.role != Role::Check || !call.line.as_ref().is_some_and(testrun::is_run) {
                continue;
            }
            newest.push((command.as_str(), ended.text.as_str(), call.failed));
            if newest.len() == RUNS {
                break;
            }
        }
        Self { newest }
    }

    /// How the newest run ended that names the file.
    fn state(&self, path: &str) -> Option<TestState> {
        let name = path.rsplit('/').next()?;
        let stem = stem(name);
        if stem.len() < 3 {
            return None;
        }
        for (command, output, failed) in &self.newest {
            let by_command = names(command, stem);
            let mut said = output.lines().filter(|line| names(line, stem)).peekable();
            if !by_command && said.peek().is_none() {
                continue;
            }
            let fails = |line: &str| {
                line.contains("FAIL")
                    || line.contains("✗")
                    || line.contains("✕")
                    || line.contains("panicked")
                    || line.contains("Error")
            };
            let is_failing = *failed && (by_command || said.any(fails));
            return Some(if is_failing { TestState::Failing } else { TestState::Passing });
        }
        None
    }
}

/// The name without its ending and without what makes it a test's.
fn stem(name: &str) -> &str {
    let stem = name.split('.').next().unwrap_or(name);
    let stem = stem.strip_prefix("test_").unwrap_or(stem);
    let stem = stem
        .strip_suffix("_test")
        .or_else(|| stem.strip_suffix("_tests"))
        .or_else(|| stem.strip_suffix("Test"))
        .unwrap_or(stem);
    if matches!(stem, "mod" | "lib" | "main" | "index" | "tests" | "test" | "__init__") { "" } else { stem }
}

/// Whether a text has a name, alone or as a part of an identifier.
fn names(text: &str, stem: &str) -> bool {
    memchr::memmem::find_iter(text.as_bytes(), stem).any(|at| {
        let letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        !letter(at.checked_sub(1).and_then(|before| text.as_bytes().get(before)))
            && !letter(text.as_bytes().get(at + stem.len()))
    })
}
