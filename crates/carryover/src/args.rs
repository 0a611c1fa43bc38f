//! The command line as types; doc comments are the help.

use carryover_agents::{AGENTS, Agent};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, ValueEnum};

use crate::commands::Command;

/// Close any coding agent, open any other, and keep going
#[derive(Parser)]
#[command(
    name = "carryover",
    version,
    disable_help_subcommand = true,
    after_help = "Try it without any agent: carryover demo",
    after_long_help = "\
Examples:
  carryover list                        sessions of all agents, this project's first
  carryover resume --target codex       go on in Codex with the newest session of this project
  carryover resume 8f3c21aa --target claude-code --launch
  carryover undo                        take the last resume back

Exit codes: 0 fine, 1 no agent found, 2 session not found or ambiguous, 3 could not be read or written,
4 could not be fitted, 64 wrong command line, 70 a bug of carryover."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
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
    pub(crate) session: Option<String>,
    /// The same as SESSION
    #[arg(long = "session", value_name = "SESSION", hide_short_help = true, conflicts_with = "session")]
    session_flag: Option<String>,
    /// Only sessions of this agent
    #[arg(long, value_name = "AGENT", value_parser = agent_parser(), hide_possible_values = true)]
    pub(crate) source: Option<&'static dyn Agent>,
}

impl SessionArgs {
    /// The session as it was typed, in either place.
    pub(crate) fn session_words(&self) -> Option<String> {
        self.session.clone().or_else(|| self.session_flag.clone())
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
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn short_help_fits_a_screen() {
        let mut command = Cli::command().term_width(100);
        command.build();
        for sub in command.get_subcommands_mut() {
            let lines = sub.render_help().to_string().lines().count();
            assert!(lines <= 24, "{}: {lines} lines", sub.get_name());
        }
    }
}
