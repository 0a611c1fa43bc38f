//! A session that is the target's own already: nothing is written, its client goes on with it.

use carryover_agents::{Agent, Facts, Liveness, ResumeCommand};
use carryover_core::transcript::SessionId;
use carryover_engine::carry::earlier::EarlierCopy;
use carryover_engine::client;
use carryover_engine::context::Context;
use carryover_engine::sessions::list::ListedSession;
use serde::Serialize;

use super::ResumeArgs;
use crate::error::CommandError;
use crate::launch::{launch_client, write_command};
use crate::ui::{GOOD, Ui};

/// The session and its own command, as `--json` tells it.
#[derive(Serialize)]
struct OwnDocument<'a> {
    schema: &'static str,
    target: &'static str,
    session_id: &'a str,
    command: &'a [String],
    cwd: String,
    is_open: bool,
    warnings: &'a [String],
}

/// A session that its client goes on with.
struct OwnSession<'a> {
    facts: &'static Facts,
    id: &'a SessionId,
    is_open: bool,
    command: &'a ResumeCommand,
    /// Why nothing is written.
    why: String,
    /// Servers of tools that the client lacks.
    missing: Option<String>,
}

/// Tells or starts the client's own command.
pub(super) fn resume_own(
    ui: &mut Ui,
    context: &Context,
    session: &ListedSession,
    command: &ResumeCommand,
    args: &ResumeArgs,
    missing: Option<String>,
) -> Result<(), CommandError> {
    let facts = session.agent.facts();
    let is_open = session.found.live == Liveness::Live;
    let why = format!("already in {}", facts.name);
    go_on_with(ui, context, &OwnSession { facts, id: &session.found.id, is_open, command, why, missing }, args)
}

/// The same for a copy that was gone on with, of a session that has nothing new since.
pub(super) fn resume_copy(
    ui: &mut Ui,
    context: &Context,
    target: &dyn Agent,
    earlier: &EarlierCopy,
    command: &ResumeCommand,
    args: &ResumeArgs,
) -> Result<(), CommandError> {
    let facts = target.facts();
    let why = format!("gone on with in {} since it was carried there", facts.name);
    let copy = OwnSession { facts, id: &earlier.copy.target.session, is_open: false, command, why, missing: None };
    go_on_with(ui, context, &copy, args)
}

fn go_on_with(ui: &mut Ui, context: &Context, own: &OwnSession<'_>, args: &ResumeArgs) -> Result<(), CommandError> {
    let OwnSession { facts, command, .. } = *own;
    let mut warnings = list_warnings(context, own);
    warnings.extend(own.missing.clone());
    if ui.is_json() {
        ui.write_json(&OwnDocument {
            schema: "carryover.resume-own/1",
            target: facts.id,
            session_id: &own.id.0,
            command: &command.argv,
            cwd: command.cwd.display().to_string(),
            is_open: own.is_open,
            warnings: &warnings,
        })?;
        return Ok(());
    }
    for warning in &warnings {
        ui.warning(warning)?;
    }
    ui.status(format_args!("{GOOD}{}:{GOOD:#} nothing was written", own.why))?;
    write_command(ui, context, command, false)?;
    ui.hint("`--fork` makes a copy of it, and so does another `--project`")?;
    if args.launches(ui, context, facts) {
        launch_client(ui, context, facts.id, command)?;
    }
    Ok(())
}

fn list_warnings(context: &Context, own: &OwnSession<'_>) -> Vec<String> {
    let OwnSession { facts, is_open, .. } = *own;
    let is_missing = client::find_agent_program(context, facts).is_none();
    let open = || format!("{} has that session open now: go on there, or close it first", facts.name);
    let missing = || format!("{} is not installed", facts.name);
    is_open.then(open).into_iter().chain(is_missing.then(missing)).collect()
}
