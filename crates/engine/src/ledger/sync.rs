//! Bringing the ledger up to date with the stores, where no daemon does it all the time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::PathBuf;

use carryover_agents::{AGENTS, Agent, Store};
use carryover_core::time::Timestamp;
use carryover_core::transcript::SessionId;
use rusqlite::params;

use super::forget;
use super::kept_session::KeptSession;
use super::{Ingested, Ledger, LedgerError};
use crate::context::Context;
use crate::recording;
use crate::sessions::drift::{Drift, find_drifts};
use crate::sessions::list::{Failure, Filter, Listing, list_among};

pub(super) const DAY_MS: i64 = 86_400_000;
/// For so long after a store has vanished it is told.
const MISSING_TOLD_DAYS: i64 = 14;

/// What bringing it up to date came to.
#[derive(Default)]
pub struct SyncReport {
    /// Sessions in which something was new.
    pub changed: usize,
    /// Sessions that their agents have deleted since.
    pub gone: usize,
    /// Sessions that were older than the retention allows.
    pub expired: usize,
    /// Stores and sessions that could not be read.
    pub failures: Vec<Failure>,
    /// Stores in which nothing is understood any more.
    pub drifts: Vec<Drift>,
    /// Stores that sessions were in, and that are not where they were.
    pub missing: Vec<MissingStore>,
}

/// A store that is not where it was.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MissingStore {
    pub agent: String,
    pub path: PathBuf,
}

/// How far it is.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    pub done: usize,
    pub total: usize,
}

