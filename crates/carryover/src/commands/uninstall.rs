//! `carryover uninstall`.

use carryover_engine::context::Context;
use carryover_engine::handoff::published;
use carryover_engine::handoff::standing_pointers::{self, RemovedPointers};
use carryover_engine::install::record::InstallRecord;
use carryover_engine::install::service::{self, RealRunner};
use carryover_engine::install::setup;
use carryover_engine::own;
use clap::Args;

use crate::args::Globals;
use crate::commands::install::{Telling, fail_if_any, tell_report, tell_service, write_document};
use crate::daemon;
use crate::error::{CommandError, ErrorKind};
use crate::quantity::format_count;
use crate::session_row::abbreviate_home;
use crate::shell::quote_word;
use crate::ui::Ui;

/// Take carryover out of the agents' settings, and end the daemon
///
/// Files that are as `carryover install` left them get their exact bytes back; from others only what is carryover's is
/// taken out. The ledger and your settings stay, unless --purge is given.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover uninstall
  carryover uninstall --yes
  carryover uninstall --purge")]
pub(crate) struct UninstallArgs {
    /// Also remove ~/.carryover, with the ledger of everything that agents did
    #[arg(long)]
    purge: bool,
    /// Keep the ledger and the settings, which is so without --purge
    #[arg(long, conflicts_with = "purge", hide_short_help = true)]
    keep_ledger: bool,
    /// Tell what would be taken out, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn cmd_uninstall(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &UninstallArgs,
) -> Result<(), CommandError> {
    service::check_own_home(context)?;
    if let Some(record) = InstallRecord::load(&context.home)? {
        if !take_all_out(ui, context, globals, args, &record)? {
            return Ok(());
        }
    } else {
        ui.status("nothing is installed")?;
        if !args.dry_run {
            end_daemon(ui, context)?;
            clear_projects(ui, context)?;
        }
        if ui.is_json() {
            write_document(ui, &[], None, args.dry_run)?;
        }
    }
    match (args.dry_run, args.purge) {
        (true, is_purge) => tell_planned(ui, context, is_purge),
        (false, true) => purge(ui, context, globals),
        (false, false) => Ok(()),
    }
}

/// Tells what would be taken back besides the agents' own files.
fn tell_planned(ui: &mut Ui, context: &Context, is_purge: bool) -> Result<(), CommandError> {
    if let Some(file) = service::registered_file(context) {
        let file = abbreviate_home(context, &file);
        ui.status(format_args!("the daemon would no longer start at login ({file})"))?;
    }
    if daemon::client::query_status(context).is_some() {
        ui.status("the daemon would be ended")?;
    }
    for project in standing_pointers::list_projects(context) {
        let project = abbreviate_home(context, &project);
        ui.status(format_args!("the pointers in {project} would be taken out"))?;
    }
    let n_handoffs = published::Published::load_all(context).len();
    if n_handoffs > 0 {
        let handoffs = format_count(n_handoffs, "handoff", "handoffs");
        ui.status(format_args!("{handoffs} would be taken back"))?;
    }
    if is_purge {
        let home = abbreviate_home(context, &context.home);
        ui.status(format_args!("{home} would be removed, with the ledger"))?;
    }
    Ok(ui.status("nothing was changed")?)
}

/// Takes everything out, where that is wanted; says whether it was.
fn take_all_out(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &UninstallArgs,
    record: &InstallRecord,
) -> Result<bool, CommandError> {
    let n_files = record.files.len();
    let files = if n_files == 1 { "1 file".to_owned() } else { format!("{n_files} files") };
    if !args.dry_run && !confirm(ui, globals, &format!("carryover would be taken out of {files}"))? {
        ui.status("nothing was changed")?;
        return Ok(false);
    }
    let mut service = None;
    if !args.dry_run {
        service = service::unregister(context, &mut RealRunner::new(context))?;
        end_daemon(ui, context)?;
    }
    let reports = setup::take_out(context, args.dry_run)?;
    let telling = Telling { dry_run: args.dry_run, again: if args.purge { "uninstall --purge" } else { "uninstall" } };
    for report in &reports {
        tell_report(ui, context, report, telling)?;
    }
    if let Some(outcome) = &service {
        tell_service(ui, context, outcome)?;
    }
    if !args.dry_run {
        clear_projects(ui, context)?;
    }
    if ui.is_json() {
        write_document(ui, &reports, service.as_ref(), args.dry_run)?;
    }
    fail_if_any(&reports, telling)?;
    if !args.dry_run && !args.purge {
        let home = abbreviate_home(context, &context.home);
        ui.hint(format_args!("the ledger is still in {home}; `carryover uninstall --purge` removes it"))?;
    }
    Ok(true)
}

/// Ends the daemon: without it nothing that was taken out comes back. One that does not end says so itself.
fn end_daemon(ui: &mut Ui, context: &Context) -> Result<(), CommandError> {
    if daemon::stop(context).is_err() {
        ui.warning("the daemon does not end; `carryover daemon logs` tells what it does")?;
    }
    Ok(())
}

/// Takes handoffs out of the projects, and the pointers to them out of the projects' files of instructions.
fn clear_projects(ui: &mut Ui, context: &Context) -> Result<(), CommandError> {
    for RemovedPointers { project, result, .. } in standing_pointers::remove_all(context)? {
        let project = abbreviate_home(context, &project);
        match result {
            Ok(()) => ui.status(format_args!("the pointers in {project} are taken out"))?,
            Err(error) => ui.warning(format_args!("the pointers in {project} stay: {error}"))?,
        }
    }
    match published::withdraw_all(context) {
        Ok(0) => {}
        Ok(count) => ui.status(format_args!("{} taken back", format_count(count, "handoff is", "handoffs are")))?,
        Err(error) => ui.warning(format_args!("handoffs could not be taken back: {error}"))?,
    }
    Ok(())
}

/// Asks where somebody can answer; where nobody can, it must have been said.
fn confirm(ui: &mut Ui, globals: Globals, what: &str) -> Result<bool, CommandError> {
    if globals.yes {
        return Ok(true);
    }
    if !ui.is_interactive() {
        return Err(CommandError::usage(format!("{what}, and nobody can be asked")).with_hint("say so with `--yes`"));
    }
    let answer = ui.ask(&format!("{what}. Go on? (y/N)"))?;
    Ok(matches!(answer.to_lowercase().as_str(), "y" | "yes"))
}

fn purge(ui: &mut Ui, context: &Context, globals: Globals) -> Result<(), CommandError> {
    let home = abbreviate_home(context, &context.home);
    // Only what is in there knows how they are taken out.
    let is_left = standing_pointers::remove_all(context)?.iter().any(|removed| removed.result.is_err());
    if is_left || published::withdraw_all(context).is_err() {
        return Err(CommandError::new(
            ErrorKind::Io,
            format!("{home} stays, for something of ours is still in projects"),
        )
        .with_hint("mend what is told above, then run it again"));
    }
    let what = format!("{home} would be removed, with the ledger: sessions that agents have deleted are gone for good");
    if !confirm(ui, globals, &what)? {
        return Ok(ui.status(format_args!("{home} stays"))?);
    }
    if context.home != context.env.home.join(".carryover") {
        let path = quote_word(&context.home.to_string_lossy(), context.env.os);
        return Err(CommandError::new(ErrorKind::Usage, "CARRYOVER_HOME names a folder that may hold other things")
            .with_hint(format!("look at what is in it, then remove it yourself: `rm -r {path}`")));
    }
    own::remove_folder(&context.home)?;
    ui.status(format_args!("{home} is gone"))?;
    Ok(())
}
