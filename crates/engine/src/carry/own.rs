//! Sessions that are the target's own already: its client goes on with them, and nothing needs to be written; or they come
//! from another home, and move with all of their records.

use std::path::PathBuf;

use carryover_agents::{Agent, OwnSession, ResumeCommand, Source, TargetView, Version, WritePlan, WriteRequest};
use carryover_core::transcript::SessionId;

use super::fit::FittedSession;
use super::resume::{ResumeError, client_stores};
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

/// Records that come from another home.
#[derive(Clone)]
pub struct MovedRecords {
    pub old_home: Option<PathBuf>,
}

/// Plans a session of the target's own with all of its records. One that has to be cut, that was put together from several, or
/// that a newer client than the installed one wrote, is written anew.
pub(super) fn plan_whole(
    target: &dyn Agent,
    session: &ListedSession,
    fitted: &FittedSession,
    moved: &MovedRecords,
    request: &WriteRequest<'_>,
    view: &TargetView<'_>,
) -> Result<Option<WritePlan>, ResumeError> {
    let [source] = fitted.sources.as_slice() else { return Ok(None) };
    let is_cut = fitted.cut > 0 || fitted.clipped > 0 || fitted.brief.is_some() || fitted.n_openings > 0;
    let written_by = source.header.client_version.as_deref().and_then(Version::find_in);
    let is_captured = source.agent.as_captured().is_some() || source.agent.facts().id != target.facts().id;
    let is_newer = written_by.zip(view.version).is_some_and(|(written_by, here)| written_by > here);
    if is_captured || is_cut || is_newer || request.entries.iter().any(|carried| carried.clipped) {
        return Ok(None);
    }
    let old_home = moved.old_home.as_deref();
    let own = OwnSession { source: &source.source, root: &session.store.root, header: &source.header, old_home };
    let writer = target.writer().ok_or(ResumeError::NoWriter(target.facts().name))?;
    Ok(writer.plan_own(&own, request, view)?)
}
