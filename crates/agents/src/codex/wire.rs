//! Codex's records as it writes them: flat structs whose texts borrow from the line.
//!
//! Internally tagged enums would buffer every record, so each kind has one struct with optional fields; what a field
//! holds is decided where the record is read.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::formats::text::Text;

/// One record: an envelope around a payload.
#[derive(Debug, Deserialize)]
pub(super) struct WireLine<'a, P> {
    #[serde(borrow, default)]
    pub(super) timestamp: Option<Text<'a>>,
    #[serde(default)]
    pub(super) ordinal: Option<u64>,
    pub(super) payload: P,
    #[serde(default)]
    pub(super) metadata: Option<WireMetadata>,
}

/// The fields beside a payload.
#[derive(Debug, Default, Deserialize)]
pub(super) struct WireMetadata {
    #[serde(default)]
    pub(super) compaction_output: Option<bool>,
}

/// A record whose kind could not be told from its beginning; also the bare records of the first versions.
#[derive(Debug, Deserialize)]
pub(super) struct WireLoose<'a> {
    #[serde(borrow, rename = "type", default)]
    pub(super) kind: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) record_type: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) payload: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) role: Option<&'a RawValue>,
}

/// An item of the Responses API: a message, a call, an output, reasoning.
#[derive(Debug, Deserialize)]
pub(super) struct WireItem<'a> {
    #[serde(borrow, rename = "type", default)]
    pub(super) kind: Text<'a>,
    #[serde(borrow, default)]
    pub(super) role: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) content: WireContents<'a>,
    #[serde(borrow, default)]
    pub(super) summary: WireContents<'a>,
    #[serde(borrow, default)]
    pub(super) encrypted_content: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) call_id: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) name: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) namespace: Option<Text<'a>>,
    /// A string in function calls; other kinds have an object here.
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) input: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) output: WireContents<'a>,
    #[serde(borrow, default)]
    pub(super) action: Option<&'a RawValue>,
    #[serde(borrow, rename = "internal_chat_message_metadata_passthrough", default)]
    pub(super) passthrough: Option<WirePassthrough<'a>>,
}

/// The labels that 0.166 gives the parts of a message.
#[derive(Debug, Deserialize)]
pub(super) struct WirePassthrough<'a> {
    #[serde(borrow, default)]
    pub(super) content_item_kinds: Option<Vec<Text<'a>>>,
    #[serde(borrow, default)]
    pub(super) content_item_metadata: Option<Vec<WirePartMetadata<'a>>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct WirePartMetadata<'a> {
    #[serde(borrow, default)]
    pub(super) provenance: Option<WireProvenance<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct WireProvenance<'a> {
    #[serde(borrow, rename = "type", default)]
    pub(super) kind: Option<Text<'a>>,
    #[serde(default)]
    pub(super) hook: Option<bool>,
}

/// One part of a message or an output.
#[derive(Debug, Default, Deserialize)]
pub(super) struct WireContent<'a> {
    #[serde(borrow, default)]
    pub(super) text: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) image_url: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) file_data: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) filename: Option<Text<'a>>,
}

impl WireContent<'_> {
    /// The same with another text, or with none; what it borrows stays where it is.
    pub(super) fn with_text<'s>(&'s self, text: Option<&'s str>) -> WireContent<'s> {
        let borrow = |text: &'s Option<Text<'_>>| text.as_deref().map(|text| Text(Cow::Borrowed(text)));
        WireContent {
            text: text.map(|text| Text(Cow::Borrowed(text))),
            image_url: borrow(&self.image_url),
            file_data: borrow(&self.file_data),
            filename: borrow(&self.filename),
        }
    }
}

/// A list of parts; a plain string counts as one text, nothing as none.
#[derive(Debug, Default)]
pub(super) struct WireContents<'a>(pub(super) Vec<WireContent<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for WireContents<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentsVisitor)
    }
}

struct ContentsVisitor;

impl<'de> ContentsVisitor {
    fn single_text(text: Cow<'de, str>) -> WireContents<'de> {
        WireContents(vec![WireContent { text: Some(Text(text)), ..WireContent::default() }])
    }
}

