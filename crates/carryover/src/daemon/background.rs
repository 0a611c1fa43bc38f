//! Starting a daemon that outlives the terminal, and ending it.

use std::process::{Command, Stdio};
use std::time::Duration;

use carryover_engine::context::Context;

use super::{client, place};
use crate::error::{CommandError, ErrorKind};

/// How long a daemon may take until it answers, or until it is gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// Starts a daemon, where none runs; whether one was started. It answers when this returns.
pub(crate) fn start_in_background(context: &Context) -> Result<bool, CommandError> {
    if place::is_running(context) {
        return Ok(false);
    }
    let program = std::env::current_exe()?;
    let mut command = Command::new(program);
    command.args(["daemon", "run", "--detached"]).current_dir(&context.env.home);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let answers = || client::query_status(context).is_some();
    let is_over = || !place::is_running(context);
    if client::wait_until(PATIENCE, answers) {
        return Ok(true);
    }
    let ended = child.try_wait()?.is_some() && is_over();
    let what = if ended { "the daemon ended at once" } else { "the daemon does not answer" };
    Err(CommandError::new(ErrorKind::Io, what).with_hint("`carryover daemon logs` tells what it said"))
}

/// What came of ending it.
pub(crate) enum Stopped {
    Stopped,
    NotRunning,
}

/// Ends the daemon that runs.
pub(crate) fn stop_running(context: &Context) -> Result<Stopped, CommandError> {
    if !place::is_running(context) {
        return Ok(Stopped::NotRunning);
    }
    client::send_stop(context)?;
    if client::wait_until(PATIENCE, || !place::is_running(context)) {
        return Ok(Stopped::Stopped);
    }
    Err(CommandError::new(ErrorKind::Io, "the daemon was asked to end and has not yet")
        .with_hint("`carryover daemon logs` tells what it does"))
}
