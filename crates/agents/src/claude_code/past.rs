//! Records from before the last compaction, told by kind and place only.
//!
//! Most of a long session is of that kind, and most of such a record is text that nobody will see: it is passed over
//! without being copied.

use std::borrow::Cow;

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Entry, EntryKey, Node, NodeId, Origin};

use super::record::{self, Parsed, SYNTHETIC, Said};
use super::wire::WirePastRecord;
use super::{attachment, usage};
use crate::formats::jsonl::Line;

/// Shorter records are as quickly read whole.
const WORTH_PASSING_OVER: usize = 2 << 10;

/// Reads a line of the past.
pub(super) fn parse(said: &mut Said, line: Line<'_>, file: u16) -> Option<Parsed> {
    if line.bytes.len() >= WORTH_PASSING_OVER
        // From bytes: what is passed over need not be checked to be UTF-8.
        && let Ok(past) = serde_json::from_slice::<WirePastRecord<'_>>(line.bytes)
        && let Some(parsed) = passed_over(said, &past, line, file)
    {
        return Some(parsed);
    }
    let mut parsed = record::parse_after(said, line, file)?;
    parsed.entries.iter_mut().for_each(Entry::reduce);
    Some(parsed)
}

/// The entries of a record whose kinds tell all that matters; prompts of the user tell more.
fn passed_over(before: &mut Said, past: &WirePastRecord<'_>, line: Line<'_>, file: u16) -> Option<Parsed> {
    let uuid = past.uuid.as_deref()?;
    let group = past.message.as_ref().and_then(|message| message.id.as_deref());
    let (kinds, group) = match &*past.kind {
        "assistant" if past.is_api_error_message != Some(true) => (said(past)?, group.map(NodeId::of)),
        "user" if past.is_compact_summary != Some(true) => (heard(past)?, None),
        "attachment" => (attached(past)?, None),
        _ => return None,
    };
    let parent = past.parent_uuid.as_deref().map(NodeId::of);
    let node = Some(Node { id: NodeId::of(uuid), parent, group });
    let key = line.key(file);
    let at = past.timestamp.as_deref().and_then(Timestamp::parse);
    let side = past.is_sidechain == Some(true);
    let mut parsed = Parsed::empty(key);
    parsed.more.chained = true;
    let message = past.message.as_ref();
    parsed.facts.extend(before.model(message.and_then(|message| message.model.as_deref())));
    parsed.put(at, side, node, kinds.into_iter().map(|(origin, kind)| (origin, Body::Opaque(kind))));
    let usage = message.and_then(|message| usage::of(message.usage, message.id.as_deref()));
    if let (Some(usage), Some(last)) = (usage, parsed.entries.last()) {
        let key = EntryKey { part: last.key.part.saturating_add(1), ..key };
        parsed.entries.push(Entry { key, at, origin: Origin::Harness, side, node, body: usage.into_body() });
    }
    Some(parsed)
}

/// Whose, and of what kind.
type Kinds = Vec<(Origin, Cow<'static, str>)>;

fn said(past: &WirePastRecord<'_>) -> Option<Kinds> {
    let message = past.message.as_ref()?;
    let origin = if message.model.as_deref() == Some(SYNTHETIC) { Origin::Harness } else { Origin::Agent };
    let kinds = message.content.as_ref()?.iter().map(|block| match &*block.kind {
        "text" => Some((origin, Cow::Borrowed("reply"))),
        "thinking" | "redacted_thinking" => Some((origin, Cow::Borrowed("reasoning"))),
        "tool_use" => Some((origin, Cow::Borrowed("call"))),
        _ => None,
    });
    kinds.collect()
}

/// Outcomes by their kind; anything that was typed is left to a whole reading, for it may name the session.
fn heard(past: &WirePastRecord<'_>) -> Option<Kinds> {
    let kinds = past.message.as_ref()?.content.as_ref()?.iter().map(|block| match &*block.kind {
        "tool_result" => Some((Origin::Agent, Cow::Borrowed("outcome"))),
        _ => None,
    });
    kinds.collect()
}

/// The client's own context; files and prompts that came as attachments are left to a whole reading.
fn attached(past: &WirePastRecord<'_>) -> Option<Kinds> {
    let kind = &*past.attachment.as_ref()?.kind;
    (!attachment::may_be_sent(kind)).then(|| vec![(Origin::Harness, Cow::Owned(format!("attachment/{kind}")))])
}
