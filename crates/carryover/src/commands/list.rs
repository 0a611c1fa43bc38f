//! `carryover list`.

use std::path::PathBuf;

use carryover_agents::{AGENTS, Agent, Liveness, UnreadableSessions};
use carryover_engine::context::Context;
use carryover_engine::sessions::catalog;
use carryover_engine::sessions::copies::Copies;
use carryover_engine::sessions::drift::find_drifts;
use carryover_engine::sessions::glance::{self, Glance, LimitStop};
use carryover_engine::sessions::list::{self, Filter, ListedSession, Listing};
use clap::Args;
use serde::Serialize;

use crate::args::agent_parser;
use crate::error::{CommandError, ErrorKind};
use crate::lineage_note::{LineageNote, SessionName};
use crate::process_env::{make_clock, resolve_path};
use crate::relative_time::format_until;
use crate::session_row::{Mark, SessionTable, abbreviate_home};
use crate::short_id::ShortIds;
use crate::ui::{BOLD, DIM, DOUBTFUL, Ui};

/// How long sessions are read for a listing, all together.
const READING_BUDGET_MS: i64 = 200;

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
    /// How many to show; 10 where not all are asked for, with --json all
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

/// The sessions, as `--json` tells them.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    sessions: Vec<Row<'a>>,
    /// Those that no listing can hold.
    unreadable: Vec<UnreadableRow>,
    /// Also those that are not shown.
    total: usize,
}

/// Sessions that their client keeps from being read.
#[derive(Serialize)]
struct UnreadableRow {
    agent: &'static str,
    count: usize,
    reason: &'static str,
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
    branch: Option<&'a str>,
    limit: Option<LimitRow>,
    carried_from: Option<SessionName>,
    carried_to: Vec<SessionName>,
}

/// A limit that a session stopped at.
#[derive(Serialize)]
struct LimitRow {
    resets_at: Option<String>,
}

/// What is told of a session beside what was found.
struct Extra {
    limit: Option<LimitStop>,
    lineage: LineageNote,
}

pub(crate) fn cmd_list(ui: &mut Ui, context: &Context, args: &ListArgs) -> Result<(), CommandError> {
    let project = args.project.as_deref().map(resolve_path);
    let filter = Filter { agent: args.source, project, words: args.words.clone(), ..Filter::default() };
    let mut listing = list::list_sessions(context, &filter);
    if args.source.is_none() && args.project.is_none() && args.words.is_empty() {
        // For the next start; losing it costs time only.
        catalog::save_listing(context, &listing).ok();
    }
    for (agent, error) in &listing.failures {
        ui.warning(format_args!("{}: {error}", agent.facts().name))?;
    }
    for (agent, store) in list::missing_stores(context) {
        if args.source.is_none_or(|source| source.facts().id == agent.facts().id) {
            let (name, store) = (agent.facts().name, store.display());
            ui.warning(format_args!("{name}: the configured store {store} does not exist"))?;
        }
    }
    let usual = if args.all || ui.is_json() { usize::MAX } else { 10 };
    let shown = args.limit.unwrap_or(usual).min(listing.sessions.len());
    let extras = look_at_shown(context, &mut listing.sessions[..shown]);
    let unreadable = find_unreadable(context, args);
    if ui.is_json() {
        let sessions = listing.sessions.iter().zip(extras).map(|(session, extra)| json_row(session, extra)).collect();
        let unreadable = unreadable.into_iter().map(unreadable_row).collect();
        let total = listing.sessions.len();
        ui.write_json(&Document { schema: "carryover.list/2", sessions, unreadable, total })?;
    } else {
        write_table(ui, context, &listing.sessions, &extras)?;
        for (agent, unreadable) in unreadable {
            let (name, count) = (agent.facts().name, unreadable.count);
            ui.hint(format_args!("{count} more of {name} cannot be read; `carryover doctor` says why"))?;
        }
    }
    warn_of_drift(ui, &listing)?;
    if listing.sessions.is_empty() {
        return explain_empty(ui, context, args, &listing);
    }
    if shown < listing.sessions.len() {
        tell_of_more(ui, args, shown, listing.sessions.len())?;
    }
    Ok(())
}

/// Sessions that cannot be read, where they may be among those that are asked for: nothing else is known of them.
fn find_unreadable(context: &Context, args: &ListArgs) -> Vec<(&'static dyn Agent, UnreadableSessions)> {
    if !args.words.is_empty() || args.project.is_some() {
        return Vec::new();
    }
    let is_meant = |agent: &dyn Agent| args.source.is_none_or(|source| source.facts().id == agent.facts().id);
    list::unreadable_sessions(context).into_iter().filter(|(agent, _)| is_meant(*agent)).collect()
}

