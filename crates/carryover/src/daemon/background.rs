//! Starting a daemon that outlives the terminal, and ending it.

use std::process::{Command, Stdio};
use std::time::Duration;

use carryover_engine::context::Context;
use carryover_engine::install::service::{self, RealRunner, ServiceAction};

use super::{client, place};
use crate::error::{CommandError, ErrorKind};
use crate::process_env;

/// How long a daemon may take until it answers, or until it is gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// Starts the daemon, where none runs, by the service manager where it is registered; whether it was started.
pub(crate) fn start(context: &Context) -> Result<bool, CommandError> {
    if place::is_running(context) {
        return Ok(false);
    }
    if service::control(context, ServiceAction::Start, &mut RealRunner::new(context)) {
        return wait_for_answer(context).map(|()| true);
    }
    start_in_background(context)
}

/// Starts a daemon of our own, where none runs; whether one was started. It answers when this returns.
pub(crate) fn start_in_background(context: &Context) -> Result<bool, CommandError> {
    if place::is_running(context) {
        return Ok(false);
    }
    let mut command = Command::new(process_env::current_program()?);
    command.args(["daemon", "run", "--detached"]).current_dir(&context.env.home);
    // Memory that a thread gave back is of use to the others.
    command.env("MALLOC_ARENA_MAX", "1");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let answers = || client::query_status(context).is_some();
    let mut has_ended = false;
    client::wait_until(PATIENCE, || {
        // One that lost to another daemon ends, too; then that one answers.
        has_ended = matches!(child.try_wait(), Ok(Some(_)));
        answers() || (has_ended && !place::is_running(context))
    });
    if answers() {
        return Ok(!has_ended);
    }
    Err(silence_error(if has_ended { "the daemon ended at once" } else { "the daemon does not answer" }))
}

/// Waits for a daemon that somebody else starts.
pub(crate) fn wait_for_answer(context: &Context) -> Result<(), CommandError> {
    if client::wait_until(PATIENCE, || client::query_status(context).is_some()) {
        return Ok(());
    }
    Err(silence_error("the daemon does not answer"))
}

fn silence_error(what: &str) -> CommandError {
    CommandError::new(ErrorKind::Io, what).with_hint("`carryover daemon logs` tells what it said")
}

/// What came of ending it.
pub(crate) enum Stopped {
    Stopped,
    NotRunning,
}

/// Ends the daemon that runs, and tells the service manager first: it would start it again.
pub(crate) fn stop(context: &Context) -> Result<Stopped, CommandError> {
    let was_running = place::is_running(context);
    service::control(context, ServiceAction::Stop, &mut RealRunner::new(context));
    if !was_running && !place::is_running(context) {
        return Ok(Stopped::NotRunning);
    }
    if place::is_running(context) {
        // One that was told to end already may be gone before this.
        let sent = client::send_stop(context);
        if place::is_running(context) {
            sent?;
        }
    }
    if client::wait_until(PATIENCE, || !place::is_running(context)) {
        return Ok(Stopped::Stopped);
    }
    Err(CommandError::new(ErrorKind::Io, "the daemon was asked to end and has not yet")
        .with_hint("`carryover daemon logs` tells what it does"))
}

/// Ends a daemon that is not this program, so that this one takes its place.
pub(crate) fn stop_another_program(context: &Context) -> Result<(), CommandError> {
    let ours = process_env::current_program()?;
    if client::query_status(context).is_some_and(|status| status.is_another_program(&ours)) {
        stop(context)?;
    }
    Ok(())
}
