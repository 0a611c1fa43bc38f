//! A session as a sequence of deeds: the branch that is in force, with all that a compaction took out of the context.

use std::collections::BTreeSet;
use std::fmt;

use crate::time::Timestamp;
use crate::transcript::{Action, EntryKey, Failure, Header, Status};

/// What happened in a session, in order, without what was taken back and without the harness's own text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Story {
    pub header: Header,
    pub steps: Vec<Step>,
    /// Steps before this index are no longer in the context of the session's model.
    pub live_from: usize,
}

/// One thing that happened, and where it is recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub key: EntryKey,
    pub at: Option<Timestamp>,
    pub deed: Deed,
}

#[derive(Clone, PartialEq)]
pub enum Deed {
    /// The user's own words, and how many images came with them.
    Prompt {
        text: String,
        images: usize,
    },
    /// What a hook or an attached file added to the user's words.
    Attached {
        text: String,
    },
    /// The agent's words.
    Reply {
        text: String,
    },
    /// What the model thought, as far as it was shown.
    Reasoning {
        text: String,
    },
    Call {
        tool: String,
        action: Action,
        ended: Option<Ended>,
    },
    /// What a compaction left in the place of what it took away.
    Summary {
        text: String,
    },
    /// A turn that ended badly: a limit, an error of the service, an interruption.
    Failure(Failure),
}

/// How a call ended.
#[derive(Clone, PartialEq, Eq)]
pub struct Ended {
    pub key: EntryKey,
    pub at: Option<Timestamp>,
    pub status: Status,
    pub exit_code: Option<i32>,
    /// What came back, without the harness's wrapping; long ones are clipped in the middle.
    pub text: String,
}

impl Story {
    /// The files that calls name, in the order in which they were last touched; the newest last.
    pub fn touched(&self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let mut paths: Vec<String> = Vec::new();
        for step in self.steps.iter().rev() {
            let Deed::Call { action, .. } = &step.deed else { continue };
            for path in paths_of(action) {
                if seen.insert(path.to_owned()) {
                    paths.push(path.to_owned());
                }
            }
        }
        paths.reverse();
        paths
    }
}

fn paths_of(action: &Action) -> Vec<&str> {
    match action {
        Action::Read { path, .. } | Action::View { path } | Action::Write { path, .. } => vec![path],
        Action::Edit(changes) => changes.iter().map(crate::transcript::Change::path).collect(),
        _ => Vec::new(),
    }
}

/// Prints kinds and lengths only: transcript text stays out of logs and errors.
impl fmt::Debug for Deed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prompt { text, images } => write!(out, "Prompt({} bytes, {images} images)", text.len()),
            Self::Attached { text } => write!(out, "Attached({} bytes)", text.len()),
            Self::Reply { text } => write!(out, "Reply({} bytes)", text.len()),
            Self::Reasoning { text } => write!(out, "Reasoning({} bytes)", text.len()),
            Self::Summary { text } => write!(out, "Summary({} bytes)", text.len()),
            Self::Call { tool, action, ended } => write!(out, "Call({tool}, {}, {ended:?})", action.kind()),
            Self::Failure(failure) => write!(out, "Failure({:?})", failure.kind),
        }
    }
}

impl fmt::Debug for Ended {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?}({:?}, {} bytes)", self.status, self.exit_code, self.text.len())
    }
}
