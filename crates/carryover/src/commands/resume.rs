//! `carryover resume`.

use std::path::PathBuf;
use std::process::Command;

use carryover_agents::{AGENTS, Agent, Loss};
use carryover_engine::client;
use carryover_engine::context::Context;
use carryover_engine::resume::{self, Options, Report, ResumeError};
use clap::Args;
use serde::Serialize;

use crate::args::{Globals, SessionArgs, agent_parser};
use crate::choice;
use crate::error::{CommandError, ErrorKind};
use crate::quantity;
use crate::session_row::from_home;
use crate::shell;
use crate::surroundings::resolved;
use crate::ui::{BOLD, COMMAND, DIM, GOOD, Ui};

/// Go on with a session in another agent
///
/// Writes a new session into the target's own store, so that its own resume command loads it: prompts, replies, tool
/// calls with their results, and images. No existing session is changed, and `carryover undo` takes it back. The command
/// that goes on is printed on standard output, everything else on standard error.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover resume --target codex                         the newest session of this project
  carryover resume 8f3c21aa --target codex --dry-run      what would be written, and what would be lost
  carryover resume \"fix the parser\" --target claude-code --launch
  carryover resume ./rollout-2026-11-15.jsonl --target claude-code
  carryover resume --target claude-code --project ~/moved/here")]
pub(crate) struct ResumeArgs {
    #[command(flatten)]
    session: SessionArgs,
    /// The agent to go on in
    #[arg(long, short, value_name = "AGENT", value_parser = agent_parser(), hide_possible_values = true)]
    target: Option<&'static dyn Agent>,
    /// The folder to go on in [default: the session's own]
    #[arg(long, alias = "workspace", value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    project: Option<PathBuf>,
    /// Fit the session into this many tokens [default: the window of the target's model]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    tokens: Option<u64>,
    /// Fail where the session cannot be written into the target's own store
    #[arg(long)]
    native: bool,
    /// Print what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Start the target with the session
    #[arg(long, conflicts_with_all = ["dry_run", "json"])]
    launch: bool,
}

/// What happened, as `--json` tells it.
#[derive(Serialize)]
struct Resumed<'a> {
    schema: &'static str,
    source: &'static str,
    source_session_id: &'a str,
    target: &'static str,
    session_id: &'a str,
    command: &'a [String],
    cwd: String,
    carried: usize,
    translated: usize,
    clipped: usize,
    lost: Vec<Lost>,
    tokens: u64,
    window: u64,
    files: Vec<String>,
    undo_id: Option<&'a str>,
    dry_run: bool,
    superseded: Option<&'a str>,
    warnings: &'a [String],
    steps: &'a [String],
}

#[derive(Serialize)]
struct Lost {
    what: &'static str,
    count: usize,
    reason: &'static str,
}

pub(crate) fn cmd_resume(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &ResumeArgs,
) -> Result<(), CommandError> {
    let selected = choice::select(ui, context, globals, &args.session, None)?;
    let target = target(context, args, selected.agent)?;
    // There is no other way to fall back to; the flag still promises it.
    if args.native && target.writer().is_none() {
        return Err(ResumeError::NoWriter(target.facts().name).into());
    }
    let options = Options {
        target,
        project: args.project.as_deref().map(resolved),
        tokens: args.tokens.or(context.config.resume.tokens),
        dry_run: args.dry_run,
    };
    let report = resume::resume(context, &selected, &options)?;
    if ui.json() {
        ui.write_json(&as_json(&report, args.dry_run))?;
        return Ok(());
    }
    tell(ui, context, &report)?;
    go_on(ui, context, &report, args.dry_run)?;
    if args.launch { launch(ui, context, &report) } else { Ok(()) }
}

/// The agent that is named, configured, or the only other one here.
fn target(context: &Context, args: &ResumeArgs, source: &dyn Agent) -> Result<&'static dyn Agent, CommandError> {
    let configured = || context.config.resume.target.as_deref().and_then(carryover_agents::by_name);
    if let Some(target) = args.target.or_else(configured) {
        return Ok(target);
    }
    let takers = || AGENTS.iter().copied().filter(|agent| agent.writer().is_some());
    let others = takers().filter(|agent| agent.facts().id != source.facts().id);
    let mut here = others.filter(|agent| client::installed(context, *agent).is_some());
    if let (Some(only), None) = (here.next(), here.next()) {
        return Ok(only);
    }
    let names: Vec<&str> = takers().map(|agent| agent.facts().id).collect();
    Err(CommandError::usage("no target was named")
        .hint(format!("name one with `--target AGENT`: {}", names.join(", ")))
        .hint("`carryover config set resume.target AGENT` makes it the default"))
}

