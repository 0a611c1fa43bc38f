//! Runs the matrix where only this machine can be reached.
//!
//! Several clients fetch things by themselves while they run: plugins, models, news. The matrix starts itself again in
//! a network of its own that has nothing but loopback, so that none of it leaves the machine, whatever a client does.

use std::env;
use std::process::{Command, Stdio};

use super::ConformanceError;

/// Set for the process that runs in the network of its own.
const ISOLATED_VAR: &str = "CARRYOVER_ALONE";

/// The first commands of the new process: a new network has its loopback switched off.
const ENTER_SCRIPT: &str = r#"ip link set lo up && exec "$0" "$@""#;

/// Whether this process runs alone already, or this system has no way to.
pub(super) fn must_run_here() -> bool {
    env::var_os(ISOLATED_VAR).is_some() || !can_isolate()
}

/// Runs the matrix with these arguments in a process that is alone.
pub(super) fn run_isolated(args: &[String]) -> Result<(), ConformanceError> {
    let program = env::current_exe()?;
    let mut command = unshare_command();
    command.args(["sh", "-c", ENTER_SCRIPT]).arg(program).arg("conformance").args(args).env(ISOLATED_VAR, "1");
    if command.status()?.success() { Ok(()) } else { Err(ConformanceError::AlreadyReported) }
}

fn can_isolate() -> bool {
    let mut probe = unshare_command();
    probe.args(["sh", "-c", ENTER_SCRIPT, "true"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

/// The user may be anybody: in a user space of its own, the process may make a network.
fn unshare_command() -> Command {
    let mut command = Command::new("unshare");
    command.args(["--net", "--map-current-user", "--keep-caps", "--"]);
    command
}