impl Ledger {
    /// Takes in every session of the stores that has changed, newest first, and its index. Where its caller breaks it off,
    /// what is in is in, and the rest is left for another time.
    pub fn bring_up_to_date(
        &mut self,
        context: &Context,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<SyncReport, LedgerError> {
        self.update_among(AGENTS, context, progress)
    }

    pub(crate) fn update_among(
        &mut self,
        agents: &[&'static dyn Agent],
        context: &Context,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<SyncReport, LedgerError> {
        let mut listing = list_among(agents, context, &Filter::default());
        let failures = std::mem::take(&mut listing.failures);
        let mut report = SyncReport { failures, drifts: find_drifts(&listing), ..SyncReport::default() };
        report.expired = self.drop_expired(context)?;
        listing.sessions.sort_by_key(|session| Reverse(session.found.updated_at));
        let total = listing.sessions.len();
        for (done, session) in listing.sessions.iter().enumerate() {
            if progress(Progress { done, total }).is_break() {
                return Ok(report);
            }
            match self.take_in(context, session) {
                Ok(Ingested::Changed) => report.changed += 1,
                Ok(Ingested::Unchanged | Ingested::Forgotten | Ingested::Expired) => {}
                Err(LedgerError::Agent(error)) => report.failures.push((session.agent, error)),
                Err(error) => return Err(error),
            }
        }
        self.index_lineage(context)?;
        report.gone = self.mark_gone(agents, context, &listing)?;
        report.missing = self.find_missing_stores(agents, context)?;
        while !self.index_pending()?.is_done {
            if progress(Progress { done: total, total }).is_break() {
                break;
            }
        }
        Ok(report)
    }

    /// Marks the sessions that were there and are not, in stores that can be looked at.
    fn mark_gone(
        &self,
        agents: &[&'static dyn Agent],
        context: &Context,
        listing: &Listing,
    ) -> Result<usize, LedgerError> {
        let listed: BTreeSet<(&str, &str)> =
            listing.sessions.iter().map(|session| (session.agent.facts().id, session.found.id.0.as_str())).collect();
        let mut gone = 0;
        let mut stores = StoreListings::new(agents);
        for session in self.query_sessions("WHERE s.gone_at IS NULL", &[])? {
            if listed.contains(&(session.agent.as_str(), session.id.0.as_str())) || !stores.is_gone(&session) {
                continue;
            }
            let sql = "UPDATE session SET gone_at = ?2 WHERE id = ?1";
            self.connection.prepare_cached(sql)?.execute(params![session.row, context.env.now.millis()])?;
            gone += 1;
        }
        Ok(gone)
    }

    /// The stores that vanished as a whole and not long ago: rather moved than emptied. What is kept with the work goes
    /// with it.
    fn find_missing_stores(
        &self,
        agents: &[&'static dyn Agent],
        context: &Context,
    ) -> Result<Vec<MissingStore>, LedgerError> {
        let since = context.env.now.plus_millis(-MISSING_TOLD_DAYS * DAY_MS);
        let sessions = self.query_sessions("WHERE s.gone_at IS NULL OR s.gone_at > ?1", &[&since.millis()])?;
        let is_in_store = |session: &KeptSession| {
            agents
                .iter()
                .any(|agent| agent.facts().id == session.agent.as_str() && !agent.facts().keeps_sessions_in_projects())
        };
        let stores: BTreeSet<MissingStore> = sessions
            .into_iter()
            .filter(is_in_store)
            .map(|session| MissingStore { agent: session.agent, path: session.store })
            .collect();
        Ok(stores.into_iter().filter(|store| matches!(store.path.try_exists(), Ok(false))).collect())
    }

    /// Takes out what is older than the retention allows. It may come back, should the retention grow.
    pub fn drop_expired(&mut self, context: &Context) -> Result<usize, LedgerError> {
        let Some(expiry) = expiry_time(context) else { return Ok(0) };
        let expired = self.query_sessions("WHERE s.updated_at < ?1", &[&expiry.millis()])?;
        recording::remove_expired(context, expiry).map_err(super::io_error(&context.home))?;
        if !expired.is_empty() {
            self.erase_sessions(&expired, None)?;
            forget::forget_handoffs(context, &expired).map_err(super::io_error(&context.home))?;
        }
        Ok(expired.len())
    }
}

/// What was last used before this is not kept.
pub(super) fn expiry_time(context: &Context) -> Option<Timestamp> {
    let days = context.config.ledger.retention.filter(|days| *days > 0)?;
    let span = i64::try_from(days).unwrap_or(i64::MAX).saturating_mul(DAY_MS);
    Some(context.env.now.plus_millis(span.saturating_neg()))
}

/// What stores of several sessions to a file hold, each looked at once.
pub(super) struct StoreListings<'a> {
    agents: &'a [&'static dyn Agent],
    /// The ids in a store of an agent; none where it could not be listed.
    known: BTreeMap<(String, PathBuf), Option<BTreeSet<SessionId>>>,
}

impl<'a> StoreListings<'a> {
    pub(super) fn new(agents: &'a [&'static dyn Agent]) -> Self {
        Self { agents, known: BTreeMap::new() }
    }

    /// The same for who asks about one session alone: a store that cannot be looked at holds nothing that is in the way.
    pub(super) fn is_gone_now(&mut self, session: &KeptSession) -> bool {
        matches!(session.source.path.try_exists(), Ok(false)) || self.is_gone(session)
    }

    /// Whether a session that no listing shows is really gone: its file is, or the file does not hold it any more.
    fn is_gone(&mut self, session: &KeptSession) -> bool {
        if session.has_vanished() {
            return true;
        }
        if session.source.key.is_none() || !session.source.path.is_file() {
            return false;
        }
        let place = (session.agent.clone(), session.store.clone());
        let agents = self.agents;
        let there = self.known.entry(place).or_insert_with(|| list_ids(agents, session));
        there.as_ref().is_some_and(|there| !there.contains(&session.id))
    }
}

fn list_ids(agents: &[&'static dyn Agent], session: &KeptSession) -> Option<BTreeSet<SessionId>> {
    let agent = agents.iter().find(|agent| agent.facts().id == session.agent)?;
    let mut ids = BTreeSet::new();
    let listed = agent.list_sessions(&Store { root: session.store.clone() }, &mut |found| {
        ids.insert(found.id);
        ControlFlow::Continue(())
    });
    listed.ok().map(|()| ids)
}
