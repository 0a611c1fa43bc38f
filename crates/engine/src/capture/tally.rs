//! What a running capture can tell of itself: counts, times, and what went wrong last.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use carryover_core::time::Timestamp;

/// So many troubles are remembered; older ones are in the log.
const MAX_TROUBLES: usize = 20;
/// A trouble that was not met again for so long is over.
const TROUBLE_MS: i64 = 60 * 60 * 1000;

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// An agent, or a part of the daemon.
    pub about: String,
    pub message: String,
    pub times: u64,
    /// When it was last met.
    pub at: Timestamp,
    /// It is of a store as a whole: that one session of its agent is read does not end it.
    is_of_store: bool,
}

impl Tally {
    /// The counts so far, with the troubles that are not over at this time.
    pub fn counts(&self, now: Timestamp) -> Counts {
        let mut counts = self.lock().clone();
        counts.troubles.retain(|trouble| trouble.at > now.plus_millis(-TROUBLE_MS));
        counts
    }

    pub(super) fn count_event(&self) {
        self.lock().events += 1;
    }

    pub(super) fn count_publication(&self, now: Timestamp) {
        let mut counts = self.lock();
        counts.handoffs += 1;
        counts.last_handoff_at = Some(now);
    }

    /// Notes that the ledger is up to date; whether the number of its sessions is another now.
    pub(super) fn note_kept(&self, now: Timestamp, sessions: u64, bytes: u64) -> bool {
        let mut counts = self.lock();
        let is_changed = counts.last_kept_at.is_none() || counts.ledger_sessions != sessions;
        counts.last_kept_at = Some(now);
        (counts.ledger_sessions, counts.ledger_bytes) = (sessions, bytes);
        is_changed
    }

    /// Remembers a trouble; the same again is counted. Whether it is a new one.
    pub fn note_trouble(&self, about: &str, message: &str, now: Timestamp) -> bool {
        self.note(about, message, now, false)
    }

    /// The same for what is wrong with a store as a whole.
    pub(super) fn note_store_trouble(&self, about: &str, message: &str, now: Timestamp) -> bool {
        self.note(about, message, now, true)
    }

    fn note(&self, about: &str, message: &str, now: Timestamp, is_of_store: bool) -> bool {
        let mut counts = self.lock();
        let is_same = |trouble: &&mut Trouble| trouble.about == about && trouble.message == message;
        if let Some(known) = counts.troubles.iter_mut().find(is_same) {
            known.times += 1;
            known.at = now;
            return false;
        }
        let (about, message) = (about.to_owned(), message.to_owned());
        counts.troubles.push_back(Trouble { about, message, times: 1, at: now, is_of_store });
        if counts.troubles.len() > MAX_TROUBLES {
            counts.troubles.pop_front();
        }
        true
    }

    /// One trouble is over.
    pub(super) fn clear_trouble(&self, about: &str, message: &str) {
        self.lock().troubles.retain(|trouble| trouble.about != about || trouble.message != message);
    }

    /// Something of that name succeeded: whatever went wrong with it is over, but for what holds for its whole store.
    pub(super) fn clear_about(&self, about: &str) {
        self.lock().troubles.retain(|trouble| trouble.about != about || trouble.is_of_store);
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trouble_is_over_after_an_hour_or_when_what_it_was_about_succeeded() {
        let tally = Tally::default();
        let now = Timestamp::from_millis(1_800_000_000_000);
        let told = |at: Timestamp| tally.counts(at).troubles.len();
        assert!(tally.note_trouble("somebody", "no room", now));
        assert!(!tally.note_trouble("somebody", "no room", now.plus_millis(1)));
        assert!(tally.note_store_trouble("somebody", "moved", now));
        assert_eq!((told(now), told(now.plus_millis(TROUBLE_MS)), told(now.plus_millis(TROUBLE_MS + 1))), (2, 1, 0));
        tally.clear_about("somebody");
        assert_eq!(tally.counts(now).troubles[0].message, "moved");
        tally.clear_trouble("somebody", "moved");
        assert_eq!(told(now), 0);
    }
}
