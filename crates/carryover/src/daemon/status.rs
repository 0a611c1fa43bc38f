//! What the daemon tells of itself.

use std::path::{Path, PathBuf};

use carryover_engine::capture::{Counts, Trouble};
use serde::{Deserialize, Serialize};

const SCHEMA: &str = "carryover.daemon/1";

/// The answer to `GET /status`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct StatusDocument {
    pub(crate) schema: String,
    pub(crate) version: String,
    /// Its program; none of one that is older than this word.
    #[serde(default)]
    pub(crate) program: Option<PathBuf>,
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
            // Where the file was replaced since it was started, the system says so here.
            program: std::env::current_exe().ok(),
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

    /// Whether the daemon is of another version than this program.
    pub(crate) fn is_another_version(&self) -> bool {
        self.version != env!("CARGO_PKG_VERSION")
    }

    /// Whether the daemon is of another version, or another file than ours: one that was put in its place, too.
    pub(super) fn is_another_program(&self, ours: &Path) -> bool {
        let real = |path: &Path| fs_err::canonicalize(path).ok();
        self.is_another_version() || self.program.as_deref().and_then(real) != real(ours)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_from_before_an_upgrade_is_another_program() {
        let ours = std::env::current_exe().unwrap();
        let now = StatusDocument::new(Counts::default());
        assert!(!now.is_another_version() && !now.is_another_program(&ours));
        let older = StatusDocument { version: "0.0.1".to_owned(), ..now.clone() };
        assert!(older.is_another_version() && older.is_another_program(&ours));
        let replaced = format!("{} (deleted)", ours.display());
        assert!(StatusDocument { program: Some(replaced.into()), ..now.clone() }.is_another_program(&ours));
        assert!(StatusDocument { program: None, ..now }.is_another_program(&ours));
    }
}
