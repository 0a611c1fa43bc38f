//! Publishing: the handoff of a session, written where the next agent finds it.
//!
//! The order is load-bearing: `.carryover/` is kept from git before the first byte of a handoff is in it.

use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::Os;
use carryover_core::distill::Event;
use carryover_core::render::{HandoffOptions, Protocol, render_handoff};

use crate::carry::resume::ResumeError;
use crate::context::Context;
use crate::handoff::injection::NotGiven;
use crate::handoff::project_dir::HANDOFF_FILE;
use crate::handoff::published::Published;
use crate::handoff::standing_pointers::place_pointers;
use crate::handoff::{DistilledSession, Options, distil_session, gitignore, project_dir, workspace};
use crate::ledger::Ledger;
use crate::own::files;
use crate::own::project_settings::{ProjectSettings, ProjectSettingsError, PublishTarget};
use crate::sessions::list::{self, ListedSession};
use crate::sessions::project::published_project;

/// Files that are being written may be dated a little later than the moment at which they are looked at.
const CLOCK_TOLERANCE_MS: i64 = 60_000;

/// What publishing needs to know besides the session.
#[derive(Clone, Copy)]
pub struct PublishOptions {
    /// The command that shows a session whole.
    pub show_command: fn(&str, Os) -> String,
}

