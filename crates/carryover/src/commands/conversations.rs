//! `carryover conversations`.

mod prune;
mod show;

use std::path::{Path, PathBuf};

use carryover_agents::agent_by_name;
use carryover_core::plain::one_line;
use carryover_core::render::saved::SavedStatus;
use carryover_engine::context::Context;
use carryover_engine::conversations::find::{Named, find_by_id, find_by_words};
use carryover_engine::conversations::thread::{latest_saves, list_saves};
use carryover_engine::conversations::{Conversation, Listing, conversation_root, list_conversations};
use clap::{Args, Subcommand};
use serde::Serialize;

use crate::args::Globals;
use crate::error::{CommandError, ErrorKind};
use crate::process_env::resolve_path;
use crate::relative_time::format_when;
use crate::session_row::cut_to_width;
use crate::ui::{BOLD, DIM, DOUBTFUL, GOOD, Paint, Ui};

/// List the conversations that are kept in this project
///
/// Each with its type, title, when it was last active, how it stands, and the user's last request. One that was gone on
/// with several times is one line; `show` tells its saves in order.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover conversations
  carryover conversations show 001-plan-move-to-axum
  carryover conversations prune --before 90d --dry-run
  carryover resume move to axum --target codex")]
pub(crate) struct ConversationsArgs {
    #[command(subcommand)]
    action: Option<Action>,
    /// The project [default: this one]
    #[arg(long, alias = "workspace", value_name = "FOLDER", value_hint = clap::ValueHint::DirPath, global = true)]
    project: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Action {
    Show(show::ShowArgs),
    Prune(prune::PruneArgs),
}

/// The conversations, as `--json` tells them.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    conversations: Vec<ConversationRow<'a>>,
    total: usize,
    warnings: &'a [String],
}

/// A conversation, as `--json` tells it.
#[derive(Serialize)]
struct ConversationRow<'a> {
    conversation_id: &'a str,
    date: &'a str,
    conversation_type: &'a str,
    title: &'a str,
    status: &'static str,
    created_at: Option<&'a str>,
    last_active: Option<&'a str>,
    message_count: Option<usize>,
    summary: &'a str,
    agent: Option<&'a str>,
    session_id: Option<&'a str>,
    folder: String,
    has_session: bool,
    has_messages: bool,
    sealed: bool,
    thread: Option<&'a str>,
    continues: Option<&'a str>,
    /// The saves of the same conversation, this one included.
    saves: usize,
}

impl<'a> ConversationRow<'a> {
    fn new(conversation: &'a Conversation, all: &[Conversation]) -> Self {
        let saved = &conversation.saved;
        let filled = |text: &'a str| Some(text).filter(|text| !text.is_empty());
        Self {
            conversation_id: &conversation.id,
            date: &conversation.date,
            conversation_type: &saved.conversation_type,
            title: &saved.title,
            status: saved.status.name(),
            created_at: filled(&saved.created_at),
            last_active: filled(&saved.last_active),
            message_count: Some(saved.message_count).filter(|count| conversation.has_session || *count > 0),
            summary: &saved.context_summary,
            agent: filled(&saved.agent),
            session_id: filled(&saved.session_id),
            folder: conversation.folder.display().to_string(),
            has_session: conversation.has_session,
            has_messages: conversation.has_messages || conversation.has_sealed,
            sealed: conversation.has_sealed || saved.sealed,
            thread: saved.thread.as_deref(),
            continues: saved.continues.as_deref(),
            saves: list_saves(all, conversation).len(),
        }
    }
}

pub(crate) fn cmd_conversations(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &ConversationsArgs,
) -> Result<(), CommandError> {
    let root = project_root(context, args.project.as_deref());
    let listing = list_conversations(&root);
    if !ui.is_json() {
        for warning in &listing.warnings {
            ui.warning(warning)?;
        }
    }
    match &args.action {
        Some(Action::Show(show)) => show::show_conversation(ui, context, &listing, show),
        Some(Action::Prune(prune)) => prune::prune_histories(ui, context, globals, &listing, prune),
        None => list_latest(ui, context, &listing),
    }
}

