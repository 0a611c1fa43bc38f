//! `carryover record`.

mod child;
mod look;
mod run;

use carryover_engine::context::Context;
use clap::{Args, Subcommand};

use crate::error::CommandError;
use crate::quantity::format_count;
use crate::ui::Ui;

/// Run an agent and record what it and its model say to each other
///
/// The agent is started as ever, with its requests led through a proxy on this machine, which passes them on to the service
/// that the agent's own settings name. Requests and answers are kept in ~/.carryover/recordings, without keys. From a
/// recording, a session's system prompt, tools and sampling settings are known exactly.
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    override_usage = "carryover record [--] AGENT [ARGUMENTS]\n       carryover record list|show",
    after_long_help = "\
Examples:
  carryover record claude
  carryover record -- codex exec \"fix the build\"
  carryover record list
  carryover record show

The agent has the terminal to itself, and its exit code is the command's."
)]
pub(crate) struct RecordArgs {
    #[command(subcommand)]
    action: Option<RecordAction>,
    /// The agent, and the arguments that it is started with
    #[arg(value_name = "AGENT", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<String>,
}

#[derive(Subcommand)]
enum RecordAction {
    /// List recordings, the newest first
    List(look::ListArgs),
    /// Show what a recording tells of its session: system prompt, tools, sampling
    Show(look::ShowArgs),
}

pub(crate) fn cmd_record(ui: &mut Ui, context: &Context, args: &RecordArgs) -> Result<(), CommandError> {
    match &args.action {
        Some(RecordAction::List(args)) => look::cmd_list(ui, context, args),
        Some(RecordAction::Show(args)) => look::cmd_show(ui, context, args),
        None => run::record_agent(ui, context, &args.command),
    }
}

fn count_exchanges(count: usize) -> String {
    format_count(count, "exchange", "exchanges")
}
