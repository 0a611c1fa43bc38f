//! Collects what a reader emits into a transcript, in bounded memory.

use std::ops::ControlFlow;

use super::surplus::{Surplus, note_rejected};
use super::{Body, Entry, EntryKey, Fact, RejectedRecord, Transcript};

/// A transcript in the making.
///
/// Entries that turn out not to be live are reduced to their positions as soon as that is certain, so a session that
/// was compacted ten times needs the memory of its last part.
#[derive(Debug, Default)]
pub struct TranscriptBuilder {
    transcript: Transcript,
    /// Entries before this index have been reduced.
    reduced: usize,
    keep_everything: bool,
    surplus: Surplus,
}

impl TranscriptBuilder {
    pub fn new(agent: &'static str) -> Self {
        let mut builder = Self::default();
        builder.transcript.header.agent = agent;
        builder
    }

    /// A builder that reduces nothing, for showing a session whole.
    #[must_use]
    pub fn keeping_everything(mut self) -> Self {
        self.keep_everything = true;
        self
    }

    pub fn keeps_everything(&self) -> bool {
        self.keep_everything
    }

    pub fn learn(&mut self, fact: Fact) -> ControlFlow<()> {
        if let Fact::Model(model) = &fact {
            self.transcript.note_model(model);
        }
        self.transcript.header.learn(fact);
        ControlFlow::Continue(())
    }

    pub fn put(&mut self, mut entry: Entry) -> ControlFlow<()> {
        if let Some(at) = entry.at {
            self.transcript.header.note_time(at);
        }
        if self.surplus.is_surplus(&entry) {
            return ControlFlow::Continue(());
        }
        if entry.side && !self.keep_everything {
            entry.reduce();
        }
        let barrier = matches!(&entry.body, Body::Compacted(compacted) if !compacted.keeps_prompts);
        self.transcript.entries.push(entry);
        if barrier && !self.keep_everything {
            self.reduce_past();
        }
        ControlFlow::Continue(())
    }

    pub fn retract(&mut self, from: EntryKey) -> ControlFlow<()> {
        self.transcript.entries.retain(|entry| entry.key < from);
        self.transcript.rejected.retain(|rejected| rejected.key < from);
        let left = self.transcript.entries.len();
        self.reduced = self.reduced.min(left);
        for (from, _) in &mut self.transcript.model_from {
            *from = left.min(*from);
        }
        ControlFlow::Continue(())
    }

    /// Notes a record that cannot be read.
    pub fn reject(&mut self, rejected: RejectedRecord) -> ControlFlow<()> {
        note_rejected(&mut self.transcript.rejected, rejected);
        ControlFlow::Continue(())
    }

    pub fn finish(self) -> Transcript {
        self.transcript
    }

    /// The newest entry is a compaction: what stands before it is history.
    fn reduce_past(&mut self) {
        let end = self.transcript.entries.len() - 1;
        for entry in &mut self.transcript.entries[self.reduced..end] {
            entry.reduce();
        }
        self.reduced = end;
    }
}
