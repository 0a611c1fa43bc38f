//! The records of Qwen Code, as far as we look at them.
//!
//! Flat structs with optional fields: a field that is not there, or new, costs nothing. Nothing here is the model.

use serde_json::value::RawValue;

use crate::formats::text::{Text, text_or_none};

/// One line of a session file.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireRecord<'a> {
    #[serde(borrow, default, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub subtype: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub uuid: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub parent_uuid: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub session_id: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub timestamp: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub provenance: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub cwd: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub version: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub git_branch: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub model: Option<Text<'a>>,
    #[serde(default)]
    pub is_sidechain: Option<bool>,
    #[serde(borrow, default)]
    pub message: Option<WireContent<'a>>,
    /// The tokens that a reply cost.
    #[serde(borrow, default)]
    pub usage_metadata: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub tool_call_result: Option<WireResult<'a>>,
    /// The content of a system record; which fields are there depends on its subtype.
    #[serde(borrow, default)]
    pub system_payload: Option<&'a RawValue>,
}

/// A message: who, and what.
#[derive(serde::Deserialize)]
pub(super) struct WireContent<'a> {
    #[serde(borrow, default)]
    pub role: Text<'a>,
    #[serde(borrow, default)]
    pub parts: Vec<WirePart<'a>>,
}

/// One part of a message; which fields are there tells its kind.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WirePart<'a> {
    #[serde(borrow, default)]
    pub text: Option<Text<'a>>,
    #[serde(default)]
    pub thought: Option<bool>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub thought_signature: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub function_call: Option<WireCall<'a>>,
    #[serde(borrow, default)]
    pub function_response: Option<WireResponse<'a>>,
    #[serde(borrow, default)]
    pub inline_data: Option<WireData<'a>>,
    #[serde(borrow, default)]
    pub file_data: Option<WireFile<'a>>,
}

#[derive(serde::Deserialize)]
pub(super) struct WireCall<'a> {
    #[serde(borrow, default)]
    pub id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub name: Text<'a>,
    #[serde(borrow, default)]
    pub args: Option<&'a RawValue>,
}

#[derive(serde::Deserialize)]
pub(super) struct WireResponse<'a> {
    #[serde(borrow, default)]
    pub id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub name: Text<'a>,
    #[serde(borrow, default)]
    pub response: Option<&'a RawValue>,
    /// Images.
    #[serde(borrow, default)]
    pub parts: Vec<WirePart<'a>>,
}

/// The response to a call; one without either field is told as it is.
#[derive(serde::Deserialize)]
pub(super) struct WireOutput {
    #[serde(default)]
    pub output: Option<String>,
    #[serde(default)]
    pub error: Option<String>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireData<'a> {
    #[serde(borrow, default)]
    pub mime_type: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub data: Text<'a>,
    #[serde(borrow, default)]
    pub display_name: Option<Text<'a>>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireFile<'a> {
    #[serde(borrow, default)]
    pub mime_type: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub file_uri: Text<'a>,
}

/// The client's own knowledge of a call's outcome, besides what the model sees.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireResult<'a> {
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub status: Option<Text<'a>>,
}

/// The context as a compaction left it.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireCompaction<'a> {
    #[serde(borrow)]
    pub compressed_history: Vec<WireContent<'a>>,
}

/// A command that was typed.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireCommand {
    #[serde(default)]
    pub phase: String,
    #[serde(default)]
    pub raw_command: String,
    #[serde(default)]
    pub sent_to_model: Option<bool>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireTitle {
    pub custom_title: String,
    #[serde(default)]
    pub title_source: Option<String>,
}

/// An event that the client shows.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireTelemetry {
    pub ui_event: WireEvent,
}

#[derive(serde::Deserialize)]
pub(super) struct WireEvent {
    #[serde(default, rename = "event.name")]
    pub name: String,
    #[serde(default)]
    pub error_message: Option<String>,
    #[serde(default)]
    pub status_code: Option<serde_json::Value>,
}
