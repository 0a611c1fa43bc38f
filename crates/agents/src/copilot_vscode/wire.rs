//! Sessions as the editor writes them, after its published source. A field that drifted costs itself, and no more.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Reads JSON as a type; `None` where its shape differs.
pub(super) fn parse_leniently<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str(text).ok()
}

/// A value, or nothing where it is of another type than it was.
pub(super) fn or_none<'de, D: Deserializer<'de>, T: DeserializeOwned>(from: D) -> Result<Option<T>, D::Error> {
    let value: Option<Box<RawValue>> = Option::deserialize(from)?;
    Ok(value.and_then(|value| parse_leniently(value.get())))
}

/// The items of a list that are of the type that they were.
fn list_or_empty<'de, D: Deserializer<'de>, T: DeserializeOwned>(from: D) -> Result<Vec<T>, D::Error> {
    let values: Option<Vec<Box<RawValue>>> = or_none(from)?;
    Ok(values.unwrap_or_default().iter().filter_map(|value| parse_leniently(value.get())).collect())
}

/// A session without its requests.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct WireSession {
    #[serde(deserialize_with = "or_none")]
    pub session_id: Option<String>,
    #[serde(deserialize_with = "or_none")]
    pub creation_date: Option<f64>,
    #[serde(deserialize_with = "or_none")]
    pub custom_title: Option<String>,
    /// The title in the second version of the format.
    #[serde(deserialize_with = "or_none")]
    pub computed_title: Option<String>,
    #[serde(deserialize_with = "or_none")]
    pub working_directory: Option<String>,
    #[serde(deserialize_with = "list_or_empty")]
    pub pending_requests: Vec<WirePending>,
}

impl WireSession {
    /// What is read of it.
    pub(super) const FIELDS: &'static [&'static str] =
        &["sessionId", "creationDate", "customTitle", "computedTitle", "workingDirectory", "pendingRequests"];
}

/// A prompt that waits for the agent.
#[derive(Debug, Deserialize)]
pub(super) struct WirePending {
    pub request: WireRequest,
}

/// A request with its response.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct WireRequest {
    #[serde(deserialize_with = "or_none")]
    pub timestamp: Option<f64>,
    #[serde(deserialize_with = "or_none")]
    pub message: Option<WireMessage>,
    #[serde(deserialize_with = "or_none")]
    pub variable_data: Option<WireVariables>,
    #[serde(deserialize_with = "or_none")]
    pub model_id: Option<String>,
    #[serde(deserialize_with = "or_none")]
    pub mode_info: Option<WireMode>,
    /// What was shown: a list of parts, in old sessions one text.
    pub response: Option<Box<RawValue>>,
    #[serde(deserialize_with = "or_none")]
    pub response_id: Option<String>,
    #[serde(deserialize_with = "or_none")]
    pub result: Option<WireResult>,
    /// Where the error stood in the first version of the format.
    #[serde(deserialize_with = "or_none")]
    pub response_error_details: Option<WireError>,
    #[serde(deserialize_with = "or_none")]
    pub model_state: Option<WireModelState>,
    /// Before there was a state of the model.
    #[serde(deserialize_with = "or_none")]
    pub is_canceled: Option<bool>,
    #[serde(deserialize_with = "or_none")]
    pub should_be_removed_on_send: Option<WireRemoval>,
    /// The older name of it.
    #[serde(deserialize_with = "or_none")]
    pub is_hidden: Option<bool>,
    #[serde(deserialize_with = "or_none")]
    pub slash_command: Option<WireSlashCommand>,
    #[serde(deserialize_with = "or_none")]
    pub is_system_initiated: Option<bool>,
    #[serde(deserialize_with = "or_none")]
    pub prompt_tokens: Option<u64>,
    #[serde(deserialize_with = "or_none")]
    pub completion_tokens: Option<u64>,
}

/// The user's words, in old sessions as they are.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum WireMessage {
    Text(String),
    Parsed { text: Option<String> },
}

impl WireMessage {
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Parsed { text } => text.as_deref(),
        }
    }
}

