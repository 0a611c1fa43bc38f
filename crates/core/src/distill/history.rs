//! A session as a sequence of events: the branch that is in force, with all that a compaction took out of the context.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::time::Timestamp;
use crate::transcript::{Action, Answer, Change, EntryKey, Failure, Header, Refusal, RejectedRecord, Status};

/// The events of a session, in order, without what was taken back and without the harness's own text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct History {
    pub header: Header,
    pub steps: Vec<Step>,
    /// Steps before this index are no longer in the context of the session's model.
    pub live_from: usize,
    /// Prompts that the user typed ahead and the agent never saw, in order.
    pub queued: Vec<QueuedPrompt>,
    /// How many messages it has, as a person counts them.
    pub n_messages: usize,
    /// The tokens that the model wrote for a reply, where its client recorded them.
    pub reply_tokens: BTreeMap<EntryKey, u64>,
    /// Records of the store that could not be read.
    pub rejected: Vec<RejectedRecord>,
    /// Records that were read and are not understood: their kinds, and how many there are of each.
    pub unknown_kinds: BTreeMap<String, usize>,
}

/// One event, and where it is recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub key: EntryKey,
    pub at: Option<Timestamp>,
    pub event: Event,
}

#[derive(Clone, PartialEq)]
pub enum Event {
    /// The user's own words, and how many images came with them.
    Prompt {
        text: String,
        images: usize,
    },
    /// Text that a hook, a skill or an attached file added to the user's words.
    Attached {
        text: String,
    },
    /// The agent's words.
    Reply {
        text: String,
    },
    /// The model's thinking, as far as it was shown.
    Reasoning {
        text: String,
    },
    Call(Box<CallEvent>),
    /// The summary that a compaction left in the place of what it took away.
    Summary {
        text: String,
    },
    /// A turn that ended badly: a limit, an error of the service, an interruption.
    Failure(Failure),
}

/// A call of a tool, with what came back.
#[derive(Debug, Clone, PartialEq)]
pub struct CallEvent {
    pub tool: String,
    pub action: Action,
    pub end: Option<CallEnd>,
    /// The user's answers, where the call put questions.
    pub answers: Vec<Answer>,
    /// That the user turned it down, with the words that the user said with it.
    pub refusal: Option<Refusal>,
    /// The agent's model did not ask for it: the client did it by itself, or the user ran it by hand.
    pub unasked: bool,
}

/// How a call ended.
#[derive(Clone, PartialEq, Eq)]
pub struct CallEnd {
    pub key: EntryKey,
    pub at: Option<Timestamp>,
    pub status: Status,
    pub exit_code: Option<i32>,
    /// The output, without the harness's wrapping; a long one is clipped in the middle.
    pub text: String,
}

/// A prompt that the user typed ahead.
#[derive(Clone, PartialEq, Eq)]
pub struct QueuedPrompt {
    pub key: EntryKey,
    pub at: Option<Timestamp>,
    pub text: String,
}

impl History {
    /// The files that calls name, in the order in which they were last touched; the newest last.
    pub fn touched_files(&self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let mut paths: Vec<String> = Vec::new();
        for step in self.steps.iter().rev() {
            let Event::Call(call) = &step.event else { continue };
            for path in named_paths(&call.action) {
                if seen.insert(path.to_owned()) {
                    paths.push(path.to_owned());
                }
            }
        }
        paths.reverse();
        paths
    }
}

impl History {
    /// Where the context began anew without a summary of what was before: what was cleared by the user is nobody's task.
    pub fn context_from(&self) -> usize {
        let after = self.steps.get(self.live_from..).unwrap_or_default();
        let has_summary = after.iter().any(|step| matches!(step.event, Event::Summary { .. }));
        if has_summary { 0 } else { self.live_from }
    }
}

fn named_paths(action: &Action) -> Vec<&str> {
    match action {
        Action::Read { path, .. } | Action::View { path } | Action::Write { path, .. } => vec![path],
        Action::Edit(changes) => changes.iter().map(Change::path).collect(),
        _ => Vec::new(),
    }
}

/// Prints kinds and lengths only: transcript text stays out of logs and errors.
impl fmt::Debug for Event {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prompt { text, images } => write!(out, "Prompt({} bytes, {images} images)", text.len()),
            Self::Attached { text } => write!(out, "Attached({} bytes)", text.len()),
            Self::Reply { text } => write!(out, "Reply({} bytes)", text.len()),
            Self::Reasoning { text } => write!(out, "Reasoning({} bytes)", text.len()),
            Self::Summary { text } => write!(out, "Summary({} bytes)", text.len()),
            Self::Call(call) => write!(out, "Call({}, {}, {:?})", call.tool, call.action.kind(), call.end),
            Self::Failure(failure) => write!(out, "Failure({:?})", failure.kind),
        }
    }
}

impl fmt::Debug for CallEnd {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?}({:?}, {} bytes)", self.status, self.exit_code, self.text.len())
    }
}

impl fmt::Debug for QueuedPrompt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Queued({} bytes)", self.text.len())
    }
}
