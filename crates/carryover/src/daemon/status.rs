//! What the daemon tells of itself.

use carryover_engine::capture::Trouble;
use serde::{Deserialize, Serialize};

pub(super) const SCHEMA: &str = "carryover.daemon/1";

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
    pub(crate) troubles: Vec<TroubleRow>,
}

/// Something that went wrong within the last hour, and has not gone well since.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TroubleRow {
    pub(crate) about: String,
    pub(crate) message: String,
    pub(crate) times: u64,
    /// When it was last met.
    pub(crate) at: String,
}

impl From<Trouble> for TroubleRow {
    fn from(trouble: Trouble) -> Self {
        let Trouble { about, message, times, at, .. } = trouble;
        Self { about, message, times, at: at.to_string() }
    }
}
