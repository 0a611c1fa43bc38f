//! Stores that append: the past is what stands before, unless a record says otherwise.

use crate::transcript::{Body, Entry, Origin};

/// The indices that survive compactions and roll-backs, in order.
pub(super) fn context_order(entries: &[Entry]) -> Vec<usize> {
    let mut alive: Vec<usize> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        match &entry.body {
            Body::Compacted(compacted) if compacted.keeps_prompts => {
                alive.retain(|index| is_user_prompt(&entries[*index]));
            }
            Body::Compacted(_) => alive.clear(),
            Body::Rewound { turns } => rewind_turns(entries, &mut alive, *turns),
            _ => alive.push(index),
        }
    }
    alive
}

/// The indices that survive roll-backs, in order.
pub(super) fn full_history(entries: &[Entry]) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        match &entry.body {
            Body::Rewound { turns } => rewind_turns(entries, &mut kept, *turns),
            _ => kept.push(index),
        }
    }
    kept
}

fn is_user_prompt(entry: &Entry) -> bool {
    entry.body.whole_kind() == "prompt" && entry.origin == Origin::User && !entry.side
}

/// Takes back the last turns; more turns than there are take back all.
fn rewind_turns(entries: &[Entry], alive: &mut Vec<usize>, turns: u32) {
    for _ in 0..turns {
        match alive.iter().rposition(|index| is_user_prompt(&entries[*index])) {
            Some(at) => alive.truncate(at),
            None => return alive.clear(),
        }
    }
}
