//! Fields that may drift: a value of another type than it had costs itself, and not its record.

use carryover_core::time::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A value, or nothing where it is of another type.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Lenient<T>(pub Option<T>);

impl<T> Default for Lenient<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Ok(Self(serde_json::from_value(value).ok()))
    }
}

/// A time in milliseconds, which scripts write with a fraction.
#[expect(clippy::cast_possible_truncation, reason = "times are far below the limit, and others are cut to it")]
pub(super) fn time(millis: f64) -> Option<Timestamp> {
    (millis >= 1.0).then(|| Timestamp::from_millis(millis as i64))
}

/// A text that is JSON in itself, read as a type.
pub(super) fn parse_nested<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str(text).ok()
}
