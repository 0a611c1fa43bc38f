//! `carryover status`.

use carryover_agents::{Facts, hooked_agents};
use carryover_core::time::Timestamp;
use carryover_engine::context::Context;
use carryover_engine::handoff::published::Published;
use carryover_engine::install::detection::{self, Presence};
use carryover_engine::install::hooks_state::{HooksState, check_hooks};
use carryover_engine::install::record::{FileKind, FileRecord, InstallRecord};
use carryover_engine::ledger::{AtRisk, at_risk};
use clap::Args;
use serde::Serialize;

use crate::daemon::{StatusDocument, client};
use crate::error::{CommandError, ErrorKind};
use crate::quantity::{format_bytes, format_count};
use crate::relative_time::format_ago;
use crate::session_row::abbreviate_home;
use crate::ui::{BAD, BOLD, DIM, DOUBTFUL, GOOD, Ui};

/// Show whether handoffs are published, and for which agents
///
/// Tells whether the daemon runs, what the ledger holds, which agents have hooks and in which file, the step that is left
/// to you where there is one, the last handoffs, and sessions that their agent will delete soon and that the ledger does
/// not have.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover status
  carryover status --json | jq .daemon.troubles")]
pub(crate) struct StatusArgs {}

/// How many of the last handoffs are told.
const SHOWN_HANDOFFS: usize = 5;

#[derive(Serialize)]
struct StatusAnswer {
    schema: &'static str,
    /// None where none runs.
    daemon: Option<StatusDocument>,
    installed: bool,
    agents: Vec<AgentRow>,
    handoffs: Vec<HandoffRow>,
    at_risk: Vec<RiskRow>,
}

#[derive(Serialize)]
struct AgentRow {
    id: &'static str,
    #[serde(skip)]
    name: &'static str,
    present: bool,
    version: Option<String>,
    /// The file with our hooks; none where there are none.
    hooks_file: Option<String>,
    events: Vec<String>,
    /// Why they are not there any more, where they are not.
    trouble: Option<String>,
    /// Whether the user has allowed them, where the agent asks for that and tells.
    trusted: Option<bool>,
    #[serde(skip)]
    user_step: Option<&'static str>,
}

#[derive(Serialize)]
struct HandoffRow {
    project: String,
    agent: String,
    session_id: String,
    published_at: String,
    #[serde(skip)]
    at: Timestamp,
}

#[derive(Serialize)]
struct RiskRow {
    agent: &'static str,
    session_id: String,
    deletes_at: String,
}

pub(crate) fn cmd_status(ui: &mut Ui, context: &Context, _: &StatusArgs) -> Result<(), CommandError> {
    let record = InstallRecord::load(&context.home).map_err(|error| CommandError::new(ErrorKind::Io, error))?;
    let answer = StatusAnswer {
        schema: "carryover.status/1",
        daemon: client::query_status(context),
        installed: record.is_some(),
        agents: hooked_agents().map(|facts| describe_agent(context, record.as_ref(), facts)).collect(),
        handoffs: last_handoffs(context),
        at_risk: at_risk(context)?.into_iter().map(RiskRow::from).collect(),
    };
    if ui.is_json() {
        ui.write_json(&answer)?;
        return Ok(());
    }
    write_daemon(ui, context, &answer)?;
    write_agents(ui, context, &answer)?;
    write_handoffs(ui, context, &answer.handoffs)?;
    write_troubles(ui, context, &answer)
}

fn describe_agent(context: &Context, record: Option<&InstallRecord>, facts: &'static Facts) -> AgentRow {
    let presence = detection::find_agent(context, facts);
    let file: Option<&FileRecord> = record
        .and_then(|record| record.files.iter().find(|file| file.owner == facts.id && file.kind != FileKind::Command));
    let hooks = facts.hooks;
    let is_trusted = hooks.and_then(|hooks| hooks.is_trusted);
    AgentRow {
        id: facts.id,
        name: facts.name,
        present: presence != Presence::Absent,
        version: presence.version().map(|version| version.to_string()),
        hooks_file: file.map(|file| file.path.display().to_string()),
        events: file.map(|file| file.events.clone()).unwrap_or_default(),
        trouble: file.and_then(describe_trouble),
        trusted: file.zip(is_trusted).and_then(|(file, is_trusted)| is_trusted(&file.path)),
        user_step: hooks.and_then(|hooks| hooks.user_step),
    }
}

/// What is wrong with a file that hooks were put into.
fn describe_trouble(file: &FileRecord) -> Option<String> {
    match check_hooks(file) {
        HooksState::InPlace => None,
        HooksState::Gone => Some("taken out since; `carryover refresh` puts them back".to_owned()),
        HooksState::Unreadable(reason) => Some(format!("cannot be read: {reason}")),
    }
}

fn last_handoffs(context: &Context) -> Vec<HandoffRow> {
    let mut records = Published::load_all(context);
    // That of all projects is one of theirs.
    records.retain(|record| record.project != context.home);
    records.sort_by_key(|record| std::cmp::Reverse(record.published_at));
    let row = |record: Published| HandoffRow {
        project: record.project.display().to_string(),
        agent: record.agent,
        session_id: record.session.0,
        published_at: record.published_at.to_string(),
        at: record.published_at,
    };
    records.into_iter().take(SHOWN_HANDOFFS).map(row).collect()
}

