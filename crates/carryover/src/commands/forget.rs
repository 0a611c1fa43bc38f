//! `carryover forget`.

use std::path::PathBuf;

use carryover_agents::Agent;
use carryover_engine::context::Context;
use carryover_engine::ledger::forget::{Forget, Forgotten};
use carryover_engine::ledger::{KeptSession, Ledger};
use clap::{ArgGroup, Args};
use serde::Serialize;

use crate::args::{Globals, agent_parser};
use crate::error::CommandError;
use crate::ledger_access::{count_sessions, find_session, session_line, tell_set_aside};
use crate::moment::{Moment, parse_moment};
use crate::process_env::resolve_path;
use crate::quantity::format_bytes;
use crate::ui::{DIM, Ui};

/// How many sessions a question names.
const MAX_SHOWN: usize = 10;

/// Delete sessions from the ledger, for good
///
/// Words, bytes and index are removed from the disk. Agents' own stores are not touched: a session that is still there is
/// not taken in again.
#[derive(Args)]
#[command(
    group = ArgGroup::new("what").required(true).args(["session", "project", "before", "all"]),
    after_long_help = "\
Examples:
  carryover forget 8f3c21aa
  carryover forget --project ~/work/shop
  carryover forget --before 90d --yes"
)]
pub(crate) struct ForgetArgs {
    /// An id or the beginning of one, or words of a title
    #[arg(value_name = "SESSION")]
    session: Vec<String>,
    /// Only sessions of this agent
    #[arg(long, alias = "from", value_name = "AGENT", value_parser = agent_parser(), hide_possible_values = true, requires = "session")]
    source: Option<&'static dyn Agent>,
    /// All sessions of the project in this folder
    #[arg(long, alias = "workspace", value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    project: Option<PathBuf>,
    /// All sessions that were last used before then: a date, a time, or how long ago (90d)
    #[arg(long, value_name = "WHEN", value_parser = parse_moment)]
    before: Option<Moment>,
    /// Everything
    #[arg(long)]
    all: bool,
}

/// What is gone, as `--json` tells it.
#[derive(Serialize)]
struct Document {
    schema: &'static str,
    sessions: Vec<SessionRow>,
    set_aside: Vec<String>,
    freed_bytes: u64,
}

#[derive(Serialize)]
struct SessionRow {
    agent: String,
    id: String,
}

pub(crate) fn cmd_forget(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &ForgetArgs,
) -> Result<(), CommandError> {
    let opened = Ledger::open(context)?;
    tell_set_aside(ui, &opened)?;
    let mut ledger = opened.ledger;
    let what = choose_scope(context, &ledger, args)?;
    let sessions = ledger.sessions_to_forget(&what)?;
    if !confirm(ui, context, globals, &sessions)? {
        ui.status("nothing was forgotten")?;
        return Ok(());
    }
    let forgotten = ledger.forget(context, &what)?;
    tell_forgotten(ui, &forgotten)
}

fn choose_scope(context: &Context, ledger: &Ledger, args: &ForgetArgs) -> Result<Forget, CommandError> {
    if let Some(project) = &args.project {
        return Ok(Forget::Project(resolve_path(project)));
    }
    if let Some(before) = args.before {
        return Ok(Forget::Before(before.resolve(context)));
    }
    if args.all {
        return Ok(Forget::All);
    }
    let agent = args.source.map(|agent| agent.facts().id);
    // Several that fit are never guessed among here.
    let session = find_session(context, ledger, &args.session.join(" "), agent, false)?;
    Ok(Forget::Session(Box::new(session)))
}

/// Asks where somebody can answer; where nobody can, it must have been said.
fn confirm(ui: &mut Ui, context: &Context, globals: Globals, sessions: &[KeptSession]) -> Result<bool, CommandError> {
    if globals.yes || sessions.is_empty() {
        return Ok(true);
    }
    if !ui.is_interactive() {
        let count = count_sessions(sessions.len());
        return Err(CommandError::usage(format!("{count} would be forgotten, and nobody can be asked"))
            .with_hint("say so with `--yes`"));
    }
    for session in sessions.iter().take(MAX_SHOWN) {
        let line = session_line(context, session, ui.width());
        ui.write_line(format_args!("{DIM}{line}{DIM:#}"))?;
    }
    let gone = sessions.iter().filter(|session| session.gone_at.is_some()).count();
    let gone = if gone == 0 { String::new() } else { format!(", {gone} of which nobody else has") };
    let answer = ui.ask(&format!("forget {}{gone}? (y/N)", count_sessions(sessions.len())))?;
    Ok(matches!(answer.to_lowercase().as_str(), "y" | "yes"))
}

fn tell_forgotten(ui: &mut Ui, forgotten: &Forgotten) -> Result<(), CommandError> {
    let row = |session: &KeptSession| SessionRow { agent: session.agent.clone(), id: session.id.0.clone() };
    let aside = forgotten.set_aside.iter().map(|path| path.display().to_string());
    if ui.is_json() {
        return Ok(ui.write_json(&Document {
            schema: "carryover.forget/1",
            sessions: forgotten.sessions.iter().map(row).collect(),
            set_aside: aside.collect(),
            freed_bytes: forgotten.freed_bytes,
        })?);
    }
    let (count, freed) = (count_sessions(forgotten.sessions.len()), format_bytes(forgotten.freed_bytes));
    ui.status(format_args!("forgot {count}; the ledger is {freed} smaller"))?;
    for session in &forgotten.sessions {
        ui.status(format_args!("  {DIM}{} {}{DIM:#}", session.agent, session.id))?;
    }
    for path in aside {
        ui.status(format_args!("  removed {DIM}{path}{DIM:#}"))?;
    }
    Ok(())
}
