//! `carryover show`.

use std::path::PathBuf;

use carryover_core::render::uasf;
use carryover_engine::context::Context;
use carryover_engine::{read, remember_messages, story};
use clap::{Args, ValueEnum};

use crate::args::{Globals, SessionArgs};
use crate::choice;
use crate::error::CommandError;
use crate::surroundings::resolved;
use crate::ui::Ui;
use crate::view::{self, View};

/// Show a session
///
/// Shows the live context: what the agent's model would see on its next turn. With --full, everything that the store
/// holds, also what a compaction or a rewind has taken out of the context.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover show                                the newest session of this project
  carryover show 8f3c21aa --full
  carryover show \"fix the parser\" --format markdown > session.md
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
    let project = args.project.as_deref().map(resolved);
    let session = choice::select(ui, context, globals, &args.session, project)?;
    if args.format == Format::Uasf {
        let story = story::whole_story(&session)?;
        let story = if args.no_redact { story } else { story.redacted() };
        ui.write_json(&uasf(&story))?;
        return Ok(());
    }
    let mut transcript = read::transcript(&session, args.full)?;
    // A listing's title is the one that the user knows it by.
    transcript.header.title = session.found.title.clone().or(transcript.header.title);
    // The count is exact now; that a listing cannot tell it next time is no reason to fail here.
    drop(remember_messages(context, &session.found.source, transcript.n_messages() as u64));
    if session.found.drifted {
        let name = session.agent.facts().name;
        ui.warning(format_args!("{name}: the format of this session has changed; run `carryover doctor`"))?;
    }
    if !transcript.rejected.is_empty() {
        let count = transcript.rejected.len();
        ui.warning(format_args!("{count} records could not be read; `carryover doctor` tells where"))?;
    }
    let agent = session.agent;
    let view = if args.full { View::full(agent, transcript) } else { View::live(agent, transcript)? };
    let format = if ui.json() { Format::Json } else { args.format };
    match format {
        Format::Json | Format::Uasf => ui.write_json(&view::document(&view))?,
        Format::Markdown => view::markdown(ui.out(), &view, &context.env.zone)?,
        Format::Text => view::text(ui.out(), &view, &context.env.zone)?,
    }
    Ok(())
}
