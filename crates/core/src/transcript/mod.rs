//! A session in our model: a header and a list of entries, one entry one thing.

mod action;
mod body;
mod builder;
mod conditions;
mod entry;
mod header;
mod messages;
mod opaque;
mod part;
mod start_settings;
pub mod surplus;
mod usage;

pub use action::{Action, Answer, Change, Hunk, PlanStep, Question, Refusal, StepChange, StepState};
pub use body::{
    Body, Call, CallForm, CallId, Compaction, Failure, FailureKind, Note, Outcome, QueueChange, Reasoning, Status,
};
pub use builder::TranscriptBuilder;
pub use conditions::{Condition, Conditions, OfferedTool, TextDigest};
pub(crate) use entry::as_references;
pub use entry::{Entry, EntryKey, EntryRef, Node, NodeId, Origin};
pub use header::{Closing, Fact, Header, Permission, SessionId, TitleRank};
pub use messages::count_messages;
pub use opaque::Opaque;
pub use part::{Blob, BlobLocation, Part, RUN_BY_HAND_PREFIX, into_text, text_cow, text_of};
pub use start_settings::{StartSetting, StartSettings};
pub use usage::{Limit, SessionUsage, Tokens, Usage};

/// Why a record could not be read: a position and a reason, never transcript text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RejectedRecord {
    pub key: EntryKey,
    pub reason: &'static str,
}

/// One session of an agent, read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transcript {
    pub header: Header,
    /// In the order in which they happened; within a file that is only appended to, that is the order of their keys.
    pub entries: Vec<Entry>,
    pub rejected: Vec<RejectedRecord>,
    /// From which entry on which model spoke, where the records themselves do not say it.
    pub(crate) model_from: Vec<(usize, NodeId)>,
}

impl Transcript {
    /// How many messages the conversation has, as a person counts them: what the user typed, and the agent's answers.
    pub fn n_messages(&self) -> usize {
        self.n_messages_in(&crate::live::full_history(self))
    }

    /// The same for who has resolved the branch in force already (`live::full_history`).
    pub fn n_messages_in(&self, history: &[usize]) -> usize {
        messages::count_on_branch(self, history)
    }

    /// The tokens that the session used, where its client recorded them.
    pub fn total_usage(&self) -> Option<SessionUsage> {
        SessionUsage::from_transcript(self)
    }

    /// Takes in that this model speaks from here on.
    fn note_model(&mut self, model: &str) {
        let (from, model) = (self.entries.len(), NodeId::from_name(model));
        if self.model_from.last().is_none_or(|(_, last)| *last != model) {
            self.model_from.push((from, model));
        }
    }

    /// The model that spoke at this entry.
    fn model_at(&self, index: usize) -> Option<NodeId> {
        let after = self.model_from.partition_point(|(from, _)| *from <= index);
        self.model_from[..after].last().map(|(_, model)| *model)
    }
}
