//! One command, one file: its arguments, and how its result is shown.

mod brief;
mod capsule;
mod capture;
mod completions;
mod config;
mod conversations;
mod daemon;
mod demo;
mod detect;
mod doctor;
mod forget;
mod front;
mod handoff;
mod hook;
mod import;
mod info;
mod install;
mod list;
mod man;
mod memory;
mod open;
mod pull;
mod push;
mod record;
mod refresh;
mod remote;
mod restore;
mod resume;
mod save;
mod search;
mod share;
mod show;
mod status;
mod sync;
mod undo;
mod uninstall;
mod watch;

pub(crate) use hook::{answer_words, hook_words};
pub(crate) use import::import_document;

use carryover_agents::Os;
use carryover_engine::context::Context;
use carryover_engine::own::permissions::{self, OpenToOthers};
use carryover_engine::write::scratch;
use clap::Subcommand;

use crate::args::{Cli, Globals};
use crate::error::{CommandError, ErrorKind};
use crate::process_env;
use crate::shell::quote_word;
use crate::ui::Ui;

/// What can be done.
#[derive(Subcommand)]
pub(crate) enum Command {
    Detect(detect::DetectArgs),
    List(list::ListArgs),
    Show(show::ShowArgs),
    Resume(resume::ResumeArgs),
    Handoff(handoff::HandoffArgs),
    Capture(capture::CaptureArgs),
    Brief(brief::BriefArgs),
    Capsule(capsule::CapsuleArgs),
    Import(import::ImportArgs),
    Share(share::ShareArgs),
    Open(open::OpenArgs),
    Remote(remote::RemoteArgs),
    Push(push::PushArgs),
    Pull(pull::PullArgs),
    Sync(sync::SyncArgs),
    Save(save::SaveArgs),
    Conversations(conversations::ConversationsArgs),
    Undo(undo::UndoArgs),
    Search(search::SearchArgs),
    Restore(restore::RestoreArgs),
    Forget(forget::ForgetArgs),
    Record(record::RecordArgs),
    Watch(watch::WatchArgs),
    Install(install::InstallArgs),
    Refresh(refresh::RefreshArgs),
    Status(status::StatusArgs),
    Uninstall(uninstall::UninstallArgs),
    Daemon(daemon::DaemonArgs),
    #[command(hide = true)]
    Hook(hook::HookArgs),
    Memory(memory::MemoryArgs),
    Info(info::InfoArgs),
    Doctor(doctor::DoctorArgs),
    Demo(demo::DemoArgs),
    Config(config::ConfigArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

/// Runs a command in the surroundings of this process.
pub(crate) fn run(ui: &mut Ui, cli: &Cli) -> Result<(), CommandError> {
    let Some(command) = &cli.command else { return front::cmd_front(ui, cli.globals, cli.print) };
    if cli.print {
        return Err(CommandError::usage("`--print` before a command is for the picker, which has none"));
    }
    match command {
        Command::Completions(args) => completions::cmd_completions(ui, args),
        Command::Man(args) => man::cmd_man(ui, args),
        Command::Config(args) => config::cmd_config(ui, &process_env::read_env()?, args),
        // It is there to tell what is wrong, the configuration included.
        Command::Doctor(_) => run_in(ui, &process_env::context_or_defaults()?.0, cli.globals, command),
        // They depend little on it, and taking back must not depend on it at all.
        Command::Undo(_) | Command::Uninstall(_) | Command::Info(_) | Command::Demo(_) => {
            let (context, broken) = process_env::context_or_defaults()?;
            if let Some(error) = broken {
                ui.warning(format_args!("{error}; going on without it"))?;
            }
            run_in(ui, &context, cli.globals, command)
        }
        _ => run_in(ui, &process_env::open_context()?, cli.globals, command),
    }
}

/// Looks whether others can write to our own folder: a command that writes does nothing then, any other says so.
fn check_own_folder(ui: &mut Ui, context: &Context, command: &Command) -> Result<(), CommandError> {
    let Err(open) = permissions::check_private(&context.home) else { return Ok(()) };
    match command {
        Command::Resume(_)
        | Command::Handoff(_)
        | Command::Capture(_)
        | Command::Capsule(_)
        | Command::Import(_)
        | Command::Share(_)
        | Command::Open(_)
        | Command::Remote(_)
        | Command::Push(_)
        | Command::Pull(_)
        | Command::Sync(_)
        | Command::Save(_)
        | Command::Conversations(_)
        | Command::Undo(_)
        | Command::Search(_)
        | Command::Restore(_)
        | Command::Forget(_)
        | Command::Record(_)
        | Command::Daemon(_)
        | Command::Watch(_)
        | Command::Install(_)
        | Command::Refresh(_)
        | Command::Memory(_)
        | Command::Uninstall(_) => Err(open_folder_error(open, context.env.os)),
        Command::Detect(_)
        | Command::List(_)
        | Command::Show(_)
        | Command::Brief(_)
        | Command::Status(_)
        | Command::Info(_) => Ok(ui.warning(open)?),
        // They tell it in their own words, or have nothing to do with it.
        Command::Doctor(_)
        | Command::Demo(_)
        | Command::Hook(_)
        | Command::Config(_)
        | Command::Completions(_)
        | Command::Man(_) => Ok(()),
    }
}

/// The error, with its remedy, for a folder of ours that others can write to.
fn open_folder_error(open: OpenToOthers, os: Os) -> CommandError {
    let path = quote_word(&open.path().to_string_lossy(), os);
    let hint = match &open {
        OpenToOthers::Writable(_) => format!("look at what is in it, then close it: `chmod go-w {path}`"),
        OpenToOthers::Foreign(_) => format!("look at what is in it, then take it: `sudo chown \"$(id -u)\" {path}`"),
    };
    CommandError::new(ErrorKind::Io, open).with_hint(hint)
}

/// Runs a command in given surroundings.
fn run_in(ui: &mut Ui, context: &Context, globals: Globals, command: &Command) -> Result<(), CommandError> {
    check_own_folder(ui, context, command)?;
    scratch::sweep_abandoned(context);
    match command {
        Command::Detect(args) => detect::cmd_detect(ui, context, args),
        Command::List(args) => list::cmd_list(ui, context, args),
        Command::Show(args) => show::cmd_show(ui, context, globals, args),
        Command::Resume(args) => resume::cmd_resume(ui, context, globals, args),
        Command::Handoff(args) => handoff::cmd_handoff(ui, context, globals, args),
        Command::Capture(args) => capture::cmd_capture(ui, context, globals, args),
        Command::Brief(args) => brief::cmd_brief(ui, context, globals, args),
        Command::Capsule(args) => capsule::cmd_capsule(ui, context, globals, args),
        Command::Import(args) => import::cmd_import(ui, context, globals, args),
        Command::Share(args) => share::cmd_share(ui, context, globals, args),
        Command::Open(args) => open::cmd_open(ui, context, globals, args),
        Command::Remote(args) => remote::cmd_remote(ui, context, args),
        Command::Push(args) => push::cmd_push(ui, context, globals, args),
        Command::Pull(args) => pull::cmd_pull(ui, context, globals, args),
        Command::Sync(args) => sync::cmd_sync(ui, context, globals, args),
        Command::Save(args) => save::cmd_save(ui, context, globals, args),
        Command::Conversations(args) => conversations::cmd_conversations(ui, context, globals, args),
        Command::Undo(args) => undo::cmd_undo(ui, context, args),
        Command::Search(args) => search::cmd_search(ui, context, args),
        Command::Restore(args) => restore::cmd_restore(ui, context, globals, args),
        Command::Forget(args) => forget::cmd_forget(ui, context, globals, args),
        Command::Record(args) => record::cmd_record(ui, context, args),
        Command::Watch(args) => watch::cmd_watch(ui, context, globals, args),
        Command::Status(args) => status::cmd_status(ui, context, args),
        Command::Daemon(args) => daemon::cmd_daemon(ui, context, args),
        Command::Hook(args) => {
            hook::cmd_hook(args);
            Ok(())
        }
        Command::Install(args) => install::cmd_install(ui, context, globals, args),
        Command::Refresh(args) => refresh::cmd_refresh(ui, context, globals, args),
        Command::Uninstall(args) => uninstall::cmd_uninstall(ui, context, globals, args),
        Command::Memory(args) => memory::cmd_memory(ui, context, globals, args),
        Command::Info(args) => info::cmd_info(ui, context, args),
        Command::Doctor(args) => doctor::cmd_doctor(ui, context, args),
        Command::Demo(args) => demo::cmd_demo(globals, context, args),
        Command::Config(args) => config::cmd_config(ui, &process_env::read_env()?, args),
        Command::Completions(args) => completions::cmd_completions(ui, args),
        Command::Man(args) => man::cmd_man(ui, args),
    }
}
