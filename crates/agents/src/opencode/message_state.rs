//! The messages of a session in their order, and what became of each: the client keeps everything and decides anew, at
//! every turn, what its model sees.

use std::collections::BTreeMap;

use carryover_core::transcript::{Compaction, NodeId};

use super::part_buffer::{PartBuffer, RawPart};
use super::stored_session::{MessageHead, Session, StoredSession};
use super::wire::{WireInfo, WirePart};
use crate::formats::ids;

/// The state of a message in the context.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct MessageState {
    /// The message before it.
    pub before: Option<NodeId>,
    /// It asks for a compaction that came about: the context begins anew here.
    pub barrier: Option<Compaction>,
    /// It is the summary of such a compaction.
    pub is_summary: bool,
    pub reverted: Reverted,
}

/// How much of a message was taken back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Reverted {
    #[default]
    Nothing,
    /// From this part on.
    From(String),
    All,
}

/// The state of every message of a session.
pub(super) fn resolve_states(
    kept: &dyn StoredSession,
    session: &Session,
    heads: &[MessageHead],
) -> rusqlite::Result<Vec<MessageState>> {
    let mut fates: Vec<MessageState> = Vec::with_capacity(heads.len());
    let mut before = None;
    for head in heads {
        fates.push(MessageState { before, ..MessageState::default() });
        before = Some(NodeId::from_name(&head.message.id));
    }
    let summaries: Vec<(usize, String)> =
        heads.iter().enumerate().filter_map(|(index, head)| Some((index, compaction_request(head)?))).collect();
    if summaries.is_empty() && session.revert.is_none() {
        return Ok(fates);
    }
    let places: BTreeMap<&str, usize> =
        heads.iter().enumerate().map(|(index, head)| (head.message.id.as_str(), index)).collect();
    for (index, asked) in summaries {
        let Some(asked) = places.get(asked.as_str()).copied() else { continue };
        if asked >= index || fates[asked].barrier.is_some() {
            continue;
        }
        let mut parts = PartBuffer::default();
        kept.read_parts(&heads[asked].message.id, &mut parts)?;
        let Some(tail) = parts.parts(0..parts.len()).find_map(read_compaction) else { continue };
        let kept_from = tail.and_then(|tail| places.get(tail.as_str()).copied()).filter(|tail| *tail < asked);
        let node = |index: usize| NodeId::from_name(&heads[index].message.id);
        fates[asked].barrier = Some(Compaction {
            kept: kept_from.map(|from| (node(from), node(asked - 1))),
            anchor: Some(node(index)),
            ..Compaction::default()
        });
        fates[index].is_summary = true;
    }
    apply_revert(session, &places, &mut fates);
    Ok(fates)
}

fn apply_revert(session: &Session, places: &BTreeMap<&str, usize>, fates: &mut [MessageState]) {
    let Some(revert) = &session.revert else { return };
    let Some(from) = places.get(revert.message.as_str()).copied() else { return };
    for fate in &mut fates[from..] {
        fate.reverted = Reverted::All;
    }
    if let Some(part) = &revert.part {
        fates[from].reverted = Reverted::From(part.clone());
    }
}

/// The message that asked for the compaction which this one finishes. One that failed finishes none.
fn compaction_request(head: &MessageHead) -> Option<String> {
    let text = head.message.as_part().record.ok()?;
    // Most messages are none, and need not be parsed to know it. (With escapes, the word may be spelt in other ways.)
    if memchr::memmem::find(text.as_bytes(), b"\"summary\"").is_none() && !text.contains('\\') {
        return None;
    }
    let info: WireInfo<'_> = serde_json::from_str(text).ok()?;
    let finished = info.summary && &*info.role == "assistant" && info.finish.is_some() && info.error.is_none();
    info.parent.filter(|_| finished)
}

/// Whether a part asks for a compaction, and from which message on it keeps what there was.
#[expect(clippy::option_option, reason = "it is one, and it may keep something")]
fn read_compaction(part: RawPart<'_>) -> Option<Option<String>> {
    let part: WirePart<'_> = serde_json::from_str(part.record.ok()?).ok()?;
    (&*part.kind == "compaction").then_some(part.tail_start_id)
}

impl MessageState {
    /// Takes it into a digest: a message that is what it was may still mean something else.
    pub(super) fn extend_digest(&self, digest: u64) -> u64 {
        // Nothing became of most.
        if self.barrier.is_none() && self.reverted == Reverted::Nothing && !self.is_summary {
            return ids::extend_digest(digest, b"None Nothing false");
        }
        let told = format!("{:?} {:?} {}", self.barrier, self.reverted, self.is_summary);
        ids::extend_digest(digest, told.as_bytes())
    }
}
