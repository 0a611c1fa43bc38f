//! A line of `exchanges.jsonl`: one request and what came back.

use carryover_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::body::BodyRecord;

/// A header's name and value; the value of a key is stripped.
pub type Header = (String, String);

/// A request without its body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestHead {
    pub method: String,
    /// Path and query below the service's address.
    pub path: String,
    pub headers: Vec<Header>,
}

/// An answer without its body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResponseHead {
    pub status: u16,
    pub headers: Vec<Header>,
}

/// How an exchange ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The answer came to its end.
    Complete,
    /// The client went away before.
    ClientHungUp,
    /// The service went away before.
    UpstreamHungUp,
    /// The service could not be reached.
    Unreachable,
}

/// One request and what came back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// From 1, in the order in which requests began.
    pub number: u64,
    /// The service's place in the list of `recording.json`.
    pub service: usize,
    pub started_at: Timestamp,
    pub ended_at: Timestamp,
    pub request: RequestHead,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_body: Option<BodyRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<ResponseHead>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_body: Option<BodyRecord>,
    pub ending: Ending,
    /// Why its service could not be reached, or did not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Bytes are missing: the disk was full, or slower than the network for too long.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_gaps: bool,
}

impl RequestHead {
    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The path without its query.
    pub fn route(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }
}
