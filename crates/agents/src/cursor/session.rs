//! A session as it is kept, wherever that is: what is known of it as a whole, and its records in their order.

use std::collections::BTreeMap;
use std::path::PathBuf;

use carryover_core::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A session as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Session {
    pub id: String,
    pub title: Option<String>,
    pub project: Option<PathBuf>,
    pub branch: Option<String>,
    pub model: Option<String>,
    /// The client's word for how the agent is to work.
    pub mode: Option<String>,
    pub started: Option<Timestamp>,
    pub updated: Option<Timestamp>,
    /// The session whose sub-agent this is.
    pub parent: Option<String>,
    /// The conversations of its sub-agents.
    #[serde(skip)]
    pub children: Vec<PathBuf>,
}

impl Session {
    /// Takes over what only another place knows of it.
    pub(super) fn complete(&mut self, other: Self) {
        self.title = self.title.take().or(other.title);
        self.project = self.project.take().or(other.project);
        self.branch = self.branch.take().or(other.branch);
        self.model = self.model.take().or(other.model);
        self.mode = self.mode.take().or(other.mode);
        self.started = self.started.or(other.started);
        self.updated = self.updated.or(other.updated);
        self.parent = self.parent.take().or(other.parent);
        self.children.extend(other.children);
    }
}

/// In which form a record is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RecordForm {
    /// A bubble of the editor's conversation.
    Bubble,
    /// A bubble that the conversation does not name: it was taken back, or is an error.
    Stray,
    /// A bubble of the editor's chats before there were composers.
    ChatBubble,
    /// A prompt in the editor's list of what was typed.
    TypedPrompt,
    /// How the last turn ended, kept with the conversation as a whole.
    Status,
    /// A message as it is sent to a model.
    Message,
    /// A line of a transcript.
    Line,
    /// How a run of the SDK's ended, and what it used.
    Run,
}

/// How a call went, by what is kept of it for display.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CallRun {
    pub started: Option<Timestamp>,
    pub completed: Option<Timestamp>,
    pub exit_code: Option<i32>,
}

/// A record without its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RecordHead {
    /// No other record of the session has it.
    pub name: String,
    pub form: RecordForm,
    /// When it was written, where the record itself does not tell it.
    #[serde(default)]
    pub at: Option<Timestamp>,
    /// What a compaction left begins with it.
    #[serde(default)]
    pub begins_context: bool,
    /// The calls that it makes or answers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub calls: BTreeMap<String, CallRun>,
}

impl RecordHead {
    pub(super) fn new(name: impl Into<String>, form: RecordForm) -> Self {
        Self { name: name.into(), form, at: None, begins_context: false, calls: BTreeMap::new() }
    }
}

/// The text of a record, which may be none.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RawRecord {
    Text(String),
    /// It is named, and nothing is kept of it.
    Empty,
    Unreadable(&'static str),
}

impl RawRecord {
    pub(super) fn from_bytes(bytes: Vec<u8>) -> Self {
        String::from_utf8(bytes).map_or(Self::Unreadable("not UTF-8"), Self::Text)
    }

    pub(super) fn as_text(&self) -> &str {
        if let Self::Text(text) = self { text } else { "" }
    }
}

/// A session that can be looked up.
pub(super) trait StoredSession {
    fn session(&self) -> &Session;
    /// All records in the order in which they happened.
    fn heads(&self) -> &[RecordHead];
    fn read_text(&self, head: &RecordHead) -> rusqlite::Result<RawRecord>;
}

/// A time, where there is any.
pub(super) fn time_from_millis(millis: i64) -> Option<Timestamp> {
    (millis > 0).then(|| Timestamp::from_millis(millis))
}
