//! The client's records: messages and their parts, each a JSON object.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::formats::text::{Text, text_or_none};

/// A message without its parts.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireInfo<'a> {
    #[serde(borrow)]
    pub role: Text<'a>,
    #[serde(default, rename = "parentID")]
    pub parent: Option<String>,
    /// In the agent's messages: whether it is the summary of a compaction. In the user's, it is something else.
    #[serde(default, deserialize_with = "is_true")]
    pub summary: bool,
    #[serde(default)]
    pub finish: Option<IgnoredAny>,
    #[serde(default, borrow)]
    pub error: Option<&'a RawValue>,
    #[serde(default)]
    pub time: WireTime,
    #[serde(default, rename = "modelID", deserialize_with = "text_or_none", borrow)]
    pub model_id: Option<Text<'a>>,
    #[serde(default, rename = "providerID", deserialize_with = "text_or_none", borrow)]
    pub provider_id: Option<Text<'a>>,
    #[serde(default, borrow)]
    pub model: Option<&'a RawValue>,
    /// `build`, `plan`, or one of the user's own.
    #[serde(default, deserialize_with = "text_or_none", borrow)]
    pub agent: Option<Text<'a>>,
}

/// When something happened, in milliseconds.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
pub(super) struct WireTime {
    pub created: Option<i64>,
    pub completed: Option<i64>,
    pub start: Option<i64>,
    pub end: Option<i64>,
    /// When the outcome of a call was taken out of the context.
    pub compacted: Option<i64>,
}

/// A model, in both spellings.
#[derive(Deserialize, Clone, PartialEq, Eq, Debug)]
pub(super) struct WireModel {
    #[serde(rename = "providerID")]
    pub provider: String,
    #[serde(rename = "modelID", alias = "id")]
    pub model: String,
}

/// One part of a message; which fields are there depends on its type. Its words may be passed over.
#[derive(Deserialize)]
#[serde(bound(deserialize = "W: Deserialize<'de>"))]
pub(super) struct WirePart<'a, W = Text<'a>> {
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    #[serde(default = "Option::default")]
    pub text: Option<W>,
    #[serde(default)]
    pub synthetic: Option<bool>,
    #[serde(default)]
    pub ignored: Option<bool>,
    #[serde(default, borrow)]
    pub tool: Option<Text<'a>>,
    #[serde(default, rename = "callID", borrow)]
    pub call: Option<Text<'a>>,
    #[serde(default = "Option::default", borrow)]
    pub state: Option<WireState<'a, W>>,
    #[serde(default, borrow)]
    pub mime: Option<Text<'a>>,
    #[serde(default, deserialize_with = "text_or_none", borrow)]
    pub filename: Option<Text<'a>>,
    #[serde(default, borrow)]
    pub url: Option<Text<'a>>,
    #[serde(default, borrow)]
    pub metadata: Option<&'a RawValue>,
    #[serde(default)]
    pub tail_start_id: Option<String>,
    /// The tokens that a step cost.
    #[serde(default, borrow)]
    pub tokens: Option<&'a RawValue>,
    #[serde(default)]
    pub time: WireTime,
}

/// How far a call has come.
#[derive(Deserialize)]
#[serde(bound(deserialize = "W: Deserialize<'de>"))]
pub(super) struct WireState<'a, W = Text<'a>> {
    #[serde(borrow)]
    pub status: Text<'a>,
    #[serde(default, borrow)]
    pub input: Option<&'a RawValue>,
    #[serde(default = "Option::default")]
    pub output: Option<W>,
    #[serde(default = "Option::default")]
    pub error: Option<W>,
    #[serde(default, borrow)]
    pub metadata: Option<&'a RawValue>,
    #[serde(default)]
    pub time: WireTime,
    #[serde(default, borrow)]
    pub attachments: Vec<WirePart<'a>>,
}

/// How a call ended: what is noted about it, without the texts, which may be as long as the outcome.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct WireEnding {
    pub exit: Option<i32>,
    pub interrupted: Option<bool>,
}

