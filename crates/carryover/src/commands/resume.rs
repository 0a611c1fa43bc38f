//! `carryover resume`.

mod captured;
mod conversation;
pub(super) mod native;
mod own;
mod text;

use std::path::PathBuf;

use carryover_agents::{Agent, Facts, ResumeCommand, Target};
use carryover_engine::carry::earlier::EarlierCopy;
use carryover_engine::carry::offers::{Offer, Road, list_offers};
use carryover_engine::carry::own::own_command;
use carryover_engine::carry::resume::goes_into_editor;
use carryover_engine::client;
use carryover_engine::context::Context;
use carryover_engine::sessions::copies::CopyState;
use carryover_engine::sessions::list::ListedSession;
use clap::Args;

use crate::args::{Globals, SessionArgs, parse_tokens};
use crate::choice;
use crate::destination::target_parser;
use crate::error::{CommandError, ErrorKind};
use crate::key_args::UnsealArgs;
use crate::launch::refuse_missing_client;
use crate::process_env::resolve_path;
use crate::shell;
use crate::ui::Ui;
use conversation::ResumedConversation;
use native::NotNative;

/// Go on with a session in another agent
///
/// Writes a new session into the target's own store, so that its own resume command loads it: prompts, replies, tool
/// calls with their results, and images. No existing session is changed, and `carryover undo` takes it back. A session
/// that is the target's own already is not copied, unless --fork or another --project is given. A target that takes no
/// sessions gets words instead, unless --native is given. The command that goes on is printed on standard output,
/// everything else on standard error.
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "they are switches of a command line")]
#[command(after_long_help = "\
Examples:
  carryover codex                                         the newest session of this project, in Codex
  carryover resume --target codex                         the same, be it Codex's own
  carryover resume 8f3c21aa --target codex --dry-run      what would be written, and what would be lost
  carryover resume \"fix the parser\" --target claude-code --launch
  carryover resume ./rollout-2026-11-15.jsonl --target claude-code
  carryover resume --target claude-code --project ~/moved/here
  carryover resume --target cursor --context-only         a brief where Cursor reads its rules
  carryover resume --target codex --prompt                a prompt to start it with
  carryover resume process.json --target codex            from `carryover show --format uasf > process.json`
  carryover resume 001-plan-the-move --target codex       a conversation that `carryover save` has kept
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
    /// Copy a session that is the target's own already
    #[arg(long, conflicts_with_all = ["prompt", "context_only"])]
    fork: bool,
    /// Fit it into this many tokens [default: what the target takes]
    #[arg(long, value_name = "N", value_parser = parse_tokens)]
    tokens: Option<u64>,
    /// Fail where the session cannot be written into the target's own store
    #[arg(long, conflicts_with_all = ["prompt", "context_only"], hide_short_help = true)]
    native: bool,
    /// Write it into the history of the target's editor, while that is closed
    #[arg(long, conflicts_with_all = ["prompt", "context_only"], hide_short_help = true)]
    into_editor: bool,
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
    #[command(flatten)]
    unseal: UnsealArgs,
    /// Start the target with the session
    #[arg(long, conflicts_with_all = ["dry_run", "json"])]
    launch: bool,
    /// Print the command and start nothing, whatever the configuration says
    #[arg(long, alias = "no-launch", conflicts_with = "launch", hide_short_help = true)]
    print: bool,
    /// Without a session, take the newest of another agent than the target
    #[arg(long, hide = true)]
    prefer_others: bool,
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
    if let Some(conversation) = conversation::find_named(context, args)? {
        return resume_conversation(ui, context, globals, args, &conversation);
    }
    let session = match &args.file {
        Some(file) => captured::find_session(context, file)?,
        None => match choose_session(ui, context, globals, args)? {
            Chosen::Session(session) => *session,
            Chosen::Conversation(conversation) => {
                return resume_conversation(ui, context, globals, args, &conversation);
            }
        },
    };
    let target = choose_target(ui, context, globals, args, &session)?;
    resume_session(ui, context, args, session, target, None)
}

