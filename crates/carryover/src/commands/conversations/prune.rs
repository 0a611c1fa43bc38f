//! `carryover conversations prune`: old histories go, documents stay.

use carryover_engine::context::Context;
use carryover_engine::conversations::prune::{drop_messages, list_old, size_messages};
use carryover_engine::conversations::{Conversation, Listing};
use clap::Args;
use serde::Serialize;

use crate::args::Globals;
use crate::error::CommandError;
use crate::moment::{Moment, parse_moment};
use crate::quantity::{format_bytes, format_count};
use crate::ui::{DIM, Ui};

/// Drop the messages of old conversations, and keep their documents
///
/// What is sealed stays: nothing else holds what was said in it. What git has committed stays in its history.
#[derive(Args)]
pub(crate) struct PruneArgs {
    /// Conversations that were last active before then: a date, a time, or how long ago
    #[arg(long, value_name = "WHEN", value_parser = parse_moment, default_value = "90d")]
    before: Moment,
    /// Tell what would go, and drop nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    pruned: Vec<&'a str>,
    freed_bytes: u64,
    dry_run: bool,
    warnings: &'a [String],
}

pub(super) fn prune_histories(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    listing: &Listing,
    args: &PruneArgs,
) -> Result<(), CommandError> {
    let histories = list_old(&listing.conversations, args.before.resolve(context));
    let (old, sealed) = (histories.open, histories.sealed.iter().map(|one| tell_sealed(one)));
    if !ui.is_json() {
        for warning in sealed.clone() {
            ui.warning(warning)?;
        }
    }
    if !args.dry_run && !confirm(ui, globals, &old)? {
        ui.status("nothing was dropped")?;
        return Ok(());
    }
    let mut freed_bytes = 0;
    for conversation in &old {
        freed_bytes += if args.dry_run { size_messages(conversation) } else { drop_messages(context, conversation)? };
    }
    if ui.is_json() {
        return Ok(ui.write_json(&Document {
            schema: "carryover.conversations-prune/1",
            pruned: old.iter().map(|one| one.id.as_str()).collect(),
            freed_bytes,
            dry_run: args.dry_run,
            warnings: &listing.warnings.iter().cloned().chain(sealed).collect::<Vec<_>>(),
        })?);
    }
    let (done, freed) = (if args.dry_run { "would drop" } else { "dropped" }, format_bytes(freed_bytes));
    for conversation in &old {
        ui.status(format_args!("  {DIM}{}{DIM:#}", conversation.name()))?;
    }
    ui.status(format_args!("{done} {}, {freed}; the documents stay", count(old.len())))?;
    Ok(())
}

fn tell_sealed(conversation: &Conversation) -> String {
    format!("{} is sealed and stays: only its sealed file holds what was said", conversation.name())
}

fn count(n: usize) -> String {
    format_count(n, "history", "histories")
}

/// Asks where somebody can answer; where nobody can, it must have been said.
fn confirm(ui: &mut Ui, globals: Globals, old: &[&Conversation]) -> Result<bool, CommandError> {
    if globals.yes || old.is_empty() {
        return Ok(true);
    }
    if !ui.is_interactive() {
        return Err(CommandError::usage(format!("{} would be dropped, and nobody can be asked", count(old.len())))
            .with_hint("say so with `--yes`, or look with `--dry-run`"));
    }
    for conversation in old.iter().take(10) {
        ui.write_line(format_args!("{DIM}{}{DIM:#}", conversation.name()))?;
    }
    let answer = ui.ask(&format!("drop {}? (y/N)", count(old.len())))?;
    Ok(matches!(answer.to_lowercase().as_str(), "y" | "yes"))
}
