//! A session as the ledger knows it.

use std::path::{Path, PathBuf};

use carryover_agents::{Agent, Source, agent_by_name};
use carryover_core::time::Timestamp;
use carryover_core::transcript::SessionId;
use rusqlite::{Row, ToSql};

use super::{Ledger, LedgerError};
use crate::context::Context;

/// Shorter words are never taken for the beginning of an id.
const MIN_PREFIX_BYTES: usize = 4;

/// One session of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptSession {
    pub(super) row: i64,
    pub agent: String,
    pub id: SessionId,
    pub title: Option<String>,
    pub project: Option<PathBuf>,
    pub started_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
    /// Since when its agent's store does not hold it any more.
    pub gone_at: Option<Timestamp>,
    pub(super) store: PathBuf,
    pub(super) source: Source,
}

#[derive(Debug, thiserror::Error)]
pub enum LookupError {
    #[error("the ledger holds no session `{0}`")]
    NotFound(String),
    /// The candidates are listed by whoever shows this.
    #[error("`{words}` fits {} sessions", candidates.len())]
    Ambiguous { words: String, candidates: Vec<KeptSession> },
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl KeptSession {
    pub(super) const COLUMNS: &str =
        "s.id, s.agent, s.session, s.title, s.project, s.started_at, s.updated_at, s.gone_at, s.store, s.path, s.key";

    pub(super) fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let time = |index| row.get::<_, Option<i64>>(index).map(|millis| millis.map(Timestamp::from_millis));
        Ok(Self {
            row: row.get(0)?,
            agent: row.get(1)?,
            id: SessionId(row.get(2)?),
            title: row.get(3)?,
            project: row.get::<_, Option<String>>(4)?.map(PathBuf::from),
            started_at: time(5)?,
            updated_at: time(6)?,
            gone_at: time(7)?,
            store: row.get::<_, String>(8)?.into(),
            source: Source { path: row.get::<_, String>(9)?.into(), key: row.get(10)? },
        })
    }

    /// Its agent, as far as it is one that we know.
    pub fn known_agent(&self) -> Option<&'static dyn Agent> {
        agent_by_name(&self.agent)
    }

    /// Whether its store could be looked at and does not hold it: one that is not mounted deletes nothing.
    pub(super) fn has_vanished(&self) -> bool {
        let folder = if self.store.is_dir() { Some(self.store.as_path()) } else { self.store.parent() };
        let is_filled = |folder: &Path| fs_err::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
        let path = &self.source.path;
        // A link on the way that leads nowhere leads to a disk that is not there.
        let above = path.ancestors().skip(1).find(|above| above.symlink_metadata().is_ok());
        let is_reached = above.is_some_and(Path::exists);
        folder.is_some_and(is_filled) && is_reached && matches!(path.try_exists(), Ok(false))
    }
}

impl Ledger {
    /// The sessions that their agents have deleted, the newest first.
    pub fn gone_sessions(&self) -> Result<Vec<KeptSession>, LedgerError> {
        self.query_sessions("WHERE s.gone_at IS NOT NULL ORDER BY s.updated_at DESC, s.id", &[])
    }

    pub(super) fn query_sessions(&self, rest: &str, values: &[&dyn ToSql]) -> Result<Vec<KeptSession>, LedgerError> {
        let mut query =
            self.connection.prepare(&format!("SELECT {} FROM session AS s {rest}", KeptSession::COLUMNS))?;
        let sessions = query.query_map(values, KeptSession::from_row)?;
        Ok(sessions.collect::<rusqlite::Result<_>>()?)
    }

    /// The session that is meant: by its id, the beginning of one, or words of its title.
    pub fn find_session(&self, words: &str, agent: Option<&str>) -> Result<KeptSession, LookupError> {
        let mut sessions = self.query_sessions("ORDER BY s.updated_at DESC, s.id", &[])?;
        sessions.retain(|session| agent.is_none_or(|agent| session.agent == agent));
        let lower = words.to_lowercase();
        let is_exact = |session: &KeptSession| session.id.0 == words;
        let begins =
            |session: &KeptSession| words.len() >= MIN_PREFIX_BYTES && session.id.0.to_lowercase().starts_with(&lower);
        let is_titled =
            |session: &KeptSession| session.title.as_ref().is_some_and(|title| title.to_lowercase().contains(&lower));
        let rules: [&dyn Fn(&KeptSession) -> bool; 3] = [&is_exact, &begins, &is_titled];
        let fitting =
            rules.into_iter().map(|rule| sessions.iter().filter(|one| rule(one)).cloned().collect::<Vec<_>>());
        match fitting.into_iter().find(|fitting| !fitting.is_empty()) {
            None => Err(LookupError::NotFound(words.to_owned())),
            Some(mut candidates) if candidates.len() == 1 => Ok(candidates.remove(0)),
            Some(candidates) => Err(LookupError::Ambiguous { words: words.to_owned(), candidates }),
        }
    }
}

/// The sessions that their agents have deleted, as far as the ledger knows; none where there is no ledger.
pub fn gone_sessions(context: &Context) -> Result<Vec<KeptSession>, LedgerError> {
    Ledger::open_for_reading(context)?.map_or(Ok(Vec::new()), |ledger| ledger.gone_sessions())
}
