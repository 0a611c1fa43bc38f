//! The files that the session touched: what became of each, in which functions, and whether its tests pass.

use std::collections::BTreeMap;

use super::Work;
use super::call::Call;
use super::changes::FileEffect;
use super::role::Role;
use super::symbols::Symbols;
use super::test_run;
use crate::distill::{FileChange, TestResult, TouchedFile};
use crate::transcript::{Action, EntryKey};

/// Files that are told: those that were changed, and those that were read.
const MAX_CHANGED: usize = 200;
const MAX_READ: usize = 60;
/// Places that are named for one file.
const MAX_ENTRIES: usize = 6;

struct FileState {
    change: FileChange,
    /// Whether it was there before the session changed it.
    was_there: bool,
    call: usize,
    /// In which order it was last changed, or else read.
    order: usize,
    entries: Vec<EntryKey>,
}

/// The most recently touched first.
pub(super) fn collect_from(work: &Work<'_>) -> Vec<TouchedFile> {
    let mut states: Vec<(&str, FileState)> = collect_states(work).into_iter().collect();
    // A file that was made and is gone again has left nothing.
    states.retain(|(_, state)| !is_gone(state.change) || !state.entries.is_empty());
    states.retain(|(_, state)| !may_be_back(work, state));
    states.sort_by_key(|(_, state)| std::cmp::Reverse(state.order));
    let (mut changed, mut read) = (0, 0);
    states.retain(|(_, state)| {
        let (count, most) =
            if state.change == FileChange::Read { (&mut read, MAX_READ) } else { (&mut changed, MAX_CHANGED) };
        *count += 1;
        *count <= most
    });
    let mut symbols = Symbols::new(work);
    let told = states.into_iter().map(|(path, state)| {
        let is_changed = state.change != FileChange::Read && !is_gone(state.change);
        TouchedFile {
            path: work.quoting.mask(path).into_owned(),
            change: correct_by_git(work, path, state.change),
            at: work.calls[state.call].over_at(),
            symbols: if is_changed { symbols.find_touched(path) } else { Vec::new() },
            tests: is_changed.then(|| tests_since(work, path, state.call)).flatten(),
            entries: state.entries,
        }
    });
    told.collect()
}

/// Whether a file that a command cleared away, and that the session had nothing else to do with, may have been made anew
/// by a later command: the output of a run is of that kind. What is not known is not told.
fn may_be_back(work: &Work<'_>, state: &FileState) -> bool {
    let is_work = |call: &Call<'_>| matches!(call.action, Action::Run { .. }) && call.role != Role::Look;
    let is_cleared =
        state.change == FileChange::Deleted && state.entries.len() == 1 && is_work(&work.calls[state.call]);
    is_cleared && work.calls[state.call + 1..].iter().any(|later| is_work(later) && later.succeeded())
}

/// The final state of each file.
fn collect_states<'w>(work: &'w Work<'_>) -> BTreeMap<&'w str, FileState> {
    let mut states: BTreeMap<&str, FileState> = BTreeMap::new();
    for (order, touch) in work.touches.iter().enumerate() {
        let call = &work.calls[touch.call];
        let before = states.get(touch.path.as_str()).map(|state| state.change);
        let was_there = states.get(touch.path.as_str()).is_some_and(|state| state.was_there);
        let change = apply_effect(before, was_there, &touch.effect, call.end.map_or("", |end| end.text.as_str()));
        let state = states.entry(&touch.path).or_insert_with(|| FileState {
            change,
            was_there: !matches!(change, FileChange::Created | FileChange::Written),
            call: touch.call,
            order,
            entries: Vec::new(),
        });
        // To have read a file again is no news once it was changed.
        if matches!(touch.effect, FileEffect::Read) && state.change != FileChange::Read {
            continue;
        }
        let is_undone = !was_there && before.is_some() && is_gone(change);
        (state.change, state.call, state.order) = (change, touch.call, order);
        state.entries.push(call.key);
        let extra = if is_undone { state.entries.len() } else { state.entries.len().saturating_sub(MAX_ENTRIES) };
        state.entries.drain(..extra);
    }
    states
}

