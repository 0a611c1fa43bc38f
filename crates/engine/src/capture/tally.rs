//! What a running capture can tell of itself: counts, times, and what went wrong last.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use carryover_core::time::Timestamp;
use serde::{Deserialize, Serialize};

/// So many troubles are remembered; older ones are in the log.
const MAX_TROUBLES: usize = 20;

/// Counts since the start.
#[derive(Default)]
pub struct Tally {
    counts: Mutex<Counts>,
}

/// The counts at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    pub events: u64,
    pub handoffs: u64,
    pub last_handoff_at: Option<Timestamp>,
    pub last_kept_at: Option<Timestamp>,
    /// Sessions and bytes of the ledger, when it was last closed.
    pub ledger_sessions: u64,
    pub ledger_bytes: u64,
    pub troubles: VecDeque<Trouble>,
}

/// Something that went wrong, and how often.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trouble {
    /// An agent, or a part of the daemon.
    pub about: String,
    pub message: String,
    pub times: u64,
}

impl Tally {
    /// The counts so far.
    pub fn counts(&self) -> Counts {
        self.lock().clone()
    }

    /// Counts an event of a hook; the answer is its number.
    pub(super) fn count_event(&self) -> u64 {
        let mut counts = self.lock();
        counts.events += 1;
        counts.events
    }

    pub(super) fn count_publication(&self, now: Timestamp) {
        let mut counts = self.lock();
        counts.handoffs += 1;
        counts.last_handoff_at = Some(now);
    }

    pub(super) fn note_kept(&self, now: Timestamp, sessions: u64, bytes: u64) {
        let mut counts = self.lock();
        counts.last_kept_at = Some(now);
        (counts.ledger_sessions, counts.ledger_bytes) = (sessions, bytes);
    }

    /// Remembers a trouble; the same again is counted. Whether it is a new one.
    pub fn note_trouble(&self, about: &str, message: &str) -> bool {
        let mut counts = self.lock();
        let is_same = |trouble: &&mut Trouble| trouble.about == about && trouble.message == message;
        if let Some(known) = counts.troubles.iter_mut().find(is_same) {
            known.times += 1;
            return false;
        }
        counts.troubles.push_back(Trouble { about: about.to_owned(), message: message.to_owned(), times: 1 });
        if counts.troubles.len() > MAX_TROUBLES {
            counts.troubles.pop_front();
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
