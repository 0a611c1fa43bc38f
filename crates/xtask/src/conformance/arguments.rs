//! `cargo xtask conformance`: the command line of the matrix.

use std::io::{self, Write};
use std::path::Path;

use super::plan::Proof;
use super::report::PairRow;
use super::{
    ConformanceError, Options, check_report, commands, front_door, hooks, isolated_network, judges, memory, plan,
    recorded, restore, run_matrix,
};

/// Runs the matrix with these arguments; pairs that are not whole are an error, after all have been run.
pub(crate) fn run_with_args(args: impl IntoIterator<Item = String>, workspace: &Path) -> Result<(), ConformanceError> {
    let args: Vec<String> = args.into_iter().collect();
    let options = parse_options(args.clone(), workspace)?;
    if !isolated_network::must_run_here() {
        match options.proof {
            Proof::Judges => judges::install_all(&options)?,
            _ => plan::install_all(&options)?,
        }
        return isolated_network::run_isolated(&args);
    }
    match options.proof {
        Proof::Matrix => check_report(&run_matrix(&options)?),
        Proof::FrontDoor => front_door::run_walks(&options),
        Proof::Restore => restore::run_walks(&options),
        Proof::Hooks => hooks::run_walks(&options),
        Proof::Recording => recorded::run_walks(&options),
        Proof::Commands => commands::run_walks(&options),
        Proof::Memory => memory::run_walks(&options),
        Proof::Judges => judges::run_walks(&options),
    }
}

fn parse_options(args: impl IntoIterator<Item = String>, workspace: &Path) -> Result<Options, ConformanceError> {
    let mut options = Options { progress: show_row, ..Options::new(workspace) };
    let mut args = args.into_iter();
    while let Some(argument) = args.next() {
        let mut value = || args.next().ok_or_else(|| ConformanceError::Usage { argument: argument.clone() });
        match argument.as_str() {
            "--full" => options.full = true,
            "--check" => options.check = true,
            "--write" => options.write = true,
            "--front-door" => options.proof = Proof::FrontDoor,
            "--hooks" => options.proof = Proof::Hooks,
            "--commands" => options.proof = Proof::Commands,
            "--memory" => options.proof = Proof::Memory,
            "--judges" => options.proof = Proof::Judges,
            "--restore" => options.proof = Proof::Restore,
            "--record" => options.proof = Proof::Recording,
            "--keep" => options.keep = true,
            "--from" => options.from = Some(value()?),
            "--session" => options.session = Some(value()?),
            "--without" => options.without = Some(value()?),
            "--to" => options.to = Some(value()?),
            "--carryover" => options.carryover = value()?.into(),
            "--jobs" => {
                let jobs = value()?;
                options.jobs = jobs.parse().map_err(|_| ConformanceError::Usage { argument: jobs })?;
            }
            _ => return Err(ConformanceError::Usage { argument }),
        }
    }
    Ok(options)
}

/// One line per pair, and what is wrong with it.
fn show_row(row: &PairRow) {
    let mark = if row.is_whole() { "ok  " } else { "FAIL" };
    let mut text = format!("{mark} {} · {} → {}\n", row.from, row.session, row.to);
    if !row.is_whole() {
        let findings = row.findings();
        text.extend(findings.iter().flat_map(|finding| ["     ", finding, "\n"]));
    }
    // Progress that cannot be shown is not worth failing for.
    drop(io::stderr().write_all(text.as_bytes()));
}
