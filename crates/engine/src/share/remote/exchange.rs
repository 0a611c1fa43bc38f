//! What a project has for a remote, and a remote for a project.

use carryover_core::time::Timestamp;

use super::catalog::{Catalog, newest_per_session};
use super::index::PushedCapsule;
use super::push::folder_name;
use crate::capsule::manifest::Manifest;
use crate::capsule::shelf::find_on_shelf;
use crate::capsule::workspace::describe_root;
use crate::context::Context;
use crate::sessions::copies::{Copies, CopyState};
use crate::sessions::list::ListedSession;

/// Which sessions of a project are pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outgoing {
    /// Those that are not there yet, or have grown since.
    All,
    /// Those that are there and have grown since, and the newest.
    Grown,
}

/// The name by which this project is known in remotes: that of its folder.
pub fn project_name(context: &Context) -> Option<String> {
    folder_name(&describe_root(context, &context.cwd))
}

/// Of the sessions of a project, newest first, those that are pushed. One that was brought here and not gone on with is
/// somebody else's still.
pub fn choose_outgoing(
    context: &Context,
    catalog: &Catalog,
    sessions: Vec<ListedSession>,
    which: Outgoing,
) -> Vec<ListedSession> {
    let copies = Copies::load(context);
    let is_untouched = |session: &ListedSession| {
        let origin = copies.origin_of(session.agent.facts().id, &session.found.id);
        origin.is_some_and(|copy| copy.look_up_state() == CopyState::Unused)
    };
    let own = sessions.into_iter().filter(|session| session.here && !session.found.drifted && !is_untouched(session));
    let is_wanted = |at: usize, session: &ListedSession| match find_pushed(catalog, session) {
        None => which == Outgoing::All || at == 0,
        Some(pushed) => is_after(session.found.updated_at, pushed.updated_at.as_deref(), context.env.now),
    };
    own.enumerate().filter(|(at, session)| is_wanted(*at, session)).map(|(_, session)| session).collect()
}

fn find_pushed<'c>(catalog: &'c Catalog, session: &ListedSession) -> Option<&'c PushedCapsule> {
    catalog.find_session(session.agent.facts().id, &session.found.id.0)
}

/// Whether a session that was packed has gone on since it was pushed. Its file may be newer without that.
pub fn has_grown(catalog: &Catalog, manifest: &Manifest) -> bool {
    let source = &manifest.source;
    let pushed = catalog.find_session(&source.agent, &source.session_id);
    pushed.is_none_or(|pushed| (pushed.messages, &pushed.updated_at) != (source.messages, &source.updated_at))
}

/// What others have pushed of a project: the newest of each session that is neither on the shelf nor, as new as that, in an
/// agent's store here.
pub fn choose_incoming<'c>(
    context: &Context,
    catalog: &'c Catalog,
    sessions: &[ListedSession],
    project: &str,
) -> Vec<&'c PushedCapsule> {
    let is_here = |pushed: &PushedCapsule| {
        let is_it =
            |session: &&ListedSession| (session.agent.facts().id, session.found.id.0.as_str()) == pushed.session_key();
        let here = sessions.iter().find(is_it);
        here.is_some_and(|session| !is_before(session.found.updated_at, pushed.updated_at.as_deref()))
    };
    let of_project = catalog.capsules.iter().filter(|pushed| pushed.project.as_deref() == Some(project));
    let mut incoming = newest_per_session(of_project);
    incoming.retain(|pushed| !is_here(pushed) && find_on_shelf(context, &pushed.capsule).is_none());
    incoming
}

/// Clocks differ by a little; what claims to be of another day than this one says nothing.
const CLOCK_SKEW_MILLIS: i64 = 86_400_000;

fn is_after(here: Option<Timestamp>, there: Option<&str>, now: Timestamp) -> bool {
    let latest = now.plus_millis(CLOCK_SKEW_MILLIS);
    match (here, there.and_then(Timestamp::parse).filter(|there| *there <= latest)) {
        (Some(here), Some(there)) => here > there,
        // Who cannot tell looks into it.
        _ => true,
    }
}

fn is_before(here: Option<Timestamp>, there: Option<&str>) -> bool {
    matches!((here, there.and_then(Timestamp::parse)), (Some(here), Some(there)) if here < there)
}
