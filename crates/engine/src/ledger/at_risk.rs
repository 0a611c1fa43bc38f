//! Sessions that their client will soon delete and that the ledger does not have.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use carryover_agents::{AGENTS, AgeClock, Agent, Cleanup};
use carryover_core::time::Timestamp;
use carryover_core::transcript::SessionId;

use super::ingest::is_taken_in;
use super::sync::{DAY_MS, expiry_time};
use super::{Ledger, LedgerError, tombstone};
use crate::context::Context;
use crate::own::files::Stamp;
use crate::sessions::list::{Filter, ListedSession, list_among};

/// A deletion that is so many days away is told.
const WARNED_DAYS: i64 = 7;

/// A session that nobody will have any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtRisk {
    pub agent: &'static str,
    pub session: SessionId,
    /// From when on its client deletes it, at its next start; this may be over already.
    pub deletes_at: Timestamp,
}

/// The sessions that their clients' own clean-up deletes within a week, as far as the ledger does not have them as they
/// are; the first to go comes first. Those that the user has forgotten, or does not want kept for so long, are none.
pub fn at_risk(context: &Context) -> Result<Vec<AtRisk>, LedgerError> {
    at_risk_among(AGENTS, context)
}

pub(crate) fn at_risk_among(agents: &[&'static dyn Agent], context: &Context) -> Result<Vec<AtRisk>, LedgerError> {
    let deleting: Vec<&'static dyn Agent> =
        agents.iter().copied().filter(|agent| agent.facts().cleanup.is_some()).collect();
    let listing = list_among(&deleting, context, &Filter::default());
    let ledger = Ledger::open_for_reading(context)?;
    let mut days = StoreDays::default();
    let warned = context.env.now.plus_millis(WARNED_DAYS * DAY_MS);
    let expiry = expiry_time(context);
    let mut found = Vec::new();
    for session in &listing.sessions {
        let Some(deletes_at) = days.deletion_time(session).filter(|at| *at <= warned) else { continue };
        let is_unwanted = expiry.is_some_and(|expiry| session.found.updated_at < Some(expiry));
        if is_unwanted || ledger.as_ref().map_or(Ok(false), |ledger| ledger.is_settled_with(session))? {
            continue;
        }
        found.push(AtRisk { agent: session.agent.facts().id, session: session.found.id.clone(), deletes_at });
    }
    found.sort_by_key(|risk| risk.deletes_at);
    Ok(found)
}

impl Ledger {
    /// Whether a session is in it as it is, or was forgotten.
    fn is_settled_with(&self, session: &ListedSession) -> Result<bool, LedgerError> {
        let (agent, found) = (session.agent, &session.found);
        Ok(tombstone::is_forgotten(&self.connection, agent.facts().id, &found.id.0)?
            || is_taken_in(&self.connection, agent, found)?)
    }
}

/// After how many days sessions are deleted, by store; each store's settings are read once.
#[derive(Default)]
struct StoreDays {
    known: BTreeMap<PathBuf, Option<u64>>,
}

impl StoreDays {
    fn deletion_time(&mut self, session: &ListedSession) -> Option<Timestamp> {
        let cleanup: &Cleanup = session.agent.facts().cleanup.as_ref()?;
        let store: &Path = &session.store.root;
        let days = *self.known.entry(store.to_owned()).or_insert_with(|| cleanup.configured_days(store));
        let span = i64::try_from(days?).unwrap_or(i64::MAX).saturating_mul(DAY_MS);
        let used_at = match cleanup.clock {
            AgeClock::FileTime => Timestamp::from_millis(Stamp::from_path(&session.found.source.path).ok()?.mtime_ms),
            AgeClock::LastUse => session.found.updated_at?,
        };
        Some(Timestamp::from_millis(used_at.millis().saturating_add(span)))
    }
}