/// The project whose conversations are meant.
pub(crate) fn project_root(context: &Context, given: Option<&Path>) -> PathBuf {
    let folder = given.map_or_else(|| context.cwd.clone(), resolve_path);
    conversation_root(context, &folder)
}

fn list_latest(ui: &mut Ui, context: &Context, listing: &Listing) -> Result<(), CommandError> {
    let all = &listing.conversations;
    let latest = latest_saves(all);
    if ui.is_json() {
        let conversations = latest.iter().map(|one| ConversationRow::new(one, all)).collect();
        let (schema, total) = ("carryover.conversations/1", latest.len());
        return Ok(ui.write_json(&Document { schema, conversations, total, warnings: &listing.warnings })?);
    }
    for conversation in &latest {
        write_conversation(ui, context, conversation, list_saves(all, conversation).len())?;
    }
    if latest.is_empty() {
        ui.status("no conversation is kept in this project")?;
        ui.hint("`carryover save` keeps the newest session here")?;
    }
    Ok(())
}

/// A conversation in two lines.
fn write_conversation(
    ui: &mut Ui,
    context: &Context,
    conversation: &Conversation,
    n_saves: usize,
) -> Result<(), CommandError> {
    let width = ui.table_columns();
    let saved = &conversation.saved;
    let (status, paint) = paint_status(saved.status);
    let when = conversation.last_active().map_or_else(String::new, |at| format_when(at, &context.env, false));
    let threaded = if n_saves > 1 { format!(" · {n_saves} saves") } else { String::new() };
    let agent = agent_by_name(&saved.agent).map_or(saved.agent.as_str(), |agent| agent.facts().name);
    let sealed = if conversation.has_sealed { " · sealed" } else { "" };
    let agent = if agent.is_empty() { String::new() } else { format!(" · {}", one_line(agent, 40)) };
    let title = cut_to_width(&one_line(&saved.title, 200), width.saturating_sub(20));
    let (kind, id) = (one_line(&saved.conversation_type, 24), one_line(&conversation.id, 200));
    writeln!(ui.out(), "{BOLD}{title}{BOLD:#}  {DIM}{kind}{DIM:#}  {paint}{status}{paint:#}")?;
    ui.write_row(format_args!("  {id}  {DIM}{when}{agent}{threaded}{sealed}{DIM:#}"))?;
    let summary = one_line(&saved.context_summary, width.saturating_sub(4));
    if !summary.is_empty() && summary != saved.title {
        writeln!(ui.out(), "  {DIM}\"{summary}\"{DIM:#}")?;
    }
    Ok(())
}

fn paint_status(status: SavedStatus) -> (&'static str, Paint) {
    let paint = match status {
        SavedStatus::Active => GOOD,
        SavedStatus::Paused => DOUBTFUL,
        SavedStatus::Completed => DIM,
    };
    (status.name(), paint)
}

/// The conversation that some words name; several are listed, and none is guessed.
pub(crate) fn choose_conversation<'a>(
    conversations: &'a [Conversation],
    words: &str,
) -> Result<&'a Conversation, CommandError> {
    let named = match find_by_id(conversations, words) {
        Named::Nothing => find_by_words(conversations, words),
        named => named,
    };
    match named {
        Named::One(one) => Ok(one),
        Named::Several(several) => Err(ambiguous_conversations(words, &several)),
        Named::Nothing => {
            let message = format!("no conversation of this project matches `{}`", one_line(words, 200));
            Err(CommandError::new(ErrorKind::NotFound, message).with_hint("`carryover conversations` lists them"))
        }
    }
}

pub(crate) fn ambiguous_conversations(words: &str, several: &[&Conversation]) -> CommandError {
    let message = format!("`{}` fits {} conversations", one_line(words, 200), several.len());
    let line = |one: &&Conversation| format!("{}  {}", one.name(), one_line(&one.saved.title, 120));
    CommandError::new(ErrorKind::NotFound, message)
        .with_details(several.iter().take(20).map(line).collect::<Vec<_>>())
        .with_hint("name one with its date, as it is listed")
}
