//! Which session the user means.

use std::path::PathBuf;

use carryover_agents::{Agent, AgentError};

use crate::context::Context;
use crate::session::Listed;

/// What was given on the command line.
#[derive(Clone, Default)]
pub struct Query {
    /// An id, a prefix of one, words of a title, a path, `@last`, or nothing.
    pub words: Option<String>,
    pub agent: Option<&'static dyn Agent>,
    pub project: Option<PathBuf>,
}

/// A session, and why it was picked.
pub struct Selected {
    pub session: Listed,
    /// For the user, where the choice was ours: "newest session of this project".
    pub why: Option<&'static str>,
}

#[derive(Debug, thiserror::Error)]
pub enum SelectError {
    #[error("no agent with sessions was found")]
    NoAgent,
    #[error("no session matches `{0}`")]
    NotFound(String),
    #[error("no session of this project was found")]
    NoneHere,
    /// The candidates are listed by whoever shows this.
    #[error("`{words}` fits {} sessions", candidates.len())]
    Ambiguous { words: String, candidates: Vec<Listed> },
    #[error("{} is not a session of any agent that carryover knows", .0.display())]
    NotRecognised(PathBuf),
    #[error("{} could be a session of {}", path.display(), agents.join(" or "))]
    SeveralAgents { path: PathBuf, agents: Vec<&'static str> },
    #[error(transparent)]
    Agent(#[from] AgentError),
}

impl std::fmt::Debug for Listed {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} {}", self.agent.facts().id, self.found.id)
    }
}

/// Finds the session that is meant.
pub fn select(context: &Context, query: &Query) -> Result<Selected, SelectError> {
    let _ = (context, query);
    Err(SelectError::NoAgent)
}
