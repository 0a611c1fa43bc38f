//! JSON kept as the text that its author wrote.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// One JSON value as text, byte for byte; never pretty-printed, never reordered.
#[derive(Clone, PartialEq, Eq)]
pub struct Json(Box<str>);

impl Json {
    /// Keeps the text of a value that a parser has already checked.
    pub fn from_raw(raw: &RawValue) -> Self {
        Self(raw.get().into())
    }

    /// Writes a value as JSON text.
    pub fn from_value(value: &serde_json::Value) -> Self {
        Self(value.to_string().into())
    }

    /// Takes text if it is one valid JSON value.
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str::<&RawValue>(text).ok().map(Self::from_raw)
    }

    /// The empty object.
    pub fn empty_object() -> Self {
        Self("{}".into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads it as a type; `None` where the shape differs.
    pub fn read_as<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(&self.0).ok()
    }

    /// Reads it as a generic value; text that nests too deep for the parser becomes a string.
    pub fn to_value(&self) -> serde_json::Value {
        self.read_as().unwrap_or_else(|| serde_json::Value::String(self.0.to_string()))
    }
}

/// Prints the length only: inputs of calls are transcript text and stay out of logs.
impl fmt::Debug for Json {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Json({} bytes)", self.0.len())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(|raw| Self::from_raw(&raw))
    }
}
