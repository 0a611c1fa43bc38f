//! The content of an entry.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{NodeId, Opaque, Part, Usage};
use crate::json::Json;
use crate::time::Timestamp;

/// The name that an agent gave to a call, by which its outcome finds it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub Box<str>);

/// One entry is exactly one of these.
#[derive(Clone, PartialEq)]
pub enum Body {
    Prompt(Vec<Part>),
    Reply(Vec<Part>),
    Reasoning(Box<Reasoning>),
    Call(Box<Call>),
    Outcome(Box<Outcome>),
    /// From here on, the context begins anew.
    Compacted(Box<Compaction>),
    /// The summary that a compaction left; without parts where only its vendor's API can open it.
    Summary(Vec<Part>),
    /// The last turns before this entry were taken back; a turn begins with a prompt of the user.
    Rewound {
        turns: u32,
    },
    Failure(Box<Failure>),
    Note(Note),
    /// Kept where it is, because it is not live or not understood; never dropped.
    Opaque(Opaque),
}

// There is one for each record of a session, and there are long ones.
const _: () = assert!(size_of::<Body>() <= 32);

/// The model's thinking, as far as it was shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Reasoning {
    pub text: String,
    /// Whether the vendor's API holds a sealed form that only its own model can read.
    pub sealed: bool,
}

/// How an API spells a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallForm {
    /// Named arguments in a JSON object.
    Function,
    /// Free text; `input` is then a JSON string.
    Freeform,
}

/// A tool that the model asked for, with the agent's own name and input.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub id: CallId,
    pub tool: String,
    pub input: Json,
    pub form: CallForm,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Done,
    /// Over; whether it did what it should is not on record.
    Ended,
    Failed,
    Interrupted,
}

impl Status {
    /// Whether the client says that it went wrong.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::Interrupted)
    }
}

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub call: CallId,
    pub status: Status,
    pub exit_code: Option<i32>,
    pub parts: Vec<Part>,
}

/// The part of the past that a compaction keeps, besides the summary that follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Compaction {
    /// A segment of the old branch that stays, first and last record.
    pub kept: Option<(NodeId, NodeId)>,
    /// The record after which the kept segment is put.
    pub anchor: Option<NodeId>,
    /// Whether the prompts of the user from before stay as they are.
    pub keeps_prompts: bool,
    /// Whether its record says once more what was said before.
    pub repeats: bool,
}

/// Why a turn could not be finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    RateLimit,
    Server,
    Authentication,
    Billing,
    ContextTooLong,
    Interrupted,
    Other,
}

/// A turn that ended badly; never part of the context.
#[derive(Clone, PartialEq, Eq)]
pub struct Failure {
    pub kind: FailureKind,
    pub message: String,
    pub resets_at: Option<Timestamp>,
}

/// A record of a store that is not part of the conversation.
#[derive(Clone, PartialEq)]
pub enum Note {
    /// The record from which the next turn goes on.
    Leaf(NodeId),
    Title,
    Mode,
    /// The tokens that the client counted.
    Usage(Box<Usage>),
    /// File states kept for rewinding.
    Snapshot,
    /// A change of the queue of prompts that the user typed while the agent worked.
    Queue(QueueChange),
}

/// A change of the prompts that wait for the agent. One that is taken is most often recorded as a prompt of its own.
#[derive(Clone, PartialEq, Eq)]
pub enum QueueChange {
    Added(String),
    /// The first that waits is taken.
    Taken,
    /// This one is taken or withdrawn.
    Removed(String),
    /// All are withdrawn.
    Cleared,
}

impl Body {
    /// Drops the text; the kind stays.
    pub fn reduce(&mut self) {
        let heavy = matches!(
            self,
            Self::Prompt(_) | Self::Reply(_) | Self::Reasoning(_) | Self::Call(_) | Self::Outcome(_) | Self::Summary(_)
        );
        if heavy {
            *self = Self::reduced(self.kind());
        }
    }

    /// The word for this kind of entry in reports and JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Prompt(_) => "prompt",
            Self::Reply(_) => "reply",
            Self::Reasoning(_) => "reasoning",
            Self::Call(_) => "call",
            Self::Outcome(_) => "outcome",
            Self::Compacted(_) => "compaction",
            Self::Summary(_) => "summary",
            Self::Rewound { .. } => "rewind",
            Self::Failure(_) => "failure",
            Self::Note(_) => "note",
            Self::Opaque(_) => "opaque",
        }
    }

    /// The same, as it was before its text was dropped.
    pub fn whole_kind(&self) -> &'static str {
        match self {
            Self::Opaque(Opaque::Reduced(kind)) => kind,
            body => body.kind(),
        }
    }

    /// The parts of a body that has parts.
    pub fn parts(&self) -> &[Part] {
        match self {
            Self::Prompt(parts) | Self::Reply(parts) | Self::Summary(parts) => parts,
            Self::Outcome(outcome) => &outcome.parts,
            _ => &[],
        }
    }

    /// The bytes of text that it adds to a context.
    pub fn text_len(&self) -> usize {
        match self {
            Self::Reasoning(reasoning) => reasoning.text.len(),
            Self::Call(call) => call.input.as_str().len() + call.tool.len(),
            _ => self.parts().iter().map(Part::text_len).sum(),
        }
    }
}

/// Prints kinds and lengths only: transcript text stays out of logs and errors.
impl fmt::Debug for Body {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(call) => call.fmt(out),
            Self::Outcome(outcome) => outcome.fmt(out),
            Self::Compacted(compacted) => compacted.fmt(out),
            Self::Rewound { turns } => write!(out, "Rewound({turns} turns)"),
            Self::Opaque(opaque) => write!(out, "Opaque({})", opaque.name()),
            Self::Note(Note::Leaf(_)) => write!(out, "Leaf"),
            Self::Reasoning(reasoning) => write!(out, "reasoning({} bytes)", reasoning.text.len()),
            _ => write!(out, "{}{:?}", self.kind(), self.parts()),
        }
    }
}
