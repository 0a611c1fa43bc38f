//! What the distiller found. Every item says whose words it is made of and where they are recorded.

use serde::Serialize;

use super::{Commit, Git};
use crate::time::{Timestamp, text};
use crate::transcript::{EntryKey, SessionId};

/// Whose words an item is made of: only the user's and the agent's may become instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Voice {
    User,
    Agent,
    /// Output of a tool: to be quoted, bounded and labelled.
    Tool,
    /// Seen in the project's folder.
    Workspace,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Item {
    pub text: String,
    pub voice: Voice,
    #[serde(serialize_with = "text::perhaps")]
    pub at: Option<Timestamp>,
    /// The entries that it comes from.
    pub cites: Vec<EntryKey>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    #[serde(flatten)]
    pub what: Item,
    pub reason: Option<String>,
}

/// Something that was tried, failed and was given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailedApproach {
    #[serde(flatten)]
    pub what: Item,
    /// Why, in one line of the tool's own words.
    pub reason: Option<String>,
    pub tries: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileChange {
    Created,
    Modified,
    Deleted,
    Read,
}

/// Whether tests that name a file passed when they last ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TestState {
    Passing,
    Failing,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileTouched {
    /// Relative to the project where it is inside, else as the session named it.
    pub path: String,
    pub change: FileChange,
    #[serde(serialize_with = "text::perhaps")]
    pub at: Option<Timestamp>,
    /// Functions and classes that were changed.
    pub symbols: Vec<String>,
    pub tests: Option<TestState>,
    pub cites: Vec<EntryKey>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommandRun {
    pub command: String,
    pub runs: usize,
    pub failures: usize,
    /// How it ended the last time; none where the agent does not tell.
    pub exit_code: Option<i32>,
    pub failed: bool,
    /// What a test run came to, in one line: `12 passed, 1 failed`.
    pub tests: Option<String>,
    #[serde(serialize_with = "text::perhaps")]
    pub at: Option<Timestamp>,
    pub cites: Vec<EntryKey>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ErrorSeen {
    #[serde(flatten)]
    pub what: Item,
    /// What made it go away, where something did.
    pub resolution: Option<Item>,
}

/// The limit that ended the session, where one did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Limit {
    #[serde(flatten)]
    pub what: Item,
    #[serde(serialize_with = "text::perhaps")]
    pub resets_at: Option<Timestamp>,
}

/// What the session knows no longer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Drift {
    /// Commits after the session's end.
    pub commits: Vec<Commit>,
    /// Files that were changed, or are gone, after the session last saw them.
    pub files: Vec<Item>,
}

/// A brief: what the next agent has to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Brief {
    pub agent: &'static str,
    #[serde(rename = "session_id")]
    pub session: SessionId,
    pub title: Option<String>,
    pub project: Option<String>,
    pub model: Option<String>,
    #[serde(serialize_with = "text::perhaps")]
    pub started_at: Option<Timestamp>,
    #[serde(serialize_with = "text::perhaps")]
    pub updated_at: Option<Timestamp>,
    /// When the brief was made.
    #[serde(serialize_with = "text::known")]
    pub made_at: Timestamp,
    /// Prompts of the user and replies.
    pub messages: usize,
    /// Names of the tools that were used, most used first.
    pub tools: Vec<String>,
    pub task: Option<Item>,
    /// What the user asked for, in order, one line each.
    pub requests: Vec<Item>,
    pub done: Vec<Item>,
    pub in_progress: Vec<Item>,
    pub remaining: Vec<Item>,
    pub next: Option<Item>,
    pub decisions: Vec<Decision>,
    pub failed: Vec<FailedApproach>,
    pub blockers: Vec<Item>,
    pub questions: Vec<Item>,
    /// The most recently touched first.
    pub files: Vec<FileTouched>,
    pub commands: Vec<CommandRun>,
    pub errors: Vec<ErrorSeen>,
    pub references: Vec<Item>,
    pub action_items: Vec<Item>,
    /// What the agent explained, and said last, beside what is told of it elsewhere.
    pub remarks: Vec<Item>,
    pub limit: Option<Limit>,
    pub git: Option<Git>,
    /// Commits that were made during the session.
    pub commits: Vec<Commit>,
    pub drift: Drift,
}