/// What was published.
pub struct Publication {
    /// None where the session's folder is no project.
    pub project: Option<PathBuf>,
    pub text: String,
    /// Notes for the user.
    pub warnings: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    #[error("the session names no folder, or one that is gone")]
    NoFolder,
    #[error(transparent)]
    Settings(#[from] ProjectSettingsError),
    #[error(transparent)]
    Session(#[from] ResumeError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Publishes a session's handoff; `None` where its project wants none.
pub fn publish_session(
    context: &Context,
    session: &ListedSession,
    options: &PublishOptions,
) -> Result<Option<Publication>, PublishError> {
    let folder = session.found.project.as_deref().filter(|folder| folder.is_dir()).ok_or(PublishError::NoFolder)?;
    let project = published_project(&context.env.home, folder);
    let settings = project.as_deref().map_or_else(|| Ok(ProjectSettings::default()), ProjectSettings::load)?;
    if let Some(record) = project
        .as_deref()
        .filter(|_| !settings.publishes(PublishTarget::Handoff))
        .and_then(|project| Published::load(context, project))
    {
        // What was published before it was asked to be quiet is not left lying there.
        record.withdraw(context, false)?;
    }
    let is_wanted = settings.publishes(PublishTarget::Handoff) && settings.covers_agent(session.agent.facts().id);
    if !is_wanted || came_with_clone(context, folder, session) || is_forgotten(context, session) {
        return Ok(None);
    }
    // Of several that are written to at once, the one with the last word stands, in whichever order they are read.
    if project.as_deref().is_some_and(|project| is_outdated(context, project, session)) {
        return Ok(None);
    }
    let distilled = distil_session(context, session, Options { project: None, redact: true })?;
    let is_asked = distilled.history.steps.iter().any(|step| matches!(step.event, Event::Prompt { .. }));
    if !is_asked && distilled.history.queued.is_empty() {
        // Nothing to tell is no reason to take away what another session left.
        return Ok(None);
    }
    let protocol = settings.narrow_protocol(users_protocol(context));
    let text = render_published(context, session, &distilled, protocol, *options);
    if !is_outdated(context, &context.home, session) {
        files::write_cached(&context.home.join(HANDOFF_FILE), text.as_bytes())?;
        record_publication(context, &context.home, session, &text)?;
    }
    let mut warnings = distilled.warnings;
    if let Some(project) = &project {
        warnings.extend(write_in_project(context, session, project, &settings, &text)?);
    }
    Ok(Some(Publication { project, text, warnings }))
}

/// Whether a session that is kept with the work is one that its project's repository holds: then its words are not those
/// of this user, but of whoever wrote the repository.
fn came_with_clone(context: &Context, folder: &Path, session: &ListedSession) -> bool {
    session.agent.facts().keeps_sessions_in_projects()
        && workspace::is_tracked(context, folder, &session.found.source.path)
}

/// Whether the user wants nothing to be known of a session any more.
fn is_forgotten(context: &Context, session: &ListedSession) -> bool {
    let ledger = Ledger::open_for_reading(context).ok().flatten();
    let is_buried = |ledger: &Ledger| ledger.is_forgotten(session.agent.facts().id, &session.found.id);
    ledger.is_some_and(|ledger| is_buried(&ledger).unwrap_or(false))
}

/// How a project's handoff is to be opened with.
fn wanted_protocol(context: &Context, project: &Path) -> Protocol {
    let settings = ProjectSettings::load(project).unwrap_or_default();
    settings.narrow_protocol(users_protocol(context))
}

/// How the user wants a handoff to be opened with.
pub fn users_protocol(context: &Context) -> Protocol {
    match context.config.handoff.protocol.as_deref() {
        Some("brief") => Protocol::Brief,
        Some("silent") => Protocol::Silent,
        _ => Protocol::Ask,
    }
}

fn render_published(
    context: &Context,
    session: &ListedSession,
    distilled: &DistilledSession,
    protocol: Protocol,
    options: PublishOptions,
) -> String {
    let show_command = (options.show_command)(&distilled.brief.session.0, context.env.os);
    let agent_name = session.agent.facts().name;
    render_handoff(&distilled.brief, &HandoffOptions { agent_name, protocol, show_command: &show_command })
}

fn write_in_project(
    context: &Context,
    session: &ListedSession,
    project: &Path,
    settings: &ProjectSettings,
    text: &str,
) -> io::Result<Vec<String>> {
    let found = &session.found;
    let agent = session.agent.facts().id;
    project_dir::check_private(context, project, HANDOFF_FILE)?;
    let mut notes = Vec::new();
    if settings.publishes(PublishTarget::Pointers) && context.config.handoff.pointers.unwrap_or(true) {
        // The handoff stands without them.
        if let Err(error) = place_pointers(context, project, &agents_in_use(context)) {
            notes.push(format!("no pointers could be placed in {}: {error}", project.display()));
        }
    } else {
        notes.extend(gitignore::ignore_folder(context, project, agent, &found.id.0, false));
    }
    let is_as_published =
        Published::load(context, project).is_some_and(|record| record.read_unchanged(context).is_ok());
    if is_as_published {
        project_dir::write_file(context, project, HANDOFF_FILE, text.as_bytes())?;
    } else {
        notes.extend(project_dir::write_over(context, project, HANDOFF_FILE, text.as_bytes())?);
    }
    record_publication(context, project, session, text)?;
    Ok(notes)
}

/// The agents that have a store here: each gets a pointer where it looks for one.
fn agents_in_use(context: &Context) -> Vec<&'static str> {
    let covered = list::covered_agents(context).into_iter();
    covered.filter(|agent| !agent.stores(&context.env).is_empty()).map(|agent| agent.facts().id).collect()
}

fn record_publication(context: &Context, place: &Path, session: &ListedSession, text: &str) -> io::Result<()> {
    let (agent, found) = (session.agent.facts().id, &session.found);
    Published::new(place, agent, &found.id, found.updated_at, context.env.now, text).save(context)
}

/// Whether a session says more than what was published last in its project.
pub fn is_unpublished(context: &Context, project: &Path, session: &ListedSession) -> bool {
    let Some(record) = Published::load(context, project) else { return true };
    if record.read_unchanged(context) == Err(NotGiven::Changed) || !record.opens_with(wanted_protocol(context, project))
    {
        return true;
    }
    // Where the clock was put back, what is dated later than now is not newer than what was published since.
    let latest = context.env.now.plus_millis(CLOCK_TOLERANCE_MS);
    session.found.updated_at > record.updated_at && session.found.updated_at.is_some_and(|at| at <= latest)
}

/// Whether another session said something later that was published already. A time that is yet to come proves nothing:
/// the clock was put back since.
fn is_outdated(context: &Context, place: &Path, session: &ListedSession) -> bool {
    let Some(record) = Published::load(context, place) else { return false };
    let is_same = record.session == session.found.id && record.agent == session.agent.facts().id;
    let is_past = record.updated_at.is_some_and(|at| at <= context.env.now);
    !is_same && is_past && session.found.updated_at.is_some() && session.found.updated_at < record.updated_at
}
