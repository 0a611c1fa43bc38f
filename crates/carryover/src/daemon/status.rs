//! What the daemon tells of itself.

use carryover_engine::capture::{Counts, Trouble};
use serde::{Deserialize, Serialize};

const SCHEMA: &str = "carryover.daemon/1";

/// The answer to `GET /status`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct StatusDocument {
    pub(crate) schema: String,
    pub(crate) version: String,
    pub(crate) process_id: u32,
    pub(crate) started_at: String,
    /// The port that it listens at; none where it has none.
    pub(crate) port: Option<u16>,
    /// Why it has none.
    pub(crate) port_trouble: Option<String>,
    /// The agents whose stores are watched.
    pub(crate) watching: Vec<String>,
    /// Handoffs and changes that wait.
    pub(crate) handoffs_waiting: usize,
    pub(crate) changes_waiting: usize,
    /// Events of hooks, and handoffs, since it started.
    pub(crate) events: u64,
    pub(crate) handoffs: u64,
    pub(crate) last_handoff_at: Option<String>,
    pub(crate) last_kept_at: Option<String>,
    pub(crate) ledger_sessions: u64,
    pub(crate) ledger_bytes: u64,
    pub(crate) troubles: Vec<Trouble>,
}

impl StatusDocument {
    /// The document of a daemon that has just started, with its counts.
    pub(super) fn new(counts: Counts) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            process_id: std::process::id(),
            started_at: String::new(),
            port: None,
            port_trouble: None,
            watching: Vec::new(),
            handoffs_waiting: 0,
            changes_waiting: 0,
            events: counts.events,
            handoffs: counts.handoffs,
            last_handoff_at: counts.last_handoff_at.map(|at| at.to_string()),
            last_kept_at: counts.last_kept_at.map(|at| at.to_string()),
            ledger_sessions: counts.ledger_sessions,
            ledger_bytes: counts.ledger_bytes,
            troubles: counts.troubles.into(),
        }
    }
}
