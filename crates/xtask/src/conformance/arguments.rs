//! `cargo xtask conformance`: the command line of the matrix.

use std::io::{self, Write};
use std::path::Path;

use super::report::Row;
use super::{ConformanceError, Options, alone, plan, run, verdict};

/// Runs the matrix with these arguments; pairs that are not whole are an error, after all have been run.
pub(crate) fn command(args: impl IntoIterator<Item = String>, workspace: &Path) -> Result<(), ConformanceError> {
    let args: Vec<String> = args.into_iter().collect();
    let options = parse(args.clone(), workspace)?;
    if !alone::is_last_resort() {
        plan::install_all(&options)?;
        return alone::run(&args);
    }
    let report = run(&options)?;
    verdict(&report)
}

fn parse(args: impl IntoIterator<Item = String>, workspace: &Path) -> Result<Options, ConformanceError> {
    let mut options = Options { progress: say, ..Options::new(workspace) };
    let mut args = args.into_iter();
    while let Some(argument) = args.next() {
        let mut value = || args.next().ok_or_else(|| ConformanceError::Usage { argument: argument.clone() });
        match argument.as_str() {
            "--full" => options.full = true,
            "--check" => options.check = true,
            "--write" => options.write = true,
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
fn say(row: &Row) {
    let mark = if row.is_whole() { "ok  " } else { "FAIL" };
    let mut text = format!("{mark} {} · {} → {}\n", row.from, row.session, row.to);
    if !row.is_whole() {
        let findings = row.findings();
        text.extend(findings.iter().flat_map(|finding| ["     ", finding, "\n"]));
    }
    // Progress that cannot be shown is not worth failing for.
    drop(io::stderr().write_all(text.as_bytes()));
}