/// The client's notes on a call, beside what the model sees.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct WireNoted {
    pub output: Option<String>,
    pub diff: Option<String>,
    /// To the questions of a call, each with what was chosen.
    pub answers: Vec<Vec<String>>,
}

/// Marks on a text.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct WireMarks {
    pub compaction_continue: Option<bool>,
    /// Ours: a summary that could not be told in the client's own way.
    pub carryover: Option<String>,
}

/// Why a message could not be finished.
#[derive(Deserialize)]
pub(super) struct WireError<'a> {
    #[serde(borrow)]
    pub name: Text<'a>,
    #[serde(default, borrow)]
    pub data: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct WireErrorData {
    pub message: Option<String>,
    pub status_code: Option<u16>,
    pub response_headers: Option<serde_json::Map<String, serde_json::Value>>,
}

/// From where on a session was taken back, until its next prompt.
#[derive(Deserialize, Clone, PartialEq, Eq, Debug)]
pub(super) struct WireRevert {
    #[serde(rename = "messageID")]
    pub message: String,
    #[serde(default, rename = "partID")]
    pub part: Option<String>,
}

/// A session as it is exported.
#[derive(Deserialize)]
pub(super) struct WireExport<'a> {
    #[serde(borrow)]
    pub info: &'a RawValue,
    #[serde(borrow)]
    pub messages: Vec<WireExported<'a>>,
}

#[derive(Deserialize)]
pub(super) struct WireExported<'a> {
    #[serde(borrow)]
    pub info: &'a RawValue,
    #[serde(default, borrow)]
    pub parts: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct WireSession<'a> {
    pub id: String,
    #[serde(default, borrow, deserialize_with = "text_or_none")]
    pub title: Option<Text<'a>>,
    #[serde(default, borrow, deserialize_with = "text_or_none")]
    pub directory: Option<Text<'a>>,
    #[serde(default, borrow, deserialize_with = "text_or_none")]
    pub version: Option<Text<'a>>,
    #[serde(default, rename = "parentID")]
    pub parent: Option<String>,
    #[serde(default, borrow)]
    pub model: Option<&'a RawValue>,
    #[serde(default, borrow)]
    pub revert: Option<&'a RawValue>,
    #[serde(default, borrow)]
    pub permission: Option<&'a RawValue>,
    #[serde(default)]
    pub time: WireSessionTime,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct WireSessionTime {
    pub created: Option<i64>,
    pub updated: Option<i64>,
}

/// A permission of the session's agent, beside what the configuration says.
#[derive(Deserialize, Clone, PartialEq, Eq, Debug)]
pub(super) struct WireRule {
    pub permission: String,
    pub pattern: String,
    pub action: String,
}

/// The name of a record.
#[derive(Deserialize)]
pub(super) struct WireNamed {
    pub id: String,
}

/// Reads what stands beside the content; another shape than expected is as good as nothing.
pub(super) fn parse_lenient<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

/// Whether a value is `true`; one of any other kind is not.
fn is_true<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    struct Truth;
    impl<'de> Visitor<'de> for Truth {
        type Value = bool;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("anything")
        }

        fn visit_bool<E: Error>(self, value: bool) -> Result<bool, E> {
            Ok(value)
        }

        fn visit_i64<E: Error>(self, _: i64) -> Result<bool, E> {
            Ok(false)
        }

        fn visit_u64<E: Error>(self, _: u64) -> Result<bool, E> {
            Ok(false)
        }

        fn visit_f64<E: Error>(self, _: f64) -> Result<bool, E> {
            Ok(false)
        }

        fn visit_str<E: Error>(self, _: &str) -> Result<bool, E> {
            Ok(false)
        }

        fn visit_unit<E: Error>(self) -> Result<bool, E> {
            Ok(false)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<bool, A::Error> {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            Ok(false)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(false)
        }
    }
    deserializer.deserialize_any(Truth)
}
