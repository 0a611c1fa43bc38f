//! What pi writes, as far as we look at it.
//!
//! Flat structs with optional fields: a field that is not there, or new, costs nothing. Nothing here is the model.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::formats::text::{Text, text_or_none};

/// One line of a session file.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireRecord<'a> {
    #[serde(borrow, default, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub id: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub parent_id: Option<Text<'a>>,
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
    pub first_kept_entry_id: Option<Text<'a>>,
    /// The same in files of version 1, by the number of its record.
    #[serde(default)]
    pub first_kept_entry_index: Option<u64>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub name: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub model_id: Option<Text<'a>>,
    /// What an extension put in.
    #[serde(borrow, default)]
    pub content: WireContent<'a>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireMessage<'a> {
    #[serde(borrow, default)]
    pub role: Text<'a>,
    #[serde(borrow, default)]
    pub content: WireContent<'a>,
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

/// A change of what the model sees of an earlier record.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireEdit<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub target_id: Text<'a>,
    #[serde(borrow, default)]
    pub replacement: Option<WireReplacement<'a>>,
}

#[derive(serde::Deserialize)]
pub(super) struct WireReplacement<'a> {
    #[serde(borrow)]
    pub content: &'a RawValue,
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
        out.write_str("a string or a list of blocks")
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
}
