//! `cargo xtask test`: everything that must hold before a change goes in.

use std::env;
use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::conformance::{self, ConformanceError};
use crate::{dependencies, dist, docs, lint, places, record, run_bench, soak, write_line};

/// How a step ended.
pub(crate) enum StepOutcome {
    Passed,
    Skipped(String),
}

type Step = fn(&Path) -> Result<StepOutcome, Box<dyn Error>>;

const STEPS: &[(&str, Step)] = &[
    ("format", check_format),
    ("clippy", run_clippy),
    ("structure", check_structure),
    ("dependencies", dependencies::check),
    ("tests", run_tests),
    ("docs", check_docs),
    ("demo", run_demo),
    ("recording", record::check_picture),
    ("dist", dist::check_quickly),
    ("soak", soak::check_quickly),
    ("places", places::check_places),
];

/// The last steps: every agent twice a source and twice a target; before a release all pairs, and the figures as well.
const DAILY_STEPS: &[(&str, Step)] = &[
    ("conformance", |root| run_conformance(root, &["--check"])),
    ("restore", |root| run_conformance(root, &["--restore", "--check"])),
    JUDGES,
    FRONT_DOOR,
    // One client that dies and the next that starts, and a compaction; the ring of all of them is for a release.
    ("hooks", |root| run_conformance(root, &["--hooks", "--from", "claude-code"])),
    ("record", |root| run_conformance(root, &["--record", "--check", "--from", "claude-code"])),
    ("commands", |root| run_conformance(root, &["--commands", "--check", "--from", "claude-code"])),
    ("memory", |root| run_conformance(root, &["--memory", "--from", "claude-code"])),
];
const FULL_STEPS: &[(&str, Step)] = &[
    ("conformance", |root| run_conformance(root, &["--full", "--check"])),
    ("restore", |root| run_conformance(root, &["--restore", "--full", "--check"])),
    JUDGES,
    FRONT_DOOR,
    ("hooks", |root| run_conformance(root, &["--hooks"])),
    ("record", |root| run_conformance(root, &["--record", "--full", "--check"])),
    ("commands", |root| run_conformance(root, &["--commands", "--full", "--check"])),
    ("memory", |root| run_conformance(root, &["--memory"])),
    ("bench", run_figures),
];

/// Vendors' own code in the place of clients that do not run here.
const JUDGES: (&str, Step) = ("judges", |root| run_conformance(root, &["--judges", "--check"]));

/// From the picker into the real clients and back, by keys.
const FRONT_DOOR: (&str, Step) = ("front door", |root| run_conformance(root, &["--front-door"]));

/// Runs every step, also after one has failed.
pub(crate) fn run_steps(root: &Path, full: bool) -> Result<(), Box<dyn Error>> {
    let (mut passed, mut failed, mut skipped) = (0, Vec::new(), 0);
    for (name, step) in STEPS.iter().chain(if full { FULL_STEPS } else { DAILY_STEPS }) {
        write_line(&format!("== {name}"));
        let start = Instant::now();
        let ended = step(root);
        let seconds = start.elapsed().as_secs();
        match ended {
            Ok(StepOutcome::Passed) => {
                write_line(&format!("passed: {name} ({seconds} s)"));
                passed += 1;
            }
            Ok(StepOutcome::Skipped(why)) => {
                write_line(&format!("skipped: {name}: {why}"));
                skipped += 1;
            }
            Err(error) => {
                write_line(&format!("failed: {name} ({seconds} s): {error}"));
                failed.push(*name);
            }
        }
    }
    if skipped > 0 {
        write_line(&format!("{skipped} skipped"));
    }
    write_line(&format!("{passed} passed, {} failed", failed.len()));
    if failed.is_empty() { Ok(()) } else { Err(failed.join(", ").into()) }
}

fn check_format(root: &Path) -> Result<StepOutcome, Box<dyn Error>> {
    run_cargo(root, &["fmt", "--all", "--check"])
}

fn run_clippy(root: &Path) -> Result<StepOutcome, Box<dyn Error>> {
    run_cargo(root, &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"])
}

fn check_structure(root: &Path) -> Result<StepOutcome, Box<dyn Error>> {
    lint::check_sources(root)?;
    Ok(StepOutcome::Passed)
}

fn run_tests(root: &Path) -> Result<StepOutcome, Box<dyn Error>> {
    if can_run("cargo", &["nextest", "--version"]) {
        return run_cargo(root, &["nextest", "run", "--workspace", "--no-fail-fast", "--status-level", "fail"]);
    }
    run_cargo(root, &["test", "--workspace", "--no-fail-fast", "--quiet"])
}

fn check_docs(root: &Path) -> Result<StepOutcome, Box<dyn Error>> {
    docs::check_pages(root)?;
    Ok(StepOutcome::Passed)
}

/// The demo, silent unless it fails.
fn run_demo(root: &Path) -> Result<StepOutcome, Box<dyn Error>> {
    let output = Command::new(cargo_program()).args(["run", "--quiet", "--", "demo"]).current_dir(root).output()?;
    if output.status.success() {
        return Ok(StepOutcome::Passed);
    }
    write_line(&String::from_utf8_lossy(&output.stdout));
    write_line(&String::from_utf8_lossy(&output.stderr));
    Err("the demo does not run to its end".into())
}

/// The real clients; where they cannot be had, that is said, and in CI it is a failure.
fn run_conformance(root: &Path, args: &[&str]) -> Result<StepOutcome, Box<dyn Error>> {
    run_cargo(root, &["build", "--quiet", "--package", "carryover"])?;
    let missing = if can_run("npm", &["--version"]) {
        match conformance::run_with_args(args.iter().map(|arg| (*arg).to_owned()), root) {
            Ok(()) => return Ok(StepOutcome::Passed),
            Err(ConformanceError::Client(error)) => format!("the clients could not be had: {error}"),
            Err(error) => return Err(error.into()),
        }
    } else {
        "npm is not installed".to_owned()
    };
    if in_ci() { Err(missing.into()) } else { Ok(StepOutcome::Skipped(missing)) }
}

fn run_figures(root: &Path) -> Result<StepOutcome, Box<dyn Error>> {
    run_bench(root)?;
    Ok(StepOutcome::Passed)
}

pub(crate) fn run_cargo(root: &Path, args: &[&str]) -> Result<StepOutcome, Box<dyn Error>> {
    let status = Command::new(cargo_program()).args(args).current_dir(root).status()?;
    if status.success() { Ok(StepOutcome::Passed) } else { Err(format!("`cargo {}` failed", args.join(" ")).into()) }
}

pub(crate) fn cargo_program() -> String {
    env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

pub(crate) fn in_ci() -> bool {
    env::var("CI").is_ok_and(|ci| ci == "true")
}

/// Whether a program is there and runs.
pub(crate) fn can_run(program: &str, args: &[&str]) -> bool {
    let status = Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