fn as_json(report: &Report, dry_run: bool) -> Resumed<'_> {
    Resumed {
        schema: "carryover.resume/1",
        source: report.source,
        source_session_id: &report.source_session.0,
        target: report.target,
        session_id: &report.session.0,
        command: &report.command.argv,
        cwd: report.command.cwd.display().to_string(),
        carried: report.carried,
        translated: report.translated,
        clipped: report.clipped,
        lost: report.lost.iter().map(|Loss { what, count, reason }| Lost { what, count: *count, reason }).collect(),
        tokens: report.tokens,
        window: report.window,
        files: report.files.iter().map(|path| path.display().to_string()).collect(),
        undo_id: report.undo_id.as_deref(),
        dry_run,
        superseded: report.superseded.as_deref(),
        warnings: &report.warnings,
        steps: &report.steps,
    }
}

/// The report for people.
fn tell(ui: &mut Ui, context: &Context, report: &Report) -> Result<(), CommandError> {
    let done = if report.undo_id.is_some() { "carried over" } else { "would carry over" };
    let names = [report.source, report.target].map(|id| carryover_agents::by_name(id).map_or(id, |a| a.facts().name));
    ui.status(format_args!("{GOOD}{done}{GOOD:#} {} → {}", names[0], names[1]))?;
    let entries = quantity::count(report.carried, "entry", "entries");
    ui.status(format_args!("  carried     {entries}"))?;
    ui.status(format_args!("  translated  {}", quantity::count(report.translated, "tool call", "tool calls")))?;
    ui.status(format_args!("  clipped     {}", report.clipped))?;
    if report.lost.is_empty() {
        ui.status("  lost        nothing")?;
    }
    for (index, loss) in report.lost.iter().enumerate() {
        let label = if index == 0 { "lost" } else { "" };
        ui.status(format_args!("  {label:<11} {} {}: {}", loss.count, loss.what, loss.reason))?;
    }
    let (tokens, window) = (quantity::tokens(report.tokens), quantity::tokens(report.window));
    let (bar, percent) = (quantity::bar(report.tokens, report.window), quantity::percent(report.tokens, report.window));
    ui.status(format_args!("  tokens      {bar} about {tokens} of {window} ({percent} %)"))?;
    // A plan has steps; what was done has files.
    if report.undo_id.is_some() {
        for file in &report.files {
            ui.status(format_args!("  {DIM}{}{DIM:#}", from_home(context, file)))?;
        }
    } else {
        for step in &report.steps {
            ui.status(format_args!("  {DIM}{step}{DIM:#}"))?;
        }
    }
    if let Some(superseded) = &report.superseded {
        ui.status(format_args!("  replaces the copy {superseded}, which nobody had used"))?;
    }
    for warning in &report.warnings {
        ui.warning(warning)?;
    }
    Ok(())
}

/// The command to go on with, alone on stdout.
fn go_on(ui: &mut Ui, context: &Context, report: &Report, dry_run: bool) -> Result<(), CommandError> {
    let line = shell::line(&report.command, &context.cwd, context.env.os);
    if dry_run {
        ui.status(format_args!("{BOLD}nothing was written;{BOLD:#} it would go on with"))?;
    } else {
        ui.status(format_args!("{BOLD}go on with{BOLD:#}"))?;
    }
    writeln!(ui.out(), "{COMMAND}{line}{COMMAND:#}")?;
    if let Some(id) = &report.undo_id {
        ui.hint(format_args!("`carryover undo {id}` takes it back"))?;
    }
    Ok(())
}

/// Becomes the target's client, in the right directory.
fn launch(ui: &mut Ui, context: &Context, report: &Report) -> Result<(), CommandError> {
    ui.flush()?;
    let target = carryover_agents::by_name(report.target);
    let installed = target.and_then(|target| client::installed(context, target));
    let (Some((name, arguments)), Some(client)) = (report.command.argv.split_first(), installed) else {
        return Err(CommandError::new(ErrorKind::NoAgent, format!("{} is not installed", report.target))
            .hint("the session is written; the command above goes on once it is"));
    };
    let mut command = Command::new(client.program);
    command.args(arguments).current_dir(&report.command.cwd);
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
