//! `carryover resume`.

mod captured;
mod native;
mod text;

use std::path::PathBuf;

use carryover_agents::{AGENTS, Agent, Target};
use carryover_engine::client;
use carryover_engine::context::Context;
use clap::Args;

use crate::args::{Globals, SessionArgs, parse_tokens};
use crate::choice;
use crate::destination::target_parser;
use crate::error::CommandError;
use crate::launch::refuse_missing_client;
use crate::ui::Ui;
use native::NotNative;

/// Go on with a session in another agent
///
/// Writes a new session into the target's own store, so that its own resume command loads it: prompts, replies, tool
/// calls with their results, and images. No existing session is changed, and `carryover undo` takes it back. A target
/// that takes no sessions gets words instead, unless --native is given. The command that goes on is printed on standard
/// output, everything else on standard error.
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "they are switches of a command line")]
#[command(after_long_help = "\
Examples:
  carryover resume --target codex                         the newest session of this project
  carryover resume 8f3c21aa --target codex --dry-run      what would be written, and what would be lost
  carryover resume \"fix the parser\" --target claude-code --launch
  carryover resume ./rollout-2026-11-15.jsonl --target claude-code
  carryover resume --target claude-code --project ~/moved/here
  carryover resume --target cursor --context-only         a brief where Cursor reads its rules
  carryover resume --target gemini-cli --prompt           a prompt to start it with
  carryover resume process.json --target codex            from `carryover show --format uasf > process.json`
  carryover resume --file session.json --target codex     a prompt, from an earlier `carryover capture`")]
pub(crate) struct ResumeArgs {
    #[command(flatten)]
    session: SessionArgs,
    /// The agent to go on in
    #[arg(long, short, alias = "to", value_name = "AGENT", value_parser = target_parser(), hide_possible_values = true)]
    target: Option<Target>,
    /// The folder to go on in [default: the session's own]
    #[arg(long, alias = "workspace", value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    project: Option<PathBuf>,
    /// Fit it into this many tokens [default: what the target takes]
    #[arg(long, value_name = "N", value_parser = parse_tokens)]
    tokens: Option<u64>,
    /// Fail where the session cannot be written into the target's own store
    #[arg(long, conflicts_with_all = ["prompt", "context_only"], hide_short_help = true)]
    native: bool,
    /// Go on from a prompt, which is written and copied
    #[arg(long, conflicts_with = "context_only")]
    prompt: bool,
    /// Leave a brief where the target reads its instructions
    #[arg(long)]
    context_only: bool,
    /// Go on from a captured session: UASF, or Portable Session Format, which makes a prompt
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, hide_short_help = true)]
    #[arg(conflicts_with_all = ["session", "source"])]
    file: Option<PathBuf>,
    /// Print what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Write keys, tokens and passwords as they are, in words and from captured sessions
    #[arg(long, hide_short_help = true)]
    no_redact: bool,
    /// Start the target with the session
    #[arg(long, conflicts_with_all = ["dry_run", "json"])]
    launch: bool,
}

pub(crate) fn cmd_resume(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &ResumeArgs,
) -> Result<(), CommandError> {
    if let Some(portable) = captured::find_portable(context, args)? {
        return captured::resume_portable(ui, context, args, portable);
    }
    let mut session = match &args.file {
        Some(file) => captured::find_session(context, file)?,
        None => choice::choose_session(ui, context, globals, &args.session, None)?,
    };
    if let Some(unmasked) = session.agent.as_captured().filter(|_| args.no_redact) {
        session.agent = unmasked;
    }
    let target = choose_target(context, args, session.agent)?;
    if args.launch {
        refuse_missing_client(context, Some(&target))?;
    }
    if args.prompt {
        return text::as_prompt(ui, context, &session, &target, args, Vec::new());
    }
    if args.context_only {
        return text::as_context(ui, context, &session, &target, args, Vec::new());
    }
    let Some(agent) = carryover_agents::agent_by_name(target.id) else {
        if args.native {
            return Err(CommandError::usage(format!("{} takes no sessions", target.name))
                .with_hint("without `--native`, it gets a brief where it reads its rules"));
        }
        let why = format!("{} takes no sessions: it gets a brief where it reads its rules", target.name);
        return text::as_context(ui, context, &session, &target, args, vec![why]);
    };
    match native::resume_natively(ui, context, &session, agent, args) {
        Ok(()) => Ok(()),
        Err(NotNative::CannotHold(error)) if !args.native => {
            text::as_prompt(ui, context, &session, &target, args, vec![format!("{error}: it gets a prompt instead")])
        }
        Err(NotNative::CannotHold(error)) => Err(error.into()),
        Err(NotNative::Failed(error)) => Err(error),
    }
}

/// The agent that is named, configured, or the only other one here.
fn choose_target(context: &Context, args: &ResumeArgs, source: &dyn Agent) -> Result<Target, CommandError> {
    let configured = || context.config.resume.target.as_deref().and_then(Target::by_name);
    if let Some(target) = args.target.or_else(configured) {
        return Ok(target);
    }
    let takers = || AGENTS.iter().copied().filter(|agent| agent.writer().is_some());
    let others = takers().filter(|agent| agent.facts().id != source.facts().id);
    let mut here = others.filter(|agent| client::find_installed(context, *agent).is_some());
    if let (Some(only), None) = (here.next(), here.next()) {
        return Ok(Target::from_facts(only.facts()));
    }
    let names: Vec<&str> = takers().map(|agent| agent.facts().id).collect();
    Err(CommandError::usage("no target was named")
        .with_hint(format!("name one with `--target AGENT`: {}", names.join(", ")))
        .with_hint("`carryover config set resume.target AGENT` makes it the default"))
}
