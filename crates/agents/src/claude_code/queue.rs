//! The prompts that wait while the agent works.

use carryover_core::transcript::{Body, Note, QueueChange};

use super::boilerplate;
use super::command;
use super::wire::WireRecord;

/// A record's change of the queue. The client's own notices wait in the same queue, and so do commands for the client:
/// neither is a prompt.
pub(super) fn read_change(record: &WireRecord<'_>) -> Body {
    let words = record.content.as_deref();
    if words.is_some_and(is_client_text) {
        return Body::known("queue-operation/client");
    }
    let change = match (record.operation.as_deref(), words) {
        (Some("enqueue"), Some(words)) => QueueChange::Added(words.to_owned()),
        // With a picture in it, a prompt that waits is not written down; when it is taken, it is.
        (Some("enqueue"), None) => return Body::known("queue-operation/enqueue"),
        (Some("dequeue"), _) | (Some("remove"), None) => QueueChange::Taken,
        // One record for each that goes back to where it was typed; the first clients wrote one for all.
        (Some("remove" | "popAll"), Some(words)) => QueueChange::Removed(words.to_owned()),
        (Some("popAll"), None) => QueueChange::Cleared,
        _ => return Body::known("queue-operation"),
    };
    Body::Note(Note::Queue(change))
}

/// Whether something that waits is not for the agent, or not from the user.
fn is_client_text(words: &str) -> bool {
    let words = words.trim_start();
    boilerplate::is_external_message(words) || words.starts_with(r#"{"task_id":"#) || command::is_local_line(words)
}
