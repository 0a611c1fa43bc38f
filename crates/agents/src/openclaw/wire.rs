//! The client's data beside and around the records of a tree, which are the same in its database and in its older
//! files.
//!
//! Flat structs with optional fields: a field that is not there, or new, costs nothing. Nothing here is the model.

use serde::de::{Deserialize, IgnoredAny};
use serde_json::value::RawValue;

use crate::formats::text::Text;
use crate::formats::tree::wire::{NullableName, Record};

/// The kind of a record, and the role of its message.
#[derive(serde::Deserialize, Default)]
#[serde(default)]
pub(super) struct WireKind {
    #[serde(rename = "type")]
    pub kind: String,
    pub message: Option<WireRole>,
}

#[derive(serde::Deserialize, Default)]
#[serde(default)]
pub(super) struct WireRole {
    pub role: String,
}

/// Who sent a message.
#[derive(serde::Deserialize)]
pub(super) struct WireProvenance<'a> {
    #[serde(borrow, default)]
    pub kind: Text<'a>,
}

/// Details noted beside a message or an outcome.
#[derive(serde::Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct WireDetails {
    pub status: Option<String>,
    pub exit_code: Option<i32>,
    pub exit_signal: Option<String>,
    pub runtime_context_carrier: Option<bool>,
    pub openclaw_synthetic_missing_tool_result: Option<bool>,
}

/// The place of a record in the tree. A parent that is not told is another thing than none.
#[derive(serde::Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct WireLink<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub id: NullableName<'a>,
    #[serde(borrow)]
    pub parent_id: NullableName<'a>,
    #[serde(borrow)]
    pub target_id: NullableName<'a>,
    #[serde(borrow)]
    pub append_parent_id: NullableName<'a>,
    #[serde(borrow)]
    pub append_mode: NullableName<'a>,
    #[serde(borrow)]
    pub first_kept_entry_id: NullableName<'a>,
}

impl<'a> WireLink<'a> {
    /// Takes it out of a record.
    pub(super) fn take_from<W>(record: &mut Record<'a, W>) -> Self {
        Self {
            kind: record.kind.clone(),
            id: std::mem::take(&mut record.id),
            parent_id: std::mem::take(&mut record.parent_id),
            target_id: std::mem::take(&mut record.target_id),
            append_parent_id: std::mem::take(&mut record.append_parent_id),
            append_mode: std::mem::take(&mut record.append_mode),
            first_kept_entry_id: std::mem::take(&mut record.first_kept_entry_id),
        }
    }
}

/// Marks a copy of what was delivered to a chat; the model is not told twice.
#[derive(serde::Deserialize)]
pub(super) struct WireMirrored {
    message: WireMirror,
}

#[derive(serde::Deserialize)]
struct WireMirror {
    #[serde(default, rename = "openclawDeliveryMirror")]
    mirror: Option<IgnoredAny>,
}

impl WireMirrored {
    /// By which such a record can be found.
    pub(super) const FIELD: &str = "openclawDeliveryMirror";

    pub(super) fn is_mirrored(&self) -> bool {
        self.message.mirror.is_some()
    }
}

/// An entry for a session in the client's index.
#[derive(serde::Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct WireEntry {
    pub session_id: Option<String>,
    pub label: Option<String>,
    pub display_name: Option<String>,
    pub updated_at: Option<f64>,
    pub model: Option<String>,
    pub spawned_by: Option<String>,
}

/// The model in the client's configuration; nothing else of it is looked at.
#[derive(serde::Deserialize)]
pub(super) struct WireConfig {
    pub agents: WireAgents,
}

#[derive(serde::Deserialize)]
pub(super) struct WireAgents {
    pub defaults: WireDefaults,
}

#[derive(serde::Deserialize)]
pub(super) struct WireDefaults {
    pub model: Option<WireModel>,
}

/// `provider/model`, alone or with others to fall back on.
#[derive(serde::Deserialize)]
#[serde(untagged)]
pub(super) enum WireModel {
    Name(String),
    Choice { primary: String },
}

/// A part that drifted must not cost what stands around it.
pub(super) fn parse_lenient<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}
