//! What was carried to a target before.

use carryover_agents::{Agent, ResumeCommand};
use carryover_core::transcript::SessionId;

use crate::context::Context;
use crate::sessions::copies::{CarriedCopy, Copies, CopyState, SessionRef};
use crate::sessions::list::ListedSession;

/// A copy that was made of a session before, in the same agent.
#[derive(Debug, Clone)]
pub struct EarlierCopy {
    pub copy: CarriedCopy,
    pub state: CopyState,
    /// How its client goes on with it.
    pub command: Option<ResumeCommand>,
}

impl EarlierCopy {
    /// The newest that is still there; one that was gone on with stands before any that nobody used.
    pub fn find(context: &Context, copies: &Copies, session: &ListedSession, target: &dyn Agent) -> Option<Self> {
        let source = source_ref(session);
        let made = copies.copies_of(&source.agent, &source.session);
        let there = made.filter(|copy| copy.target.agent == target.facts().id);
        let states: Vec<(&CarriedCopy, CopyState)> = there.map(|copy| (copy, copy.look_up_state())).collect();
        let in_state = |state| states.iter().find(|(_, is)| *is == state);
        let (copy, state) = in_state(CopyState::GoneOnWith).or_else(|| in_state(CopyState::Unused))?;
        let command = copy.resume_command(context, target);
        Some(Self { copy: (*copy).clone(), state: *state, command })
    }
}

impl EarlierCopy {
    /// The copy in which a session went on, where the session itself has nothing new since it was carried: to copy it again
    /// would be to go back.
    pub fn find_ahead(context: &Context, session: &ListedSession, target: &dyn Agent) -> Option<Self> {
        let earlier = Self::find(context, &Copies::load(context), session, target)?;
        let is_behind = session.found.updated_at.is_some_and(|at| at <= earlier.copy.at);
        (earlier.state == CopyState::GoneOnWith && is_behind).then_some(earlier)
    }
}

/// A session by the name under which its copies are known.
pub(super) fn source_ref(session: &ListedSession) -> SessionRef {
    let id = match session.agent.as_captured() {
        // A file may claim to be any session: it takes the place of none but its own earlier copies. One that was decrypted
        // for a while is named by the file that it stands for.
        Some(_) => {
            let source = &session.found.source;
            SessionId(source.key.clone().unwrap_or_else(|| source.path.display().to_string()))
        }
        None => session.found.id.clone(),
    };
    SessionRef { agent: session.agent.facts().id.to_owned(), session: id }
}
