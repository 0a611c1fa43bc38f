//! Whether a rate or usage limit stands at the end of a session: a client wrote that it met one, and nothing was said since.

use carryover_agents::LimitForm;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Entry, EntryKey, Failure, FailureKind, Origin};

use super::limit_text;

/// A limit after which nothing was said any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StandingLimit {
    /// The first entry that told of it; retries tell more.
    pub(crate) first: (EntryKey, Option<Timestamp>),
    pub(crate) message: String,
    pub(crate) resets_at: Option<Timestamp>,
}

/// Takes the entries of a session in their order.
pub(crate) struct LimitTracker {
    limits: LimitForm,
    pub(crate) standing: Option<StandingLimit>,
    /// The user or the model said something.
    pub(crate) continued: bool,
}

impl LimitTracker {
    pub(crate) fn new(limits: LimitForm) -> Self {
        Self { limits, standing: None, continued: false }
    }

    pub(crate) fn take(&mut self, entry: &Entry) {
        if entry.side {
            return;
        }
        match &entry.body {
            Body::Failure(failure) if self.is_limit(failure) => self.record_limit(entry, failure),
            // The outcome of a call may come after the turn was broken off; what the user or the model says may not.
            body => match body.whole_kind() {
                "prompt" if entry.origin == Origin::User => self.mark_continued(),
                "reply" | "reasoning" | "call" => self.mark_continued(),
                _ => {}
            },
        }
    }

    pub(crate) fn retract(&mut self, from: EntryKey) {
        self.standing.take_if(|standing| standing.first.0 >= from);
    }

    /// Whether what a client calls a failure is a limit.
    pub(crate) fn is_limit(&self, failure: &Failure) -> bool {
        match failure.kind {
            FailureKind::RateLimit | FailureKind::Billing => true,
            FailureKind::Other => self.limits == LimitForm::TextOnly && limit_text::mentions_limit(&failure.message),
            _ => false,
        }
    }

    fn record_limit(&mut self, entry: &Entry, failure: &Failure) {
        let before = self.standing.take();
        let (first, known) = before.map_or(((entry.key, entry.at), None), |before| (before.first, before.resets_at));
        let resets_at = failure.resets_at.or(known);
        self.standing = Some(StandingLimit { first, message: failure.message.clone(), resets_at });
    }

    fn mark_continued(&mut self) {
        self.standing = None;
        self.continued = true;
    }
}
