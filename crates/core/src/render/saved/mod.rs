//! A conversation that is kept in a repository: a document for people, `session.json` and `messages.jsonl` for the next
//! agent.
//!
//! All of it is made for git: a message is a line that never changes once it is written, and what does change stands in
//! `session.json`.

mod document;
mod history;
mod messages;
mod sealed;
mod slug;

use serde::{Deserialize, Serialize};

pub use document::{
    DocumentHead, DocumentOptions, append_messages, quotes_any, read_document_head, render_document,
    render_sealed_document,
};
pub use history::{HistoryBudget, render_history};
pub use messages::{LeftOut, SavedMessage, SavedMessages, SavedRole, save_messages};
pub use sealed::{SEALED_SCHEMA, SealedHead};
pub use slug::{is_type, slugify};

/// The version of the format that is written.
pub const SAVED_VERSION: &str = "1.0";
pub const SAVED_SCHEMA: &str = "carryover.conversation/1";

/// How a conversation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SavedStatus {
    Active,
    #[default]
    Paused,
    Completed,
}

impl SavedStatus {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Completed => "completed",
        }
    }
}

/// `session.json` of a saved conversation. A file by others may have less than all of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedSession {
    pub schema: String,
    pub version: String,
    pub conversation_id: String,
    pub conversation_type: String,
    pub title: String,
    pub status: SavedStatus,
    pub created_at: String,
    pub last_active: String,
    /// Messages as a person counts them.
    pub message_count: usize,
    /// About how many tokens all of it takes.
    pub token_count: u64,
    pub agent_config: AgentConfig,
    /// The user's last request, verbatim.
    pub context_summary: String,
    /// The agent whose session it is, and the session by the agent's own name.
    pub agent: String,
    pub session_id: String,
    /// The folder that it was held in: paths in it are moved where it goes on elsewhere.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub project: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_branch: Option<String>,
    /// The first save of the same conversation, where this goes on with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The save before this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continues: Option<String>,
    /// Lines that a compaction took out of the agent's context: the first, and the one after the last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compacted: Vec<(usize, usize)>,
    pub document: SavedDocument,
    /// Its messages are encrypted, and so is whatever is saved of it from now on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sealed: bool,
}

/// What the conversation was begun with.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentConfig {
    pub command: Option<String>,
    /// What the user typed after the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// Of the command's file.
    pub system_prompt_hash: Option<String>,
    pub model: Option<String>,
    pub tools: Vec<String>,
}

/// The document as it was left, so that words which somebody put into it are never written over.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedDocument {
    pub hash: String,
    /// How many lines of the messages are told in it.
    pub messages: usize,
}
