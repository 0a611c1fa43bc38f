//! The end of a session: whether a limit stands there.

use std::ops::ControlFlow;

use carryover_agents::{Limits, Sink};
use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Entry, EntryKey, Fact, Failure, FailureKind, Origin, Rejected};

use super::words;

/// From when on something is news.
#[derive(Debug, Clone, Copy)]
pub(super) struct News {
    pub(super) since: Timestamp,
    /// From which byte on, for entries without a time.
    pub(super) from: u64,
}

/// A limit after which nothing was said any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Standing {
    /// The first entry that told of it; retries tell more.
    pub(super) first: (EntryKey, Option<Timestamp>),
    pub(super) message: String,
    pub(super) resets_at: Option<Timestamp>,
}

/// Takes the last entries of a session.
pub(super) struct Recent<'s> {
    limits: Limits,
    news: News,
    /// Nobody waits for the rest any more.
    is_stopped: &'s dyn Fn() -> bool,
    pub(super) standing: Option<Standing>,
    /// The user or the model said something.
    pub(super) went_on: bool,
}

impl<'s> Recent<'s> {
    pub(super) fn new(limits: Limits, news: News, is_stopped: &'s dyn Fn() -> bool) -> Self {
        Self { limits, news, is_stopped, standing: None, went_on: false }
    }

    fn is_limit(&self, failure: &Failure) -> bool {
        match failure.kind {
            FailureKind::RateLimit | FailureKind::Billing => true,
            FailureKind::Other => self.limits == Limits::Worded && words::tell_of_limit(&failure.message),
            _ => false,
        }
    }

    fn is_news(&self, entry: &Entry) -> bool {
        entry.at.map_or(entry.key.offset >= self.news.from, |at| at >= self.news.since)
    }

    fn fail(&mut self, key: EntryKey, at: Option<Timestamp>, failure: Failure) {
        let before = self.standing.take();
        let (first, known) = before.map_or(((key, at), None), |before| (before.first, before.resets_at));
        let resets_at = failure.resets_at.or(known);
        self.standing = Some(Standing { first, message: failure.message, resets_at });
    }
}

impl Sink for Recent<'_> {
    fn wants_the_past(&self) -> bool {
        false
    }

    fn learn(&mut self, _fact: Fact) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn put(&mut self, entry: Entry) -> ControlFlow<()> {
        if (self.is_stopped)() {
            return ControlFlow::Break(());
        }
        if entry.side || !self.is_news(&entry) {
            return ControlFlow::Continue(());
        }
        match entry.body {
            Body::Failure(failure) if self.is_limit(&failure) => self.fail(entry.key, entry.at, *failure),
            // The outcome of a call may come after the turn was broken off; what the user or the model says may not.
            Body::Prompt(_) if entry.origin == Origin::User => self.went_on(),
            Body::Reply(_) | Body::Reasoning(_) | Body::Call(_) => self.went_on(),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn retract(&mut self, from: EntryKey) -> ControlFlow<()> {
        self.standing.take_if(|standing| standing.first.0 >= from);
        ControlFlow::Continue(())
    }

    fn reject(&mut self, _rejected: Rejected) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl Recent<'_> {
    fn went_on(&mut self) {
        self.standing = None;
        self.went_on = true;
    }
}
