//! The command that goes on, told or become.

use std::process::Command;

use carryover_agents::{Agent, ResumeCommand, Target};
use carryover_engine::client;
use carryover_engine::context::Context;

use crate::error::{CommandError, ErrorKind};
use crate::shell;
use crate::ui::{BOLD, COMMAND, Ui};

/// Tells the command to go on with, which is alone on stdout.
pub(crate) fn write_command(
    ui: &mut Ui,
    context: &Context,
    go_on: &ResumeCommand,
    dry_run: bool,
) -> Result<(), CommandError> {
    if dry_run {
        ui.status(format_args!("{BOLD}nothing was written;{BOLD:#} it would go on with"))?;
    } else {
        ui.status(format_args!("{BOLD}go on with{BOLD:#}"))?;
    }
    let line = shell::resume_line(go_on, &context.cwd, context.env.os);
    writeln!(ui.out(), "{COMMAND}{line}{COMMAND:#}")?;
    Ok(())
}

/// Refuses to write for a client that is to be started and is not there.
pub(crate) fn refuse_missing_client(context: &Context, taker: Option<&Target>) -> Result<(), CommandError> {
    let facts = taker.and_then(|taker| carryover_agents::agent_by_name(taker.id)).map(Agent::facts);
    match facts {
        Some(facts) if client::find_agent_program(context, facts).is_none() => {
            Err(CommandError::new(ErrorKind::NoAgent, format!("{} is not installed: nothing was written", facts.name))
                .with_hint("without `--launch`, it waits until the client is there"))
        }
        _ => Ok(()),
    }
}

/// Becomes an agent's client, in the right directory.
pub(crate) fn launch_client(
    ui: &mut Ui,
    context: &Context,
    agent: &str,
    go_on: &ResumeCommand,
) -> Result<(), CommandError> {
    ui.flush()?;
    let installed = |name: &str| {
        let facts = carryover_agents::agent_by_name(agent)?.facts();
        // An editor's program is not that of the command line client beside it.
        let is_named = facts.binaries.contains(&name);
        if is_named { client::find_program(context, name) } else { client::find_agent_program(context, facts) }
    };
    let found = go_on.argv.split_first().and_then(|(name, arguments)| Some((name, arguments, installed(name)?)));
    let Some((name, arguments, program)) = found else {
        return Err(CommandError::new(ErrorKind::NoAgent, format!("{agent} is not installed"))
            .with_hint("all is written; the command above goes on once it is"));
    };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&go_on.cwd);
    let error = become_client(&mut command)?;
    Err(CommandError::new(ErrorKind::Io, error).with_details([format!("could not start {name}")]))
}

/// Replaces this process.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems can succeed")]
fn become_client(command: &mut Command) -> Result<std::io::Error, CommandError> {
    use std::os::unix::process::CommandExt;
    Ok(command.exec())
}

/// Waits for the client, and ends as it ends.
#[cfg(not(unix))]
#[expect(clippy::exit, reason = "the client's exit code is ours")]
fn become_client(command: &mut Command) -> Result<std::io::Error, CommandError> {
    let status = command.status()?;
    std::process::exit(status.code().unwrap_or(1))
}
