//! The records of Copilot CLI, as far as we look at them.
//!
//! The client ships a JSON schema of its events (`schemas/session-events.schema.json`). Only the envelope is the same
//! for all; the data of an event is read by its kind. A field that is not there, or new, costs nothing.

use serde_json::value::RawValue;

use crate::formats::text::{Text, text_or_none};

/// One line of `events.jsonl`.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireEvent<'a> {
    #[serde(borrow, default, rename = "type", deserialize_with = "text_or_none")]
    pub kind: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub data: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub timestamp: Option<Text<'a>>,
    /// Present on everything that a sub-agent does.
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub agent_id: Option<Text<'a>>,
}

/// `session.start`, `session.resume`, `session.context_changed` and `session.model_change`.
#[derive(serde::Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct WireSession<'a> {
    #[serde(borrow)]
    pub session_id: Option<Text<'a>>,
    #[serde(borrow)]
    pub copilot_version: Option<Text<'a>>,
    #[serde(borrow)]
    pub start_time: Option<Text<'a>>,
    #[serde(borrow)]
    pub selected_model: Option<Text<'a>>,
    #[serde(borrow)]
    pub new_model: Option<Text<'a>>,
    #[serde(borrow)]
    pub context: Option<WireContext<'a>>,
    #[serde(borrow)]
    pub cwd: Option<Text<'a>>,
    #[serde(borrow)]
    pub branch: Option<Text<'a>>,
    /// The session that this one works for, without a terminal of its own.
    #[serde(borrow)]
    pub detached_from_spawning_parent_session_id: Option<Text<'a>>,
}

#[derive(serde::Deserialize, Default)]
#[serde(default)]
pub(super) struct WireContext<'a> {
    #[serde(borrow)]
    pub cwd: Option<Text<'a>>,
    #[serde(borrow)]
    pub branch: Option<Text<'a>>,
}

/// `system.message`: the vendor's prompt, once for each session and wherever it changes.
#[derive(serde::Deserialize, Default)]
#[serde(default)]
pub(super) struct WireSystem<'a> {
    #[serde(borrow, deserialize_with = "text_or_none")]
    pub content: Option<Text<'a>>,
}

/// `session.mode_changed`, `session.permissions_changed` and `session.title_changed`.
#[derive(serde::Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct WireSetting<'a> {
    #[serde(borrow)]
    pub new_mode: Option<Text<'a>>,
    pub allow_all_permissions: Option<bool>,
    #[serde(borrow)]
    pub previous_mode: Option<Text<'a>>,
    /// `on` and `off`, for what is allowed without asking.
    #[serde(borrow)]
    pub allow_all_permission_mode: Option<Text<'a>>,
    #[serde(borrow)]
    pub previous_allow_all_permission_mode: Option<Text<'a>>,
    #[serde(borrow)]
    pub title: Option<Text<'a>>,
}

/// `session.usage_record`: what a call of the model cost.
#[derive(serde::Deserialize)]
pub(super) struct WireUsageRecord<'a> {
    #[serde(borrow)]
    pub usage: WireUsage<'a>,
}

/// Tokens read from and written to a cache are part of the input, those of reasoning part of the output.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireUsage<'a> {
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub model: Option<Text<'a>>,
    #[serde(default)]
    pub input_tokens: Option<u64>,
    #[serde(default)]
    pub output_tokens: Option<u64>,
    #[serde(default)]
    pub cache_read_tokens: Option<u64>,
    #[serde(default)]
    pub cache_write_tokens: Option<u64>,
    #[serde(default)]
    pub reasoning_tokens: Option<u64>,
}

/// `user.message`.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireUser<'a> {
    #[serde(borrow)]
    pub content: Text<'a>,
    /// The text that was sent in the place of `content`: the time before it, the words of hooks behind it.
    #[serde(borrow, default)]
    pub transformed_content: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub attachments: Vec<WireAttachment<'a>>,
    #[serde(borrow, default)]
    pub source: Option<Text<'a>>,
    #[serde(default)]
    pub is_autopilot_continuation: bool,
}

/// An image or a file of the user's; which fields are there depends on its kind.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireAttachment<'a> {
    #[serde(borrow, default)]
    pub path: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub file_path: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub display_name: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub text: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub url: Option<Text<'a>>,
    #[serde(flatten, borrow)]
    pub bytes: WireBytes<'a>,
}

/// Bytes for the model: in the line, or in an event of their own that is found by its id.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireBytes<'a> {
    #[serde(borrow, default)]
    pub mime_type: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub data: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub asset_id: Option<Text<'a>>,
}

/// `assistant.message`.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireAssistant<'a> {
    #[serde(borrow)]
    pub content: Text<'a>,
    #[serde(borrow, default)]
    pub model: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub tool_requests: Vec<WireRequest<'a>>,
    #[serde(borrow, default)]
    pub reasoning_text: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub reasoning_opaque: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub encrypted_content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub parent_tool_call_id: Option<Text<'a>>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireRequest<'a> {
    #[serde(borrow)]
    pub tool_call_id: Text<'a>,
    #[serde(borrow)]
    pub name: Text<'a>,
    #[serde(borrow, default)]
    pub arguments: Option<&'a RawValue>,
}

/// `tool.execution_complete`.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireComplete<'a> {
    #[serde(borrow)]
    pub tool_call_id: Text<'a>,
    #[serde(default)]
    pub success: bool,
    #[serde(borrow, default)]
    pub result: Option<WireResult<'a>>,
    #[serde(borrow, default)]
    pub error: Option<WireToolError<'a>>,
    #[serde(default)]
    pub shell_execution: Option<WireShell>,
    #[serde(borrow, default)]
    pub parent_tool_call_id: Option<Text<'a>>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireResult<'a> {
    #[serde(borrow, default)]
    pub content: Text<'a>,
    /// For the screen: a diff, where a file was changed.
    #[serde(borrow, default)]
    pub detailed_content: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub binary_results_for_llm: Vec<WireBytes<'a>>,
}

#[derive(serde::Deserialize)]
pub(super) struct WireToolError<'a> {
    #[serde(borrow, default)]
    pub message: Text<'a>,
    #[serde(borrow, default)]
    pub code: Option<Text<'a>>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireShell {
    #[serde(default)]
    pub exit_code: Option<i32>,
}

/// `session.compaction_complete` and `session.context_cleared`.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireCompaction<'a> {
    #[serde(default)]
    pub success: bool,
    #[serde(borrow, default)]
    pub summary_content: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub initial_message: Option<Text<'a>>,
}

/// `session.error`.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireError<'a> {
    #[serde(borrow, default)]
    pub error_type: Text<'a>,
    #[serde(borrow, default)]
    pub message: Text<'a>,
    #[serde(default)]
    pub status_code: Option<u16>,
}

/// `session.binary_asset`.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireAsset<'a> {
    #[serde(borrow)]
    pub asset_id: Text<'a>,
    #[serde(borrow)]
    pub data: Text<'a>,
}

/// `system.notification`.
#[derive(serde::Deserialize)]
pub(super) struct WireNotice<'a> {
    #[serde(borrow)]
    pub content: Text<'a>,
}
