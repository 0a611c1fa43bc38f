//! `carryover demo`.

mod sandbox;

use clap::{Args, Parser};

use carryover_engine::context::Context;

use crate::args::{Cli, Globals};
use crate::error::{self, CommandError, ErrorKind};
use crate::ui::{BOLD, COMMAND, DIM, Ui};
use sandbox::Sandbox;

/// Show how it works, without any agent
///
/// Unpacks two bundled sessions into a temporary home and carries them over there, with the same commands that you would
/// use. Nothing outside that folder is read or written, and it is removed at the end.
#[derive(Args)]
pub(crate) struct DemoArgs {}

/// The steps of the demo: why, and the command.
const STEPS: &[(&str, &[&str])] = &[
    ("Which agents are here? This home has sessions of two; their clients are not needed.", &["detect"]),
    ("What was worked on in this project?", &["list"]),
    ("Go on in the other agent. First only look:", &["resume", "d3a03cdd", "--target", "codex", "--dry-run"]),
    ("Then do it:", &["resume", "d3a03cdd", "--target", "codex"]),
    ("What that agent's model will see on its next turn:", &["show", "@last", "--source", "codex"]),
    ("The other way round works too:", &["resume", "01a1dcb4", "--target", "claude-code"]),
    ("Both copies stand beside the originals, which were not touched:", &["list"]),
    ("Changed your mind?", &["undo"]),
];

pub(crate) fn cmd_demo(globals: Globals, context: &Context, _args: &DemoArgs) -> Result<(), CommandError> {
    if globals.json {
        return Err(CommandError::usage("the demo is there to be looked at, and is no data")
            .with_hint("`carryover list --json` gives your own sessions as data"));
    }
    let mut ui = Ui::merged(globals);
    let sandbox = Sandbox::unpack(context)?;
    for (index, (why, words)) in STEPS.iter().enumerate() {
        ui.status(format_args!("{DIM}# {why}{DIM:#}"))?;
        ui.write_line(format_args!("{BOLD}$ carryover {}{BOLD:#}", words.join(" ")))?;
        run_step(&mut ui, &sandbox.context(index), words)?;
        ui.write_line("")?;
    }
    sandbox.remove()?;
    ui.write_line(format_args!("{BOLD}Now with your own sessions:{BOLD:#}"))?;
    ui.write_line(format_args!("  {COMMAND}carryover{COMMAND:#}         pick a session, and the agent to go on in"))?;
    ui.write_line(format_args!(
        "  {COMMAND}carryover codex{COMMAND:#}   go on in Codex with the newest; any agent's name works"
    ))?;
    Ok(ui.flush()?)
}

/// Runs one command as it would be typed.
fn run_step(ui: &mut Ui, context: &Context, words: &[&str]) -> Result<(), CommandError> {
    let line = std::iter::once("carryover").chain(words.iter().copied());
    let cli = Cli::try_parse_from(line).map_err(|error| CommandError::new(ErrorKind::Bug, error))?;
    let Some(command) = &cli.command else { return Err(CommandError::usage("a step of the demo is no command")) };
    let result = super::run_in(ui, context, cli.globals, command).and_then(|()| Ok(ui.flush()?));
    result.map_err(|failure| {
        error::report(ui, &failure);
        let line = words.join(" ");
        CommandError::new(failure.kind, format!("the step `carryover {line}` of the demo failed"))
    })
}
