//! Looks into the ledger for what no row tells. What it has so far is searched: bringing it up to date is not for a keystroke.

use std::sync::{Mutex, PoisonError};

use carryover_agents::agent_by_name;
use carryover_engine::context::Context;
use carryover_engine::ledger::Ledger;

use super::{FullText, RowKey};

/// Shorter words stand in nearly every session.
const MIN_WORD_BYTES: usize = 2;

/// How many sessions are looked for.
const MAX_SESSIONS: usize = 200;

pub(crate) struct LedgerText {
    context: Context,
    /// Opened for the first words; opening it takes longer than most searches.
    ledger: Mutex<Option<Ledger>>,
}

impl LedgerText {
    pub(crate) fn new(context: &Context) -> Self {
        Self { context: context.clone(), ledger: Mutex::new(None) }
    }
}

impl FullText for LedgerText {
    fn find_sessions(&self, words: &str) -> Vec<RowKey> {
        if words.trim().len() < MIN_WORD_BYTES {
            return Vec::new();
        }
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        if ledger.is_none() {
            // A ledger that cannot be read is told by the commands that need it; the rows are there without it.
            *ledger = Ledger::open_for_reading(&self.context).ok().flatten();
        }
        let found = ledger.as_ref().and_then(|ledger| ledger.sessions_with_words(words, MAX_SESSIONS).ok());
        let key = |(agent, id): (String, _)| Some(RowKey { agent: agent_by_name(&agent)?.facts().id, id });
        found.unwrap_or_default().into_iter().filter_map(key).collect()
    }
}
