//! `carryover search`.

use std::path::PathBuf;

use carryover_agents::Agent;
use carryover_core::redact::redact_title;
use carryover_engine::context::Context;
use carryover_engine::ledger::search::{FoundEntry, FoundInSession, SearchRequest, SearchResults, SnippetPart};
use clap::Args;
use serde::Serialize;

use crate::args::agent_parser;
use crate::error::CommandError;
use crate::ledger_access::{count_sessions, open_updated, session_line};
use crate::moment::{Moment, parse_moment};
use crate::process_env::resolve_path;
use crate::shell::session_command;
use crate::ui::{BOLD, COMMAND, DIM, DOUBTFUL, Ui};

/// Find what was said in any session, also in deleted ones
///
/// Looks in prompts, replies, commands and paths of every session that the ledger has kept. All words must stand in one
/// entry; the last may be the beginning of a word. Parts of names and paths are found, and accents and case do not matter.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover search retry policy
  carryover search max_retries --project . --since 7d
  carryover search \"src/auth\" --source codex --json")]
pub(crate) struct SearchArgs {
    /// What to look for
    #[arg(value_name = "WORDS", required = true)]
    words: Vec<String>,
    /// Only sessions of this agent
    #[arg(long, alias = "from", value_name = "AGENT", value_parser = agent_parser(), hide_possible_values = true)]
    source: Option<&'static dyn Agent>,
    /// Only sessions of the project in this folder
    #[arg(long, alias = "workspace", value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    project: Option<PathBuf>,
    /// Only what was said since then: a date, a time, or how long ago (7d, 12h)
    #[arg(long, value_name = "WHEN", value_parser = parse_moment)]
    since: Option<Moment>,
    /// How many sessions to show
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10)]
    limit: usize,
}

/// What was found, as `--json` tells it.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    sessions: Vec<SessionRow<'a>>,
    total: usize,
    covered: u64,
}

#[derive(Serialize)]
struct SessionRow<'a> {
    agent: &'a str,
    id: &'a str,
    title: Option<String>,
    project: Option<String>,
    updated_at: Option<String>,
    gone_at: Option<String>,
    found: usize,
    entries: Vec<EntryRow<'a>>,
    command: String,
}

#[derive(Serialize)]
struct EntryRow<'a> {
    entry: String,
    kind: &'a str,
    origin: &'a str,
    at: Option<String>,
    side: bool,
    retracted: bool,
    snippet: &'a [SnippetPart],
}

pub(crate) fn cmd_search(ui: &mut Ui, context: &Context, args: &SearchArgs) -> Result<(), CommandError> {
    let ledger = open_updated(ui, context)?;
    let request = SearchRequest {
        words: args.words.join(" "),
        agent: args.source.map(|agent| agent.facts().id),
        project: args.project.as_deref().map(resolve_path),
        since: args.since.map(|since| since.resolve(context)),
        limit: args.limit,
    };
    let results = ledger.search(&request)?;
    let covered = ledger.n_sessions()?;
    if ui.is_json() {
        let sessions = results.sessions.iter().map(|found| session_row(context, found)).collect();
        ui.write_json(&Document { schema: "carryover.search/1", sessions, total: results.n_sessions, covered })?;
        return Ok(());
    }
    for (index, found) in results.sessions.iter().enumerate() {
        if index > 0 {
            writeln!(ui.out())?;
        }
        write_found(ui, context, found)?;
    }
    tell_count(ui, &results, usize::try_from(covered).unwrap_or(usize::MAX))
}

fn tell_count(ui: &mut Ui, results: &SearchResults, covered: usize) -> Result<(), CommandError> {
    let covered = count_sessions(covered);
    if results.sessions.is_empty() {
        ui.status(format_args!("no entry has these words; {covered} were searched"))?;
        return Ok(());
    }
    let more = if results.is_cut { " or more" } else { "" };
    let found = count_sessions(results.n_sessions);
    ui.status(format_args!("{DIM}found in {found}{more}; {covered} were searched{DIM:#}"))?;
    if results.n_sessions > results.sessions.len() {
        ui.hint(format_args!("{} more; `--limit` shows them", results.n_sessions - results.sessions.len()))?;
    }
    Ok(())
}

fn write_found(ui: &mut Ui, context: &Context, found: &FoundInSession) -> Result<(), CommandError> {
    let session = &found.session;
    let line = session_line(context, session, ui.width().saturating_sub(10));
    let gone = if session.gone_at.is_some() { format!("  {DOUBTFUL}deleted{DOUBTFUL:#}") } else { String::new() };
    writeln!(ui.out(), "{BOLD}{line}{BOLD:#}{gone}")?;
    for entry in &found.entries {
        let snippet: String = entry.snippet.iter().map(paint_part).collect();
        ui.write_row(format_args!("  {DIM}{:<7}{DIM:#}{snippet}", speaker(entry)))?;
    }
    let more = found.n_entries.saturating_sub(found.entries.len());
    if more > 0 {
        writeln!(ui.out(), "  {DIM}and {more} more in it{DIM:#}")?;
    }
    writeln!(ui.out(), "  {COMMAND}{}{COMMAND:#}", next_command(context, found))?;
    Ok(())
}

fn paint_part(part: &SnippetPart) -> String {
    if part.hit { format!("{BOLD}{}{BOLD:#}", part.text) } else { part.text.clone() }
}

/// Who said it, in a word.
fn speaker(entry: &FoundEntry) -> &str {
    match entry.kind.as_str() {
        "call" => "tool",
        _ => &entry.origin,
    }
}

/// What shows the best place, or brings the session back.
fn next_command(context: &Context, found: &FoundInSession) -> String {
    let (id, os) = (&found.session.id.0, context.env.os);
    if found.session.gone_at.is_some() {
        return session_command(&["restore"], id, &[], os);
    }
    // What its store does not tell any more is not in the session.
    match found.entries.iter().find(|entry| !entry.retracted) {
        Some(entry) => session_command(&["show"], id, &["--entry", &entry.key.reference().to_string()], os),
        None => session_command(&["show"], id, &["--full"], os),
    }
}

fn session_row<'a>(context: &Context, found: &'a FoundInSession) -> SessionRow<'a> {
    let session = &found.session;
    SessionRow {
        agent: &session.agent,
        id: &session.id.0,
        title: session.title.as_deref().map(|title| redact_title(title, &[])),
        project: session.project.as_ref().map(|project| project.display().to_string()),
        updated_at: session.updated_at.map(|at| at.to_string()),
        gone_at: session.gone_at.map(|at| at.to_string()),
        found: found.n_entries,
        entries: found.entries.iter().map(entry_row).collect(),
        command: next_command(context, found),
    }
}

fn entry_row(entry: &FoundEntry) -> EntryRow<'_> {
    EntryRow {
        entry: entry.key.reference().to_string(),
        kind: &entry.kind,
        origin: &entry.origin,
        at: entry.at.map(|at| at.to_string()),
        side: entry.side,
        retracted: entry.retracted,
        snippet: &entry.snippet,
    }
}
