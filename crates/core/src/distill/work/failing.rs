//! Commands whose last run failed, and approaches that were tried in vain or taken back: by structure only.

use std::collections::{BTreeMap, BTreeSet};

use super::Work;
use super::call::Call;
use super::outcome::{error_lines, exit_code_in_text};
use super::role::{self, Role};
use super::shell::CommandLine;
use crate::distill::{ApproachKind, FailedApproach, FailingCommand, Item, Voice};
use crate::transcript::{Action, Change, Hunk, Status};

/// The most that are listed, the newest of them.
const MAX_FAILING: usize = 12;
const MAX_APPROACHES: usize = 20;
/// Lines of an output that are quoted.
const ERROR_LINES: usize = 4;
/// Edits of one file that are compared for one that was taken back.
const MAX_EDITS: usize = 400;

/// Checks whose last run failed and nothing passed since, in the present work; other commands only at the very end.
pub(super) fn collect_from(work: &Work<'_>, present_from: usize) -> Vec<FailingCommand> {
    let mut newest: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (index, call) in work.calls.iter().enumerate().filter(|(_, call)| call.step >= present_from) {
        if call.failed && is_relevant(call) {
            let runs = newest.entry(call.aim()).or_default();
            *runs = (index, runs.1 + 1);
        } else if call.succeeded() {
            newest.remove(call.aim());
        }
    }
    let mut found: Vec<(usize, usize)> =
        newest.into_values().filter(|(index, _)| is_unresolved(work, *index)).collect();
    found.sort_unstable();
    let extra = found.len().saturating_sub(MAX_FAILING);
    found.drain(..extra);
    found.into_iter().map(|(index, runs)| describe_call(work, &work.calls[index], runs)).collect()
}

fn describe_call(work: &Work<'_>, call: &Call<'_>, runs: usize) -> FailingCommand {
    let output = call.end.map_or("", |end| end.text.as_str());
    FailingCommand {
        what: call.to_item(work.quoting),
        exit_code: call.end.and_then(|end| end.exit_code.or_else(|| exit_code_in_text(&end.text))),
        runs,
        output: error_lines(output, ERROR_LINES, work.quoting),
    }
}

/// Failures of the harness, of a mere look, or by the user's own hand tell nothing of the work.
fn is_relevant(call: &Call<'_>) -> bool {
    let Some(end) = call.end else { return false };
    let is_work = matches!(call.action, Action::Run { .. } | Action::Write { .. } | Action::Edit(_));
    is_work
        && call.role != Role::Look
        && end.status != Status::Interrupted
        && !call.is_refused
        && !is_unknown_tool(&end.text)
}

fn is_unknown_tool(output: &str) -> bool {
    let head = output[..output.floor_char_boundary(400)].to_ascii_lowercase();
    ["no such tool", "unknown tool", "tool not found", "unsupported call", "is not available in this session"]
        .iter()
        .any(|notice| head.contains(notice))
}

/// Whether nothing after a failure resolved it. What is no check is in the way only where no work came after it.
fn is_unresolved(work: &Work<'_>, index: usize) -> bool {
    let call = &work.calls[index];
    let later = &work.calls[index + 1..];
    let aim = call.aim();
    if later.iter().any(|later| later.end.is_some() && tries_again(later, call)) {
        return false;
    }
    let mut passed = later.iter().filter(|later| later.succeeded());
    match (call.role, &call.line) {
        (Role::Check, Some(line)) => {
            let (family, targets) = role::check_family(line);
            let kind = role::check_kind(line);
            // As much or more that passes is the proof; so is another program for the same kind of check.
            !passed.any(|later| {
                later.line.as_ref().is_some_and(|line| {
                    later.role == Role::Check && {
                        let (other, on) = role::check_family(line);
                        if other == family {
                            on.iter().all(|target| targets.contains(target))
                        } else {
                            role::check_kind(line) == kind
                        }
                    }
                })
            })
        }
        _ => !passed.any(|later| later.role != Role::Look || later.aim() == aim),
    }
}

/// Whether a call is an earlier one with more words: what came of it tells how that stands.
fn tries_again(later: &Call<'_>, call: &Call<'_>) -> bool {
    let has = |word: &str| later.aim().split_whitespace().any(|other| other == word);
    later.line.is_some() && later.aim() != call.aim() && call.aim().split_whitespace().all(has)
}

/// Aims that were tried in several ways and failed each time, and edits that were taken back; in order.
pub(super) fn failed_approaches(work: &Work<'_>) -> Vec<FailedApproach> {
    let mut found = repeated_failures(work);
    found.extend(reverted_edits(work));
    found.sort_by_key(|(index, _)| *index);
    let extra = found.len().saturating_sub(MAX_APPROACHES);
    found.drain(..extra);
    found.into_iter().map(|(_, approach)| approach).collect()
}

