//! A session in our model: a header and a list of entries, one entry one thing.

mod action;
mod body;
mod builder;
mod entry;
mod header;
mod part;
pub mod surplus;

pub use action::{Action, Answer, Change, Hunk, PlanStep, Question, Refusal, StepChange, StepState};
pub use body::{
    Body, Call, CallForm, CallId, Compacted, Failure, FailureKind, Note, Outcome, QueueChange, Reasoning, Status,
    WORDLESS,
};
pub use builder::TranscriptBuilder;
pub(crate) use entry::as_references;
pub use entry::{Entry, EntryKey, EntryRef, Node, NodeId, Origin};
pub use header::{Closing, Fact, Header, Permission, SessionId, TitleRank};
pub use part::{Blob, Part, Place, RUN_BY_HAND, into_text, text_in, text_of};

/// Why a record could not be read: a position and a reason, never transcript text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rejected {
    pub key: EntryKey,
    pub reason: &'static str,
}

/// One session of an agent, read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transcript {
    pub header: Header,
    /// In the order in which they happened; within a file that is only appended to, that is the order of their keys.
    pub entries: Vec<Entry>,
    pub rejected: Vec<Rejected>,
}

impl Transcript {
    /// How many prompts and replies there are, counted as a reader of the conversation would.
    pub fn n_messages(&self) -> usize {
        self.entries.iter().filter(|entry| entry.is_message()).count()
    }
}
