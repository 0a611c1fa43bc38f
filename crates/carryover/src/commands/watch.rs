//! `carryover watch`.

use std::collections::BTreeSet;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use carryover_agents::{AGENTS, Agent, agent_by_name};
use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_engine::client;
use carryover_engine::context::Context;
use carryover_engine::own::config::MAX_INTERVAL_SECONDS;
use carryover_engine::sessions::list;
use carryover_engine::watch::{Activity, DEBOUNCE, DEFAULT_INTERVAL, Event, Limit, Options, Watcher};
use clap::Args;
use serde::Serialize;

use crate::args::agent_parser;
use crate::error::{CommandError, ErrorKind};
use crate::process_env;
use crate::relative_time::format_ago;
use crate::session_row::{abbreviate_home, cut_to_width};
use crate::shell::session_command;
use crate::short_id::ShortIds;
use crate::signals::Signals;
use crate::ui::{BAD, BOLD, COMMAND, DIM, Ui};

/// Watch sessions, and tell when one runs into a limit
///
/// Shows the sessions that are in use and, when a client writes down that it met a rate or usage limit, the command that
/// goes on elsewhere. Agents' stores are only read. What is in use is kept in .carryover/watcher-state.json of this
/// folder, every interval and at the end. Ctrl-C ends it.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover watch
  carryover watch --agents claude-code,codex --interval 10
  carryover watch --json | jq -c 'select(.event == \"limit\")'")]
pub(crate) struct WatchArgs {
    /// Only these agents, with commas between them
    #[arg(long, value_name = "AGENTS", value_delimiter = ',', value_parser = agent_parser(), hide_possible_values = true)]
    agents: Vec<&'static dyn Agent>,
    /// Seconds between two snapshots [default: 30]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=MAX_INTERVAL_SECONDS))]
    interval: Option<u64>,
}

/// An event, as `--json` tells it: one line each.
#[derive(Serialize)]
struct EventLine<'a> {
    schema: &'static str,
    #[serde(flatten)]
    what: EventBody<'a>,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum EventBody<'a> {
    Watching {
        agents: &'a [&'static str],
    },
    Active {
        agent: &'static str,
        session_id: &'a str,
        project: Option<String>,
        title: Option<&'a str>,
        at: String,
    },
    Limit {
        agent: &'static str,
        session_id: &'a str,
        project: Option<String>,
        title: Option<&'a str>,
        at: String,
        message: &'a str,
        resets_at: Option<String>,
        /// Arguments of the command that goes on elsewhere; none where no other agent is installed.
        command: Option<Vec<String>>,
    },
    Ended {
        agent: &'static str,
        session_id: &'a str,
        project: Option<String>,
    },
    Trouble {
        agent: Option<&'static str>,
        message: &'a str,
    },
}

