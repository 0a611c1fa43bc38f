//! What the daemon tells of itself.

use carryover_engine::capture::Counts;
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
    #[serde(flatten)]
    pub(crate) counts: Counts,
}
