//! The session that we are run in, by its agent: a command that an agent runs for its user means that one, and the newest of
//! the project may be another.

use carryover_agents::{AGENTS, Agent};
use carryover_core::transcript::SessionId;

use super::copies::{Copies, CopyState};
use super::glance::is_silent;
use super::list::{Filter, ListedSession, list_sessions};
use super::select::{Query, SelectError, select_session};
use crate::context::Context;

/// Some agents write nothing while their model thinks, or while a tool of theirs runs.
pub const FRESH_FOR_MINUTES: i64 = 15;

/// Who runs us.
pub enum Caller {
    Session(Box<ListedSession>),
    /// An agent tells of a session that it does not keep.
    Unkept {
        agent: &'static dyn Agent,
        id: String,
    },
    /// No agent that tells, or several, one in the other.
    Unknown,
}

/// Finds the session that we are run in, as its agent tells a shell; of one agent only, where one is named.
pub fn find_caller(context: &Context, named: Option<&'static dyn Agent>) -> Result<Caller, SelectError> {
    let is_meant = |agent: &&dyn Agent| named.is_none_or(|named| named.facts().id == agent.facts().id);
    let told = |agent: &&dyn Agent| !agent.facts().calling_sessions(&context.env).is_empty();
    let mut agents = AGENTS.iter().copied().filter(is_meant).filter(told);
    let (Some(agent), None) = (agents.next(), agents.next()) else { return Ok(Caller::Unknown) };
    let ids = agent.facts().calling_sessions(&context.env);
    for id in &ids {
        let query = Query { words: Some((*id).to_owned()), agent: Some(agent), ..Query::default() };
        match select_session(context, &query) {
            Ok(selected) if selected.session.found.id == SessionId((*id).to_owned()) => {
                return Ok(Caller::Session(Box::new(selected.session)));
            }
            Ok(_) | Err(SelectError::NotFound(_) | SelectError::NoAgent | SelectError::Ambiguous { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let id = ids.first().copied().unwrap_or_default().to_owned();
    Ok(Caller::Unkept { agent, id })
}

/// The sessions of this project that somebody may be in right now, the newest first: whoever runs us may mean any of them.
pub fn list_fresh(context: &Context, named: Option<&'static dyn Agent>) -> Vec<ListedSession> {
    let filter = Filter { agent: named, ..Filter::default() };
    let now = context.env.now.seconds();
    let is_fresh = |session: &ListedSession| {
        session.found.updated_at.is_some_and(|at| now.saturating_sub(at.seconds()) <= FRESH_FOR_MINUTES * 60)
    };
    let mut sessions = list_sessions(context, &filter).sessions;
    sessions.retain(|session| session.here && is_fresh(session));
    // What follows reads files.
    if sessions.len() < 2 {
        return sessions;
    }
    let copies = Copies::load(context);
    let is_unused_copy = |session: &ListedSession| {
        let copy = copies.origin_of(session.agent.facts().id, &session.found.id);
        copy.is_some_and(|copy| copy.look_up_state() == CopyState::Unused)
    };
    sessions.retain(|session| !is_unused_copy(session) && !is_silent(context, session));
    sessions
}
