//! The records of a tree, as far as we look at them.
//!
//! Flat structs with optional fields: a field that is not there, or new, costs nothing. Nothing here is the model. What
//! is said is of a type of the reader's choice.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::words::Words;
use crate::formats::text::{Text, text_or_none};

/// One record.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "W: Words<'de>"))]
pub struct Record<'a, W> {
    #[serde(borrow, default, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow, default)]
    pub id: NullableName<'a>,
    #[serde(borrow, default)]
    pub parent_id: NullableName<'a>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub timestamp: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub cwd: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub message: Option<Message<'a, W>>,
    /// Of a compaction, or of a branch that was left.
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub summary: Option<Text<'a>>,
    /// The prompt that goes before a compaction.
    #[serde(borrow, default)]
    pub system_message: Option<&'a RawValue>,
    /// The first record that a compaction keeps.
    #[serde(borrow, default)]
    pub first_kept_entry_id: NullableName<'a>,
    /// The same by the number of the record, in old files.
    #[serde(default)]
    pub first_kept_entry_index: Option<u64>,
    /// The record to go on from, and how.
    #[serde(borrow, default)]
    pub target_id: NullableName<'a>,
    #[serde(borrow, default)]
    pub append_parent_id: NullableName<'a>,
    #[serde(borrow, default)]
    pub append_mode: NullableName<'a>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub name: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub model_id: Option<Text<'a>>,
    /// Through whom the model is reached, where that changes.
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub provider: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub thinking_level: Option<Text<'a>>,
    /// Content that was put in by neither the user nor the model.
    #[serde(borrow, default)]
    pub content: Content<'a, W>,
    #[serde(borrow, default)]
    pub details: Option<&'a RawValue>,
}

/// A message of anybody's, or the outcome of a tool.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "W: Words<'de>"))]
pub struct Message<'a, W> {
    #[serde(borrow, default)]
    pub role: Text<'a>,
    #[serde(borrow, default)]
    pub content: Content<'a, W>,
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
    /// The tokens that a reply cost.
    #[serde(borrow, default)]
    pub usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub details: Option<&'a RawValue>,
    /// The parts of the prompt before the conversation.
    #[serde(borrow, default)]
    pub sections: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub tools_added: Option<&'a RawValue>,
    /// Who sent it, where that was not the user.
    #[serde(borrow, default)]
    pub provenance: Option<&'a RawValue>,
    /// A command that the user ran.
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub command: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub output: Option<Text<'a>>,
    #[serde(default)]
    pub exit_code: Option<i32>,
    #[serde(default)]
    pub cancelled: Option<bool>,
    /// Where all of its output is, if it was too long.
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub full_output_path: Option<Text<'a>>,
    #[serde(default)]
    pub truncated: Option<bool>,
    #[serde(default)]
    pub exclude_from_context: Option<bool>,
}

/// A string, or blocks.
pub enum Content<'a, W> {
    Text(W),
    Blocks(Vec<Block<'a, W>>),
}

/// One block of a message; which fields are there depends on `kind`.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "W: Words<'de>"))]
pub struct Block<'a, W> {
    #[serde(borrow, default, rename = "type")]
    pub kind: Text<'a>,
    #[serde(default)]
    pub text: Option<W>,
    #[serde(default)]
    pub thinking: Option<W>,
    #[serde(borrow, default)]
    pub thinking_signature: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub name: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub arguments: Option<&'a RawValue>,
    /// Of an image.
    #[serde(default)]
    pub data: Option<W>,
    #[serde(borrow, default)]
    pub mime_type: Option<Text<'a>>,
}

/// A name that may be told, told to be none, or not told. What is no name is not told.
#[derive(Default, PartialEq, Eq)]
pub enum NullableName<'a> {
    #[default]
    Missing,
    Null,
    Given(Text<'a>),
}

impl NullableName<'_> {
    pub fn as_deref(&self) -> Option<&str> {
        match self {
            Self::Given(name) => Some(name),
            Self::Missing | Self::Null => None,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for NullableName<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_option(NullableNameVisitor)
    }
}

struct NullableNameVisitor;

impl<'de> Visitor<'de> for NullableNameVisitor {
    type Value = NullableName<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("anything")
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(NullableName::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        text_or_none(deserializer).map(|name| name.map_or(NullableName::Missing, NullableName::Given))
    }
}

impl<W> Default for Content<'_, W> {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl<'de: 'a, 'a, W: Words<'de>> Deserialize<'de> for Content<'a, W> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor(PhantomData))
    }
}

struct ContentVisitor<'a, W>(PhantomData<Content<'a, W>>);

impl<'de: 'a, 'a, W: Words<'de>> Visitor<'de> for ContentVisitor<'a, W> {
    type Value = Content<'a, W>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a string, a block or a list of blocks")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Content::Text(W::from_borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Content::Text(W::from_copy(text)))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Content::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = seq.next_element()? {
            blocks.push(block);
        }
        Ok(Content::Blocks(blocks))
    }

    /// Old outcomes are one block without a list around it.
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let block = Block::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
        Ok(Content::Blocks(vec![block]))
    }
}
