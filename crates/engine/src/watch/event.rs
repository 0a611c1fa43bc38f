//! Events that a watcher reports.

use std::path::PathBuf;

use carryover_core::time::Timestamp;
use carryover_core::transcript::SessionId;

use super::doing::{Doing, LastUsage};

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The agents whose stores are watched; told again when one more appears.
    Watching { agents: Vec<&'static str> },
    /// A session is in use.
    Active(Activity),
    /// A session has run into a limit.
    Limit(Limit),
    /// A session has not been used for a while, or is gone.
    Ended {
        agent: &'static str,
        session: SessionId,
        project: Option<PathBuf>,
        /// Its file is no longer there.
        is_gone: bool,
    },
    /// Something could not be read or written; watching goes on.
    Trouble { agent: Option<&'static str>, message: String },
}

/// A session in use.
#[derive(Debug, Clone, PartialEq)]
pub struct Activity {
    pub agent: &'static str,
    pub session: SessionId,
    pub project: Option<PathBuf>,
    pub title: Option<String>,
    /// The last that is known of it.
    pub at: Timestamp,
    pub doing: Doing,
    pub usage: LastUsage,
}

/// A rate or usage limit that stands at the end of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    pub agent: &'static str,
    pub session: SessionId,
    pub project: Option<PathBuf>,
    pub title: Option<String>,
    pub at: Timestamp,
    /// The client's own words.
    pub message: String,
    /// When it ends, where the client wrote that down.
    pub resets_at: Option<Timestamp>,
}
