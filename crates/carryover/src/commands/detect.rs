//! `carryover detect`.

use carryover_agents::{AGENTS, Agent};
use carryover_engine::client;
use carryover_engine::context::Context;
use carryover_engine::sessions::list::{self, Filter, Listing};
use clap::Args;
use serde::Serialize;

use crate::error::{CommandError, ErrorKind};
use crate::session_row::abbreviate_home;
use crate::ui::{BOLD, DIM, Ui};

/// Show which agents are here
///
/// Tells each agent's version, where it keeps its sessions, how many there are, and whether sessions can be carried over
/// to it natively. Nothing is started and nothing is written.
#[derive(Args)]
pub(crate) struct DetectArgs {}

/// The agents, as `--json` tells them.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    agents: &'a [DetectedAgent],
}

/// One agent of them.
#[derive(Serialize)]
struct DetectedAgent {
    id: &'static str,
    name: &'static str,
    installed: bool,
    version: Option<String>,
    stores: Vec<String>,
    sessions: usize,
    /// Sessions that its client keeps from being read.
    unreadable_sessions: usize,
    native_resume: bool,
    #[serde(skip)]
    native: &'static str,
}

pub(crate) fn cmd_detect(ui: &mut Ui, context: &Context, _args: &DetectArgs) -> Result<(), CommandError> {
    // All at once: an agent that keeps its sessions in projects is found by what the others' sessions name.
    let listing = list::list_sessions(context, &Filter { include_left_out: true, ..Filter::default() });
    for (agent, error) in &listing.failures {
        ui.warning(format_args!("{}: {error}", agent.facts().name))?;
    }
    let detected: Vec<DetectedAgent> = AGENTS.iter().map(|agent| detect_agent(context, *agent, &listing)).collect();
    if ui.is_json() {
        ui.write_json(&Document { schema: "carryover.detect/2", agents: &detected })?;
    } else {
        write_table(ui, context, &detected)?;
        for agent in detected.iter().filter(|agent| agent.unreadable_sessions > 0) {
            let (name, count) = (agent.name, agent.unreadable_sessions);
            ui.hint(format_args!("{count} more of {name} cannot be read; `carryover doctor` says why"))?;
        }
    }
    if detected.iter().any(|agent| agent.installed || !agent.stores.is_empty()) {
        return Ok(());
    }
    Err(CommandError::new(ErrorKind::NoAgent, "no agent was found")
        .with_hint("run `carryover info` to see where carryover looks for sessions")
        .with_hint("run `carryover demo` to see it work without an agent"))
}

fn detect_agent(context: &Context, agent: &'static dyn Agent, listing: &Listing) -> DetectedAgent {
    let facts = agent.facts();
    let client = client::find_installed(context, agent);
    let stores = agent.stores(&context.env);
    let unreadable = stores.iter().filter_map(|store| agent.unreadable_sessions(store));
    DetectedAgent {
        id: facts.id,
        name: facts.name,
        installed: client.is_some(),
        version: client.and_then(|client| client.version).map(|version| version.to_string()),
        unreadable_sessions: unreadable.map(|unreadable| unreadable.count).sum(),
        stores: stores.iter().map(|store| store.root.display().to_string()).collect(),
        sessions: listing.sessions.iter().filter(|session| session.agent.facts().id == facts.id).count(),
        native_resume: agent.writer().is_some(),
        native: agent.describe_native(),
    }
}

fn write_table(ui: &mut Ui, context: &Context, detected: &[DetectedAgent]) -> Result<(), CommandError> {
    let width = detected.iter().map(|agent| agent.id.len()).max().unwrap_or_default();
    ui.write_row(format_args!(
        "{DIM}{:<width$}  {:<13}  {:>8}  {:<13}  STORE{DIM:#}",
        "AGENT", "CLIENT", "SESSIONS", "NATIVE RESUME"
    ))?;
    for agent in detected {
        let client = match (&agent.version, agent.installed) {
            (Some(version), _) => version.as_str(),
            (None, true) => "installed",
            (None, false) => "not installed",
        };
        let native = agent.native;
        let stores: Vec<String> = agent.stores.iter().map(|store| abbreviate_home(context, store.as_ref())).collect();
        let stores = if stores.is_empty() { "–".to_owned() } else { stores.join(", ") };
        let (id, sessions) = (agent.id, agent.sessions);
        ui.write_row(format_args!("{BOLD}{id:<width$}{BOLD:#}  {client:<13}  {sessions:>8}  {native:<13}  {stores}"))?;
    }
    Ok(())
}