/// What some words name.
enum Chosen {
    Session(Box<ListedSession>),
    Conversation(Box<ResumedConversation>),
}

/// The session that is meant; where there is none, or where it was saved, the conversation with these words.
fn choose_session(ui: &mut Ui, context: &Context, globals: Globals, args: &ResumeArgs) -> Result<Chosen, CommandError> {
    let avoided = args.target.filter(|_| args.prefer_others).map(|target| target.id);
    let chosen = choice::choose_session_avoiding(ui, context, globals, &args.session, None, avoided);
    let conversation = match &chosen {
        Err(error) if !matches!(error.kind, ErrorKind::NotFound | ErrorKind::NoAgent) => None,
        // Of several sessions, most often one and its copies, none is guessed; the one conversation with these words is meant.
        Err(_) => conversation::find_fitting(context, args, None)?,
        Ok(session) => conversation::find_fitting(context, args, Some(session))?,
    };
    match conversation {
        Some(conversation) => Ok(Chosen::Conversation(Box::new(conversation))),
        None => chosen.map(|session| Chosen::Session(Box::new(session))),
    }
}

/// Goes on with a conversation that is kept in a project.
fn resume_conversation(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &ResumeArgs,
    conversation: &ResumedConversation,
) -> Result<(), CommandError> {
    conversation.announce(ui)?;
    let target = match &conversation.session {
        Some(session) => choose_target(ui, context, globals, args, session)?,
        None => args.target.or_else(|| configured_target(context)).ok_or_else(unnamed_target)?,
    };
    if !args.dry_run {
        conversation.mark_active(context)?;
    }
    let resumed = match &conversation.session {
        Some(session) => resume_session(ui, context, args, session.clone(), target, Some(conversation)),
        None => resume_document(ui, context, args, &target, conversation),
    };
    if resumed.is_err() && !args.dry_run {
        conversation.restore_status(context);
    }
    resumed
}

/// Goes on from the document alone.
fn resume_document(
    ui: &mut Ui,
    context: &Context,
    args: &ResumeArgs,
    target: &Target,
    conversation: &ResumedConversation,
) -> Result<(), CommandError> {
    let mut warnings = conversation.changes(context, target);
    if let Some(agent) = carryover_agents::agent_by_name(target.id).filter(|_| !args.prompt) {
        warnings.push(conversation.explain_prompt(agent.facts()));
    }
    if args.native || args.context_only {
        return Err(CommandError::usage("only its document is left, from which it goes on with a prompt")
            .with_hint("leave out `--native` and `--context-only`"));
    }
    conversation.as_prompt(ui, context, target, args, warnings)
}

