//! A session that is the target's own already: nothing is written, its client goes on with it.

use carryover_agents::{Liveness, ResumeCommand};
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

/// Tells or starts the client's own command.
pub(super) fn resume_own(
    ui: &mut Ui,
    context: &Context,
    session: &ListedSession,
    command: &ResumeCommand,
    args: &ResumeArgs,
) -> Result<(), CommandError> {
    let facts = session.agent.facts();
    let warnings = list_warnings(context, session);
    if ui.is_json() {
        ui.write_json(&OwnDocument {
            schema: "carryover.resume-own/1",
            target: facts.id,
            session_id: &session.found.id.0,
            command: &command.argv,
            cwd: command.cwd.display().to_string(),
            is_open: session.found.live == Liveness::Live,
            warnings: &warnings,
        })?;
        return Ok(());
    }
    for warning in &warnings {
        ui.warning(warning)?;
    }
    ui.status(format_args!("{GOOD}already in {}:{GOOD:#} nothing was written", facts.name))?;
    write_command(ui, context, command, false)?;
    ui.hint("`--fork` makes a copy of it, and so does another `--project`")?;
    if args.launches(ui, context, facts) {
        launch_client(ui, context, facts.id, command)?;
    }
    Ok(())
}

fn list_warnings(context: &Context, session: &ListedSession) -> Vec<String> {
    let facts = session.agent.facts();
    let is_open = session.found.live == Liveness::Live;
    let is_missing = client::find_agent_program(context, facts).is_none();
    let open = || format!("{} has that session open now: go on there, or close it first", facts.name);
    let missing = || format!("{} is not installed", facts.name);
    is_open.then(open).into_iter().chain(is_missing.then(missing)).collect()
}
