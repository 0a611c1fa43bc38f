//! `carryover capsule`.

mod export;
mod inspect;
mod pack;
mod verify;

use std::path::{Path, PathBuf};

use carryover_engine::capsule::{Capsule, CapsuleError};
use carryover_engine::context::Context;
use carryover_engine::share::sealed::{FILE_END, is_locked_by_passphrase};
use clap::{Args, Subcommand};

pub(super) use export::{list_masks, tell_left_out};
pub(super) use pack::PackArgs;

use crate::args::Globals;
use crate::error::{CommandError, ErrorKind};
use crate::shell::quote_word;
use crate::ui::Ui;

/// Pack a session with its workspace, to be opened elsewhere
///
/// A capsule is a session that another person, another machine or next year's you can open and go on with: the whole
/// transcript, the conditions that it ran under, and the files that were worked on, with a digest of each. `carryover
/// import` goes on with it. Nothing in it is ever started or injected unasked.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover capsule export                         the newest session here, into ~/.carryover/capsules
  carryover capsule export 8f3c21aa -o fix.tar.zst
  carryover capsule export --files changed         only what differs from the commit
  carryover capsule inspect fix.tar.zst
  carryover capsule verify fix.tar.zst
  carryover import fix.tar.zst --project ~/work/fix")]
pub(crate) struct CapsuleArgs {
    #[command(subcommand)]
    action: CapsuleAction,
}

#[derive(Subcommand)]
enum CapsuleAction {
    Export(export::ExportArgs),
    Inspect(inspect::InspectArgs),
    Verify(verify::VerifyArgs),
}

pub(crate) fn cmd_capsule(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &CapsuleArgs,
) -> Result<(), CommandError> {
    match &args.action {
        CapsuleAction::Export(args) => export::export_session(ui, context, globals, args),
        CapsuleAction::Inspect(args) => inspect::inspect_capsule(ui, context, args),
        CapsuleAction::Verify(args) => verify::verify_capsule(ui, context, args),
    }
}

/// What a capsule is called by what it lacks.
pub(super) const fn name_fidelity(lacks: &[String]) -> &'static str {
    if lacks.is_empty() { "deterministic capsule" } else { "best-effort capsule" }
}

/// Opens a file or a folder, whose name an error tells.
fn open_file(context: &Context, word: &Path, path: &Path) -> Result<Capsule, CommandError> {
    let explain = |error| match error {
        CapsuleError::NoCapsule(reason) => {
            let word = word.display();
            let error = CommandError::new(ErrorKind::Io, format!("{word} is no capsule: {reason}"));
            if !is_share(path) {
                return error;
            }
            let name = quote_word(&word.to_string(), context.env.os);
            error.with_hint(format!("it is encrypted, as `carryover share` does it: `carryover open {name}`"))
        }
        error => error.into(),
    };
    Capsule::open(path).map_err(explain)
}

/// Whether a file is one that `carryover share` made.
fn is_share(path: &Path) -> bool {
    path.to_string_lossy().ends_with(FILE_END) && is_locked_by_passphrase(path).is_ok()
}

/// Opens the capsule that a word means: a file or folder, or one of ours by its id.
pub(super) fn open_named(context: &Context, word: &Path) -> Result<(PathBuf, Capsule), CommandError> {
    use carryover_engine::capsule::shelf::find_capsules;
    let path = context.cwd.join(word);
    if path.exists() {
        return Ok((path.clone(), open_file(context, word, &path)?));
    }
    let id = word.to_string_lossy();
    let mut found = find_capsules(context, &id);
    match found.len() {
        0 => Err(CommandError::new(ErrorKind::NotFound, format!("no capsule is called {id}"))
            .with_hint("name a file, a folder, or an id that `carryover import` lists")),
        1 => {
            let path = found.remove(0).path;
            Ok((path.clone(), Capsule::open(&path)?))
        }
        count => Err(CommandError::new(ErrorKind::NotFound, format!("`{id}` fits {count} capsules"))
            .with_details(found.iter().map(|capsule| capsule.path.display().to_string()))
            .with_hint("name one by its file")),
    }
}
