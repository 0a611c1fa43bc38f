//! The commands that were run, the same ones collapsed, with how they ended the last time.

use std::collections::BTreeMap;

use super::digest::{Digest, short};
use super::testrun::Report;
use super::{CommandRun, outcome, shell};
use crate::transcript::Action;

/// Commands that are told, the newest of them.
const MANY: usize = 60;
/// Places that are cited for one command.
const CITED: usize = 6;

/// Commands in the order in which they were last run; the newest last.
pub(super) fn commands(digest: &Digest<'_>) -> Vec<CommandRun> {
    let mut runs: BTreeMap<&str, (usize, CommandRun)> = BTreeMap::new();
    for call in &digest.calls {
        let Action::Run { command, .. } = call.action else { continue };
        let (last, run) = runs.entry(call.deed.as_str()).or_insert_with(|| {
            let command = short(&shell::essence(command), 240);
            let cites = Vec::new();
            (
                0,
                CommandRun {
                    command,
                    runs: 0,
                    failures: 0,
                    exit_code: None,
                    failed: false,
                    tests: None,
                    at: None,
                    cites,
                },
            )
        });
        *last = call.step;
        run.runs += 1;
        run.failures += usize::from(call.failed);
        run.failed = call.failed;
        run.exit_code = call.ended.and_then(|ended| ended.exit_code.or_else(|| outcome::told_code(&ended.text)));
        run.tests = call.report.as_ref().map(Report::told);
        run.at = call.at.or(run.at);
        run.cites.extend(call.cites());
        let extra = run.cites.len().saturating_sub(CITED);
        run.cites.drain(..extra);
    }
    let mut runs: Vec<(usize, CommandRun)> = runs.into_values().filter(|(_, run)| !run.command.is_empty()).collect();
    runs.sort_by_key(|(last, _)| *last);
    let extra = runs.len().saturating_sub(MANY);
    runs.into_iter().skip(extra).map(|(_, run)| run).collect()
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
