//! What the daemon tells of itself.

use std::path::{Path, PathBuf};

use carryover_engine::capture::Trouble;
use serde::{Deserialize, Serialize};

pub(super) const SCHEMA: &str = "carryover.daemon/1";

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

impl StatusDocument {
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
        let now: StatusDocument = serde_json::from_value(serde_json::json!({
            "schema": SCHEMA, "version": env!("CARGO_PKG_VERSION"), "program": ours, "process_id": 1, "started_at": "",
            "port": null, "port_trouble": null, "watching": [], "handoffs_waiting": 0, "changes_waiting": 0, "events": 0,
            "handoffs": 0, "last_handoff_at": null, "last_kept_at": null, "ledger_sessions": 0, "ledger_bytes": 0,
            "troubles": [],
        }))
        .unwrap();
        assert!(!now.is_another_version() && !now.is_another_program(&ours));
        let older = StatusDocument { version: "0.0.1".to_owned(), ..now.clone() };
        assert!(older.is_another_version() && older.is_another_program(&ours));
        let replaced = format!("{} (deleted)", ours.display());
        assert!(StatusDocument { program: Some(replaced.into()), ..now.clone() }.is_another_program(&ours));
        assert!(StatusDocument { program: None, ..now }.is_another_program(&ours));
    }
}
