//! The end of a session: whether a limit stands there that is news.

use std::ops::ControlFlow;

use carryover_agents::{LimitForm, Sink};
use carryover_core::time::Timestamp;
use carryover_core::transcript::{Entry, EntryKey, Fact, RejectedRecord};

use crate::sessions::standing_limit::LimitTracker;

/// From when on something is news.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cutoff {
    pub(super) since: Timestamp,
    /// From which byte on, for entries without a time.
    pub(super) from_byte: u64,
}

/// Takes the last entries of a session.
pub(super) struct LimitDetector<'s> {
    cutoff: Cutoff,
    /// Nobody waits for the rest any more.
    is_stopped: &'s dyn Fn() -> bool,
    pub(super) tracker: LimitTracker,
}

impl<'s> LimitDetector<'s> {
    pub(super) fn new(limits: LimitForm, news: Cutoff, is_stopped: &'s dyn Fn() -> bool) -> Self {
        Self { cutoff: news, is_stopped, tracker: LimitTracker::new(limits) }
    }

    fn is_new(&self, entry: &Entry) -> bool {
        entry.at.map_or(entry.key.offset >= self.cutoff.from_byte, |at| at >= self.cutoff.since)
    }
}

impl Sink for LimitDetector<'_> {
    fn wants_full_history(&self) -> bool {
        false
    }

    fn learn(&mut self, _fact: Fact) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn put(&mut self, entry: Entry) -> ControlFlow<()> {
        if (self.is_stopped)() {
            return ControlFlow::Break(());
        }
        if self.is_new(&entry) {
            self.tracker.take(&entry);
        }
        ControlFlow::Continue(())
    }

    fn retract(&mut self, from: EntryKey) -> ControlFlow<()> {
        self.tracker.retract(from);
        ControlFlow::Continue(())
    }

    fn reject(&mut self, _rejected: RejectedRecord) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
