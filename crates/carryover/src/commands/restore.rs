//! `carryover restore`.

use std::path::PathBuf;

use carryover_agents::Agent;
use carryover_core::redact::redact_title;
use carryover_engine::context::Context;
use carryover_engine::ledger::restore::{Restored, restore_session};
use carryover_engine::ledger::{KeptSession, Ledger};
use carryover_engine::sessions::copies::{Copies, CopyState};
use clap::Args;
use serde::Serialize;

use crate::args::{Globals, agent_parser};
use crate::error::CommandError;
use crate::ledger_access::{find_session, open_alone, session_line};
use crate::process_env::resolve_path;
use crate::session_row::abbreviate_home;
use crate::shell::{resume_line, session_command};
use crate::ui::{COMMAND, DIM, GOOD, Ui};

/// Bring back a session that its agent deleted
///
/// The ledger keeps what agents delete. A session that was files comes back as the same files; one that was in a database,
/// and one that is to go on in another folder, is written through its agent's own format. `undo` takes it back again.
/// Without a session, those that can be brought back are listed.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover restore           the sessions that were deleted
  carryover restore 8f3c21aa
  carryover restore 8f3c21aa --project ~/work/shop")]
pub(crate) struct RestoreArgs {
    /// An id or the beginning of one, or words of a title
    #[arg(value_name = "SESSION")]
    session: Vec<String>,
    /// Only sessions of this agent
    #[arg(long, alias = "from", value_name = "AGENT", value_parser = agent_parser(), hide_possible_values = true)]
    source: Option<&'static dyn Agent>,
    /// The folder to go on in [default: the session's own]
    #[arg(long, alias = "workspace", value_name = "FOLDER", value_hint = clap::ValueHint::DirPath, requires = "session")]
    project: Option<PathBuf>,
}

/// The sessions that can be brought back, as `--json` tells them.
#[derive(Serialize)]
struct ListDocument<'a> {
    schema: &'static str,
    sessions: Vec<GoneRow<'a>>,
}

#[derive(Serialize)]
struct GoneRow<'a> {
    agent: &'a str,
    id: &'a str,
    title: Option<String>,
    project: Option<String>,
    updated_at: Option<String>,
    gone_at: Option<String>,
    restored_as: Option<String>,
}

/// What was done, as `--json` tells it.
#[derive(Serialize)]
struct RestoreDocument<'a> {
    schema: &'static str,
    agent: &'a str,
    session_id: &'a str,
    exact: bool,
    files: Vec<String>,
    command: Option<&'a [String]>,
    cwd: Option<String>,
    undo_id: Option<&'a str>,
    warnings: &'a [String],
}

pub(crate) fn cmd_restore(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    args: &RestoreArgs,
) -> Result<(), CommandError> {
    let ledger = open_alone(ui, context)?;
    let agent = args.source.map(|agent| agent.facts().id);
    if args.session.is_empty() {
        return list_gone(ui, context, &ledger, agent);
    }
    let session = find_session(context, &ledger, &args.session.join(" "), agent, globals.yes)?;
    let project = args.project.as_deref().map(resolve_path);
    let restored = restore_session(context, &ledger, &session, project.as_deref())?;
    for warning in &restored.warnings {
        ui.warning(warning)?;
    }
    if ui.is_json() {
        return write_document(ui, &restored);
    }
    tell_restored(ui, context, &restored)
}

fn write_document(ui: &mut Ui, restored: &Restored) -> Result<(), CommandError> {
    let command = restored.command.as_ref();
    Ok(ui.write_json(&RestoreDocument {
        schema: "carryover.restore/1",
        agent: restored.agent,
        session_id: &restored.session.0,
        exact: restored.is_exact,
        files: restored.files.iter().map(|file| file.display().to_string()).collect(),
        command: command.map(|command| command.argv.as_slice()),
        cwd: command.map(|command| command.cwd.display().to_string()),
        undo_id: restored.undo_id.as_deref(),
        warnings: &restored.warnings,
    })?)
}

fn tell_restored(ui: &mut Ui, context: &Context, restored: &Restored) -> Result<(), CommandError> {
    let how = if restored.is_exact { "as it was" } else { "as a new session" };
    let (agent, session, os) = (restored.agent, &restored.session, context.env.os);
    ui.status(format_args!("{GOOD}restored{GOOD:#} {agent} session {session}, {how}"))?;
    for file in &restored.files {
        ui.status(format_args!("  {DIM}{}{DIM:#}", abbreviate_home(context, file)))?;
    }
    let next = match &restored.command {
        Some(command) => resume_line(command, &context.cwd, os),
        None => session_command(&["show"], &session.0, &[], os),
    };
    writeln!(ui.out(), "{COMMAND}{next}{COMMAND:#}")?;
    if let Some(id) = &restored.undo_id {
        ui.hint(format_args!("`carryover undo {id}` takes it back"))?;
    }
    Ok(())
}

fn list_gone(ui: &mut Ui, context: &Context, ledger: &Ledger, agent: Option<&str>) -> Result<(), CommandError> {
    let mut gone = ledger.gone_sessions()?;
    gone.retain(|session| agent.is_none_or(|agent| session.agent == agent));
    let copies = Copies::load(context);
    if ui.is_json() {
        let sessions = gone.iter().map(|session| gone_row(session, &copies)).collect();
        return Ok(ui.write_json(&ListDocument { schema: "carryover.restore-list/1", sessions })?);
    }
    let width = ui.width();
    for session in &gone {
        writeln!(ui.out(), "{}", session_line(context, session, width))?;
        if let Some(copy) = find_copy(session, &copies) {
            writeln!(ui.out(), "  {DIM}restored as {copy}{DIM:#}")?;
        }
    }
    if gone.is_empty() {
        ui.status("no session that the ledger knows was deleted")?;
    } else {
        ui.hint("`carryover restore ID` brings one back")?;
    }
    Ok(())
}

/// The session that it was brought back as.
fn find_copy(session: &KeptSession, copies: &Copies) -> Option<String> {
    let made = copies.copies_of(&session.agent, &session.id);
    let mut there = made.filter(|copy| copy.target.agent == session.agent && copy.look_up_state() != CopyState::Gone);
    there.next().map(|copy| copy.target.session.0.clone())
}

fn gone_row<'a>(session: &'a KeptSession, copies: &Copies) -> GoneRow<'a> {
    GoneRow {
        agent: &session.agent,
        id: &session.id.0,
        title: session.title.as_deref().map(|title| redact_title(title, &[])),
        project: session.project.as_ref().map(|project| project.display().to_string()),
        updated_at: session.updated_at.map(|at| at.to_string()),
        gone_at: session.gone_at.map(|at| at.to_string()),
        restored_as: find_copy(session, copies),
    }
}
