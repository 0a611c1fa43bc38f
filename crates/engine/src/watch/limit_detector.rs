//! The end of a session: whether a limit stands there that is news, and what the session does.

use std::ops::ControlFlow;
use std::path::Path;

use carryover_agents::{Agent, Sink};
use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Entry, EntryKey, Fact, RejectedRecord};

use super::doing::DoingTracker;
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
    agent: &'static dyn Agent,
    project: Option<&'s Path>,
    cutoff: Cutoff,
    doing: &'s mut DoingTracker,
    /// Nobody waits for the rest any more.
    is_stopped: &'s dyn Fn() -> bool,
    pub(super) tracker: LimitTracker,
}

impl<'s> LimitDetector<'s> {
    pub(super) fn new(
        agent: &'static dyn Agent,
        project: Option<&'s Path>,
        cutoff: Cutoff,
        doing: &'s mut DoingTracker,
        is_stopped: &'s dyn Fn() -> bool,
    ) -> Self {
        Self { agent, project, cutoff, doing, is_stopped, tracker: LimitTracker::new(agent.facts().limits) }
    }

    /// Also what is old tells how the session stands.
    fn note_doing(&mut self, entry: &Entry) {
        match &entry.body {
            Body::Failure(failure) if !entry.side && self.tracker.is_limit(failure) => self.doing.note_limit(failure),
            _ => self.doing.note_entry(entry, self.agent, self.project),
        }
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
        self.note_doing(&entry);
        if self.is_new(&entry) {
            self.tracker.take(&entry);
        }
        ControlFlow::Continue(())
    }

    fn retract(&mut self, from: EntryKey) -> ControlFlow<()> {
        self.doing.restart();
        self.tracker.retract(from);
        ControlFlow::Continue(())
    }

    fn reject(&mut self, _rejected: RejectedRecord) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