impl<'de> Visitor<'de> for ContentsVisitor {
    type Value = WireContents<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list of parts, a string or nothing")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(WireContents::default())
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Self::single_text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Self::single_text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = list.next_element()? {
            parts.push(part);
        }
        Ok(WireContents(parts))
    }

    /// Some early versions wrapped an output: `{"content": …, "success": …}`.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut contents = WireContents::default();
        while let Some(key) = map.next_key::<Text<'de>>()? {
            if &*key == "content" {
                contents = map.next_value()?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(contents)
    }
}

/// The fields of an event that are more than display.
#[derive(Debug, Deserialize)]
pub(super) struct WireEvent<'a> {
    #[serde(borrow, rename = "type", default)]
    pub(super) kind: Text<'a>,
    #[serde(default)]
    pub(super) num_turns: Option<u32>,
    #[serde(borrow, default)]
    pub(super) reason: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) error: Option<WireError<'a>>,
    /// Of an event that is itself an error.
    #[serde(borrow, default)]
    pub(super) message: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) codex_error_info: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct WireError<'a> {
    #[serde(borrow, default)]
    pub(super) message: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) codex_error_info: Option<&'a RawValue>,
}

/// What `read_token_count` tells: the tokens so far and of the last reply, and how far the limits are used up.
#[derive(Debug, Deserialize)]
pub(super) struct WireTokenCount<'a> {
    #[serde(borrow, default)]
    pub(super) info: Option<WireTokenInfo<'a>>,
    #[serde(default)]
    pub(super) rate_limits: Option<WireLimits>,
}

#[derive(Debug, Deserialize)]
pub(super) struct WireTokenInfo<'a> {
    #[serde(borrow, default)]
    pub(super) total_token_usage: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) last_token_usage: Option<WireTokens>,
}

/// Tokens from a cache are part of the input, tokens of thinking part of the output.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireTokens {
    #[serde(rename = "input_tokens")]
    pub(super) input: Option<u64>,
    #[serde(rename = "cached_input_tokens")]
    pub(super) cached_input: Option<u64>,
    #[serde(rename = "cache_write_input_tokens")]
    pub(super) cache_write_input: Option<u64>,
    #[serde(rename = "output_tokens")]
    pub(super) output: Option<u64>,
    #[serde(rename = "reasoning_output_tokens")]
    pub(super) reasoning_output: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct WireLimits {
    #[serde(default)]
    pub(super) primary: Option<WireLimit>,
    #[serde(default)]
    pub(super) secondary: Option<WireLimit>,
}

#[derive(Debug, Deserialize)]
pub(super) struct WireLimit {
    #[serde(default)]
    pub(super) used_percent: Option<f64>,
    #[serde(default)]
    pub(super) window_minutes: Option<u32>,
    #[serde(default)]
    pub(super) resets_at: Option<i64>,
    /// Written by 0.44 and its neighbours instead.
    #[serde(default)]
    pub(super) resets_in_seconds: Option<i64>,
}

/// The settings of one turn.
#[derive(Debug, Deserialize)]
pub(super) struct WireTurnContext<'a> {
    #[serde(borrow, default)]
    pub(super) cwd: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) model: Option<Text<'a>>,
    /// A word, or an object of finer rules.
    #[serde(borrow, default)]
    pub(super) approval_policy: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) sandbox_policy: Option<WireSandbox<'a>>,
    /// The rules of the sandbox, where they are given in detail.
    #[serde(borrow, default)]
    pub(super) permission_profile: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) collaboration_mode: Option<&'a RawValue>,
    /// How hard the model thinks; in the mode's own settings in later versions.
    #[serde(borrow, default)]
    pub(super) effort: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) summary: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) personality: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct WireSandbox<'a> {
    /// `mode` in the versions before 0.98.
    #[serde(borrow, rename = "type", alias = "mode", default)]
    pub(super) kind: Option<Text<'a>>,
}

/// A compaction.
#[derive(Debug, Deserialize)]
pub(super) struct WireCompacted<'a> {
    #[serde(borrow, default)]
    pub(super) message: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) replacement_history: Option<Vec<WireItem<'a>>>,
}
