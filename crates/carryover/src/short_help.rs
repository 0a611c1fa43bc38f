//! `carryover -h`: the commands of every day, on one screen; the others are named.

use std::ffi::OsString;

use clap::Command;

const EVERYDAY: [&str; 17] = [
    "detect",
    "list",
    "show",
    "search",
    "resume",
    "handoff",
    "import",
    "share",
    "open",
    "save",
    "conversations",
    "undo",
    "restore",
    "install",
    "status",
    "doctor",
    "demo",
];

/// Whether the short help of the program itself is asked for.
pub(crate) fn is_asked_for(args: &[OsString]) -> bool {
    args.len() == 2 && args[1] == "-h"
}

/// The command line, with the other commands as names below its help.
pub(crate) fn shorten(command: Command) -> Command {
    let names = command.get_subcommands().filter(|sub| !sub.is_hide_set()).map(Command::get_name);
    let others: Vec<&str> = names.filter(|name| !EVERYDAY.contains(name)).collect();
    let more = format!("Other commands: {} (`carryover --help` tells what they do)", others.join(", "));
    let below = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let command = command.after_help(format!("{more}\n\n{below}"));
    command.disable_help_subcommand(true).mut_subcommands(|sub| {
        let is_other = !EVERYDAY.contains(&sub.get_name());
        if is_other { sub.hide(true) } else { sub }
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    #[test]
    fn short_help_of_the_program_fits_a_screen_and_names_every_command() {
        let all = Cli::command();
        let help = shorten(Cli::command()).term_width(80).render_help().to_string();
        assert!(help.lines().count() <= 44, "{help}");
        let words: Vec<&str> = help.split(|c: char| !c.is_alphanumeric() && c != '-').collect();
        for sub in all.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            assert!(words.contains(&sub.get_name()), "{}", sub.get_name());
        }
        for name in EVERYDAY {
            assert!(all.find_subcommand(name).is_some(), "{name}");
        }
    }
}