fn unreadable_row((agent, unreadable): (&dyn Agent, UnreadableSessions)) -> UnreadableRow {
    UnreadableRow { agent: agent.facts().id, count: unreadable.count, reason: unreadable.reason }
}

/// How many are not shown, and what shows them: `--all` shows no more than a number that is given.
fn tell_of_more(ui: &mut Ui, args: &ListArgs, shown: usize, total: usize) -> Result<(), CommandError> {
    let more = total - shown;
    let them = if more == 1 { "it" } else { "them" };
    if args.limit.is_none() && args.project.is_none() {
        ui.hint(format_args!("{more} more; `--all` shows {them}"))?;
    } else {
        ui.hint(format_args!("{more} more; `--limit {total}` shows {them}"))?;
    }
    Ok(())
}

/// Finds what is not told by discovery: from what is remembered, and by reading for a moment.
fn look_at_shown(context: &Context, sessions: &mut [ListedSession]) -> Vec<Extra> {
    let clock = make_clock(context);
    let enough_at = clock().plus_millis(READING_BUDGET_MS);
    let glances = glance::look_at_sessions(context, sessions, &|| clock() >= enough_at);
    let copies = Copies::load(context);
    let extra = |(session, glance): (&ListedSession, Option<Glance>)| Extra {
        limit: glance.and_then(|glance| glance.limit),
        lineage: LineageNote::find(&copies, session.agent.facts().id, &session.found.id),
    };
    sessions.iter().zip(glances).map(extra).collect()
}

fn json_row(session: &ListedSession, extra: Extra) -> Row<'_> {
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
        branch: found.branch.as_deref(),
        limit: extra.limit.map(|limit| LimitRow { resets_at: limit.resets_at.map(|at| at.to_string()) }),
        carried_from: extra.lineage.from,
        carried_to: extra.lineage.to,
    }
}

/// Writes the sessions of which more is told.
fn write_table(
    ui: &mut Ui,
    context: &Context,
    sessions: &[ListedSession],
    extras: &[Extra],
) -> Result<(), CommandError> {
    let ids = ShortIds::from_sessions(sessions);
    let sessions = &sessions[..extras.len()];
    if sessions.is_empty() {
        return Ok(());
    }
    let marks = sessions.iter().zip(extras).map(|(session, extra)| session_marks(context, session, extra, &ids));
    let table = SessionTable::new(context, sessions, &ids, ui.table_columns()).with_marks(marks);
    let mixed = sessions.iter().any(|session| session.here) && sessions.iter().any(|session| !session.here);
    let out = ui.out();
    writeln!(out, "{DIM}{}{DIM:#}", table.heading_line())?;
    let mut here = None;
    for (line, session) in table.painted_lines().zip(sessions) {
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

/// What is remarkable about a session: it waits for a limit, was carried, or is not understood.
fn session_marks(context: &Context, session: &ListedSession, extra: &Extra, ids: &ShortIds) -> Vec<Mark> {
    let limit = extra.limit.map(|limit| match limit.resets_at {
        Some(at) if at > context.env.now => format!("limit until {}", format_until(at, &context.env)),
        Some(_) => "limit over".to_owned(),
        None => "limit".to_owned(),
    });
    let drift = session.found.drifted.then(|| "format not known".to_owned());
    let warnings = limit.into_iter().chain(drift).map(|text| Mark { text, paint: DOUBTFUL });
    let lineage = extra.lineage.marks(ids).into_iter().map(|text| Mark { text, paint: DIM });
    warnings.chain(lineage).collect()
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
        return Err(explain_no_store(args.source));
    }
    if let Some(folder) = args.project.as_deref().map(resolve_path).filter(|folder| !folder.exists()) {
        ui.warning(format_args!("the folder {} does not exist", abbreviate_home(context, &folder)))?;
    }
    match args.source {
        _ if !args.words.is_empty() => ui.status("no session has these words")?,
        _ if args.project.is_some() => ui.status("no sessions of this project")?,
        Some(agent) => ui.status(format_args!("{} has no sessions here", agent.facts().name))?,
        None => ui.status("no sessions")?,
    }
    Ok(())
}

fn explain_no_store(source: Option<&'static dyn Agent>) -> CommandError {
    let (message, info) = match source.map(Agent::facts) {
        Some(facts) => (format!("{} has no sessions here", facts.name), format!("carryover info {}", facts.id)),
        None => ("no agent with sessions was found".to_owned(), "carryover info".to_owned()),
    };
    CommandError::new(ErrorKind::NoAgent, message)
        .with_hint(format!("run `{info}` to see where carryover looks for sessions"))
}
