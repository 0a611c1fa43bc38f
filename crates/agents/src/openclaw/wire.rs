//! What the client writes, as far as we look at it: the same records in its database and in its older files.
//!
//! Flat structs with optional fields: a field that is not there, or new, costs nothing. Nothing here is the model.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::formats::text::{Text, text_or_none};

/// One event of a transcript.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireRecord<'a> {
    #[serde(borrow, default, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub id: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub timestamp: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub cwd: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub message: Option<WireMessage<'a>>,
    /// Of a compaction, or of a branch that was left.
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub summary: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub name: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub model_id: Option<Text<'a>>,
    /// What was put in by neither the user nor the model.
    #[serde(borrow, default)]
    pub content: WireContent<'a>,
    #[serde(borrow, default)]
    pub details: Option<&'a RawValue>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireMessage<'a> {
    #[serde(borrow, default)]
    pub role: Text<'a>,
    #[serde(borrow, default)]
    pub content: WireContent<'a>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub provider: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub model: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub stop_reason: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub error_message: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub tool_call_id: Option<Text<'a>>,
    #[serde(default)]
    pub is_error: Option<bool>,
    #[serde(borrow, default)]
    pub details: Option<&'a RawValue>,
    /// Who sent it, where that was not the user.
    #[serde(borrow, default)]
    pub provenance: Option<&'a RawValue>,
    /// Marks a copy of what was delivered to a chat; the model is not told twice.
    #[serde(default)]
    pub openclaw_delivery_mirror: Option<IgnoredAny>,
    /// A command that the user ran.
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub command: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub output: Option<Text<'a>>,
    #[serde(default)]
    pub exit_code: Option<i32>,
    #[serde(default)]
    pub cancelled: Option<bool>,
    #[serde(default)]
    pub exclude_from_context: Option<bool>,
}

/// What kind of record it is, and whose message.
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

/// What is told beside a message or an outcome.
#[derive(serde::Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct WireDetails {
    pub status: Option<String>,
    pub exit_code: Option<i32>,
    pub exit_signal: Option<String>,
    pub runtime_context_carrier: Option<bool>,
    pub openclaw_synthetic_missing_tool_result: Option<bool>,
    /// The change that an edit made, in whole lines.
    pub diff: Option<String>,
}

/// The place of a record in the tree. A parent that is not told is another thing than none.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireLink {
    #[serde(default, rename = "type")]
    pub kind: String,
    #[serde(default, deserialize_with = "link")]
    pub id: WireName,
    #[serde(default, deserialize_with = "link")]
    pub parent_id: WireName,
    #[serde(default, deserialize_with = "link")]
    pub target_id: WireName,
    #[serde(default, deserialize_with = "link")]
    pub append_parent_id: WireName,
    #[serde(default, deserialize_with = "link")]
    pub append_mode: WireName,
    #[serde(default, deserialize_with = "link")]
    pub first_kept_entry_id: WireName,
}

/// A name that may be told, told to be none, or not told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum WireName {
    #[default]
    Untold,
    Null,
    Name(String),
}

fn link<'de, D: Deserializer<'de>>(deserializer: D) -> Result<WireName, D::Error> {
    Ok(match Option::<&RawValue>::deserialize(deserializer)? {
        None => WireName::Null,
        Some(raw) => match serde_json::from_str::<Option<String>>(raw.get()) {
            Ok(Some(name)) if !name.trim().is_empty() => WireName::Name(name),
            Ok(None) => WireName::Null,
            _ => WireName::Untold,
        },
    })
}

/// What the client notes of a session in its index.
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

/// A string, or blocks.
pub(super) enum WireContent<'a> {
    Text(Text<'a>),
    Blocks(Vec<WireBlock<'a>>),
}

/// One block of a message; which fields are there depends on `kind`.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireBlock<'a> {
    #[serde(borrow, default, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow, default)]
    pub text: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub thinking: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub thinking_signature: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub name: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub arguments: Option<&'a RawValue>,
    /// Of an image.
    #[serde(borrow, default)]
    pub data: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub mime_type: Option<Text<'a>>,
}

impl Default for WireContent<'_> {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for WireContent<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = WireContent<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a string, a block or a list of blocks")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(WireContent::Text(Text(text.into())))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(WireContent::Text(Text(text.to_owned().into())))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(WireContent::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = seq.next_element()? {
            blocks.push(block);
        }
        Ok(WireContent::Blocks(blocks))
    }

    /// Old outcomes are one block without a list around it.
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let block = WireBlock::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
        Ok(WireContent::Blocks(vec![block]))
    }
}

/// A part that drifted must not cost what stands around it.
pub(super) fn lenient<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}
