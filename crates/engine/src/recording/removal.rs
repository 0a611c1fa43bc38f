//! Recordings go when they are told to, or when their time is over.

use std::io;

use carryover_core::time::Timestamp;

use super::archive::{Recording, list_folders, list_recordings};
use crate::context::Context;
use crate::ledger::{KeptSession, forget::Forget};
use crate::sessions::project::ProjectMatcher;

/// Removes the recordings of sessions.
pub(crate) fn forget_session_recordings(context: &Context, sessions: &[KeptSession]) -> io::Result<()> {
    let belongs = |recording: &Recording| {
        let manifest = &recording.manifest;
        let is_named = |session: &KeptSession| {
            session.agent == manifest.agent && manifest.sessions.iter().any(|named| named.id == session.id.0)
        };
        sessions.iter().any(is_named)
    };
    remove_where(context, belongs)
}

/// Removes the recordings of a project, of a time, or all, whether or not a session is known for them.
pub(crate) fn forget_recordings(context: &Context, what: &Forget) -> io::Result<()> {
    match what {
        Forget::Session(_) => Ok(()),
        // Also folders whose `recording.json` was never written.
        Forget::All => list_folders(&super::folder(context))?.iter().try_for_each(fs_err::remove_dir_all),
        Forget::Before(at) => remove_where(context, |recording| last_use(recording) < *at),
        Forget::Project(project) => {
            let mut here = ProjectMatcher::new(project);
            remove_where(context, |recording| here.matches(&recording.manifest.project))
        }
    }
}

/// Removes what was last used before a time.
pub(crate) fn remove_expired(context: &Context, before: Timestamp) -> io::Result<()> {
    remove_where(context, |recording| last_use(recording) < before)
}

fn last_use(recording: &Recording) -> Timestamp {
    recording.manifest.ended_at.unwrap_or(recording.manifest.started_at)
}

fn remove_where(context: &Context, mut is_meant: impl FnMut(&Recording) -> bool) -> io::Result<()> {
    let recordings = list_recordings(context)?;
    recordings
        .iter()
        .filter(|recording| is_meant(recording))
        .try_for_each(|recording| fs_err::remove_dir_all(&recording.folder))
}
