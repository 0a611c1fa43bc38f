//! The records that Claude Code writes, as far as we look at them.
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
    pub subtype: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub uuid: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub parent_uuid: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub timestamp: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub session_id: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub cwd: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub version: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub git_branch: Option<Text<'a>>,
    #[serde(default)]
    pub is_sidechain: Option<bool>,
    #[serde(default)]
    pub is_meta: Option<bool>,
    #[serde(default)]
    pub is_compact_summary: Option<bool>,
    #[serde(default)]
    pub is_api_error_message: Option<bool>,
    /// A word on error lines of the agent; an object on retry lines of the system.
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub error: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub api_error_params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub permission_mode: Option<Text<'a>>,
    /// The way the client was started: `cli`, `sdk-cli` and others.
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub entrypoint: Option<Text<'a>>,
    /// `typed` or `sdk` where somebody gave the prompt.
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub prompt_source: Option<Text<'a>>,
    /// Who gave the prompt; see `is_from_elsewhere`.
    #[serde(borrow, default)]
    pub origin: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub message: Option<WireMessage<'a>>,
    #[serde(borrow, default)]
    pub attachment: Option<WireAttachment<'a>>,
    /// What an attachment became in the request.
    #[serde(borrow, default)]
    pub rendered: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub compact_metadata: Option<WireCompaction<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub custom_title: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub ai_title: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub leaf_uuid: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub summary: Option<Text<'a>>,
    /// The change to the queue of prompts, and the prompt.
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub operation: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub content: Option<Text<'a>>,
}

#[derive(serde::Deserialize)]
pub(super) struct WireMessage<'a> {
    #[serde(borrow, default)]
    pub id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub model: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub content: WireContent<'a>,
    /// The cost of the reply; each line of a message repeats it.
    #[serde(borrow, default)]
    pub usage: Option<&'a RawValue>,
}

/// A line of which only the kinds matter.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WirePastRecord<'a> {
    #[serde(borrow, default, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow, default)]
    pub uuid: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub parent_uuid: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub timestamp: Option<Text<'a>>,
    #[serde(default)]
    pub is_sidechain: Option<bool>,
    #[serde(default)]
    pub is_compact_summary: Option<bool>,
    #[serde(default)]
    pub is_api_error_message: Option<bool>,
    #[serde(borrow, default)]
    pub message: Option<WirePastMessage<'a>>,
    #[serde(borrow, default)]
    pub attachment: Option<WirePastAttachment<'a>>,
}

#[derive(serde::Deserialize)]
pub(super) struct WirePastMessage<'a> {
    #[serde(borrow, default)]
    pub id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub model: Option<Text<'a>>,
    /// Present where the content is a list of blocks.
    #[serde(borrow, default, deserialize_with = "blocks_or_none")]
    pub content: Option<Vec<WirePastBlock<'a>>>,
    #[serde(borrow, default)]
    pub usage: Option<&'a RawValue>,
}

#[derive(serde::Deserialize)]
pub(super) struct WirePastAttachment<'a> {
    #[serde(borrow, default, rename = "type")]
    pub kind: Text<'a>,
}

#[derive(serde::Deserialize)]
pub(super) struct WirePastBlock<'a> {
    #[serde(borrow, default, rename = "type")]
    pub kind: Text<'a>,
}

/// A string, or blocks.
pub(super) enum WireContent<'a> {
    Text(Text<'a>),
    Blocks(Vec<WireBlock<'a>>),
}

/// One block of a message; which fields are there depends on `kind`.
#[derive(serde::Deserialize)]
pub(super) struct WireBlock<'a> {
    #[serde(borrow, default, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow, default)]
    pub text: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub thinking: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub signature: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub name: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub tool_use_id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub content: Option<WireContent<'a>>,
    #[serde(default)]
    pub is_error: Option<bool>,
    #[serde(borrow, default)]
    pub source: Option<WireSource<'a>>,
}

/// Where an image or a document is.
#[derive(serde::Deserialize)]
pub(super) struct WireSource<'a> {
    #[serde(borrow, default)]
    pub media_type: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub data: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub url: Option<Text<'a>>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireAttachment<'a> {
    #[serde(borrow, default, rename = "type")]
    pub kind: Text<'a>,
    /// The path of a file that was mentioned.
    #[serde(borrow, default)]
    pub filename: Option<Text<'a>>,
    /// Of a file or a hook: text, a list of texts, or an object with the file in it.
    #[serde(borrow, default)]
    pub content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub hook_event: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub blocking_error: Option<&'a RawValue>,
    /// The prompt that waited while the agent worked.
    #[serde(borrow, default)]
    pub prompt: Option<WireContent<'a>>,
    /// `prompt` where the user typed it.
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub command_mode: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub origin: Option<&'a RawValue>,
    #[serde(default)]
    pub is_meta: Option<bool>,
    /// The path of a folder that was mentioned.
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub path: Option<Text<'a>>,
    /// The name of the style that answers have.
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub style: Option<Text<'a>>,
    /// The part of a file that was changed.
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub snippet: Option<Text<'a>>,
}

/// A text of an attachment as the model was told it.
#[derive(serde::Deserialize)]
pub(super) struct WireRendered<'a> {
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    pub content: Option<Text<'a>>,
}

/// Whether the client says that somebody else than the user gave a prompt: a task that ended, another agent.
pub(super) fn is_from_elsewhere(origin: Option<&RawValue>) -> bool {
    #[derive(serde::Deserialize)]
    struct Origin<'a> {
        #[serde(borrow)]
        kind: Text<'a>,
    }
    let origin = origin.and_then(|raw| serde_json::from_str::<Origin<'_>>(raw.get()).ok());
    origin.is_some_and(|origin| &*origin.kind != "human")
}

/// The content of a `file` attachment.
#[derive(serde::Deserialize)]
pub(super) struct WireMentioned<'a> {
    #[serde(borrow, default)]
    pub file: Option<WireMentionedFile<'a>>,
}

#[derive(serde::Deserialize)]
pub(super) struct WireMentionedFile<'a> {
    #[serde(borrow, default)]
    pub content: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub base64: Option<Text<'a>>,
    #[serde(borrow, default, rename = "type")]
    pub media_type: Option<Text<'a>>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireCompaction<'a> {
    #[serde(borrow, default)]
    pub preserved_segment: Option<WireSegment<'a>>,
}

#[derive(serde::Deserialize)]
pub(super) struct WireSegment<'a> {
    #[serde(borrow, rename = "headUuid")]
    pub head: Text<'a>,
    #[serde(borrow, default, rename = "anchorUuid")]
    pub anchor: Option<Text<'a>>,
    #[serde(borrow, rename = "tailUuid")]
    pub tail: Text<'a>,
}

/// The limits that an error line may tell.
#[derive(serde::Deserialize)]
pub(super) struct WireErrorParams {
    #[serde(default)]
    pub rate_limit_info: Option<WireRateLimit>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireRateLimit {
    #[serde(default)]
    pub resets_at: Option<i64>,
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

/// The blocks of a message; nothing where it is a string.
fn blocks_or_none<'de: 'a, 'a, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<WirePastBlock<'a>>>, D::Error> {
    struct BlocksVisitor;
    impl<'de> Visitor<'de> for BlocksVisitor {
        type Value = Option<Vec<WirePastBlock<'de>>>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a string or a list of blocks")
        }

        fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let mut blocks = Vec::new();
            while let Some(block) = seq.next_element()? {
                blocks.push(block);
            }
            Ok(Some(blocks))
        }
    }
    deserializer.deserialize_any(BlocksVisitor)
}
