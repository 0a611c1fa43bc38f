//! Texts in a record: taken along, or skipped where nobody will see them.

use std::fmt;
use std::ops::Range;

use carryover_core::json::Json;
use serde::de::{Deserialize, Deserializer, Error, Unexpected};
use serde_json::value::RawValue;

use crate::formats::text::Text;

/// Words of a record, as far as the one who reads it needs them.
pub trait Words<'a>: Deserialize<'a> {
    /// Whether the words themselves are known; otherwise all that is made of them is reduced to its kind later.
    const ARE_KEPT: bool;

    fn from_borrowed(text: &'a str) -> Self;
    fn from_copy(text: &str) -> Self;
    fn is_empty(&self) -> bool;
    fn is_blank(&self) -> bool;
    fn into_string(self) -> String;
    fn read_json(raw: &RawValue) -> Json;
    /// Where they stand in their line, if they stand there as they are.
    fn range_in(&self, line: &[u8]) -> Option<Range<usize>>;
}

impl<'a> Words<'a> for Text<'a> {
    const ARE_KEPT: bool = true;

    fn from_borrowed(text: &'a str) -> Self {
        Self(text.into())
    }

    fn from_copy(text: &str) -> Self {
        Self(text.to_owned().into())
    }

    fn is_empty(&self) -> bool {
        str::is_empty(self)
    }

    fn is_blank(&self) -> bool {
        self.trim().is_empty()
    }

    fn into_string(self) -> String {
        self.0.into_owned()
    }

    fn read_json(raw: &RawValue) -> Json {
        Json::from_raw(raw)
    }

    fn range_in(&self, line: &[u8]) -> Option<Range<usize>> {
        Text::offset_in(self, line).map(|start| start..start + self.len())
    }
}

/// Words that were passed over: neither unescaped nor copied.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SkippedText {
    Empty,
    Blank,
    NonBlank,
}

impl SkippedText {
    fn from_text(text: &str) -> Self {
        match text {
            "" => Self::Empty,
            _ if text.trim_start().is_empty() => Self::Blank,
            _ => Self::NonBlank,
        }
    }

    /// Over a string as it stands between its quotes; `None` where it must be unescaped to know.
    fn from_escaped(text: &str) -> Option<Self> {
        // Letters by their number may be blanks, or none at all, which is an error.
        if memchr::memmem::find(text.as_bytes(), br"\u").is_some() {
            return None;
        }
        let mut rest = text.trim_start();
        while let Some(after) = [r"\n", r"\t", r"\r", r"\f"].iter().find_map(|blank| rest.strip_prefix(blank)) {
            rest = after.trim_start();
        }
        Some(match (text, rest) {
            ("", _) => Self::Empty,
            (_, "") => Self::Blank,
            _ => Self::NonBlank,
        })
    }
}

impl<'de> Deserialize<'de> for SkippedText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        let Some(text) = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')) else {
            return Err(D::Error::invalid_type(Unexpected::Other("another value"), &"a string"));
        };
        match Self::from_escaped(text) {
            Some(passed) => Ok(passed),
            None => serde_json::from_str::<Text<'_>>(raw).map(|text| Self::from_text(&text)).map_err(D::Error::custom),
        }
    }
}

impl<'a> Words<'a> for SkippedText {
    const ARE_KEPT: bool = false;

    fn from_borrowed(text: &'a str) -> Self {
        Self::from_text(text)
    }

    fn from_copy(text: &str) -> Self {
        Self::from_text(text)
    }

    fn is_empty(&self) -> bool {
        *self == Self::Empty
    }

    fn is_blank(&self) -> bool {
        *self != Self::NonBlank
    }

    fn into_string(self) -> String {
        String::new()
    }

    fn read_json(_: &RawValue) -> Json {
        Json::empty_object()
    }

    fn range_in(&self, _: &[u8]) -> Option<Range<usize>> {
        None
    }
}

impl fmt::Debug for SkippedText {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("words that were passed over")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same is known of words, whether they are taken along or not.
    #[test]
    fn passing_over_tells_blank_from_said() {
        for json in [
            r#""""#,
            r#"" ""#,
            r#""\n \t\r\f""#,
            r#""\n x""#,
            r#""\u0020\u00a0""#,
            r#""\u0041""#,
            r#""\b""#,
            r#"" \"""#,
            r#""\\u""#,
            "\"\u{3000}\"",
            "\"日本\"",
            r#""\ud800""#,
            "\"a\nb\"",
            "7",
            "null",
            "[\"a\"]",
        ] {
            let whole = serde_json::from_str::<Text<'_>>(json).ok();
            let passed = serde_json::from_str::<SkippedText>(json).ok();
            assert_eq!(
                whole.map(|words| (Words::is_empty(&words), words.is_blank())),
                passed.map(|words| (words.is_empty(), words.is_blank())),
                "{json}"
            );
        }
    }
}
