//! The command line as types; doc comments are the help.

use carryover_agents::{AGENTS, Agent};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, ValueEnum};

use crate::commands::Command;

/// Close any coding agent, open any other, and keep going
#[derive(Parser)]
#[command(
    name = "carryover",
    version = env!("CARRYOVER_VERSION"),
    override_usage = "carryover [OPTIONS] [COMMAND]\n       carryover AGENT [WORDS]",
    after_help = "\
An agent's name is enough: `carryover codex` goes on there with the newest session of this project.
Try it without any agent: carryover demo",
    after_long_help = "\
Examples:
  carryover                   pick a session and go on with it
  carryover list              sessions, this project's first
  carryover codex             the newest session, in Codex
  carryover codex --launch    the same, and start Codex
  carryover codex login bug   the session that is called so
  carryover resume 8f3c21aa --target claude-code --launch
  carryover undo              take the last resume back

Exit codes: 0 fine, 1 no agent found, 2 session not found or ambiguous, 3 could not be read or written,
4 could not be fitted, 64 wrong command line, 70 a bug of carryover."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Print the command that goes on with the session that is picked, and start no client
    #[arg(long)]
    pub(crate) print: bool,
    #[command(flatten)]
    pub(crate) globals: Globals,
}

/// Flags that every command takes.
#[derive(Args, Clone, Copy)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Globals {
    /// Print data as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print no status and no hints
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Never ask; where several sessions fit, take the newest
    #[arg(long, short, global = true)]
    pub(crate) yes: bool,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = true)]
    pub(crate) color: Color,
}

/// When to use colours.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

/// Which session is meant.
#[derive(Args, Clone)]
pub(crate) struct SessionArgs {
    /// An id or the beginning of one, words of a title, a file, or @last
    ///
    /// Without it: the newest session of this project.
    #[arg(value_name = "SESSION")]
    session: Vec<String>,
    /// The same as SESSION
    #[arg(long = "session", value_name = "SESSION", hide_short_help = true, conflicts_with = "session")]
    session_flag: Option<String>,
    /// Only sessions of this agent
    #[arg(long, alias = "from", value_name = "AGENT", value_parser = agent_parser(), hide_possible_values = true)]
    pub(crate) source: Option<&'static dyn Agent>,
}

impl SessionArgs {
    /// The session as it was typed, in either place; words need no quotes.
    pub(crate) fn session_words(&self) -> Option<String> {
        if self.session.is_empty() { self.session_flag.clone() } else { Some(self.session.join(" ")) }
    }
}

/// Reads a number of tokens, as people write it: `120000`, `120k`, `1.5M`.
pub(crate) fn parse_tokens(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.strip_suffix(['k', 'K', 'm', 'M']) {
        Some(digits) if text.ends_with(['k', 'K']) => (digits, 1_000),
        Some(digits) => (digits, 1_000_000),
        None => (text, 1),
    };
    let (whole, tenths) = digits.split_once('.').unwrap_or((digits, ""));
    let whole: u64 = whole.parse().map_err(|_| "not a number, such as 120000 or 120k".to_owned())?;
    let tenths: u64 = match tenths {
        "" => 0,
        tenths if tenths.len() == 1 && unit > 1 => {
            tenths.parse().map_err(|_| "not a number, such as 1.5M".to_owned())?
        }
        _ => return Err("more digits than tokens have".to_owned()),
    };
    match whole.checked_mul(unit).and_then(|tokens| tokens.checked_add(tenths * unit / 10)) {
        Some(0) => Err("nothing fits into no tokens".to_owned()),
        Some(tokens) => Ok(tokens),
        None => Err("more than any window has".to_owned()),
    }
}

/// Accepts ids and aliases of agents.
pub(crate) fn agent_parser() -> impl TypedValueParser<Value = &'static dyn Agent> {
    let values = AGENTS.iter().map(|agent| {
        let facts = agent.facts();
        PossibleValue::new(facts.id).aliases(facts.aliases.iter().copied()).help(facts.name)
    });
    PossibleValuesParser::new(values)
        .try_map(|name| carryover_agents::agent_by_name(&name).ok_or("no agent of that name"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn tokens_are_read_as_people_write_them() {
        for (text, tokens) in [("1", 1), ("120000", 120_000), ("120k", 120_000), ("1.5M", 1_500_000), ("0.5k", 500)] {
            assert_eq!(parse_tokens(text), Ok(tokens));
        }
        for text in
            ["", "0", "0k", "-1", "k", "1.5", "1.55M", "1e3", "many", "99999999999999999999", "99999999999999999M"]
        {
            assert!(parse_tokens(text).is_err(), "{text}");
        }
    }

    #[test]
    fn no_agents_name_is_a_commands() {
        let command = Cli::command();
        let commands = || command.get_subcommands().flat_map(|sub| sub.get_name_and_visible_aliases());
        for target in carryover_agents::Target::all() {
            let mut names = std::iter::once(target.id).chain(target.aliases.iter().copied());
            assert!(!names.any(|name| name == "help" || commands().any(|command| command == name)), "{}", target.id);
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn short_help_fits_a_screen() {
        let mut command = Cli::command().term_width(100);
        command.build();
        // `help` lists all commands, however many there are.
        for sub in command.get_subcommands_mut().filter(|sub| sub.get_name() != "help") {
            let lines = sub.render_help().to_string().lines().count();
            assert!(lines <= 24, "{}: {lines} lines", sub.get_name());
        }
    }
}