impl From<AtRisk> for RiskRow {
    fn from(risk: AtRisk) -> Self {
        Self { agent: risk.agent, session_id: risk.session.0, deletes_at: risk.deletes_at.to_string() }
    }
}

fn write_daemon(ui: &mut Ui, context: &Context, answer: &StatusAnswer) -> Result<(), CommandError> {
    let Some(daemon) = &answer.daemon else {
        ui.write_row(format_args!("{BOLD}daemon{BOLD:#}    {BAD}does not run{BAD:#}"))?;
        let start = if answer.installed { "carryover daemon start" } else { "carryover install" };
        ui.hint(format_args!("`{start}` starts it"))?;
        return Ok(());
    };
    let port = daemon.port.map_or_else(|| "no port".to_owned(), |port| format!("port {port}"));
    let process = daemon.process_id;
    ui.write_row(format_args!("{BOLD}daemon{BOLD:#}    {GOOD}runs{GOOD:#} (process {process}, {port})"))?;
    let watching = if daemon.watching.is_empty() { "nobody yet".to_owned() } else { daemon.watching.join(", ") };
    ui.write_row(format_args!("{BOLD}watches{BOLD:#}   {watching}"))?;
    if !context.config.ledger.is_enabled() {
        ui.write_row(format_args!("{BOLD}ledger{BOLD:#}    switched off"))?;
        return Ok(());
    }
    let kept = daemon.last_kept_at.as_deref().and_then(Timestamp::parse);
    let kept =
        kept.map_or_else(|| "being made".to_owned(), |at| format!("up to date {}", format_ago(at, context.env.now)));
    let sessions = format_count(usize::try_from(daemon.ledger_sessions).unwrap_or(usize::MAX), "session", "sessions");
    ui.write_row(format_args!("{BOLD}ledger{BOLD:#}    {sessions}, {}, {kept}", format_bytes(daemon.ledger_bytes)))?;
    Ok(())
}

fn write_agents(ui: &mut Ui, context: &Context, answer: &StatusAnswer) -> Result<(), CommandError> {
    let adding = if answer.installed { "refresh" } else { "install" };
    let shown = answer.agents.iter().filter(|agent| agent.present || agent.hooks_file.is_some());
    for (number, agent) in shown.enumerate() {
        let head = if number == 0 { "hooks" } else { "" };
        let version = agent.version.as_deref().map_or_else(String::new, |version| format!(" {version}"));
        let name = format!("{}{version}", agent.name);
        let state = match &agent.hooks_file {
            None => format!("{DIM}none; `carryover {adding}` adds them{DIM:#}"),
            Some(file) => {
                let events = format_count(agent.events.len(), "event", "events");
                let file = abbreviate_home(context, file.as_ref());
                match &agent.trouble {
                    None => format!("{events} in {DIM}{file}{DIM:#}"),
                    Some(trouble) => format!("{BAD}{trouble}{BAD:#} {DIM}({file}){DIM:#}"),
                }
            }
        };
        ui.write_row(format_args!("{BOLD}{head:<8}{BOLD:#}  {name:<26}  {state}"))?;
        if let (Some(false), Some(step)) = (agent.trusted, agent.user_step) {
            ui.write_row(format_args!("{:<12}{DOUBTFUL}not trusted yet:{DOUBTFUL:#} {step}", ""))?;
        }
    }
    Ok(())
}

fn write_handoffs(ui: &mut Ui, context: &Context, handoffs: &[HandoffRow]) -> Result<(), CommandError> {
    for (number, handoff) in handoffs.iter().enumerate() {
        let head = if number == 0 { "handoffs" } else { "" };
        let (when, agent) = (format_ago(handoff.at, context.env.now), &handoff.agent);
        let project = abbreviate_home(context, handoff.project.as_ref());
        ui.write_row(format_args!("{BOLD}{head:<8}{BOLD:#}  {when:<14}  {agent:<14}  {project}"))?;
    }
    Ok(())
}

fn write_troubles(ui: &mut Ui, context: &Context, answer: &StatusAnswer) -> Result<(), CommandError> {
    let daemon = answer.daemon.as_ref();
    if let Some(daemon) = daemon.filter(|daemon| daemon.is_another_version()) {
        let ours = env!("CARGO_PKG_VERSION");
        ui.warning(format_args!("the daemon that runs is version {}, and this is {ours}", daemon.version))?;
        ui.hint("`carryover daemon restart` puts this one in its place")?;
    }
    for trouble in daemon.iter().flat_map(|daemon| &daemon.troubles) {
        let when = Timestamp::parse(&trouble.at).map(|at| format!(" ({})", format_ago(at, context.env.now)));
        ui.warning(format_args!("{}: {}{}", trouble.about, trouble.message, when.unwrap_or_default()))?;
    }
    if let Some(trouble) = daemon.and_then(|daemon| daemon.port_trouble.as_ref()) {
        ui.warning(trouble)?;
    }
    if let Some(first) = answer.at_risk.first() {
        let count = format_count(answer.at_risk.len(), "session", "sessions");
        ui.warning(format_args!(
            "{count} that the ledger does not have will be deleted by their agents within a week, the first from {}",
            first.deletes_at
        ))?;
        ui.hint("`carryover search anything` takes them into the ledger, and so does the daemon")?;
    }
    Ok(())
}
