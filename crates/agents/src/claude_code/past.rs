//! Records from before the last compaction, told by kind and place only.
//!
//! Most of a long session is of that kind, and most of such a record is text that nobody will see: it is passed over
//! without being copied.

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Entry, EntryKey, Node, NodeId, Origin};

use super::record::{self, LastFacts, Parsed, SYNTHETIC_MODEL};
use super::wire::WirePastRecord;
use super::{attachment, usage};
use crate::formats::jsonl::Line;

/// Shorter records are as quickly read whole.
const MIN_SKIPPED_BYTES: usize = 2 << 10;

/// Reads a line of the past.
pub(super) fn parse(said: &mut LastFacts, line: Line<'_>, file: u16) -> Option<Parsed> {
    if line.bytes.len() >= MIN_SKIPPED_BYTES
        // From bytes: what is passed over need not be checked to be UTF-8.
        && let Ok(past) = serde_json::from_slice::<WirePastRecord<'_>>(line.bytes)
        && let Some(parsed) = parse_kinds(said, &past, line, file)
    {
        return Some(parsed);
    }
    let mut parsed = record::parse_after(said, line, file)?;
    parsed.entries.iter_mut().for_each(Entry::reduce);
    Some(parsed)
}

/// The entries of a record whose kinds tell all that matters; prompts of the user tell more.
fn parse_kinds(before: &mut LastFacts, past: &WirePastRecord<'_>, line: Line<'_>, file: u16) -> Option<Parsed> {
    let uuid = past.uuid.as_deref()?;
    let group = past.message.as_ref().and_then(|message| message.id.as_deref());
    let (bodies, group) = match &*past.kind {
        "assistant" if past.is_api_error_message != Some(true) => (reply_kinds(past)?, group.map(NodeId::from_name)),
        "user" if past.is_compact_summary != Some(true) => (outcome_kinds(past)?, None),
        "attachment" => (attachment_kinds(past)?, None),
        _ => return None,
    };
    let parent = past.parent_uuid.as_deref().map(NodeId::from_name);
    let node = Some(Node { id: NodeId::from_name(uuid), parent, group });
    let key = line.key(file);
    let at = past.timestamp.as_deref().and_then(Timestamp::parse);
    let side = past.is_sidechain == Some(true);
    let mut parsed = Parsed::empty(key);
    parsed.more.chained = true;
    let message = past.message.as_ref();
    parsed.facts.extend(before.update_model(message.and_then(|message| message.model.as_deref())));
    parsed.push_entries(at, side, node, bodies);
    let usage = message.and_then(|message| usage::from_message(message.usage, message.id.as_deref()));
    if let (Some(usage), Some(last)) = (usage, parsed.entries.last()) {
        let key = EntryKey { part: last.key.part.saturating_add(1), ..key };
        parsed.entries.push(Entry { key, at, origin: Origin::Harness, side, node, body: usage.into_body() });
    }
    Some(parsed)
}

/// Whose, and what is left of it.
type ReducedBodies = Vec<(Origin, Body)>;

fn reply_kinds(past: &WirePastRecord<'_>) -> Option<ReducedBodies> {
    let message = past.message.as_ref()?;
    let origin = if message.model.as_deref() == Some(SYNTHETIC_MODEL) { Origin::Harness } else { Origin::Agent };
    let kinds = message.content.as_ref()?.iter().map(|block| match &*block.kind {
        "text" => Some((origin, Body::reduced("reply"))),
        "thinking" | "redacted_thinking" => Some((origin, Body::reduced("reasoning"))),
        "tool_use" => Some((origin, Body::reduced("call"))),
        _ => None,
    });
    kinds.collect()
}

/// Outcomes by their kind; anything that was typed is left to a whole reading, for it may name the session.
fn outcome_kinds(past: &WirePastRecord<'_>) -> Option<ReducedBodies> {
    let kinds = past.message.as_ref()?.content.as_ref()?.iter().map(|block| match &*block.kind {
        "tool_result" => Some((Origin::Agent, Body::reduced("outcome"))),
        _ => None,
    });
    kinds.collect()
}

/// The client's own context; files and prompts that came as attachments are left to a whole reading.
fn attachment_kinds(past: &WirePastRecord<'_>) -> Option<ReducedBodies> {
    let kind = &*past.attachment.as_ref()?.kind;
    (!attachment::may_be_sent(kind)).then(|| vec![attachment::unsent_body(kind)])
}