pub(crate) fn cmd_watch(ui: &mut Ui, context: &Context, args: &WatchArgs) -> Result<(), CommandError> {
    let agents = choose_agents(context, args);
    if agents.iter().all(|agent| agent.stores(&context.env).is_empty()) {
        return Err(CommandError::new(ErrorKind::NoAgent, "no agent with sessions was found")
            .with_hint("run `carryover info` to see where carryover looks for sessions"));
    }
    let interval = args.interval.or(context.config.watch.interval).map_or(DEFAULT_INTERVAL, Duration::from_secs);
    let options = Options { agents, interval, debounce: DEBOUNCE, state_in: Some(context.cwd.clone()) };
    let clock = process_env::make_clock(context);
    let mut watcher = Watcher::open(context, options, &clock);
    let handle = watcher.stop_handle();
    let signals = Signals::on_end(move || handle.stop())?;
    let mut screen = EventScreen { ui, context, ids: ShortIds::default(), shown: BTreeSet::new(), clock: &clock };
    let mut shown = Ok(());
    let ended = watcher.run(&mut |event| {
        shown = screen.show_event(&event);
        if shown.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    drop(signals);
    ended?;
    Ok(shown?)
}

/// The agents that are named, configured, or covered.
fn choose_agents(context: &Context, args: &WatchArgs) -> Vec<&'static dyn Agent> {
    if !args.agents.is_empty() {
        return args.agents.clone();
    }
    let configured: Vec<_> = context.config.watch.agents.iter().filter_map(|id| agent_by_name(id)).collect();
    if configured.is_empty() { list::covered_agents(context) } else { configured }
}

/// Shows events as they come.
struct EventScreen<'a> {
    ui: &'a mut Ui,
    context: &'a Context,
    ids: ShortIds,
    /// The sessions that are shown as being in use.
    shown: BTreeSet<(&'static str, String)>,
    clock: &'a dyn Fn() -> Timestamp,
}

impl EventScreen<'_> {
    fn show_event(&mut self, event: &Event) -> io::Result<()> {
        if self.ui.is_json() {
            let what = self.event_body(event);
            return self.ui.write_json_line(&EventLine { schema: "carryover.watch/1", what });
        }
        match event {
            Event::Watching { agents } => {
                self.ui.status(format_args!("watching {}; Ctrl-C ends it", agents.join(", ")))?;
            }
            Event::Active(activity) => self.show_active(activity)?,
            Event::Limit(limit) => self.show_limit(limit)?,
            Event::Ended { agent, session, .. } => {
                self.shown.remove(&(*agent, session.0.clone()));
                let id = one_line(self.ids.shorten(&session.0), 40);
                writeln!(self.ui.out(), "{DIM}{agent:<13} {id}  is no longer in use{DIM:#}")?;
            }
            Event::Trouble { agent, message } => {
                let whose = agent.map(|agent| format!("{agent}: ")).unwrap_or_default();
                self.ui.warning(format_args!("{whose}{}", one_line(message, 400)))?;
            }
        }
        self.ui.flush()
    }

    /// One line when a session comes into use, and none for everything that is said in it.
    fn show_active(&mut self, activity: &Activity) -> io::Result<()> {
        self.ids.add(&activity.session.0);
        if !self.shown.insert((activity.agent, activity.session.0.clone())) {
            return Ok(());
        }
        let id = one_line(self.ids.shorten(&activity.session.0), 40);
        let when = format_ago(activity.at, (self.clock)());
        let title = activity.title.as_deref().map_or_else(|| "(no title)".to_owned(), |title| one_line(title, 200));
        let about = format!("{}  {title}", self.format_project(activity.project.as_deref()));
        let begin = format!("{:<13} {id}  {when:<10}  ", activity.agent);
        let room = self.ui.width().saturating_sub(begin.chars().count()).max(20);
        writeln!(self.ui.out(), "{begin}{}", cut_to_width(&about, room))
    }

    fn show_limit(&mut self, limit: &Limit) -> io::Result<()> {
        self.ids.add(&limit.session.0);
        let name = agent_by_name(limit.agent).map_or(limit.agent, |agent| agent.facts().name);
        let id = one_line(self.ids.shorten(&limit.session.0), 40);
        let project = self.format_project(limit.project.as_deref());
        let resets = limit.resets_at.map(|at| self.local_time(at));
        let command = self.resume_command(limit);
        let handoff = session_command(&["handoff"], &limit.session.0, &[], self.context.env.os);
        let out = self.ui.out();
        writeln!(out, "{BAD}limit:{BAD:#} {BOLD}{name}{BOLD:#} {id} in {project}: {}", one_line(&limit.message, 200))?;
        if let Some(resets) = resets {
            writeln!(out, "  it ends      {resets}")?;
        }
        match command {
            Some(command) => {
                writeln!(out, "  go on        {COMMAND}{command}{COMMAND:#}")?;
                writeln!(out, "  or hand over {COMMAND}{handoff}{COMMAND:#}")
            }
            None => writeln!(out, "  hand over    {COMMAND}{handoff}{COMMAND:#}"),
        }
    }

    /// The command that goes on in another agent that is installed.
    fn resume_command(&self, limit: &Limit) -> Option<String> {
        let target = choose_target(self.context, limit.agent)?;
        Some(session_command(&["resume"], &limit.session.0, &["--target", target], self.context.env.os))
    }

    fn format_project(&self, project: Option<&Path>) -> String {
        project.map_or_else(|| "an unknown project".to_owned(), |project| abbreviate_home(self.context, project))
    }

    /// A time as the clock on the wall shows it.
    fn local_time(&self, at: Timestamp) -> String {
        let instant = jiff::Timestamp::from_millisecond(at.millis()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        instant.to_zoned(self.context.env.zone.clone()).strftime("%Y-%m-%d %H:%M %Z").to_string()
    }

    fn event_body<'e>(&self, event: &'e Event) -> EventBody<'e> {
        let path = |project: &Option<std::path::PathBuf>| project.as_ref().map(|path| path.display().to_string());
        match event {
            Event::Watching { agents } => EventBody::Watching { agents },
            Event::Active(Activity { agent, session, project, title, at }) => EventBody::Active {
                agent,
                session_id: &session.0,
                project: path(project),
                title: title.as_deref(),
                at: at.to_string(),
            },
            Event::Limit(limit) => EventBody::Limit {
                agent: limit.agent,
                session_id: &limit.session.0,
                project: path(&limit.project),
                title: limit.title.as_deref(),
                at: limit.at.to_string(),
                message: &limit.message,
                resets_at: limit.resets_at.map(|at| at.to_string()),
                // As an argument, such an id would be an option.
                command: choose_target(self.context, limit.agent).filter(|_| !limit.session.0.starts_with('-')).map(
                    |target| ["carryover", "resume", &limit.session.0, "--target", target].map(str::to_owned).to_vec(),
                ),
            },
            Event::Ended { agent, session, project } => {
                EventBody::Ended { agent, session_id: &session.0, project: path(project) }
            }
            Event::Trouble { agent, message } => EventBody::Trouble { agent: *agent, message },
        }
    }
}

/// Where to go on: the configured agent, else the first other one that is installed and can take sessions.
fn choose_target(context: &Context, source: &str) -> Option<&'static str> {
    let configured = context.config.resume.target.as_deref().and_then(agent_by_name);
    let candidates = configured.into_iter().chain(AGENTS.iter().copied());
    let takes = |agent: &&'static dyn Agent| agent.facts().id != source && agent.writer().is_some();
    let mut others = candidates.filter(takes).map(Agent::facts);
    others.find(|facts| client::find_agent_program(context, facts).is_some()).map(|facts| facts.id)
}