/// A command of the extension's that the user called.
#[derive(Debug, Deserialize)]
pub(super) struct WireSlashCommand {
    pub name: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct WireVariables {
    #[serde(default, deserialize_with = "list_or_empty")]
    pub variables: Vec<WireVariable>,
}

/// Something that was attached to a request.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireVariable {
    #[serde(default, deserialize_with = "or_none")]
    pub kind: Option<String>,
    #[serde(default, deserialize_with = "or_none")]
    pub name: Option<String>,
    #[serde(default, deserialize_with = "or_none")]
    pub mime_type: Option<String>,
    #[serde(default, deserialize_with = "or_none")]
    pub value: Option<WireVariableValue>,
    /// What was pasted.
    #[serde(default, deserialize_with = "or_none")]
    pub code: Option<String>,
    #[serde(default, deserialize_with = "or_none")]
    pub automatically_added: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum WireVariableValue {
    Text(String),
    Bytes {
        #[serde(rename = "$base64")]
        base64: String,
    },
    Location {
        uri: WireUri,
    },
    Uri(WireUri),
    /// Bytes by their numbers, in older sessions.
    Numbered(BTreeMap<String, u8>),
}

/// An address in its parts, or as text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum WireUri {
    Parts {
        scheme: String,
        path: String,
        #[serde(default)]
        authority: Option<String>,
    },
    Text(String),
}

/// Ask, edit, agent, or one of the user's own.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireMode {
    #[serde(default, deserialize_with = "or_none")]
    pub kind: Option<String>,
    #[serde(default, deserialize_with = "or_none")]
    pub mode_id: Option<String>,
}

/// How a response ended.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireModelState {
    pub value: u64,
    #[serde(default, deserialize_with = "or_none")]
    pub completed_at: Option<f64>,
}

/// A request that is taken back with the next one that is sent; from some point on only, where one is named.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireRemoval {
    #[serde(default, deserialize_with = "or_none")]
    pub after_undo_stop: Option<String>,
}

/// What the extension gave back.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct WireResult {
    #[serde(deserialize_with = "or_none")]
    pub error_details: Option<WireError>,
    #[serde(deserialize_with = "or_none")]
    pub metadata: Option<WireMetadata>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct WireError {
    #[serde(deserialize_with = "or_none")]
    pub message: Option<String>,
    #[serde(deserialize_with = "or_none")]
    pub code: Option<String>,
    #[serde(deserialize_with = "or_none")]
    pub is_rate_limited: Option<bool>,
    #[serde(deserialize_with = "or_none")]
    pub is_quota_exceeded: Option<bool>,
}

/// What the extension keeps of a turn: from it, it makes the next request.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct WireMetadata {
    #[serde(deserialize_with = "list_or_empty")]
    pub rendered_user_message: Vec<WireRendered>,
    #[serde(deserialize_with = "list_or_empty")]
    pub tool_call_rounds: Vec<WireRound>,
    #[serde(deserialize_with = "or_none")]
    pub tool_call_results: Option<BTreeMap<String, Box<RawValue>>>,
    #[serde(deserialize_with = "or_none")]
    pub max_tool_calls_exceeded: Option<bool>,
    #[serde(deserialize_with = "list_or_empty")]
    pub summaries: Vec<WireSummary>,
    /// The one of older extensions.
    #[serde(deserialize_with = "or_none")]
    pub summary: Option<WireSummary>,
    #[serde(deserialize_with = "or_none")]
    pub resolved_model: Option<String>,
    #[serde(deserialize_with = "or_none")]
    pub prompt_tokens: Option<u64>,
    #[serde(deserialize_with = "or_none")]
    pub output_tokens: Option<u64>,
}

/// A piece of the message as it was sent.
#[derive(Debug, Deserialize)]
pub(super) struct WireRendered {
    #[serde(default, deserialize_with = "or_none")]
    pub text: Option<String>,
}

/// A summary of everything up to a round, that one among it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireSummary {
    pub tool_call_round_id: String,
    pub text: String,
}

/// One message of the model with its calls.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct WireRound {
    #[serde(deserialize_with = "or_none")]
    pub id: Option<String>,
    #[serde(deserialize_with = "or_none")]
    pub response: Option<String>,
    #[serde(deserialize_with = "list_or_empty")]
    pub tool_calls: Vec<WireCall>,
    #[serde(deserialize_with = "or_none")]
    pub thinking: Option<WireThinking>,
    #[serde(deserialize_with = "or_none")]
    pub timestamp: Option<f64>,
    #[serde(deserialize_with = "or_none")]
    pub model_id: Option<String>,
    #[serde(deserialize_with = "or_none")]
    pub summary: Option<String>,
    /// Words of a hook that the model was told behind the round.
    #[serde(deserialize_with = "or_none")]
    pub hook_context: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct WireCall {
    pub id: String,
    pub name: String,
    /// JSON in a string.
    #[serde(default)]
    pub arguments: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct WireThinking {
    #[serde(default, deserialize_with = "or_none")]
    pub text: Option<WireLines>,
    #[serde(default, deserialize_with = "or_none")]
    pub encrypted: Option<String>,
}

/// A text, or the pieces of one.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum WireLines {
    Text(String),
    Pieces(Vec<String>),
}

impl WireLines {
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Pieces(pieces) => pieces.concat(),
        }
    }
}
