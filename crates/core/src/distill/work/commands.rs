//! The commands that were run, the same ones collapsed, with how they ended the last time.

use std::collections::BTreeMap;

use super::Work;
use super::call::Call;
use super::changes::{FileEffect, FileTouch};
use super::outcome::exit_code_in_text;
use super::test_run::{self, TestReport};
use crate::distill::{CommandRun, TestResult, TestRun};
use crate::transcript::{Action, EntryKey, Status};

/// Commands that are told, the newest of them.
const MAX_COMMANDS: usize = 60;
/// Places that are named for one command.
const MAX_ENTRIES: usize = 6;
/// The longest command, in characters.
const COMMAND_CHARS: usize = 600;

/// Commands in the order in which they were last run; the newest last.
pub(super) fn collect_from(work: &Work<'_>) -> Vec<CommandRun> {
    let mut runs: BTreeMap<&str, Vec<&Call<'_>>> = BTreeMap::new();
    for call in work.calls.iter().rev().filter(|call| was_run(call)) {
        let (aim, is_room) = (call.aim(), runs.len() < MAX_COMMANDS);
        match runs.get_mut(aim) {
            Some(calls) => calls.push(call),
            None if is_room => drop(runs.insert(aim, vec![call])),
            None => {}
        }
    }
    let mut runs: Vec<Vec<&Call<'_>>> = runs.into_values().collect();
    runs.sort_by_key(|calls| calls.first().map(|call| call.step));
    runs.iter().filter_map(|calls| summarize_runs(work, calls)).collect()
}

/// A call that the user turned down did not run; whether one without an outcome ran is not known.
fn was_run(call: &Call<'_>) -> bool {
    matches!(call.action, Action::Run { .. }) && !call.is_refused && call.end.is_some()
}

/// The same command, all the times that it was run, the newest first.
fn summarize_runs(work: &Work<'_>, calls: &[&Call<'_>]) -> Option<CommandRun> {
    let last = calls.first()?;
    let Action::Run { command, .. } = last.action else { return None };
    let entries: Vec<EntryKey> = calls.iter().take(MAX_ENTRIES).rev().flat_map(|call| call.entries()).collect();
    Some(CommandRun {
        command: work.quoting.quote_passage(command, COMMAND_CHARS),
        runs: calls.len(),
        failures: calls.iter().filter(|call| call.failed).count(),
        exit_code: last.end.and_then(|end| end.exit_code.or_else(|| exit_code_in_text(&end.text))),
        failed: last.failed,
        is_end_known: !last.is_untold_run(),
        tests: last.report.as_ref().map(TestReport::format_counts),
        at: calls.iter().find_map(|call| call.at),
        entries: entries[entries.len().saturating_sub(MAX_ENTRIES)..].to_vec(),
    })
}

/// The last run of tests that came to an end.
pub(super) fn last_test_run(work: &Work<'_>) -> Option<TestRun> {
    let is_over = |call: &Call<'_>| call.end.is_some_and(|end| end.status != Status::Interrupted);
    let is_run = |call: &&Call<'_>| is_over(call) && call.line.as_ref().is_some_and(test_run::has_test_command);
    let call = work.calls.iter().rev().find(is_run)?;
    let changed =
        |touch: &FileTouch<'_>| work.calls[touch.call].step > call.step && !matches!(touch.effect, FileEffect::Read);
    Some(TestRun {
        what: call.to_item(work.quoting),
        result: match call {
            call if call.failed => TestResult::Failed,
            call if call.is_untold_run() => TestResult::Unknown,
            _ => TestResult::Passed,
        },
        counts: call.report.as_ref().map(TestReport::format_counts),
        edited_since: work.touches.iter().any(changed),
    })
}

/// The subject of a commit that a command makes.
pub(super) fn commit_subject(command: &str) -> Option<String> {
    let start =
        command.find("git commit").or_else(|| command.find(" commit ").filter(|_| command.starts_with("git ")))?;
    let rest = &command[start..];
    let message = rest
        .find(" -m ")
        .map(|at| at + 4)
        .or_else(|| rest.find(" -am ").map(|at| at + 5))
        .or_else(|| rest.find(" --message ").map(|at| at + 11))?;
    let message = rest[message..].trim_start();
    // Messages often come by a here-document.
    if let Some((_, body)) = message.split_once("<<").filter(|(head, _)| head.contains("$(")) {
        return body.lines().nth(1).map(|line| line.trim().to_owned()).filter(|line| !line.is_empty());
    }
    let quote = message.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let end = message[1..].find(quote)?;
    message[1..=end].lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}
