//! Strings of a record, borrowed from its line where they hold no escapes.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use carryover_core::transcript::BlobLocation;
use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A string that costs nothing unless it must be unescaped. (`Option<Cow<str>>` is always copied by serde.)
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Text<'a>(pub Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a string")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(text)))
    }
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Text<'_> {
    /// Where the string stands in its line, if it stands there as it is.
    pub fn offset_in(&self, line: &[u8]) -> Option<usize> {
        let Cow::Borrowed(text) = self.0 else { return None };
        let start = (text.as_ptr() as usize).checked_sub(line.as_ptr() as usize)?;
        (line.get(start..start + text.len()) == Some(text.as_bytes())).then_some(start)
    }

    /// Where the Base64 of a record is: mostly it stands in the line as it is, and its place is enough. The line is known by
    /// its file and its offset.
    pub fn blob_location(&self, line: &[u8], (file, offset): (u16, u64)) -> BlobLocation {
        match self.offset_in(line) {
            Some(start) => BlobLocation::Encoded { file, offset: offset + start as u64, length: self.len() as u64 },
            None => BlobLocation::Inline((&**self).into()),
        }
    }
}

/// Prints the length only.
impl fmt::Debug for Text<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Text({} bytes)", self.0.len())
    }
}

/// A string, or nothing where the value is of another kind: a field that drifted must not cost its record.
pub fn text_or_none<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Text<'a>>, D::Error> {
    struct Lenient;
    impl<'de> Visitor<'de> for Lenient {
        type Value = Option<Text<'de>>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("anything")
        }

        fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
            TextVisitor.visit_borrowed_str(text).map(Some)
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
            TextVisitor.visit_str(text).map(Some)
        }

        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            while seq.next_element::<serde::de::IgnoredAny>()?.is_some() {}
            Ok(None)
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<serde::de::IgnoredAny, serde::de::IgnoredAny>()?.is_some() {}
            Ok(None)
        }
    }
    deserializer.deserialize_any(Lenient)
}
