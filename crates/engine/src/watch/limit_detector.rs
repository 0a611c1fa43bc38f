//! The end of a session: whether a limit stands there, and what the session does.

use std::ops::ControlFlow;
use std::path::Path;

use carryover_agents::{Agent, LimitForm, Sink};
use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Entry, EntryKey, Fact, Failure, FailureKind, Origin, RejectedRecord};

use super::doing::DoingTracker;
use super::error_text;

/// From when on something is news.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cutoff {
    pub(super) since: Timestamp,
    /// From which byte on, for entries without a time.
    pub(super) from_byte: u64,
}

/// A limit after which nothing was said any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StandingLimit {
    /// The first entry that told of it; retries tell more.
    pub(super) first: (EntryKey, Option<Timestamp>),
    pub(super) message: String,
    pub(super) resets_at: Option<Timestamp>,
}

/// Takes the last entries of a session.
pub(super) struct LimitDetector<'s> {
    agent: &'static dyn Agent,
    project: Option<&'s Path>,
    cutoff: Cutoff,
    doing: &'s mut DoingTracker,
    /// Nobody waits for the rest any more.
    is_stopped: &'s dyn Fn() -> bool,
    pub(super) standing: Option<StandingLimit>,
    /// The user or the model said something.
    pub(super) continued: bool,
}

impl<'s> LimitDetector<'s> {
    pub(super) fn new(
        agent: &'static dyn Agent,
        project: Option<&'s Path>,
        cutoff: Cutoff,
        doing: &'s mut DoingTracker,
        is_stopped: &'s dyn Fn() -> bool,
    ) -> Self {
        Self { agent, project, cutoff, doing, is_stopped, standing: None, continued: false }
    }

    fn is_limit(&self, failure: &Failure) -> bool {
        match failure.kind {
            FailureKind::RateLimit | FailureKind::Billing => true,
            FailureKind::Other => {
                self.agent.facts().limits == LimitForm::TextOnly && error_text::mentions_limit(&failure.message)
            }
            _ => false,
        }
    }

    fn is_new(&self, entry: &Entry) -> bool {
        entry.at.map_or(entry.key.offset >= self.cutoff.from_byte, |at| at >= self.cutoff.since)
    }

    fn record_limit(&mut self, key: EntryKey, at: Option<Timestamp>, failure: Failure) {
        let before = self.standing.take();
        let (first, known) = before.map_or(((key, at), None), |before| (before.first, before.resets_at));
        let resets_at = failure.resets_at.or(known);
        self.standing = Some(StandingLimit { first, message: failure.message, resets_at });
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
        if entry.side || !self.is_new(&entry) {
            return ControlFlow::Continue(());
        }
        match entry.body {
            Body::Failure(failure) if self.is_limit(&failure) => self.record_limit(entry.key, entry.at, *failure),
            // The outcome of a call may come after the turn was broken off; what the user or the model says may not.
            Body::Prompt(_) if entry.origin == Origin::User => self.mark_continued(),
            Body::Reply(_) | Body::Reasoning(_) | Body::Call(_) => self.mark_continued(),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn retract(&mut self, from: EntryKey) -> ControlFlow<()> {
        self.doing.restart();
        self.standing.take_if(|standing| standing.first.0 >= from);
        ControlFlow::Continue(())
    }

    fn reject(&mut self, _rejected: RejectedRecord) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl LimitDetector<'_> {
    /// Also what is old tells how the session stands.
    fn note_doing(&mut self, entry: &Entry) {
        match &entry.body {
            Body::Failure(failure) if !entry.side && self.is_limit(failure) => self.doing.note_limit(failure),
            _ => self.doing.note_entry(entry, self.agent, self.project),
        }
    }

    fn mark_continued(&mut self) {
        self.standing = None;
        self.continued = true;
    }
}
