//! Sessions that are the target's own already: its client goes on with them, and nothing needs to be written.

use std::path::PathBuf;

use carryover_agents::{Agent, ResumeCommand, Source};
use carryover_core::transcript::SessionId;

use super::resume::client_stores;
use crate::context::Context;
use crate::sessions::list::ListedSession;
use crate::sessions::project::resolve_path;

/// The command by which the target's own client goes on with a session, where the session is its own: in a store that
/// the client looks into, and in a folder that is still there.
pub fn own_command(context: &Context, session: &ListedSession, target: &dyn Agent) -> Option<ResumeCommand> {
    if !is_own(context, session, target) {
        return None;
    }
    let found = &session.found;
    command_for(context, target, &found.source, &found.id, found.project.clone())
}

/// Whether a session is the target's own: whatever else is read of it, a file that was captured or lies elsewhere is not.
pub fn is_own(context: &Context, session: &ListedSession, target: &dyn Agent) -> bool {
    if session.agent.facts().id != target.facts().id || session.agent.as_captured().is_some() {
        return false;
    }
    let path = resolve_path(&session.found.source.path);
    client_stores(context, target).iter().any(|store| path.starts_with(resolve_path(&store.root)))
}

/// A client's own command for a session in its store. A client that finds it from its folder only has none once that
/// folder is gone; any other is started here then.
pub(crate) fn command_for(
    context: &Context,
    agent: &dyn Agent,
    source: &Source,
    id: &SessionId,
    project: Option<PathBuf>,
) -> Option<ResumeCommand> {
    let there = project.filter(|project| project.is_dir());
    if there.is_none() && agent.facts().resume.needs_project {
        return None;
    }
    agent.resume_command(source, id, &there.unwrap_or_else(|| context.cwd.clone()))
}
