//! `carryover remote`.

pub(super) mod access;
mod add;
mod list;
pub(super) mod pushed_row;
mod remove;
mod show;

use carryover_engine::context::Context;
use clap::{Args, Subcommand};

use crate::error::CommandError;
use crate::ui::Ui;

/// Name the places that carry sessions between machines and people
///
/// A remote is a folder or a bucket that holds capsules, encrypted before they leave this machine: whoever keeps it can
/// read neither sessions nor names. Whoever has the passphrase has all of it. `push` and `pull` carry sessions there and here;
/// nothing is sent, opened or started unasked.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover remote add origin /mnt/team/sessions
  carryover remote add origin s3://bucket/team --passphrase-file words.txt
  carryover remote show                            what is there
  carryover remote show origin login bug           the sessions with these words
  carryover push
  carryover pull login bug")]
pub(crate) struct RemoteArgs {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Subcommand)]
enum Action {
    Add(add::AddArgs),
    List(list::ListArgs),
    Show(show::ShowArgs),
    Remove(remove::RemoveArgs),
}

pub(crate) fn cmd_remote(ui: &mut Ui, context: &Context, args: &RemoteArgs) -> Result<(), CommandError> {
    match &args.action {
        Some(Action::Add(args)) => add::add_remote(ui, context, args),
        None | Some(Action::List(_)) => list::list_remotes(ui, context),
        Some(Action::Show(args)) => show::show_remote(ui, context, args),
        Some(Action::Remove(args)) => remove::remove_remote(ui, context, args),
    }
}
