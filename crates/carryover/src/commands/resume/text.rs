//! Going on with words: a prompt, or a brief where the target reads its instructions.

use std::path::PathBuf;

use carryover_agents::{Placement, ResumeCommand, Target};
use carryover_core::render::{ContextOptions, context_block};
use carryover_core::tokens::estimate;
use carryover_engine::context::Context;
use carryover_engine::handoff::context_file::{ContextFile, ContextFileError, WrittenBrief, write_context_file};
use carryover_engine::handoff::{DistilledSession, Options, distil_session};
use carryover_engine::sessions::list::ListedSession;
use carryover_engine::sessions::unread::Unread;
use serde::Serialize;

use super::ResumeArgs;
use super::conversation::ResumedConversation;
use crate::delivery::{Delivery, Prompt, show_command};
use crate::error::{CommandError, ErrorKind};
use crate::launch::{launch_client, write_command};
use crate::process_env::resolve_path;
use crate::quantity;
use crate::session_row::abbreviate_home;
use crate::ui::{DIM, GOOD, Ui};

fn distil_with_args(
    ui: &Ui,
    context: &Context,
    session: &ListedSession,
    args: &ResumeArgs,
    kept_project: Option<PathBuf>,
) -> Result<DistilledSession, CommandError> {
    let project = args.project.as_deref().map(resolve_path).or(kept_project);
    let options = Options { project: project.as_deref(), redact: !args.no_redact };
    Ok(ui.while_reading(session, || distil_session(context, session, options))?)
}

/// A prompt that the target is started with.
pub(super) fn as_prompt(
    ui: &mut Ui,
    context: &Context,
    session: &ListedSession,
    target: &Target,
    args: &ResumeArgs,
    mut warnings: Vec<String>,
) -> Result<(), CommandError> {
    let distilled = distil_with_args(ui, context, session, args, None)?;
    let facts = session.agent.facts();
    let prompt = Prompt::from_session(
        context,
        &distilled,
        facts.name,
        Some(target),
        args.tokens.or(context.config.handoff.tokens),
    )?;
    warnings.extend(distilled.warnings);
    let launch = args.launches_target(ui, context, target);
    let delivery = Delivery {
        source: facts.id.to_owned(),
        session: session.found.id.0.clone(),
        project: distilled.project,
        target: Some(*target),
        copy: !launch,
        launch,
        dry_run: args.dry_run,
        extra_files: Vec::new(),
        unread: distilled.unread,
        warnings,
    };
    delivery.deliver(ui, context, &prompt)
}

/// The brief that was left, as `--json` tells it.
#[derive(Serialize)]
struct ContextDocument<'a> {
    schema: &'static str,
    source: &'static str,
    session_id: &'a str,
    target: &'static str,
    files: Vec<String>,
    characters: usize,
    tokens: u64,
    command: Option<Vec<String>>,
    cwd: String,
    undo_id: Option<&'a str>,
    dry_run: bool,
    unread: &'a Unread,
    warnings: &'a [String],
}

/// A brief where the target finds it by itself.
pub(super) fn as_context(
    ui: &mut Ui,
    context: &Context,
    session: &ListedSession,
    target: &Target,
    args: &ResumeArgs,
    mut warnings: Vec<String>,
    conversation: Option<&ResumedConversation>,
) -> Result<(), CommandError> {
    let project = conversation.and_then(ResumedConversation::kept_project);
    let distilled = distil_with_args(ui, context, session, args, project)?;
    let facts = session.agent.facts();
    let show = show_command(&session.found.id.0, context.env.os);
    let opening = conversation.map(|conversation| conversation.short_opening(context, target.id)).unwrap_or_default();
    let options = ContextOptions { agent_name: facts.name, show_command: &show, opening: &opening };
    let text = context_block(&distilled.brief, &options);
    let leaving = ContextFile {
        target,
        project: &distilled.project,
        agent: facts.id,
        session: &session.found.id,
        title: session.found.title.as_deref(),
        text: &text,
        dry_run: args.dry_run,
    };
    let left = write_context_file(context, &leaving)?;
    if let (Some(conversation), Some(id)) = (conversation, &left.undo_id) {
        conversation.note_active(context, id)?;
    }
    warnings.extend(distilled.warnings.iter().chain(&left.warnings).cloned());
    let command = start_command(target, &left, &distilled);
    if ui.is_json() {
        let files = left.file.iter().chain([&left.brief_file]).map(|file| file.display().to_string()).collect();
        ui.write_json(&ContextDocument {
            schema: "carryover.context/1",
            source: facts.id,
            session_id: &session.found.id.0,
            target: target.id,
            files,
            characters: text.chars().count(),
            tokens: estimate(&text),
            command: command.map(|command| command.argv),
            cwd: distilled.project.display().to_string(),
            undo_id: left.undo_id.as_deref(),
            dry_run: args.dry_run,
            unread: &distilled.unread,
            warnings: &warnings,
        })?;
        return Ok(());
    }
    write_report(ui, context, &left, target, &text, &warnings)?;
    show_next_steps(ui, context, target, &left, command.as_ref(), args)
}

fn write_report(
    ui: &mut Ui,
    context: &Context,
    left: &WrittenBrief,
    target: &Target,
    text: &str,
    warnings: &[String],
) -> Result<(), CommandError> {
    let done = if left.undo_id.is_some() { "left a brief" } else { "would leave a brief" };
    ui.status(format_args!("{GOOD}{done}{GOOD:#} for {}", target.name))?;
    for file in left.file.iter().chain([&left.brief_file]) {
        ui.status(format_args!("  in          {DIM}{}{DIM:#}", abbreviate_home(context, file)))?;
    }
    ui.status(format_args!("  tokens      about {}", quantity::format_tokens(estimate(text))))?;
    for warning in warnings {
        ui.warning(warning)?;
    }
    Ok(())
}

/// How the target is started: it finds the brief by itself, or it is named.
fn start_command(target: &Target, left: &WrittenBrief, distilled: &DistilledSession) -> Option<ResumeCommand> {
    let argv = match target.placement {
        Placement::StartFile => {
            let inside = left.brief_file.strip_prefix(&distilled.project).unwrap_or(&left.brief_file);
            target.start_command("", &inside.display().to_string())?
        }
        _ => vec![target.start.first()?.to_string()],
    };
    Some(ResumeCommand { argv, cwd: distilled.project.clone(), needs_cwd: true })
}

fn show_next_steps(
    ui: &mut Ui,
    context: &Context,
    target: &Target,
    left: &WrittenBrief,
    command: Option<&ResumeCommand>,
    args: &ResumeArgs,
) -> Result<(), CommandError> {
    match command {
        Some(command) => write_command(ui, context, command, args.dry_run)?,
        None => ui.status(format_args!("open the project in {}", target.name))?,
    }
    if let Some(id) = &left.undo_id {
        ui.hint(format_args!("`carryover undo {id}` takes it back"))?;
    }
    match command {
        Some(command) if args.launches_target(ui, context, target) => launch_client(ui, context, target.id, command),
        _ => Ok(()),
    }
}

impl From<ContextFileError> for CommandError {
    fn from(error: ContextFileError) -> Self {
        let hint = match &error {
            ContextFileError::Changed(_) => {
                Some("move your words out of the block that `carryover` marks, or out of that file, or remove it")
            }
            _ => None,
        };
        hint.into_iter().fold(Self::new(ErrorKind::Io, error), Self::with_hint)
    }
}
