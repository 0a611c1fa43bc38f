//! `carryover remote show`.

use carryover_core::plain::one_line;
use carryover_engine::context::Context;
use carryover_engine::share::remote::{PushedCapsule, newest_per_session};
use clap::Args;
use serde::Serialize;

use super::access::{connect, read_catalog};
use super::pushed_row::{PushedRow, describe_pushed};
use crate::error::{CommandError, ErrorKind};
use crate::ui::Ui;

/// Show what is in a remote, or search it
///
/// Titles, projects, models and some of the user's prompts are in an encrypted index beside the sessions, so nothing else is
/// fetched. Of each session, the newest push is shown.
#[derive(Args)]
pub(super) struct ShowArgs {
    /// The remote's name [default: the only one, else origin]
    #[arg(value_name = "NAME")]
    remote: Option<String>,
    /// Only those with each of these in title, project, agent, model, id or prompts
    #[arg(value_name = "WORDS")]
    search_words: Vec<String>,
    /// Every push of a session
    #[arg(long)]
    all: bool,
}

/// What is there, as `--json` tells it.
#[derive(Serialize)]
struct ShowDocument<'a> {
    schema: &'static str,
    remote: &'a str,
    place: String,
    capsules: Vec<PushedRow<'a>>,
    total: usize,
    warnings: Vec<String>,
}

/// Where words stand in the place of the remote's name.
fn words_hint(context: &Context, args: &ShowArgs) -> Option<String> {
    let name = args.remote.as_deref().filter(|name| !context.config.remotes.contains_key(*name))?;
    let known = context.config.remotes.keys().next()?;
    let words = [&[name.to_owned()], args.search_words.as_slice()].concat().join(" ");
    Some(format!("words come behind the name: `carryover remote show {known} {}`", one_line(&words, 100)))
}

pub(super) fn show_remote(ui: &mut Ui, context: &Context, args: &ShowArgs) -> Result<(), CommandError> {
    let remote = connect(ui, context, args.remote.as_deref()).map_err(|error| match words_hint(context, args) {
        Some(hint) if error.kind == ErrorKind::NotFound => error.with_hint(hint),
        _ => error,
    })?;
    let mut warnings = Vec::new();
    let catalog = read_catalog(ui, &remote, &mut warnings)?;
    let words = args.search_words.join(" ");
    let found: Vec<&PushedCapsule> =
        if words.is_empty() { catalog.capsules.iter().collect() } else { catalog.find(&words) };
    let shown = if args.all { found } else { newest_per_session(found) };
    if ui.is_json() {
        return Ok(ui.write_json(&ShowDocument {
            schema: "carryover.remote-show/1",
            remote: &remote.name,
            place: remote.place(),
            capsules: shown.iter().map(|pushed| PushedRow::new(pushed)).collect(),
            total: shown.len(),
            warnings,
        })?);
    }
    let width = ui.table_columns();
    for pushed in &shown {
        let [title, facts] = describe_pushed(context, pushed, width);
        writeln!(ui.out(), "{title}")?;
        ui.write_row(facts)?;
    }
    if shown.is_empty() && !words.is_empty() {
        ui.status(format_args!("nothing in {} matches `{}`", remote.name, one_line(&words, 200)))?;
        ui.hint(format_args!("`carryover remote show {}` tells all that is there", remote.name))?;
    } else if shown.is_empty() {
        ui.status(format_args!("nothing was pushed to {} yet", remote.name))?;
        ui.hint("`carryover push` pushes the newest session of this project")?;
    } else if let Some(first) = shown.first() {
        let remote = args.remote.as_ref().map_or_else(String::new, |name| format!(" --remote {name}"));
        ui.hint(format_args!("`carryover pull {}{remote}` fetches the first", first.capsule))?;
    }
    Ok(())
}
