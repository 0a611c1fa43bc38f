//! Runs the matrix where only this machine can be reached.
//!
//! Several clients fetch things by themselves while they run: plugins, models, news. The matrix starts itself again in
//! a network of its own that has nothing but loopback, so that none of it leaves the machine, whatever a client does.

use std::env;
use std::process::{Command, Stdio};

use super::ConformanceError;

/// Set for the process that runs in the network of its own.
const MARK: &str = "CARRYOVER_ALONE";

/// What the new process does first: a new network has its loopback switched off.
const ENTER: &str = r#"ip link set lo up && exec "$0" "$@""#;

/// Whether this process runs alone already, or this system has no way to.
pub(super) fn is_last_resort() -> bool {
    env::var_os(MARK).is_some() || !can_be_alone()
}

/// Runs the matrix with these arguments in a process that is alone.
pub(super) fn run(args: &[String]) -> Result<(), ConformanceError> {
    let program = env::current_exe()?;
    let mut command = unshare();
    command.args(["sh", "-c", ENTER]).arg(program).arg("conformance").args(args).env(MARK, "1");
    if command.status()?.success() { Ok(()) } else { Err(ConformanceError::SaidAlready) }
}

fn can_be_alone() -> bool {
    let mut probe = unshare();
    probe.args(["sh", "-c", ENTER, "true"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

/// The user may be anybody: in a user space of its own, the process may make a network.
fn unshare() -> Command {
    let mut command = Command::new("unshare");
    command.args(["--net", "--map-current-user", "--keep-caps", "--"]);
    command
}
