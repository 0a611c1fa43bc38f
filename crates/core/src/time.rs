//! Points in time, in milliseconds, as agents write them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The first millisecond of 1970.
    pub const EPOCH: Self = Self(0);

    /// Wraps milliseconds, held within the years that can be written.
    pub fn from_millis(millis: i64) -> Self {
        // 9999-12-30 and its mirror: a day within what can be written, whatever the time zone.
        const FARTHEST_MILLIS: i64 = 253_402_128_000_000;
        Self(millis.clamp(-FARTHEST_MILLIS, FARTHEST_MILLIS))
    }

    /// Reads an RFC 3339 time; anything else is `None`.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse::<jiff::Timestamp>().ok().map(|at| Self(at.as_millisecond()))
    }

    pub fn millis(self) -> i64 {
        self.0
    }

    pub fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// This time moved by some milliseconds.
    #[must_use]
    pub fn plus_millis(self, millis: i64) -> Self {
        Self::from_millis(self.0.saturating_add(millis))
    }

    fn to_instant(self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
    }
}

/// RFC 3339 in UTC with milliseconds, the form that all agents read.
impl fmt::Display for Timestamp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:.3}", self.to_instant())
    }
}

/// Times as text, for JSON that people read; elsewhere they are milliseconds.
pub mod text {
    use serde::Serializer;

    use super::Timestamp;

    /// A time.
    pub fn known<S: Serializer>(at: &Timestamp, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(at)
    }

    /// A time that may not be known.
    pub fn perhaps<S: Serializer>(at: &Option<Timestamp>, out: S) -> Result<S::Ok, S::Error> {
        match at {
            Some(at) => out.collect_str(at),
            None => out.serialize_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_survive_writing_and_reading() {
        for text in ["2026-11-15T00:56:22.031Z", "1969-12-31T23:59:59.999Z", "2026-11-15T00:56:22.000Z"] {
            assert_eq!(Timestamp::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn times_out_of_range_are_held_at_the_edge() {
        assert!(Timestamp::from_millis(i64::MAX).to_string().starts_with("9999-"));
        assert!(Timestamp::parse("yesterday").is_none());
    }
}
