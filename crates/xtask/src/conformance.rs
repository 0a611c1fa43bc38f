//! Proves the claim with the real clients: whatever one agent has in its live context, another sends after a resume.
//!
//! Every pair is run as a user would run it: sessions that a real client wrote, the built `carryover`,
//! then the real target client. What counts is the request that the target sends to its model.

mod arguments;
mod carryover;
mod commands;
mod commands_page;
mod front_door;
mod hooks;
mod isolated_network;
mod judges;
mod judges_page;
mod memory;
mod ordered_pool;
mod page;
mod pair;
mod plan;
mod recorded;
mod report;
mod restore;
mod restore_page;
mod store;
mod tier;
mod walk;
mod walk_page;

use std::io;
use std::path::PathBuf;

use carryover_testkit::client::ClientError;
use fs_err as fs;

pub(crate) use arguments::run_with_args;
pub(crate) use plan::Options;
use plan::{Case, Plan};
pub(crate) use report::Report;
use report::{FormatLosses, PairRow};

/// Why no matrix came out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConformanceError {
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(
        "unknown argument {argument}; known are --full, --check, --write, --keep, --from, --session, --to, --without, --jobs, --front-door, --restore, --hooks, --record, --commands, --memory, --judges, --carryover"
    )]
    Usage { argument: String },
    #[error("no pair matches the filter")]
    NothingToRun,
    #[error("{path} is not what this run found; run `cargo xtask conformance --full` and commit it; first: {row}")]
    Outdated { path: PathBuf, row: String },
    /// A process of ours has told why.
    #[error("the matrix is not as it should be")]
    AlreadyReported,
    #[error("{n_failed} of {n_rows} pairs failed")]
    Failed { n_failed: usize, n_rows: usize },
}

/// Runs the matrix and writes it, or compares it with what is committed.
pub(crate) fn run_matrix(options: &Options) -> Result<Report, ConformanceError> {
    let plan = Plan::new(options)?;
    let rows = run_all(&plan, options);
    let report = Report { rows };
    if options.check {
        let committed = fs::read_to_string(&options.output)?;
        let mut differing = report.rows_not_in(&committed);
        if options.is_whole() {
            differing.extend(report.stale_lines(&committed));
        }
        if let Some(row) = differing.into_iter().next() {
            return Err(ConformanceError::Outdated { path: options.output.clone(), row });
        }
    } else if options.is_whole() {
        if let Some(folder) = options.output.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&options.output, report.render_page())?;
    } else if options.write {
        let committed = fs::read_to_string(&options.output)?;
        fs::write(&options.output, page::update_lines(&committed, &report, &tier::Tier::new(true)))?;
    }
    Ok(report)
}

/// Fails when a pair did; for a caller that only wants to know whether all is well.
pub(crate) fn check_report(report: &Report) -> Result<(), ConformanceError> {
    match report.rows.iter().filter(|row| !row.is_whole()).count() {
        0 => Ok(()),
        n_failed => Err(ConformanceError::Failed { n_failed, n_rows: report.rows.len() }),
    }
}

fn run_all(plan: &Plan, options: &Options) -> Vec<PairRow> {
    ordered_pool::map_ordered(options.jobs, &plan.cases, |case| {
        let row = run_case(case, options);
        (options.progress)(&row);
        row
    })
}

/// So often is a pair run at most.
const MAX_TRIES: usize = 3;

/// Runs a pair, and again where it is not whole: some clients lose an output now and then, or do not come to an end, in
/// sessions that nobody else has touched, and on a busy machine more often. What carryover does wrong, it does every time.
fn run_case(case: &Case, options: &Options) -> PairRow {
    let mut row = try_case(case, options);
    for _ in 1..MAX_TRIES {
        if row.is_whole() {
            break;
        }
        row = try_case(case, options);
    }
    row
}

fn try_case(case: &Case, options: &Options) -> PairRow {
    let outcome = pair::run_once(case, options).map_err(|error| error.to_string());
    let lost = FormatLosses { there: case.target.lab.conformance.losses, back: case.source.lab.conformance.losses };
    PairRow { from: case.source_name(), session: case.made.scenario.to_owned(), to: case.target_name(), lost, outcome }
}