/// How the newest run of tests ended that names the file and came after its last change.
fn tests_since(work: &Work<'_>, path: &str, changed: usize) -> Option<TestResult> {
    let name = path.rsplit('/').next()?;
    let stem = Some(bare_stem(name)).filter(|stem| stem.len() > 2)?;
    let is_run = |call: &&Call<'_>| {
        call.line.as_ref().is_some_and(test_run::has_test_command) && (call.failed || call.succeeded())
    };
    let mut runs = work.calls[changed + 1..].iter().rev().filter(is_run);
    runs.find_map(|call| {
        let (Action::Run { command, .. }, Some(end)) = (call.action, call.end) else { return None };
        let is_named = contains_name(command, stem) || end.text.lines().any(|line| contains_name(line, stem));
        let result = if call.failed { TestResult::Failed } else { TestResult::Passed };
        // A run that failed elsewhere says nothing of this file.
        (is_named && (!call.failed || names_failure(call, stem))).then_some(result)
    })
}

/// Whether what failed in a run is the file's.
fn names_failure(call: &Call<'_>, stem: &str) -> bool {
    let (Action::Run { command, .. }, Some(end)) = (call.action, call.end) else { return false };
    let fails = |line: &str| ["FAIL", "✗", "✕", "panicked", "Error"].iter().any(|mark| line.contains(mark));
    contains_name(command, stem) || end.text.lines().any(|line| contains_name(line, stem) && fails(line))
}

fn is_gone(change: FileChange) -> bool {
    matches!(change, FileChange::Deleted | FileChange::Moved)
}

/// The state of a file after one more effect.
fn apply_effect(before: Option<FileChange>, was_there: bool, what: &FileEffect<'_>, outcome: &str) -> FileChange {
    match what {
        FileEffect::Read | FileEffect::Folder => before.unwrap_or(FileChange::Read),
        FileEffect::Delete | FileEffect::DeleteBelow => FileChange::Deleted,
        FileEffect::MovedAway | FileEffect::MoveTo(_) => FileChange::Moved,
        // A file that was there before and comes back was changed.
        FileEffect::Add(_) | FileEffect::MovedHere if was_there => FileChange::Modified,
        FileEffect::Add(_) | FileEffect::MovedHere => FileChange::Created,
        FileEffect::Whole(_) | FileEffect::Made => match before {
            None if says_created(outcome) => FileChange::Created,
            None if says_overwritten(outcome) => FileChange::Modified,
            None => FileChange::Written,
            Some(change) if is_gone(change) && was_there => FileChange::Modified,
            Some(change) if is_gone(change) => FileChange::Created,
            Some(FileChange::Read) => FileChange::Modified,
            Some(change) => change,
        },
        FileEffect::Hunks(_) | FileEffect::Altered => match before {
            Some(change @ (FileChange::Created | FileChange::Written)) => change,
            _ => FileChange::Modified,
        },
    }
}

fn says_created(outcome: &str) -> bool {
    head_contains(outcome, &["created", "new file"])
}

fn says_overwritten(outcome: &str) -> bool {
    head_contains(outcome, &["has been updated", "overwr", "updated successfully", "file updated", "modified"])
}

fn head_contains(outcome: &str, words: &[&str]) -> bool {
    let head = outcome[..outcome.floor_char_boundary(300)].to_ascii_lowercase();
    words.iter().any(|word| head.contains(word))
}

/// Git knows better whether a file is new.
fn correct_by_git(work: &Work<'_>, path: &str, change: FileChange) -> FileChange {
    let Some(git) = &work.workspace.git else { return change };
    let status = git.status.iter().find(|line| line.get(3..).is_some_and(|named| named.trim_matches('"') == path));
    match (status.and_then(|line| line.get(..2)), change) {
        (Some(" M" | "M " | "MM"), FileChange::Created | FileChange::Written) => FileChange::Modified,
        (Some("??" | "A " | "AM"), FileChange::Modified | FileChange::Written) => FileChange::Created,
        _ => change,
    }
}

/// The name without its ending and without what makes it a test's.
fn bare_stem(name: &str) -> &str {
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
fn contains_name(text: &str, stem: &str) -> bool {
    memchr::memmem::find_iter(text.as_bytes(), stem).any(|at| {
        let letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        !letter(at.checked_sub(1).and_then(|before| text.as_bytes().get(before)))
            && !letter(text.as_bytes().get(at + stem.len()))
    })
}
