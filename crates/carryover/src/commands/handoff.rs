//! `carryover handoff`.

use std::path::PathBuf;

use carryover_agents::Target;
use carryover_core::render::{HandoffOptions, Protocol, render_handoff};
use carryover_engine::context::Context;
use carryover_engine::handoff::project_dir::HANDOFF_FILE;
use carryover_engine::handoff::{DistilledSession, Options, distil_session};
use clap::{Args, ValueEnum};

use crate::args::{Globals, SessionArgs, parse_tokens};
use crate::choice;
use crate::delivery::{Delivery, Prompt, show_command};
use crate::destination::{Destination, destination_parser};
use crate::error::CommandError;
use crate::process_env::resolve_path;
use crate::ui::Ui;

/// Hand a session over as words
///
/// Writes `.carryover/RESUME.md`, a prompt that any agent goes on from, fitted into a number of tokens, and copies it to
/// the clipboard; beside it `.carryover/handoff.md`, at most 50 lines. No model is asked. Keys, tokens and passwords are
/// masked. `carryover resume` is better where the target takes whole sessions.
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "they are switches of a command line")]
#[command(after_long_help = "\
Examples:
  carryover handoff                                the newest session of this project
  carryover handoff --target cursor                fitted to what Cursor takes
  carryover handoff 8f3c21aa --target codex --launch
  carryover handoff --tokens 8000 --no-copy")]
pub(crate) struct HandoffArgs {
    #[command(flatten)]
    session: SessionArgs,
    /// Who goes on: an agent; `clipboard` and `file` name nobody
    #[arg(long, short, alias = "to", value_name = "TARGET", value_parser = destination_parser(), hide_possible_values = true)]
    target: Option<Destination>,
    /// The folder to go on in [default: the session's own]
    #[arg(long, alias = "workspace", value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    project: Option<PathBuf>,
    /// The most tokens that RESUME.md may have [default: what suits the target]
    #[arg(long, value_name = "N", value_parser = parse_tokens)]
    tokens: Option<u64>,
    /// Copy RESUME.md to the clipboard, which is the default
    #[arg(long, overrides_with = "no_copy", hide_short_help = true)]
    copy: bool,
    /// Leave the clipboard alone
    #[arg(long)]
    no_copy: bool,
    /// What the next agent does with handoff.md: ask (the default), brief or silent
    #[arg(long, value_name = "HOW", hide_possible_values = true, hide_short_help = true)]
    protocol: Option<ProtocolArg>,
    /// Write keys, tokens and passwords as they are
    #[arg(long, hide_short_help = true)]
    no_redact: bool,
    /// Start the target with it
    #[arg(long, conflicts_with = "json")]
    launch: bool,
}

/// How the next agent begins.
#[derive(Clone, Copy, ValueEnum)]
enum ProtocolArg {
    Ask,
    Brief,
    Silent,
}

pub(crate) fn cmd_handoff(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &HandoffArgs,
) -> Result<(), CommandError> {
    let project = args.project.as_deref().map(resolve_path);
    // Where a folder is named, it is the newest session of that.
    let session = match &project {
        Some(_) => choice::choose_session(ui, context, globals, &args.session, project.clone())?,
        None => choice::choose_calling_session(ui, context, globals, &args.session)?,
    };
    let mut warnings = choice::announce_open(ui, &session)?;
    let options = Options { project: project.as_deref(), redact: !args.no_redact };
    let distilled = ui.while_reading(&session, || distil_session(context, &session, options))?;
    warnings.extend(distilled.warnings.iter().cloned());
    let name = session.agent.facts().name;
    let prompt = Prompt::from_session(
        context,
        &distilled,
        name,
        args.brief_target(),
        args.tokens.or(context.config.handoff.tokens),
    )?;
    let delivery = Delivery {
        source: session.agent.facts().id.to_owned(),
        session: session.found.id.0.clone(),
        project: distilled.project.clone(),
        target: args.brief_target().copied(),
        copy: args.wants_copy(),
        launch: args.launch,
        dry_run: false,
        extra_files: vec![(HANDOFF_FILE, args.render_handoff(context, &distilled, name))],
        unread: distilled.unread,
        warnings,
    };
    delivery.deliver(ui, context, &prompt)
}

impl HandoffArgs {
    fn brief_target(&self) -> Option<&Target> {
        match &self.target {
            Some(Destination::Target(taker)) => Some(taker),
            _ => None,
        }
    }

    fn wants_copy(&self) -> bool {
        self.copy || !self.no_copy
    }

    fn render_handoff(&self, context: &Context, distilled: &DistilledSession, name: &str) -> String {
        let configured = || ProtocolArg::from_str(context.config.handoff.protocol.as_deref()?, true).ok();
        let protocol = match self.protocol.or_else(configured) {
            Some(ProtocolArg::Ask) | None => Protocol::Ask,
            Some(ProtocolArg::Brief) => Protocol::Brief,
            Some(ProtocolArg::Silent) => Protocol::Silent,
        };
        let show = show_command(&distilled.brief.session.0, context.env.os);
        render_handoff(&distilled.brief, &HandoffOptions { agent_name: name, protocol, show_command: &show })
    }
}
