//! Walks: proofs besides the matrix, a row each, which run several at a time and print alike.

use carryover_testkit::client::{ClientError, Launch, RUN_LIMIT, Sandbox};
use fs_err as fs;

use super::{ConformanceError, MAX_TRIES, Options, ordered_pool};

/// One row of a walk.
pub(super) struct WalkRow<O> {
    pub(super) name: String,
    /// The findings, or why the row could not be run to its end.
    pub(super) outcome: Result<O, String>,
}

/// What a row found.
pub(super) trait WalkOutcome: Send {
    /// Everything that is not as it should be, one line each.
    fn findings(&self) -> Vec<String>;
}

impl WalkOutcome for Vec<String> {
    fn findings(&self) -> Vec<String> {
        self.clone()
    }
}

impl<O: WalkOutcome> WalkRow<O> {
    pub(super) fn findings(&self) -> Vec<String> {
        self.outcome.as_ref().map_or_else(|error| vec![error.clone()], WalkOutcome::findings)
    }

    pub(super) fn is_whole(&self) -> bool {
        self.findings().is_empty()
    }
}

/// Runs every row, and again where one is not whole: on a busy machine an interface may miss a key.
pub(super) fn run_rows<T: Sync, O: WalkOutcome>(
    options: &Options,
    walk: &str,
    items: &[T],
    name: impl Fn(&T) -> String + Sync,
    run: impl Fn(&T) -> Result<O, ConformanceError> + Sync,
) -> Vec<WalkRow<O>> {
    ordered_pool::map_ordered(options.jobs, items, |item| {
        let once = || WalkRow { name: name(item), outcome: run(item).map_err(|error| error.to_string()) };
        let mut row = once();
        for _ in 1..MAX_TRIES {
            if row.is_whole() {
                break;
            }
            row = once();
        }
        crate::write_line(&describe_row(walk, &row));
        row
    })
}

fn describe_row<O: WalkOutcome>(walk: &str, row: &WalkRow<O>) -> String {
    let findings = row.findings();
    if findings.is_empty() {
        format!("ok   {walk} · {}", row.name)
    } else {
        format!("FAIL {walk} · {}\n     {}", row.name, findings.join("\n     "))
    }
}

/// Fails where a row did.
pub(super) fn check_rows<O: WalkOutcome>(rows: &[WalkRow<O>]) -> Result<(), ConformanceError> {
    match rows.iter().filter(|row| !row.is_whole()).count() {
        0 => Ok(()),
        n_failed => Err(ConformanceError::Failed { n_failed, n_rows: rows.len() }),
    }
}

/// Makes a project, which is a repository: clients and git look no farther up.
pub(super) fn make_repository(sandbox: &Sandbox) -> Result<(), ClientError> {
    fs::create_dir_all(&sandbox.project)?;
    fs::write(sandbox.project.join("notes.txt"), "A project.\n")?;
    let git = Launch::new("git", &sandbox.project).env(sandbox.base_env(&[]));
    git.args(["init", "--quiet", "--initial-branch=main"]).run_to_success(RUN_LIMIT)?;
    Ok(())
}
