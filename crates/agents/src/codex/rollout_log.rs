//! The bytes of a rollout in the making: one record a line, numbered where the shape wants it.

use carryover_core::time::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// A payload of our own, or one that is written back as it was.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub(super) enum Payload {
    Made(Value),
    Native(Box<RawValue>),
}

#[derive(Serialize)]
struct WireOut<'a> {
    timestamp: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ordinal: Option<u64>,
    #[serde(rename = "type")]
    kind: &'a str,
    payload: &'a Payload,
}

/// Records, appended.
#[derive(Debug)]
pub(super) struct RolloutLog {
    bytes: Vec<u8>,
    /// The next number; clients that page through a session want one on every line.
    ordinal: Option<u64>,
    /// The time of the newest record.
    pub(super) at: Timestamp,
}

impl RolloutLog {
    pub(super) fn new(at: Timestamp, is_paginated: bool) -> Self {
        Self { bytes: Vec::new(), ordinal: is_paginated.then_some(0), at }
    }

    /// Whether clients read this log page by page, from display items.
    pub(super) fn is_paginated(&self) -> bool {
        self.ordinal.is_some()
    }

    /// Appends a record and says where it begins.
    pub(super) fn append(&mut self, kind: &str, payload: &Payload) -> u64 {
        let offset = self.bytes.len() as u64;
        let line = WireOut { timestamp: self.at.to_string(), ordinal: self.ordinal, kind, payload };
        // Writing plain values into memory cannot fail; a half line would be worse than none.
        match serde_json::to_writer(&mut self.bytes, &line) {
            Ok(()) => self.bytes.push(b'\n'),
            Err(_) => self.bytes.truncate(usize::try_from(offset).unwrap_or(usize::MAX)),
        }
        self.ordinal = self.ordinal.map(|ordinal| ordinal + 1);
        offset
    }

    pub(super) fn append_event(&mut self, payload: Value) -> u64 {
        self.append("event_msg", &Payload::Made(payload))
    }

    /// A display item, in the shape that has them.
    pub(super) fn append_display_item(&mut self, thread: &str, turn: &str, item: &Value) -> Option<u64> {
        let at = self.at.millis();
        self.is_paginated().then(|| {
            self.append_event(json!({
                "type": "item_completed", "thread_id": thread, "turn_id": turn, "item": item,
                "started_at_ms": at, "completed_at_ms": at,
            }))
        })
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
