//! Sessions of all agents, as a listing shows them.

use carryover_agents::{Agent, AgentError, Found, Store};

use crate::context::Context;

/// A session together with whose it is.
#[derive(Clone)]
pub struct Listed {
    pub agent: &'static dyn Agent,
    pub store: Store,
    pub found: Found,
    /// It belongs to the project that was asked about (or to a folder below or above it in the same repository).
    pub here: bool,
}

/// Which sessions to list.
#[derive(Clone, Default)]
pub struct Filter {
    pub agent: Option<&'static dyn Agent>,
    /// Only this project's; `None` lists all, this project's first.
    pub project: Option<std::path::PathBuf>,
}

/// Sessions, newest first, this project's before others; and the stores that could not be read.
pub struct Listing {
    pub sessions: Vec<Listed>,
    pub failures: Vec<(&'static dyn Agent, AgentError)>,
}

/// Lists sessions from heads, tails and indexes alone.
pub fn list(context: &Context, filter: &Filter) -> Listing {
    let _ = (context, filter);
    Listing { sessions: Vec::new(), failures: Vec::new() }
}
