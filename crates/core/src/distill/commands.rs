//! The commands that were run, the same ones collapsed, with how they ended the last time.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::digest::{Call, Digest, short};
use super::testrun::Report;
use super::{CommandRun, outcome};
use crate::transcript::{Action, EntryKey};

/// Commands that are told, the newest of them.
const MANY: usize = 60;
/// Places that are cited for one command.
const CITED: usize = 6;

/// Commands in the order in which they were last run; the newest last.
pub(super) fn commands(digest: &Digest<'_>) -> Vec<CommandRun> {
    // By length first: nearly every two commands differ in it.
    let mut runs: BTreeMap<(usize, &str), Vec<&Call<'_>>> = BTreeMap::new();
    let is_run = |call: &&Call<'_>| matches!(call.action, Action::Run { .. }) && !call.aim.object.is_empty();
    for call in digest.calls.iter().rev().filter(is_run) {
        let (is_room, essence) = (runs.len() < MANY, &*call.aim.object);
        match runs.get_mut(&(essence.len(), essence)) {
            Some(calls) => calls.push(call),
            None if is_room => drop(runs.insert((essence.len(), essence), vec![call])),
            None => {}
        }
    }
    let mut runs: Vec<((usize, &str), Vec<&Call<'_>>)> = runs.into_iter().collect();
    runs.sort_by_key(|(_, calls)| calls.first().map(|call| call.step));
    runs.into_iter().filter_map(|((_, essence), calls)| told(essence, &calls)).collect()
}

/// The same command, all the times that it was run, the newest first.
fn told(essence: &str, calls: &[&Call<'_>]) -> Option<CommandRun> {
    let last = calls.first()?;
    let cites: Vec<EntryKey> = calls.iter().take(CITED).rev().flat_map(|call| call.cites()).collect();
    Some(CommandRun {
        command: short(essence, 240),
        runs: calls.len(),
        failures: calls.iter().filter(|call| call.failed).count(),
        exit_code: last.ended.and_then(|ended| ended.exit_code.or_else(|| outcome::told_code(&ended.text))),
        failed: last.failed,
        tests: last.report.as_ref().map(Report::told),
        at: calls.iter().find_map(|call| call.at),
        cites: cites[cites.len().saturating_sub(CITED)..].to_vec(),
    })
}

static COMMIT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("commit"));

/// Whether a command speaks of a commit. Nearly every command does not.
pub(super) fn names_commit(command: &str) -> bool {
    COMMIT.find(command.as_bytes()).is_some()
}

/// The subject of a commit that a command makes.
pub(super) fn committed(command: &str) -> Option<String> {
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
