//! `carryover undo`.

use carryover_engine::context::Context;
use carryover_engine::write::undo::{self, RemovedPart, UndoError, Undoable};
use clap::Args;
use serde::Serialize;

use crate::error::CommandError;
use crate::session_row::abbreviate_home;
use crate::ui::{DIM, Ui};

/// Take back what a resume wrote
///
/// Removes exactly what was added to the target's store. Where somebody has gone on in that session since, nothing is
/// removed, unless --force is given.
#[derive(Args)]
pub(crate) struct UndoArgs {
    /// The id that `resume` told; the last one by default
    #[arg(value_name = "RESUME-ID")]
    id: Option<String>,
    /// Also where somebody has gone on in the session since; without an id, the last one of this project
    #[arg(long)]
    force: bool,
}

/// The report, as `--json` tells it.
#[derive(Serialize)]
struct UndoDocument<'a> {
    schema: &'static str,
    undo_id: &'a str,
    target: &'a str,
    session_id: &'a str,
    removed: Vec<String>,
    changed: Vec<String>,
    warnings: &'a [String],
}

pub(crate) fn cmd_undo(ui: &mut Ui, context: &Context, args: &UndoArgs) -> Result<(), CommandError> {
    let id = choose_id(ui, context, args)?;
    let undone =
        undo::undo_resume(context, id.as_deref(), args.force).map_err(|error| explain_error(context, error))?;
    for warning in &undone.warnings {
        ui.warning(warning)?;
    }
    if ui.is_json() {
        ui.write_json(&UndoDocument {
            schema: "carryover.undo/1",
            undo_id: &undone.id,
            target: &undone.target,
            session_id: &undone.session,
            removed: undone.removed.iter().map(|path| path.display().to_string()).collect(),
            changed: undone.removed_parts.iter().map(|taken| taken.file.display().to_string()).collect(),
            warnings: &undone.warnings,
        })?;
        return Ok(());
    }
    if undone.session.is_empty() {
        ui.status(format_args!("took back what {} got", undone.target))?;
    } else {
        ui.status(format_args!("took back {} session {}", undone.target, undone.session))?;
    }
    for RemovedPart { kind: what, file } in &undone.removed_parts {
        ui.status(format_args!("  took our {what} out of {DIM}{}{DIM:#}", abbreviate_home(context, file)))?;
    }
    for path in &undone.removed {
        ui.status(format_args!("  removed {DIM}{}{DIM:#}", abbreviate_home(context, path)))?;
    }
    Ok(())
}

/// The id that was given. Force without one is bounded to this project, and what it is about to take is told first.
fn choose_id(ui: &mut Ui, context: &Context, args: &UndoArgs) -> Result<Option<String>, CommandError> {
    if args.id.is_some() || !args.force {
        return Ok(args.id.clone());
    }
    let last = undo::last_here(context).map_err(|error| explain_error(context, error))?;
    ui.status(format_args!("the last resume of this project: {}", undoable_line(&last)))?;
    Ok(Some(last.id))
}

/// An id that is not known is answered with those that are, one that is too short with those that it fits.
fn explain_error(context: &Context, error: UndoError) -> CommandError {
    let known = match &error {
        UndoError::NotFound(_) | UndoError::NothingHere | UndoError::Unreadable { .. } => undo::list_undoable(context),
        UndoError::Ambiguous { fitting, .. } => fitting.clone(),
        _ => Vec::new(),
    };
    let unreadable = if let UndoError::NotFound(_) = &error { undo::unreadable_journals(context) } else { Vec::new() };
    let told = unreadable.iter().map(|journal| format!("{} cannot be read", journal.display()));
    CommandError::from(error).with_details(known.iter().map(undoable_line).chain(told))
}

fn undoable_line(one: &Undoable) -> String {
    // A brief is in no session.
    let session = if one.session.is_empty() { String::new() } else { format!("  session {}", one.session) };
    format!("{}  {} → {}{session}", one.id, one.source, one.target)
}
