//! The daemon, as other commands see it.

use std::path::Path;
use std::process::{Command, Stdio};

use carryover_engine::context::Context;

use crate::error::{CommandError, ErrorKind};

/// Starts the daemon where none runs, and comes back once it answers.
pub(crate) fn start_and_check(context: &Context, program: &Path) -> Result<(), CommandError> {
    let failed = |reason: String| {
        CommandError::new(ErrorKind::Io, format!("the daemon could not be started: {reason}"))
            .with_hint("everything else is in place; `carryover daemon start` tries it again")
    };
    match run_daemon_command(context, program, "start") {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            let first = said.lines().next().unwrap_or("it does not say why");
            Err(failed(first.trim_start_matches("error: ").to_owned()))
        }
        Err(error) => Err(failed(error.to_string())),
    }
}

/// Ends the daemon. One that does not run is fine.
pub(crate) fn stop(context: &Context, program: &Path) {
    run_daemon_command(context, program, "stop").ok();
}

fn run_daemon_command(context: &Context, program: &Path, verb: &str) -> std::io::Result<std::process::Output> {
    let mut command = Command::new(program);
    command.args(["daemon", verb]).env_clear().envs(&context.env.vars).stdin(Stdio::null());
    command.output()
}
