//! The command line.
//!
//! Rule of this crate: it is the only one that prints, and it prints through `Ui` alone. What a command does is in the
//! engine; a file under `commands` holds its arguments and how its result is shown.

mod args;
mod bucket;
mod choice;
mod clipboard;
mod commands;
mod completion;
mod daemon;
mod delivery;
mod destination;
mod error;
mod key_args;
mod launch;
mod ledger_access;
mod lineage_note;
mod manual;
mod moment;
mod pager;
mod paint;
mod passphrase;
mod picker;
mod process_env;
mod progress;
mod proxy;
mod quantity;
mod relative_time;
mod screen;
mod session_row;
mod settings;
mod shell;
mod short_help;
mod short_id;
mod short_road;
mod signals;
mod told_words;
mod ui;
mod view;
mod wrap;

use std::panic;
use std::process::ExitCode;
use std::sync::OnceLock;

use clap::{CommandFactory, FromArgMatches};

use crate::args::Cli;
use crate::error::CommandError;
use crate::ui::Ui;

pub use crate::bucket::open_place;
pub use crate::picker::PickerProbe;
pub use crate::proxy::ProxyProbe;

/// The exit code for a wrong command line.
const EXIT_USAGE: u8 = 64;

/// The exit code for a bug of ours.
const EXIT_BUG: u8 = 70;

/// Runs the program with the arguments and the surroundings of this process.
pub fn main() -> ExitCode {
    if let Some(request) = process_env::completion_request() {
        // A shell that gets no answer shows none; an error would stand in the line that is being typed.
        without_panic(|| Ok(Ui::answer_shell(&completion::answer(request)?)?)).ok();
        return ExitCode::SUCCESS;
    }
    if let Some(words) = commands::hook_words(&std::env::args_os().collect::<Vec<_>>()) {
        // An agent waits for it: whatever goes wrong is not its matter.
        without_panic(|| {
            commands::answer_words(words);
            Ok(())
        })
        .ok();
        return ExitCode::SUCCESS;
    }
    let args = short_road::expand_agent_name(std::env::args_os());
    let command = if short_help::is_asked_for(&args) { short_help::shorten(Cli::command()) } else { Cli::command() };
    let cli = match command.try_get_matches_from(args).and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return show_usage(&short_road::suggest_first_word(error, &Cli::command())),
    };
    signals::survive_long_writes();
    let mut ui = Ui::new(cli.globals);
    match without_panic(|| run_and_flush(&mut ui, &cli)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error::report(&mut ui, &error),
    }
}

/// Turns a panic into an error. What it carries may be transcript text, so only its place is told.
fn without_panic(work: impl FnOnce() -> Result<(), CommandError>) -> Result<(), CommandError> {
    static PLACE: OnceLock<String> = OnceLock::new();
    panic::set_hook(Box::new(|panicked| {
        PLACE.get_or_init(|| panicked.location().map(ToString::to_string).unwrap_or_default());
    }));
    let result = panic::catch_unwind(panic::AssertUnwindSafe(work));
    result.unwrap_or_else(|_| Err(CommandError::bug(PLACE.get().map_or("an unknown place", String::as_str))))
}

fn run_and_flush(ui: &mut Ui, cli: &Cli) -> Result<(), CommandError> {
    commands::run(ui, cli)?;
    ui.flush()?;
    Ok(())
}

/// Help and version are answers; everything else that clap says is a wrong command line.
fn show_usage(error: &clap::Error) -> ExitCode {
    // Nobody may be reading, and that is a fine end.
    if error.use_stderr() {
        Ui::write_usage(&error.render().to_string()).ok();
        return ExitCode::from(EXIT_USAGE);
    }
    error.print().ok();
    ExitCode::SUCCESS
}

/// The command line as data, for the reference page and completions.
pub fn cli_command() -> clap::Command {
    Cli::command()
}

/// The manual pages: `carryover.1` first, then one for each command, each with its file's name.
pub fn man_pages() -> Vec<(String, Vec<u8>)> {
    // They are written into memory, where nothing fails.
    manual::render_pages(cli_command()).unwrap_or_default()
}

/// The completion scripts, each with its file's name: `carryover.bash`, `_carryover` for zsh, `carryover.fish` and more.
pub fn completion_scripts() -> Vec<(String, Vec<u8>)> {
    completion::all_scripts().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_told_by_its_place_alone() {
        let text = String::from("secret words of a session");
        let error = without_panic(|| panic!("{text}")).unwrap_err();
        assert_eq!(error.kind, error::ErrorKind::Bug);
        let told = format!("{error:?}");
        assert!(told.contains("lib.rs:") && !told.contains("secret"), "{told}");
    }
}
