//! The events that agents' hooks told: who, which, where and when, and nothing of what was said.

use std::path::{Path, PathBuf};

use carryover_agents::HookEvent;
use carryover_core::time::Timestamp;
use carryover_core::transcript::SessionId;
use rusqlite::{TransactionBehavior, params};

use super::sync::DAY_MS;
use super::{Ledger, LedgerError, tombstone};
use crate::sessions::project::ProjectMatcher;

/// Events that are older than this are dropped with the next one.
const KEPT_DAYS: i64 = 30;

/// An event as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookRecord {
    pub agent: String,
    /// The name of its kind.
    pub kind: String,
    pub session: Option<SessionId>,
    /// The folder that the agent works in.
    pub folder: Option<PathBuf>,
    pub at: Timestamp,
}

impl HookRecord {
    /// Of an event that an agent told at that time.
    pub fn from_event(event: &HookEvent, at: Timestamp) -> Self {
        Self {
            agent: event.agent.to_owned(),
            kind: event.kind.name().to_owned(),
            session: event.session.clone(),
            folder: event.folder.clone(),
            at,
        }
    }
}

impl Ledger {
    /// Keeps an event, unless its session was forgotten.
    pub fn record_hook_event(&mut self, event: &HookRecord) -> Result<(), LedgerError> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if let Some(session) = &event.session
            && tombstone::is_forgotten(&transaction, &event.agent, &session.0)?
        {
            return Ok(());
        }
        let insert = "INSERT INTO hook_event (agent, kind, session, folder, at) VALUES (?1, ?2, ?3, ?4, ?5)";
        let session = event.session.as_ref().map(|session| &session.0);
        let folder = event.folder.as_ref().map(|folder| folder.to_string_lossy());
        let at = event.at.millis();
        transaction.prepare_cached(insert)?.execute(params![event.agent, event.kind, session, folder, at])?;
        let expired = at.saturating_sub(KEPT_DAYS * DAY_MS);
        transaction.prepare_cached("DELETE FROM hook_event WHERE at < ?1")?.execute([expired])?;
        Ok(transaction.commit()?)
    }

    /// The last event of each kind that each agent told, in the order of their names.
    pub fn last_hook_events(&self) -> Result<Vec<HookRecord>, LedgerError> {
        let sql =
            "SELECT agent, kind, session, folder, max(at) FROM hook_event GROUP BY agent, kind ORDER BY agent, kind";
        let mut query = self.connection.prepare_cached(sql)?;
        let events = query.query_map([], |row| {
            Ok(HookRecord {
                agent: row.get(0)?,
                kind: row.get(1)?,
                session: row.get::<_, Option<String>>(2)?.map(SessionId),
                folder: row.get::<_, Option<String>>(3)?.map(PathBuf::from),
                at: Timestamp::from_millis(row.get(4)?),
            })
        })?;
        Ok(events.collect::<rusqlite::Result<_>>()?)
    }

    /// The folders of events that are of this project.
    pub(super) fn hook_folders(&self, project: &Path) -> Result<Vec<String>, LedgerError> {
        let mut here = ProjectMatcher::new(project);
        let mut query = self.connection.prepare("SELECT DISTINCT folder FROM hook_event WHERE folder IS NOT NULL")?;
        let folders: Vec<String> = query.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        Ok(folders.into_iter().filter(|own| here.matches(Path::new(own))).collect())
    }
}
