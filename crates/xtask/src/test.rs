//! `cargo xtask test`: everything that must hold before a change goes in.

use std::env;
use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::conformance::{self, ConformanceError};
use crate::{dependencies, docs, lint, measure, say};

/// How a step ended.
pub(crate) enum Ended {
    Passed,
    Skipped(String),
}

type Step = fn(&Path) -> Result<Ended, Box<dyn Error>>;

const STEPS: &[(&str, Step)] = &[
    ("format", format),
    ("clippy", clippy),
    ("structure", structure),
    ("dependencies", dependencies::check),
    ("tests", tests),
    ("docs", pages),
    ("demo", demo),
];

/// The last steps: every agent twice a source and twice a target; before a release all pairs, and the figures as well.
const DAILY: &[(&str, Step)] = &[("conformance", |root| conformance(root, &["--check"]))];
const FULL: &[(&str, Step)] = &[("conformance", |root| conformance(root, &["--full", "--check"])), ("bench", figures)];

/// Runs every step, also after one has failed.
pub(crate) fn run(root: &Path, full: bool) -> Result<(), Box<dyn Error>> {
    let (mut passed, mut failed, mut skipped) = (0, Vec::new(), 0);
    for (name, step) in STEPS.iter().chain(if full { FULL } else { DAILY }) {
        say(&format!("== {name}"));
        let start = Instant::now();
        let ended = step(root);
        let seconds = start.elapsed().as_secs();
        match ended {
            Ok(Ended::Passed) => {
                say(&format!("passed: {name} ({seconds} s)"));
                passed += 1;
            }
            Ok(Ended::Skipped(why)) => {
                say(&format!("skipped: {name}: {why}"));
                skipped += 1;
            }
            Err(error) => {
                say(&format!("failed: {name} ({seconds} s): {error}"));
                failed.push(*name);
            }
        }
    }
    if skipped > 0 {
        say(&format!("{skipped} skipped"));
    }
    say(&format!("{passed} passed, {} failed", failed.len()));
    if failed.is_empty() { Ok(()) } else { Err(failed.join(", ").into()) }
}

fn format(root: &Path) -> Result<Ended, Box<dyn Error>> {
    cargo(root, &["fmt", "--all", "--check"])
}

fn clippy(root: &Path) -> Result<Ended, Box<dyn Error>> {
    cargo(root, &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"])
}

fn structure(root: &Path) -> Result<Ended, Box<dyn Error>> {
    lint::run(root)?;
    Ok(Ended::Passed)
}

fn tests(root: &Path) -> Result<Ended, Box<dyn Error>> {
    if runs("cargo", &["nextest", "--version"]) {
        return cargo(root, &["nextest", "run", "--workspace", "--no-fail-fast", "--status-level", "fail"]);
    }
    cargo(root, &["test", "--workspace", "--no-fail-fast", "--quiet"])
}

fn pages(root: &Path) -> Result<Ended, Box<dyn Error>> {
    docs::check(root)?;
    Ok(Ended::Passed)
}

/// The demo, silent unless it fails.
fn demo(root: &Path) -> Result<Ended, Box<dyn Error>> {
    let output = Command::new(program()).args(["run", "--quiet", "--", "demo"]).current_dir(root).output()?;
    if output.status.success() {
        return Ok(Ended::Passed);
    }
    say(&String::from_utf8_lossy(&output.stdout));
    say(&String::from_utf8_lossy(&output.stderr));
    Err("the demo does not run to its end".into())
}

/// The real clients; where they cannot be had, that is said, and in CI it is a failure.
fn conformance(root: &Path, args: &[&str]) -> Result<Ended, Box<dyn Error>> {
    cargo(root, &["build", "--quiet", "--package", "carryover"])?;
    let missing = if runs("npm", &["--version"]) {
        match conformance::command(args.iter().map(|arg| (*arg).to_owned()), root) {
            Ok(()) => return Ok(Ended::Passed),
            Err(ConformanceError::Client(error)) => format!("the clients could not be had: {error}"),
            Err(error) => return Err(error.into()),
        }
    } else {
        "npm is not installed".to_owned()
    };
    if env::var("CI").is_ok_and(|ci| ci == "true") { Err(missing.into()) } else { Ok(Ended::Skipped(missing)) }
}

fn figures(root: &Path) -> Result<Ended, Box<dyn Error>> {
    measure(root)?;
    Ok(Ended::Passed)
}

pub(crate) fn cargo(root: &Path, args: &[&str]) -> Result<Ended, Box<dyn Error>> {
    let status = Command::new(program()).args(args).current_dir(root).status()?;
    if status.success() { Ok(Ended::Passed) } else { Err(format!("`cargo {}` failed", args.join(" ")).into()) }
}

fn program() -> String {
    env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

/// Whether a program is there and runs.
pub(crate) fn runs(program: &str, args: &[&str]) -> bool {
    let status = Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
