//! Carrying a session over to another agent.

use std::path::PathBuf;

use carryover_agents::{Agent, AgentError, Loss, ResumeCommand};
use carryover_core::transcript::SessionId;

use crate::context::Context;
use crate::session::Listed;

/// What is wanted.
#[derive(Clone)]
pub struct Options {
    pub target: &'static dyn Agent,
    /// Where to go on; by default the session's own directory, else the working directory.
    pub project: Option<PathBuf>,
    /// The token budget; by default the window of the target's model.
    pub tokens: Option<u64>,
    /// Plan only.
    pub dry_run: bool,
}

/// What happened, or would happen.
#[derive(Debug, Clone)]
pub struct Report {
    pub source: &'static str,
    pub source_session: SessionId,
    pub target: &'static str,
    pub session: SessionId,
    pub command: ResumeCommand,
    pub carried: usize,
    pub translated: usize,
    pub clipped: usize,
    pub lost: Vec<Loss>,
    pub tokens: u64,
    pub window: u64,
    pub files: Vec<PathBuf>,
    /// By which `undo` knows it; none for a dry run.
    pub undo_id: Option<String>,
    /// What the user should know besides: the client is not installed, the folder is gone, a registration failed.
    pub warnings: Vec<String>,
    /// Steps that would be taken, for a dry run.
    pub steps: Vec<String>,
    /// An earlier copy that nobody had used and that this one replaced.
    pub superseded: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    #[error(transparent)]
    Agent(#[from] AgentError),
    #[error("{0} cannot take sessions natively")]
    NoWriter(&'static str),
    #[error("the session holds nothing that a model would see")]
    Empty,
    #[error("the last turn alone needs about {needed} tokens, and {window} are allowed")]
    CannotFit { needed: u64, window: u64 },
    #[error("could not write {}", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("what was written does not read back as it should: {0}; it was taken back")]
    ReadBack(&'static str),
    #[error("the project folder {} does not exist", .0.display())]
    NoProject(PathBuf),
}

/// Carries a session over.
pub fn resume(context: &Context, session: &Listed, options: &Options) -> Result<Report, ResumeError> {
    let _ = (context, session);
    Err(ResumeError::NoWriter(options.target.facts().name))
}
