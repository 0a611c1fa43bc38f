//! `carryover list`.

use std::path::PathBuf;

use carryover_agents::{AGENTS, Agent, Liveness};
use carryover_engine::context::Context;
use carryover_engine::sessions::drift::find_drifts;
use carryover_engine::sessions::list::{self, Filter, ListedSession, Listing};
use clap::Args;
use serde::Serialize;

use crate::args::agent_parser;
use crate::error::{CommandError, ErrorKind};
use crate::process_env::resolve_path;
use crate::session_row::{SessionTable, abbreviate_home};
use crate::short_id::ShortIds;
use crate::ui::{BOLD, DIM, Ui};

/// List sessions of all agents, this project's first
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover list --source codex --limit 30
  carryover list login bug
  carryover list --project ~/work/shop
  carryover list --all --json")]
pub(crate) struct ListArgs {
    /// Only sessions with these words in their title, project, branch or id
    #[arg(value_name = "WORDS")]
    words: Vec<String>,
    /// Only sessions of this agent
    #[arg(long, alias = "from", value_name = "AGENT", value_parser = agent_parser(), hide_possible_values = true)]
    source: Option<&'static dyn Agent>,
    /// Only sessions of the project in this folder
    #[arg(long, alias = "workspace", value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    project: Option<PathBuf>,
    /// Every session of every project
    #[arg(long, conflicts_with = "project")]
    all: bool,
    /// How many to show; 10 where not all are asked for
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

/// The sessions, as `--json` tells them.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    sessions: Vec<Row<'a>>,
    /// Also those that are not shown.
    total: usize,
}

/// One session of them.
#[derive(Serialize)]
struct Row<'a> {
    agent: &'static str,
    id: &'a str,
    title: Option<&'a str>,
    project: Option<String>,
    started_at: Option<String>,
    updated_at: Option<String>,
    messages: Option<u64>,
    /// None where it is not known: a session may be a part of a database.
    bytes: Option<u64>,
    model: Option<&'a str>,
    live: Option<bool>,
    drifted: bool,
}

pub(crate) fn cmd_list(ui: &mut Ui, context: &Context, args: &ListArgs) -> Result<(), CommandError> {
    let project = args.project.as_deref().map(resolve_path);
    let filter = Filter { agent: args.source, project, words: args.words.clone(), ..Filter::default() };
    let listing = list::list_sessions(context, &filter);
    for (agent, error) in &listing.failures {
        ui.warning(format_args!("{}: {error}", agent.facts().name))?;
    }
    for (agent, store) in list::missing_stores(context) {
        if args.source.is_none_or(|source| source.facts().id == agent.facts().id) {
            let (name, store) = (agent.facts().name, store.display());
            ui.warning(format_args!("{name}: the configured store {store} does not exist"))?;
        }
    }
    let usual = if args.all { usize::MAX } else { 10 };
    let shown = args.limit.unwrap_or(usual).min(listing.sessions.len());
    if ui.is_json() {
        let sessions = listing.sessions[..shown].iter().map(json_row).collect();
        ui.write_json(&Document { schema: "carryover.list/2", sessions, total: listing.sessions.len() })?;
    } else {
        write_table(ui, context, &listing.sessions, shown)?;
    }
    warn_of_drift(ui, &listing)?;
    if listing.sessions.is_empty() {
        return explain_empty(ui, context, args, &listing);
    }
    if shown < listing.sessions.len() {
        ui.hint(format_args!("{} more; `--all` shows them", listing.sessions.len() - shown))?;
    }
    Ok(())
}

fn json_row(session: &ListedSession) -> Row<'_> {
    let found = &session.found;
    Row {
        agent: session.agent.facts().id,
        id: &found.id.0,
        title: found.title.as_deref(),
        project: found.project.as_ref().map(|project| project.display().to_string()),
        started_at: found.started_at.map(|at| at.to_string()),
        updated_at: found.updated_at.map(|at| at.to_string()),
        messages: found.messages,
        bytes: Some(found.bytes).filter(|bytes| *bytes > 0),
        model: found.model.as_deref(),
        live: match found.live {
            Liveness::Live => Some(true),
            Liveness::NotLive => Some(false),
            Liveness::Unknown => None,
        },
        drifted: found.drifted,
    }
}

fn write_table(ui: &mut Ui, context: &Context, sessions: &[ListedSession], shown: usize) -> Result<(), CommandError> {
    let ids = ShortIds::from_sessions(sessions);
    let sessions = &sessions[..shown];
    if sessions.is_empty() {
        return Ok(());
    }
    let table = SessionTable::new(context, sessions, &ids, ui.width());
    let mixed = sessions.iter().any(|session| session.here) && sessions.iter().any(|session| !session.here);
    let out = ui.out();
    writeln!(out, "{DIM}{}{DIM:#}", table.heading_line())?;
    let mut here = None;
    for (line, session) in table.lines().zip(sessions) {
        if mixed && here != Some(session.here) {
            let heading =
                if session.here { abbreviate_home(context, &context.cwd) } else { "other projects".to_owned() };
            writeln!(out, "{BOLD}{heading}{BOLD:#}")?;
            here = Some(session.here);
        }
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// A session whose records we do not know is never an empty success.
fn warn_of_drift(ui: &mut Ui, listing: &Listing) -> Result<(), CommandError> {
    for drift in find_drifts(listing) {
        ui.warning(format_args!("{}: {drift}; run `carryover doctor`", drift.agent.facts().name))?;
    }
    Ok(())
}

/// Nothing to list can mean three things.
fn explain_empty(ui: &mut Ui, context: &Context, args: &ListArgs, listing: &Listing) -> Result<(), CommandError> {
    if !listing.failures.is_empty() {
        return Err(CommandError::new(ErrorKind::Io, "no session could be read"));
    }
    let looked_at =
        AGENTS.iter().filter(|agent| args.source.is_none_or(|source| source.facts().id == agent.facts().id));
    if looked_at.clone().all(|agent| agent.stores(&context.env).is_empty()) {
        return Err(CommandError::new(ErrorKind::NoAgent, "no agent with sessions was found")
            .with_hint("run `carryover info` to see where carryover looks for sessions"));
    }
    ui.status(if args.words.is_empty() { "no sessions" } else { "no session has these words" })?;
    Ok(())
}
