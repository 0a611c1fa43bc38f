//! The records of Gemini CLI, as far as we look at them.
//!
//! Flat structs with optional fields: a field that is not there, or new, costs nothing. Nothing here is the model.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::formats::text::{Text, text_or_none};

/// One line of a log, or one message of a list; which fields are there tells what it is. A line that has none of them
/// may still be a `WireSession`.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireRecord<'a> {
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub id: Option<Text<'a>>,
    #[serde(borrow, default, rename = "type", deserialize_with = "text_or_none")]
    pub kind: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub timestamp: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub content: WireContent<'a>,
    /// The typed words, where something else was sent.
    #[serde(borrow, default)]
    pub display_content: WireContent<'a>,
    #[serde(borrow, default)]
    pub thoughts: Option<Vec<WireThought<'a>>>,
    #[serde(borrow, default)]
    pub tool_calls: Option<Vec<WireToolCall<'a>>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub model: Option<Text<'a>>,
    /// The tokens that a reply cost.
    #[serde(borrow, default)]
    pub tokens: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "$set")]
    pub set: Option<WireSession<'a>>,
    #[serde(borrow, default, rename = "$rewindTo", deserialize_with = "text_or_none")]
    pub rewind_to: Option<Text<'a>>,
}

/// Fields of the session as a whole: the first line of a log, the changes of a `$set`, or the whole of an old file.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireSession<'a> {
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub session_id: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub project_hash: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub start_time: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub last_updated: Option<Text<'a>>,
    /// `main`, or `subagent`.
    #[serde(borrow, default, rename = "kind", deserialize_with = "text_or_none")]
    pub role: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub summary: Option<Text<'a>>,
    /// Each is read on its own, so that a bad one costs one.
    #[serde(borrow, default)]
    pub messages: Option<Vec<&'a RawValue>>,
}

#[derive(serde::Deserialize)]
pub(super) struct WireThought<'a> {
    #[serde(borrow, default)]
    pub subject: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub description: Option<Text<'a>>,
}

/// A call as the screen shows it; before it is resumed for the first time, the only place where it stands.
#[derive(serde::Deserialize)]
pub(super) struct WireToolCall<'a> {
    #[serde(borrow, default)]
    pub id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub name: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub args: Option<&'a RawValue>,
    /// A string, or parts with the response in them.
    #[serde(borrow, default)]
    pub result: Option<WireContent<'a>>,
    #[serde(borrow, default)]
    pub status: Option<Text<'a>>,
}

/// Parts of a message; a string is one part of text.
#[derive(Default)]
pub(super) struct WireContent<'a>(pub Vec<WirePart<'a>>);

/// One part, as the API spells it.
#[derive(serde::Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct WirePart<'a> {
    #[serde(borrow, default)]
    pub text: Option<Text<'a>>,
    #[serde(default)]
    pub thought: Option<bool>,
    #[serde(borrow, default)]
    pub inline_data: Option<WireBlob<'a>>,
    #[serde(borrow, default)]
    pub file_data: Option<WireBlob<'a>>,
    #[serde(borrow, default)]
    pub function_call: Option<WireFunctionCall<'a>>,
    #[serde(borrow, default)]
    pub function_response: Option<WireFunctionResponse<'a>>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireBlob<'a> {
    #[serde(borrow, default)]
    pub mime_type: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub display_name: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub data: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub file_uri: Option<Text<'a>>,
}

#[derive(serde::Deserialize)]
pub(super) struct WireFunctionCall<'a> {
    #[serde(borrow, default)]
    pub id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub name: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub args: Option<&'a RawValue>,
}

#[derive(serde::Deserialize)]
pub(super) struct WireFunctionResponse<'a> {
    #[serde(borrow, default)]
    pub id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub name: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub response: Option<&'a RawValue>,
    /// Images that belong to the response.
    #[serde(borrow, default)]
    pub parts: Option<WireContent<'a>>,
}

/// The usual forms of a response.
#[derive(serde::Deserialize)]
pub(super) struct WireResponse<'a> {
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub output: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub error: Option<Text<'a>>,
}

/// A part, or a string that stands for one.
struct WireItem<'a>(WirePart<'a>);

fn text_part(text: Text<'_>) -> WirePart<'_> {
    WirePart { text: Some(text), ..WirePart::default() }
}

impl<'de: 'a, 'a> Deserialize<'de> for WireItem<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut content = WireContent::deserialize(deserializer)?;
        Ok(Self(content.0.pop().unwrap_or_default()))
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
        out.write_str("a string, a part or a list of parts")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(WireContent(vec![text_part(Text(text.into()))]))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(WireContent(vec![text_part(Text(text.to_owned().into()))]))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(WireContent::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        WirePart::deserialize(MapAccessDeserializer::new(map)).map(|part| WireContent(vec![part]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut parts = Vec::new();
        while let Some(WireItem(part)) = seq.next_element()? {
            parts.push(part);
        }
        Ok(WireContent(parts))
    }
}