/// Commands of one program and subcommand that failed in two or more ways, and in none worked.
fn repeated_failures(work: &Work<'_>) -> Vec<(usize, FailedApproach)> {
    let mut families: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, call) in work.calls.iter().enumerate() {
        if let (Role::Do, Some(family)) = (call.role, family_of(call)) {
            families.entry(family).or_default().push(index);
        }
    }
    let mut found = Vec::new();
    for tries in families.values() {
        let calls: Vec<&Call<'_>> = tries.iter().map(|index| &work.calls[*index]).collect();
        if !calls.iter().all(|call| call.failed && is_relevant(call)) {
            continue;
        }
        let ways: BTreeSet<&str> = calls.iter().map(|call| call.aim()).collect();
        if ways.len() < 2 {
            continue;
        }
        let (Some(index), Some(last)) = (tries.last(), calls.last()) else { continue };
        let output = last.end.map_or("", |end| end.text.as_str());
        let mut what = last.to_item(work.quoting);
        what.entries = calls.iter().rev().take(6).rev().map(|call| call.key).collect();
        let detail = error_lines(output, 1, work.quoting).pop();
        found.push((*index, FailedApproach { what, kind: ApproachKind::Failed, tries: ways.len(), detail }));
    }
    found
}

/// The last program of a command with its first argument, by which ways to one end are known.
fn family_of(call: &Call<'_>) -> Option<String> {
    let command = call.line.as_ref()?.commands().last()?;
    let first = command.arguments().find(|word| !word.starts_with('-'))?;
    Some(format!("{} {first}", command.name()))
}

/// Edits that a later one turned round, or that git was told to forget.
fn reverted_edits(work: &Work<'_>) -> Vec<(usize, FailedApproach)> {
    let mut edits: BTreeMap<&str, Vec<(usize, &Hunk)>> = BTreeMap::new();
    let mut found = Vec::new();
    for (index, call) in work.calls.iter().enumerate().filter(|(_, call)| call.succeeded()) {
        for (path, hunk) in hunks_of(call) {
            let known = edits.entry(path).or_default();
            let turned =
                known.iter().rposition(|(_, old)| old.old == hunk.new && old.new == hunk.old && old.old != old.new);
            match turned {
                Some(at) => {
                    let (first, _) = known.remove(at);
                    found.push((index, describe_revert(work, first, path, call)));
                }
                None if known.len() < MAX_EDITS => known.push((index, hunk)),
                None => {}
            }
        }
        for path in restored_files(call, work) {
            if let Some((first, _)) = edits.remove(path.as_str()).and_then(|known| known.last().copied()) {
                found.push((index, describe_revert(work, first, &path, call)));
            }
        }
    }
    found
}

fn hunks_of<'a>(call: &Call<'a>) -> Vec<(&'a str, &'a Hunk)> {
    let Action::Edit(changes) = call.action else { return Vec::new() };
    let updates = changes.iter().filter_map(|change| match change {
        Change::Update { path, hunks, .. } => Some((path.as_str(), hunks)),
        _ => None,
    });
    updates.flat_map(|(path, hunks)| hunks.iter().map(move |hunk| (path, hunk))).collect()
}

/// The files that `git restore` or `git checkout --` put back, as earlier edits named them.
fn restored_files(call: &Call<'_>, work: &Work<'_>) -> Vec<String> {
    let mut paths: Vec<&str> = Vec::new();
    for command in call.line.iter().flat_map(CommandLine::commands).filter(|command| command.name() == "git") {
        let words: Vec<&str> = command.arguments().collect();
        match words.as_slice() {
            ["restore", rest @ ..] => paths.extend(rest.iter().copied().filter(|word| !word.starts_with('-'))),
            ["checkout", rest @ ..] => {
                let behind = rest.iter().copied().skip_while(|word| *word != "--").skip(1);
                paths.extend(behind);
            }
            _ => {}
        }
    }
    if paths.is_empty() {
        return Vec::new();
    }
    let edited = work.calls.iter().flat_map(Call::changed_files);
    let is_restored =
        |edited: &&str| paths.iter().any(|path| work.roots.relative_path(edited) == work.roots.relative_path(path));
    let mut named: Vec<String> = edited.filter(is_restored).map(str::to_owned).collect();
    named.sort_unstable();
    named.dedup();
    named
}

fn describe_revert(work: &Work<'_>, first: usize, path: &str, by: &Call<'_>) -> FailedApproach {
    let edit = &work.calls[first];
    let text = work.quoting.quote_line(work.roots.relative_path(path), 200);
    let what = Item { text, voice: Voice::Agent, at: edit.over_at(), entries: vec![edit.key, by.key] };
    let detail = match by.action {
        Action::Run { command, .. } => Some(work.quoting.quote_passage(command, 200)),
        _ => None,
    };
    FailedApproach { what, kind: ApproachKind::TakenBack, tries: 1, detail }
}