fn resume_session(
    ui: &mut Ui,
    context: &Context,
    args: &ResumeArgs,
    mut session: ListedSession,
    target: Target,
    conversation: Option<&ResumedConversation>,
) -> Result<(), CommandError> {
    if let Some(unmasked) = session.agent.as_captured().filter(|_| args.no_redact) {
        session.agent = unmasked;
    }
    if args.launch {
        refuse_missing_client(context, Some(&target))?;
    }
    let agent = carryover_agents::agent_by_name(target.id);
    let is_native = agent.is_some() && !args.prompt && !args.context_only;
    if let Some(command) = agent.filter(|_| is_native).and_then(|agent| args.own_command(context, &session, agent)) {
        // It holds the command's text already, as it was then.
        let missing = conversation.and_then(|conversation| conversation.missing_servers(context, &target));
        return own::resume_own(ui, context, &session, &command, args, missing);
    }
    let ahead = agent.filter(|_| is_native && args.may_go_on()).and_then(|agent| {
        let earlier = EarlierCopy::find_ahead(context, &session, agent)?;
        Some((agent, earlier.command.clone()?, earlier))
    });
    if let Some((agent, command, earlier)) = ahead {
        return own::resume_copy(ui, context, agent, &earlier, &command, args);
    }
    let mut warnings = choice::announce_open(ui, &session)?;
    warnings.extend(conversation.iter().flat_map(|conversation| conversation.changes(context, &target)));
    if args.into_editor && agent.is_none_or(|agent| agent.editor_writer().is_none()) {
        return Err(CommandError::usage(format!("{} has no editor that sessions are written into", target.name))
            .with_hint("`carryover info` tells which agents have one"));
    }
    match (agent.filter(|agent| agent.writer().is_some() || args.goes_into_editor(context, *agent)), conversation) {
        (_, Some(conversation)) if args.prompt => conversation.as_prompt(ui, context, &target, args, warnings),
        _ if args.prompt => text::as_prompt(ui, context, &session, &target, args, warnings),
        _ if args.context_only => text::as_context(ui, context, &session, &target, args, warnings, conversation),
        (Some(agent), _) => resume_in_agent(ui, context, &session, agent, args, warnings, conversation),
        (None, _) if args.native => Err(CommandError::new(ErrorKind::Io, format!("{} takes no sessions", target.name))
            .with_hint("without `--native`, it gets a brief where it reads its rules")),
        (None, _) => {
            warnings.push(format!("{} takes no sessions: it gets a brief where it reads its rules", target.name));
            text::as_context(ui, context, &session, &target, args, warnings, conversation)
        }
    }
}

/// A session in the agent's own store; where it cannot be held, a prompt.
fn resume_in_agent(
    ui: &mut Ui,
    context: &Context,
    session: &ListedSession,
    agent: &'static dyn Agent,
    args: &ResumeArgs,
    mut warnings: Vec<String>,
    conversation: Option<&ResumedConversation>,
) -> Result<(), CommandError> {
    let resumed = native::resume_natively(ui, context, session, agent, args, conversation);
    match (resumed, conversation) {
        (Ok(()), _) => Ok(()),
        (Err(NotNative::CannotHold(error)), None) if args.goes_into_editor(context, agent) && args.may_get_words() => {
            warnings.push(format!("{error}: it gets a brief instead"));
            text::as_context(ui, context, session, &Target::from_facts(agent.facts()), args, warnings, None)
        }
        (Err(NotNative::CannotHold(error)), conversation) if args.may_get_words() => {
            warnings.push(format!("{error}: it gets a prompt instead"));
            let target = Target::from_facts(agent.facts());
            match conversation {
                Some(conversation) => conversation.as_prompt(ui, context, &target, args, warnings),
                None => text::as_prompt(ui, context, session, &target, args, warnings),
            }
        }
        (Err(NotNative::CannotHold(error)), _) => {
            let after = ["--target", agent.facts().id];
            let line = shell::session_command(&["handoff"], &session.found.id.0, &after, context.env.os);
            Err(CommandError::new(ErrorKind::Io, error).with_hint(format!("hand it over in words: `{line}`")))
        }
        (Err(NotNative::Failed(error)), _) => Err(error),
    }
}

impl ResumeArgs {
    /// The target's own command for a session that is its own already, unless a copy is asked for.
    fn own_command(&self, context: &Context, session: &ListedSession, target: &dyn Agent) -> Option<ResumeCommand> {
        let own = session.found.project.as_deref().map(resolve_path);
        let is_elsewhere = self.project.as_deref().is_some_and(|given| Some(resolve_path(given)) != own);
        // What its client goes on with may be elsewhere than in its editor.
        if self.fork || is_elsewhere || self.into_editor { None } else { own_command(context, session, target) }
    }

    /// Whether the session goes into the target's editor: now, or once for all.
    fn goes_into_editor(&self, context: &Context, target: &dyn Agent) -> bool {
        let is_asked = self.into_editor && target.editor_writer().is_some();
        is_asked || goes_into_editor(context, target)
    }

