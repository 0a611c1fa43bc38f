//! `carryover undo`.

use carryover_engine::context::Context;
use carryover_engine::write::undo::{self, TakenOut, UndoError, Undoable};
use clap::Args;
use serde::Serialize;

use crate::error::CommandError;
use crate::session_row::from_home;
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

/// What was taken back, as `--json` tells it.
#[derive(Serialize)]
struct Taken<'a> {
    schema: &'static str,
    undo_id: &'a str,
    target: &'a str,
    session_id: &'a str,
    removed: Vec<String>,
    changed: Vec<String>,
    warnings: &'a [String],
}

pub(crate) fn cmd_undo(ui: &mut Ui, context: &Context, args: &UndoArgs) -> Result<(), CommandError> {
    let id = chosen(ui, context, args)?;
    let undone = undo::undo(context, id.as_deref(), args.force).map_err(|error| explain(context, error))?;
    for warning in &undone.warnings {
        ui.warning(warning)?;
    }
    if ui.json() {
        ui.write_json(&Taken {
            schema: "carryover.undo/1",
            undo_id: &undone.id,
            target: &undone.target,
            session_id: &undone.session,
            removed: undone.removed.iter().map(|path| path.display().to_string()).collect(),
            changed: undone.taken_out.iter().map(|taken| taken.file.display().to_string()).collect(),
            warnings: &undone.warnings,
        })?;
        return Ok(());
    }
    if undone.session.is_empty() {
        ui.status(format_args!("took back what {} got", undone.target))?;
    } else {
        ui.status(format_args!("took back {} session {}", undone.target, undone.session))?;
    }
    for TakenOut { what, file } in &undone.taken_out {
        ui.status(format_args!("  took our {what} out of {DIM}{}{DIM:#}", from_home(context, file)))?;
    }
    for path in &undone.removed {
        ui.status(format_args!("  removed {DIM}{}{DIM:#}", from_home(context, path)))?;
    }
    Ok(())
}

/// The id that was given. Force without one is bounded to this project, and what it is about to take is told first.
fn chosen(ui: &mut Ui, context: &Context, args: &UndoArgs) -> Result<Option<String>, CommandError> {
    if args.id.is_some() || !args.force {
        return Ok(args.id.clone());
    }
    let last = undo::last_here(context).map_err(|error| explain(context, error))?;
    ui.status(format_args!("the last resume of this project: {}", line(&last)))?;
    Ok(Some(last.id))
}

/// An id that is not known is answered with those that are, one that is too short with those that it fits.
fn explain(context: &Context, error: UndoError) -> CommandError {
    let known = match &error {
        UndoError::NotFound(_) | UndoError::NothingHere | UndoError::Unreadable { .. } => undo::undoable(context),
        UndoError::Ambiguous { fitting, .. } => fitting.clone(),
        _ => Vec::new(),
    };
    let unreadable = if let UndoError::NotFound(_) = &error { undo::unreadable(context) } else { Vec::new() };
    let told = unreadable.iter().map(|journal| format!("{} cannot be read", journal.display()));
    CommandError::from(error).details(known.iter().map(line).chain(told))
}

fn line(one: &Undoable) -> String {
    // A brief is in no session.
    let session = if one.session.is_empty() { String::new() } else { format!("  session {}", one.session) };
    format!("{}  {} → {}{session}", one.id, one.source, one.target)
}
