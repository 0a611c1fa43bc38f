//! UASF: the canonical transcript as a list of events.
//!
//! Every event is of a kind that the format has had from its beginning, with that kind's fields: who knows no more than those
//! reads a session as a story. Beside them stands what a client needs to go on in it: who spoke, in which order, the call as
//! the agent spelt it, what came back, images. The kinds are few: a deletion is an edit to nothing, and calls of other tools
//! are searches with the tool's name.

mod reader;
#[cfg(test)]
mod tests;
mod writer;

use serde::{Deserialize, Deserializer, Serialize};

use crate::json::Json;
use crate::transcript::{Answer, CallForm, FailureKind, Origin, Status};

pub use reader::{UasfReader, action_from_call};
pub use writer::{CallMeaning, UasfItem, write_uasf};

/// The version of the format that is written. Files that name none are of the first.
pub const UASF_SCHEMA: &str = "carryover.uasf/2";

/// The beginning of the name of every version.
pub const UASF_SCHEMA_PREFIX: &str = "carryover.uasf/";

const VERSION: &str = "2.0";

/// The kinds of events.
pub(crate) mod kind {
    pub(crate) const USER_MESSAGE: &str = "user_message";
    pub(crate) const ASSISTANT_TEXT: &str = "assistant_text";
    pub(crate) const THINKING: &str = "thinking";
    pub(crate) const FILE_READ: &str = "file_read";
    pub(crate) const FILE_EDIT: &str = "file_edit";
    pub(crate) const FILE_WRITE: &str = "file_write";
    pub(crate) const SHELL_COMMAND: &str = "shell_command";
    pub(crate) const CODE_SEARCH: &str = "code_search";
    pub(crate) const ERROR: &str = "error";
    pub(crate) const FILE_SNAPSHOT: &str = "file_snapshot";
}

/// A transcript.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Uasf {
    pub schema: &'static str,
    pub session: UasfSession,
    pub events: Vec<UasfEvent>,
}

/// Facts of the session as a whole; what is not known is empty.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UasfSession {
    #[serde(deserialize_with = "text")]
    pub id: String,
    #[serde(deserialize_with = "text")]
    pub agent: String,
    #[serde(deserialize_with = "text")]
    pub model: String,
    #[serde(deserialize_with = "text")]
    pub cwd: String,
    pub git_branch: Option<String>,
    #[serde(deserialize_with = "text")]
    pub started_at: String,
    #[serde(deserialize_with = "text")]
    pub version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// Nothing is as good as an empty text.
fn text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// A field of some kinds that may be null; elsewhere it is not written at all.
pub(crate) type Nullable<T> = Option<Option<T>>;

/// One event. Which of the first fields it has is decided by its kind, which is in `type`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "they are marks of a format, each of its own")]
pub struct UasfEvent {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Nullable<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Nullable<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Nullable<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results: Nullable<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Events and outcomes are in the order of these numbers: what came back from calls that ran side by side came later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<u64>,
    /// Neighbours with the same number were one message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<u64>,
    /// A compaction took it out of the context.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub past: bool,
    /// Who spoke, where the kind does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The parts of a message that is more than one text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<UasfPart>,
    /// It is the summary that a compaction left in the place of what it took away.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub summary: bool,
    /// The vendor's API holds more of a thought than is shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sealed: bool,
    /// The state of a prompt that was typed while the agent worked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queued: Option<Queued>,
    /// Why a turn could not be finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<UasfCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<UasfOutcome>,
    /// It tells more of the call before it, and is none of its own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub same_call: bool,
}

/// A text, or an image or file in base64.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UasfPart {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
}

/// A prompt that was typed ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Queued {
    /// The agent never saw it.
    Waiting,
    Taken,
}

/// A call as its agent spelt it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UasfCall {
    pub id: String,
    pub tool: String,
    pub form: CallForm,
    pub input: Json,
}

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UasfOutcome {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    pub status: Status,
    /// Where the event has no place for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The same; and where it is more than one text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<UasfPart>,
    /// The meaning of the call, where it was known only from the outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Json>,
    /// The user's answers to the questions of the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answer>,
}

impl UasfEvent {
    /// The text that came back, where the event's kind has a field for it.
    fn answer_text(&self) -> Option<&str> {
        let field = match self.kind.as_str() {
            kind::SHELL_COMMAND => &self.output,
            kind::FILE_READ => &self.content,
            kind::CODE_SEARCH => &self.results,
            _ => return None,
        };
        field.as_ref()?.as_deref()
    }
}
