//! Whether an agent that starts is given the handoff of its project, and which words.
//!
//! Only at the start of a new session with a person before it, only this project's, and only what we published there
//! ourselves: a file that came with a clone or a capsule, or that somebody has changed, is given to nobody unasked.

use carryover_agents::{HookEvent, HookKind, RunMode, StartReason};

use crate::context::Context;
use crate::handoff::published::Published;
use crate::own::project_settings::{ProjectSettings, PublishTarget};
use crate::sessions::project::published_project;
use crate::write::journal::{self, Journal, State};

/// Days after which a handoff is no longer given, where nobody says otherwise.
const DEFAULT_MAX_AGE_DAYS: u64 = 14;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Why nothing is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotGiven {
    /// It is no start of a new session.
    NoNewSession,
    /// Nobody is there to answer.
    Headless,
    SubAgent,
    /// The session was written by us and has its history already.
    OwnCopy,
    /// The folder is no project, or the project wants none.
    NotHere,
    Nothing,
    TooOld,
    /// The file is not what we published.
    Changed,
}

/// The handoff for an agent that starts.
pub fn handoff_for_start(context: &Context, event: &HookEvent) -> Result<String, NotGiven> {
    if event.kind != HookKind::SessionStart || event.start != StartReason::New {
        return Err(NotGiven::NoNewSession);
    }
    if event.is_sub_agent {
        return Err(NotGiven::SubAgent);
    }
    if event.run_mode == RunMode::Headless {
        return Err(NotGiven::Headless);
    }
    let folder = event.folder.as_deref().ok_or(NotGiven::NotHere)?;
    let project = published_project(&context.env.home, folder).ok_or(NotGiven::NotHere)?;
    let settings = ProjectSettings::load(&project).map_err(|_| NotGiven::NotHere)?;
    if !settings.publishes(PublishTarget::Handoff) {
        return Err(NotGiven::NotHere);
    }
    let record = Published::load(context, &project).ok_or(NotGiven::Nothing)?;
    if !settings.covers_agent(&record.agent) {
        return Err(NotGiven::NotHere);
    }
    if event.session.as_ref() == Some(&record.session) || is_own_copy(context, event) {
        return Err(NotGiven::OwnCopy);
    }
    let max_age = context.config.handoff.max_age.unwrap_or(DEFAULT_MAX_AGE_DAYS);
    let oldest = context.env.now.plus_millis(-DAY_MS.saturating_mul(i64::try_from(max_age).unwrap_or(i64::MAX)));
    if record.updated_at.unwrap_or(record.published_at) <= oldest {
        return Err(NotGiven::TooOld);
    }
    record.read_unchanged(context)
}

/// Whether the session that starts was written by us.
fn is_own_copy(context: &Context, event: &HookEvent) -> bool {
    let Some(session) = &event.session else { return false };
    let is_copy = |journal: &Journal| {
        journal.state != State::Undone && journal.target.agent == event.agent && journal.target.session == *session
    };
    journal::read_all(context).iter().any(is_copy)
}
