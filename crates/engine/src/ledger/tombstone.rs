//! What was forgotten, by a digest alone, so that it is not taken in again from a store that still holds it.

use carryover_core::time::Timestamp;
use carryover_core::transcript::SessionId;
use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};

use super::{Ledger, LedgerError};

/// Notes that a session is forgotten.
pub(super) fn put(connection: &Connection, agent: &str, session: &str, at: Timestamp) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO tombstone (name, at) VALUES (?1, ?2)";
    connection.prepare_cached(sql)?.execute(params![digest_name(agent, session), at.millis()])?;
    Ok(())
}

/// Whether a session was forgotten.
pub(super) fn is_forgotten(connection: &Connection, agent: &str, session: &str) -> rusqlite::Result<bool> {
    let mut query = connection.prepare_cached("SELECT 1 FROM tombstone WHERE name = ?1")?;
    Ok(query.query_row([digest_name(agent, session)], |_| Ok(())).optional()?.is_some())
}

impl Ledger {
    /// Whether a session was forgotten.
    pub(crate) fn is_forgotten(&self, agent: &str, session: &SessionId) -> Result<bool, LedgerError> {
        Ok(is_forgotten(&self.connection, agent, &session.0)?)
    }
}

fn digest_name(agent: &str, session: &str) -> Vec<u8> {
    Sha256::new().chain_update(agent).chain_update([0]).chain_update(session).finalize().to_vec()
}
