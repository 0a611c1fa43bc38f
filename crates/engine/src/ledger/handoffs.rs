//! The handoffs that were published: the last ones of each project, so that what an agent was told can be told again.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use carryover_core::time::Timestamp;
use carryover_core::transcript::SessionId;
use rusqlite::{OptionalExtension, Row, TransactionBehavior, params};

use super::stored_text::{Packer, unpack_text};
use super::{Ledger, LedgerError, tombstone};
use crate::context::Context;
use crate::handoff::published;
use crate::own::fingerprint::Fingerprint;
use crate::sessions::project::ProjectMatcher;

/// How many are kept of one project.
const MAX_PER_PROJECT: usize = 20;

/// A handoff as it was published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandoffRecord {
    pub project: PathBuf,
    /// Whose session it is about.
    pub agent: String,
    pub session: SessionId,
    pub at: Timestamp,
    pub text: String,
}

impl Ledger {
    /// Keeps a handoff, unless its session was forgotten. One that says what the last one of its project said is the
    /// same, published again.
    pub fn record_handoff(&mut self, handoff: &HandoffRecord) -> Result<(), LedgerError> {
        let HandoffRecord { project, agent, session, at, text } = handoff;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if tombstone::is_forgotten(&transaction, agent, &session.0)? {
            return Ok(());
        }
        let project = project.to_string_lossy();
        let digest = digest_text(text.as_bytes());
        let newest = "SELECT id, agent, session, digest FROM handoff WHERE project = ?1 ORDER BY id DESC LIMIT 1";
        let newest = transaction.prepare_cached(newest)?.query_row([&project], |row| {
            let is_same = (row.get::<_, String>(1)?, row.get::<_, String>(2)?, row.get(3)?)
                == (agent.clone(), session.0.clone(), digest);
            Ok(is_same.then_some(row.get::<_, i64>(0)?))
        });
        if let Some(id) = newest.optional()?.flatten() {
            transaction.execute("UPDATE handoff SET at = ?2 WHERE id = ?1", params![id, at.millis()])?;
        } else {
            let mut packer = Packer::new()?;
            let insert =
                "INSERT INTO handoff (project, agent, session, at, digest, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            let values = params![project, agent, session.0, at.millis(), digest, packer.pack_text(text)?];
            transaction.prepare_cached(insert)?.execute(values)?;
            let surplus = "DELETE FROM handoff WHERE project = ?1 AND id NOT IN
                (SELECT id FROM handoff WHERE project = ?1 ORDER BY id DESC LIMIT ?2)";
            transaction.prepare_cached(surplus)?.execute(params![project, MAX_PER_PROJECT])?;
        }
        Ok(transaction.commit()?)
    }

    /// The handoffs that are kept, the newest first.
    pub fn list_handoffs(&self) -> Result<Vec<HandoffRecord>, LedgerError> {
        let sql = "SELECT project, agent, session, at, text FROM handoff ORDER BY id DESC";
        let mut query = self.connection.prepare_cached(sql)?;
        let mut rows = query.query([])?;
        let mut handoffs = Vec::new();
        while let Some(row) = rows.next()? {
            handoffs.push(HandoffRecord { text: unpack_text(row.get_ref(4)?)?, ..read_handoff(row)? });
        }
        Ok(handoffs)
    }

    /// By what published handoffs are known: their projects and digests.
    pub(super) fn published_digests(&self) -> Result<BTreeSet<(String, i64)>, LedgerError> {
        let mut query = self.connection.prepare("SELECT project, digest FROM handoff")?;
        let digests = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(digests.collect::<rusqlite::Result<_>>()?)
    }

    /// The projects of which handoffs are kept that are this one.
    pub(super) fn handoff_projects(&self, project: &Path) -> Result<Vec<String>, LedgerError> {
        let mut here = ProjectMatcher::new(project);
        let mut query = self.connection.prepare("SELECT DISTINCT project FROM handoff")?;
        let projects: Vec<String> = query.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        Ok(projects.into_iter().filter(|own| here.matches(Path::new(own))).collect())
    }
}

/// Removes what still says what these handoffs said, from their projects and from our own folder.
pub(super) fn remove_published<'p>(
    context: &Context,
    mut handoffs: impl Iterator<Item = &'p (String, i64)>,
) -> io::Result<()> {
    handoffs.try_for_each(|(project, digest)| {
        published::remove_text(context, Path::new(project), |bytes| digest_text(bytes) == *digest)
    })
}

fn digest_text(bytes: &[u8]) -> i64 {
    Fingerprint::from_bytes(bytes).to_bits().cast_signed()
}

fn read_handoff(row: &Row<'_>) -> rusqlite::Result<HandoffRecord> {
    Ok(HandoffRecord {
        project: row.get::<_, String>(0)?.into(),
        agent: row.get(1)?,
        session: SessionId(row.get(2)?),
        at: Timestamp::from_millis(row.get(3)?),
        text: String::new(),
    })
}
