//! From a session to its brief: read, look around, distil, mask.

use std::path::{Path, PathBuf};

use carryover_agents::AgentError;
use carryover_core::distill::{Brief, Event, History, Quoting, State, Workspace, distill_session, find_state};

use crate::carry::resume::ResumeError;
use crate::context::Context;
use crate::handoff::history;
use crate::handoff::workspace;
use crate::sessions::list::ListedSession;
use crate::sessions::project::resolve_path;
use crate::sessions::unread::Unread;

/// A session, distilled, and what it was distilled from.
pub struct DistilledSession {
    /// Where the work goes on.
    pub project: PathBuf,
    pub history: History,
    pub workspace: Workspace,
    pub brief: Brief,
    pub quoting: Quoting,
    pub unread: Unread,
    /// Further notes for the user.
    pub warnings: Vec<String>,
}

/// How a session is distilled.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Where the work goes on; by default the session's own folder, else the working directory.
    pub project: Option<&'a Path>,
    /// Secrets are masked.
    pub redact: bool,
}

/// Reads a session and finds out what the next agent has to know.
pub fn distil_session(
    context: &Context,
    session: &ListedSession,
    options: Options<'_>,
) -> Result<DistilledSession, ResumeError> {
    let history = history::read_session(session)?;
    let unread = Unread::from_history(&history);
    refuse_unknown(session, &history, &unread)?;
    let mut warnings = unread.warnings();
    let project = choose_project(context, session, &history, options.project, &mut warnings);
    let quoting = if options.redact { Quoting::Masked } else { Quoting::AsIs };
    let workspace = workspace::inspect_project(context, session.agent.facts(), &project, &history, &mut warnings);
    let workspace = if options.redact { workspace.redacted() } else { workspace };
    let brief = distill_session(&history, &workspace, quoting, context.env.now);
    Ok(DistilledSession { project, history, workspace, brief, quoting, unread, warnings })
}

/// How a session stands at its end, in its own words, for its own user.
pub fn read_state(session: &ListedSession) -> Result<State, AgentError> {
    Ok(find_state(&history::read_session(session)?, Quoting::AsIs))
}

/// Nothing to tell is an answer only where nothing was said: of a session that is not understood it would be a lie.
fn refuse_unknown(session: &ListedSession, history: &History, unread: &Unread) -> Result<(), ResumeError> {
    let is_asked = history.steps.iter().any(|step| matches!(step.event, Event::Prompt { .. }));
    refuse_unasked(session, is_asked, history.steps.is_empty(), !history.queued.is_empty(), unread)
}

/// The same for who has not made a history of it.
pub(crate) fn refuse_unasked(
    session: &ListedSession,
    is_asked: bool,
    is_empty: bool,
    is_queued: bool,
    unread: &Unread,
) -> Result<(), ResumeError> {
    let is_unknown = session.found.drifted && !is_asked;
    let is_damaged = !unread.is_empty() && is_empty;
    if (is_unknown || is_damaged) && !is_queued { Err(ResumeError::Empty(unread.clone())) } else { Ok(()) }
}

fn choose_project(
    context: &Context,
    session: &ListedSession,
    history: &History,
    given: Option<&Path>,
    warnings: &mut Vec<String>,
) -> PathBuf {
    let own = history.header.project.as_deref().or(session.found.project.as_deref());
    match (given, own) {
        (Some(given), _) => resolve_path(given),
        (None, Some(own)) if own.is_dir() => resolve_path(own),
        (None, own) => {
            if let Some(own) = own {
                warnings.push(format!("{} is gone: the work goes on in this folder", own.display()));
            }
            resolve_path(&context.cwd)
        }
    }
}
