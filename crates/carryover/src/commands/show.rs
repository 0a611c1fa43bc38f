//! `carryover show`.

use std::path::PathBuf;

use carryover_core::transcript::EntryRef;
use carryover_engine::carry::canonical::build_canonical;
use carryover_engine::context::Context;
use carryover_engine::remember_messages;
use carryover_engine::sessions::list::ListedSession;
use carryover_engine::sessions::read;
use carryover_engine::sessions::unread::Unread;
use clap::{Args, ValueEnum};

use crate::args::{Globals, SessionArgs};
use crate::choice;
use crate::error::{CommandError, ErrorKind};
use crate::pager::Pager;
use crate::process_env::resolve_path;
use crate::ui::Ui;
use crate::view::{self, Ending, View};

/// Show a session
///
/// Shows the live context: what the agent's model would see on its next turn. With --full, everything that the store
/// holds, also what a compaction or a rewind has taken out of the context. On a terminal that it does not fit on, it is
/// shown by `$CARRYOVER_PAGER`, `$PAGER` or less.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover show                    the newest session here
  carryover show 8f3c21aa --full
  carryover show fix the parser --format markdown > fix.md
  carryover show @last --source codex --json")]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    session: SessionArgs,
    /// The project whose newest session is shown where none is named
    #[arg(long, alias = "workspace", value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    project: Option<PathBuf>,
    /// How to show it: text, markdown, json or uasf
    #[arg(long, value_name = "FORMAT", default_value = "text", hide_possible_values = true)]
    format: Format,
    /// Everything, with what is no longer in the context and with long outputs whole
    #[arg(long)]
    full: bool,
    /// One entry alone, whole: the places that `brief` names; may be given several times
    #[arg(long, value_name = "REF", conflicts_with = "full")]
    entry: Vec<EntryRef>,
    /// Write to the terminal at once, also what does not fit on it
    #[arg(long)]
    no_pager: bool,
    /// Write keys, tokens and passwords as they are into uasf, which is made to be passed on
    #[arg(long, hide_short_help = true)]
    no_redact: bool,
}

/// How a session is shown.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Markdown,
    Json,
    Uasf,
}

pub(crate) fn cmd_show(ui: &mut Ui, context: &Context, globals: Globals, args: &ShowArgs) -> Result<(), CommandError> {
    let project = args.project.as_deref().map(resolve_path);
    let session = choice::choose_session(ui, context, globals, &args.session, project)?;
    if session.found.drifted {
        let name = session.agent.facts().name;
        ui.warning(format_args!("{name}: the format of this session has changed; run `carryover doctor`"))?;
    }
    if args.format == Format::Uasf {
        return show_uasf(ui, &session, args.no_redact);
    }
    let is_whole = args.full || !args.entry.is_empty();
    let mut transcript = ui.while_reading(&session, || read::full_transcript(&session, is_whole))?;
    // A listing's title is the one that the user knows it by.
    transcript.header.title = session.found.title.clone().or(transcript.header.title);
    // The count is exact now; that a listing cannot tell it next time is no reason to fail here.
    drop(remember_messages(context, &session.found.source, transcript.n_messages() as u64));
    warn_unread(ui, &Unread::from_transcript(&transcript))?;
    let agent = session.agent;
    let mut view = if is_whole { View::new_full(agent, transcript) } else { View::new_live(agent, transcript)? };
    if !args.entry.is_empty() {
        view.keep_entries(&args.entry);
        if view.items.is_empty() {
            return Err(CommandError::new(ErrorKind::NotFound, "there is no such entry in this session")
                .with_hint("`carryover brief` and `carryover show --full --json` name the places of entries"));
        }
    }
    view.ending = Ending::look_up(context, &session);
    let format = if ui.is_json() { Format::Json } else { args.format };
    match format {
        Format::Json | Format::Uasf => ui.write_json(&view::view_document(&view))?,
        Format::Markdown => view::write_markdown(ui.out(), &view, &context.env)?,
        Format::Text => show_text(ui, context, &view, args.no_pager)?,
    }
    Ok(())
}

/// Text on a terminal is wrapped and goes through the pager; elsewhere it is written as it is made.
fn show_text(ui: &mut Ui, context: &Context, view: &View, no_pager: bool) -> Result<(), CommandError> {
    let columns = ui.prose_columns();
    if columns.is_none() {
        return Ok(view::write_text(ui.out(), view, &context.env, None)?);
    }
    let mut text = Vec::new();
    view::write_text(&mut text, view, &context.env, columns)?;
    let pager = if no_pager { None } else { Pager::choose(context) };
    Ok(ui.write_paged(&text, pager.as_ref())?)
}

fn show_uasf(ui: &mut Ui, session: &ListedSession, no_redact: bool) -> Result<(), CommandError> {
    let told = ui.while_reading(session, || build_canonical(session))?;
    warn_unread(ui, &told.unread)?;
    for warning in &told.warnings {
        ui.warning(warning)?;
    }
    ui.write_json(&if no_redact { told.uasf } else { told.uasf.redacted() })?;
    Ok(())
}

fn warn_unread(ui: &mut Ui, unread: &Unread) -> Result<(), CommandError> {
    unread.warnings().into_iter().try_for_each(|warning| Ok(ui.warning(warning)?))
}
