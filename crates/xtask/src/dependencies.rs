//! Looks at what we depend on: licences, sources, known faults, and whether we use it at all.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::test::{StepOutcome, can_run, in_ci, run_cargo};
use crate::write_line;

/// A cargo command that other people wrote, installed where it is missing.
struct Tool {
    name: &'static str,
    version: &'static str,
}

const DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2" };
const MACHETE: Tool = Tool { name: "cargo-machete", version: "0.9.2" };

/// The words with which `cargo deny` says that the list of advisories could not be had.
const UNREACHABLE: &str = "failed to fetch advisory database";

pub(crate) fn check(root: &Path) -> Result<StepOutcome, Box<dyn Error>> {
    // Like the clients: in CI they must be had, elsewhere it is said that they cannot.
    if let Err(error) = find_tool(root, &DENY).and(find_tool(root, &MACHETE)) {
        let missing = format!("the tools could not be had: {error}");
        return if in_ci() { Err(missing.into()) } else { Ok(StepOutcome::Skipped(missing)) };
    }
    run_tool(root, &DENY, &["--log-level", "error", "check", "licenses", "bans", "sources"])?;
    check_advisories(root)?;
    run_tool(root, &MACHETE, &["--skip-target-dir"])?;
    Ok(StepOutcome::Passed)
}

fn run_tool(root: &Path, tool: &Tool, args: &[&str]) -> Result<(), Box<dyn Error>> {
    let status = Command::new(find_tool(root, tool)?).args(args).current_dir(root).status()?;
    if status.success() { Ok(()) } else { Err(format!("`{} {}` failed", tool.name, args.join(" ")).into()) }
}

/// Known faults of what we depend on; the list comes over the network, and a machine without one goes on.
fn check_advisories(root: &Path) -> Result<(), Box<dyn Error>> {
    let output = Command::new(find_tool(root, &DENY)?).args(["check", "advisories"]).current_dir(root).output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        return Ok(());
    }
    if errors.contains(UNREACHABLE) {
        write_line("not checked: advisories, the list of which cannot be reached from here");
        return Ok(());
    }
    Err(format!("`cargo deny check advisories` failed:\n{errors}").into())
}

/// The tool on the path, or one of ours; without optimisation it is built in half the time and still runs in no time.
fn find_tool(root: &Path, tool: &Tool) -> Result<PathBuf, Box<dyn Error>> {
    if can_run(tool.name, &["--version"]) {
        return Ok(PathBuf::from(tool.name));
    }
    let folder = root.join("target/tools");
    let installed = folder.join("bin").join(tool.name).with_extension(std::env::consts::EXE_EXTENSION);
    if !installed.exists() {
        write_line(&format!("installing {} {}", tool.name, tool.version));
        let folder = folder.to_str().ok_or("the path of this folder is no text")?;
        run_cargo(
            root,
            &["install", "--quiet", "--debug", "--locked", "--root", folder, "--version", tool.version, tool.name],
        )?;
    }
    Ok(installed)
}
