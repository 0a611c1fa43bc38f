//! `carryover watch`.

mod board;
mod lines;
mod live;
mod notify;
mod view;
mod words;

use std::time::Duration;

use carryover_agents::{AGENTS, Agent, agent_by_name};
use carryover_engine::client;
use carryover_engine::context::Context;
use carryover_engine::own::config::MAX_INTERVAL_SECONDS;
use carryover_engine::sessions::list;
use carryover_engine::watch::{DEBOUNCE, DEFAULT_INTERVAL, Options};
use clap::Args;

use crate::args::{Globals, agent_parser};
use crate::error::{CommandError, ErrorKind};
use crate::screen;
use crate::shell::session_command;
use crate::ui::{self, Ui};

/// Watch sessions, and tell when one runs into a limit
///
/// Shows the sessions that are in use, what each does now and the tokens and limits that its client records, and, when
/// one has met a rate or usage limit, the command that goes on elsewhere. Agents' stores are only read. On a terminal it
/// is a screen that q leaves; into a pipe it writes lines. `watch.notify` chooses between a bell, a notification of the
/// desktop and silence. What is in use is kept in .carryover/watcher-state.json of this folder, every interval and at
/// the end.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover watch
  carryover watch --agents claude-code,codex --interval 10
  carryover watch | tee watch.log
  carryover watch --json | jq -c 'select(.event == \"limit\")'")]
pub(crate) struct WatchArgs {
    /// Only these agents, with commas between them
    #[arg(long, value_name = "AGENTS", value_delimiter = ',', value_parser = agent_parser(), hide_possible_values = true)]
    agents: Vec<&'static dyn Agent>,
    /// Seconds between two snapshots [default: 30]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=MAX_INTERVAL_SECONDS))]
    interval: Option<u64>,
}

pub(crate) fn cmd_watch(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &WatchArgs,
) -> Result<(), CommandError> {
    let agents = choose_agents(context, args);
    if agents.iter().all(|agent| agent.stores(&context.env).is_empty()) {
        return Err(CommandError::new(ErrorKind::NoAgent, "no agent with sessions was found")
            .with_hint("run `carryover info` to see where carryover looks for sessions"));
    }
    let interval = args.interval.or(context.config.watch.interval).map_or(DEFAULT_INTERVAL, Duration::from_secs);
    let options = Options { agents, interval, debounce: DEBOUNCE, state_in: Some(context.cwd.clone()), observer: None };
    if ui.is_json() || !screen::is_usable(context) {
        return lines::watch_in_lines(ui, context, options);
    }
    live::watch_on_screen(context, options, ui::has_colors(globals.color, false))
}

/// The agents that are named, configured, or covered.
fn choose_agents(context: &Context, args: &WatchArgs) -> Vec<&'static dyn Agent> {
    if !args.agents.is_empty() {
        return args.agents.clone();
    }
    let configured: Vec<_> = context.config.watch.agents.iter().filter_map(|id| agent_by_name(id)).collect();
    if configured.is_empty() { list::covered_agents(context) } else { configured }
}

/// Where to go on: the configured agent, else the first other one that is installed and can take sessions.
fn choose_target(context: &Context, source: &str) -> Option<&'static str> {
    let configured = context.config.resume.target.as_deref().and_then(agent_by_name);
    let candidates = configured.into_iter().chain(AGENTS.iter().copied());
    let takes = |agent: &&'static dyn Agent| agent.facts().id != source && agent.writer().is_some();
    let mut others = candidates.filter(takes).map(Agent::facts);
    others.find(|facts| client::find_agent_program(context, facts).is_some()).map(|facts| facts.id)
}

/// The command that goes on in another agent.
fn resume_command(context: &Context, session: &str, target: &str) -> String {
    session_command(&[target], session, &[], context.env.os)
}

/// The command that hands over in words.
fn handoff_command(context: &Context, session: &str) -> String {
    session_command(&["handoff"], session, &[], context.env.os)
}

/// The name of an agent, as its vendor writes it.
fn agent_name(id: &'static str) -> &'static str {
    agent_by_name(id).map_or(id, |agent| agent.facts().name)
}
