//! Texts of a record as they stand between their quotes: unescaped once, into a string of the right size, and only where
//! somebody wants them.

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer, Error, Unexpected};
use serde_json::value::RawValue;

/// What is said of a text that looks like one and is none.
const BROKEN: &str = "half a letter";

/// A string of a record.
#[derive(Clone)]
pub(super) enum Quoted<'a> {
    /// As it stands there; of its escapes, none is of a letter by its number.
    Escaped(&'a str),
    Plain(String),
}

impl Default for Quoted<'_> {
    fn default() -> Self {
        Self::Escaped("")
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Quoted<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        let Some(text) = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')) else {
            return Err(D::Error::invalid_type(Unexpected::Other("another value"), &"a string"));
        };
        // Two of these may be one letter, and one of them none: that is for the parser to say.
        if memchr::memmem::find(text.as_bytes(), br"\u").is_some() {
            return serde_json::from_str(raw).map(Self::Plain).map_err(|_| D::Error::custom(BROKEN));
        }
        Ok(Self::Escaped(text))
    }
}

impl<'a> Quoted<'a> {
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Escaped(text) => text.is_empty(),
            Self::Plain(text) => text.is_empty(),
        }
    }

    pub(super) fn into_string(self) -> String {
        match self {
            Self::Escaped(text) => unescaped(text),
            Self::Plain(text) => text,
        }
    }

    /// Its text, which is borrowed where it holds no escapes.
    pub(super) fn into_text(self) -> Cow<'a, str> {
        match self {
            Self::Escaped(text) if memchr::memchr(b'\\', text.as_bytes()).is_none() => Cow::Borrowed(text),
            other => Cow::Owned(other.into_string()),
        }
    }
}

/// Whether a record could not be read because of such a text; the parser would call that no JSON.
pub(super) fn is_broken(error: &serde_json::Error) -> bool {
    error.is_data() && error.to_string().starts_with(BROKEN)
}

/// Takes the escapes out of what a parser has found to be right.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let letter = rest.as_bytes().get(at + 1).copied().unwrap_or(b'\\');
        out.push(match letter {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            other => char::from(other),
        });
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text is what the parser makes of it, and an error where that finds one.
    #[test]
    fn texts_are_what_the_parser_makes_of_them() {
        for json in [
            r#""""#,
            r#""plain""#,
            r#""\n""#,
            r#""a\"b\\c\/d\be\ff\ng\rh\ti""#,
            r#""\\n\\\n\\\\""#,
            r#""\\u0041""#,
            r#""\u0041\ud83d\ude00é日本\t""#,
            r#""\ud800""#,
            r#""\ude00 x""#,
            r#""\x""#,
            r#""\u00""#,
            "\"a\nb\"",
            "\"open",
            "7",
            "null",
            "true",
            "[\"a\"]",
            "{}",
        ] {
            let parsed = serde_json::from_str::<String>(json);
            let quoted = serde_json::from_str::<Quoted<'_>>(json);
            if let (Err(theirs), Err(ours)) = (&parsed, &quoted) {
                assert_eq!(theirs.is_data(), ours.is_data() && !is_broken(ours), "{json}");
            }
            let text = quoted.as_ref().ok().map(|quoted| quoted.clone().into_text().into_owned());
            assert_eq!(
                (text, quoted.ok().map(Quoted::into_string)),
                (parsed.as_ref().ok().cloned(), parsed.ok()),
                "{json}"
            );
        }
    }
}
