//! What of a record moves with a session: the conversation, by name. The client also takes folders that it may read and write
//! from the head of a log and from later changes to it.

use serde_json::Value;

use crate::formats::kept_fields::{Kept, KeptFields};

const MESSAGE_KINDS: &[&str] = &["error", "gemini", "info", "user", "warning"];

const MESSAGE: KeptFields = KeptFields {
    whole: &["id", "timestamp", "type", "content", "displayContent", "thoughts", "model", "tokens"],
    inside: &[("toolCalls", Kept::List(&CALL))],
};

const CALL: KeptFields = KeptFields::whole(&[
    "id",
    "name",
    "args",
    "result",
    "status",
    "timestamp",
    "displayName",
    "description",
    "resultDisplay",
    "renderOutputAsMarkdown",
]);

const HEAD: KeptFields =
    KeptFields::whole(&["sessionId", "projectHash", "startTime", "lastUpdated", "kind", "summary"]);

const CHANGE: KeptFields = KeptFields { whole: &[], inside: &[("$set", Kept::Object(&CHANGED))] };

const CHANGED: KeptFields =
    KeptFields { whole: &["sessionId", "lastUpdated", "summary"], inside: &[("messages", Kept::List(&MESSAGE))] };

const REWIND: KeptFields = KeptFields::whole(&["$rewindTo"]);

/// Keeps what may move of a record; whether any of it may.
pub(super) fn keep_record(record: &mut Value) -> bool {
    // In the order in which the client asks what a record is.
    let fields = if record.get("$rewindTo").is_some() {
        &REWIND
    } else if record.get("$set").is_some() {
        &CHANGE
    } else if is_message(record) {
        &MESSAGE
    } else if record.get("sessionId").is_some() {
        &HEAD
    } else {
        return false;
    };
    if !fields.keep(record) {
        return false;
    }
    if let Some(messages) = record.pointer_mut("/$set/messages").and_then(Value::as_array_mut) {
        messages.retain(is_message);
    }
    true
}

fn is_message(record: &Value) -> bool {
    MESSAGE_KINDS.iter().any(|kind| record["type"] == *kind)
}
