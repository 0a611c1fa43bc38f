//! One command, one file: its arguments, and how its result is shown.

mod brief;
mod capture;
mod completions;
mod config;
mod demo;
mod detect;
mod doctor;
mod handoff;
mod info;
mod list;
mod resume;
mod show;
mod undo;
mod watch;

use carryover_engine::context::Context;
use clap::Subcommand;

use crate::args::Cli;
use crate::error::CommandError;
use crate::surroundings;
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
    Undo(undo::UndoArgs),
    Watch(watch::WatchArgs),
    Info(info::InfoArgs),
    Doctor(doctor::DoctorArgs),
    Demo(demo::DemoArgs),
    Config(config::ConfigArgs),
    Completions(completions::CompletionsArgs),
}

/// Runs a command in the surroundings of this process.
pub(crate) fn run(ui: &mut Ui, cli: &Cli) -> Result<(), CommandError> {
    match &cli.command {
        Command::Completions(args) => completions::cmd_completions(ui, args),
        Command::Config(args) => config::cmd_config(ui, &surroundings::environment()?, args),
        // It is there to tell what is wrong, the configuration included.
        Command::Doctor(_) => run_in(ui, &surroundings::context_whatever_the_config()?.0, cli),
        // What they do depends little on it, and taking back must not depend on it at all.
        Command::Undo(_) | Command::Info(_) | Command::Demo(_) => {
            let (context, broken) = surroundings::context_whatever_the_config()?;
            if let Some(error) = broken {
                ui.warning(format_args!("{error}; going on without it"))?;
            }
            run_in(ui, &context, cli)
        }
        _ => run_in(ui, &surroundings::context()?, cli),
    }
}

/// Runs a command in given surroundings.
fn run_in(ui: &mut Ui, context: &Context, cli: &Cli) -> Result<(), CommandError> {
    let globals = cli.globals;
    match &cli.command {
        Command::Detect(args) => detect::cmd_detect(ui, context, args),
        Command::List(args) => list::cmd_list(ui, context, args),
        Command::Show(args) => show::cmd_show(ui, context, globals, args),
        Command::Resume(args) => resume::cmd_resume(ui, context, globals, args),
        Command::Handoff(args) => handoff::cmd_handoff(ui, context, globals, args),
        Command::Capture(args) => capture::cmd_capture(ui, context, globals, args),
        Command::Brief(args) => brief::cmd_brief(ui, context, globals, args),
        Command::Undo(args) => undo::cmd_undo(ui, context, args),
        Command::Watch(args) => watch::cmd_watch(ui, context, args),
        Command::Info(args) => info::cmd_info(ui, context, args),
        Command::Doctor(args) => doctor::cmd_doctor(ui, context, args),
        Command::Demo(args) => demo::cmd_demo(globals, context, args),
        Command::Config(_) | Command::Completions(_) => run(ui, cli),
    }
}
