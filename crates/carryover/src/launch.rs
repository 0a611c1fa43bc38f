//! Becoming the client of the next agent.

use std::process::Command;

use carryover_agents::ResumeCommand;
use carryover_engine::client;
use carryover_engine::context::Context;

use crate::error::{CommandError, ErrorKind};
use crate::ui::Ui;

/// Becomes an agent's client, in the right directory.
pub(crate) fn launch(ui: &mut Ui, context: &Context, agent: &str, go_on: &ResumeCommand) -> Result<(), CommandError> {
    ui.flush()?;
    let installed = carryover_agents::by_name(agent).and_then(|agent| client::find(context, agent.facts()));
    let (Some((name, arguments)), Some(program)) = (go_on.argv.split_first(), installed) else {
        return Err(CommandError::new(ErrorKind::NoAgent, format!("{agent} is not installed"))
            .hint("all is written; the command above goes on once it is"));
    };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&go_on.cwd);
    let error = become_client(&mut command)?;
    Err(CommandError::new(ErrorKind::Io, error).details([format!("could not start {name}")]))
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