    /// Whether words will do where the session itself cannot be written.
    fn may_get_words(&self) -> bool {
        !self.native && !self.into_editor
    }

    /// Whether a copy that is there already will do.
    fn may_go_on(&self) -> bool {
        !self.fork && self.project.is_none() && self.file.is_none() && !self.into_editor
    }

    /// Whether the client is to be started.
    ///
    /// The configuration asks for it only where that can be done: a client that is missing is no reason to fail then.
    fn launches(&self, ui: &Ui, context: &Context, facts: &Facts) -> bool {
        let may = !self.print && !self.dry_run && !ui.is_json() && context.config.resume.launch == Some(true);
        self.launch || (may && client::find_agent_program(context, facts).is_some())
    }

    /// Whether the client is there and would have been started, had it been asked for.
    fn could_launch(&self, context: &Context, facts: &Facts) -> bool {
        let is_refused = self.print || self.dry_run || context.config.resume.launch == Some(false);
        !is_refused && client::find_agent_program(context, facts).is_some()
    }

    fn launches_target(&self, ui: &Ui, context: &Context, target: &Target) -> bool {
        let agent = carryover_agents::agent_by_name(target.id);
        agent.map_or(self.launch, |agent| self.launches(ui, context, agent.facts()))
    }
}

/// The agent that is named, configured, or the only other one here; else it is asked for.
fn choose_target(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &ResumeArgs,
    session: &ListedSession,
) -> Result<Target, CommandError> {
    if let Some(target) = args.target.or_else(|| configured_target(context)) {
        return Ok(target);
    }
    let offers = list_offers(context, session);
    let source = session.agent.facts().id;
    let mut here = offers.iter().filter(|offer| offer.installed && offer.target.id != source);
    if let (Some(only), None) = (here.next(), here.next()) {
        return Ok(only.target);
    }
    if ui.is_interactive() && !globals.yes {
        return ask_target(ui, &offers);
    }
    Err(unnamed_target())
}

fn configured_target(context: &Context) -> Option<Target> {
    context.config.resume.target.as_deref().and_then(Target::by_name)
}

/// Asks by number.
fn ask_target(ui: &mut Ui, offers: &[Offer]) -> Result<Target, CommandError> {
    for line in offer_lines(offers) {
        ui.write_line(line)?;
    }
    let answer = ui.ask_choice("go on in which one? (number, or q to leave)")?.ok_or_else(CommandError::left)?;
    let chosen = answer.parse::<usize>().ok().and_then(|number| offers.get(number.checked_sub(1)?));
    chosen.map(|offer| offer.target).ok_or_else(unnamed_target)
}

/// The choices, numbered: those that are installed come first.
fn offer_lines(offers: &[Offer]) -> impl Iterator<Item = String> {
    let width = offers.iter().map(|offer| offer.target.name.len()).max().unwrap_or(0);
    offers.iter().enumerate().map(move |(index, offer)| {
        let state = match (&offer.road, offer.installed) {
            (Road::Own(_), _) => "already there",
            (Road::Context, _) => "an editor: gets a brief",
            (Road::Native, true) => "installed",
            (Road::Native, false) => "not installed",
        };
        let before = offer.copy.as_ref().map_or("", |earlier| match earlier.state {
            CopyState::GoneOnWith => ", has a copy that was gone on with",
            CopyState::Unused | CopyState::Gone => "",
        });
        format!("{:>2}  {:width$}  {state}{before}", index + 1, offer.target.name)
    })
}

fn unnamed_target() -> CommandError {
    let names: Vec<&str> = Target::all().map(|target| target.id).collect();
    CommandError::usage("no target was named")
        .with_hint(format!("name one with `--target AGENT`: {}", names.join(", ")))
        .with_hint("`carryover config set resume.target AGENT` makes it the default")
}
