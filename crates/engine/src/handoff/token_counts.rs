//! Which reply a client's figures belong to.

use std::collections::BTreeMap;

use carryover_core::transcript::{Body, Entry, EntryKey, NodeId, Origin};

/// The tokens that the model wrote, by the reply that they were written for. What was called without a word is nobody's.
pub(crate) fn reply_tokens(entries: &[Entry]) -> BTreeMap<EntryKey, u64> {
    let mut tokens = BTreeMap::new();
    // A reply whose figures follow, and figures whose reply follows.
    let (mut waiting, mut ahead) = (None, None);
    let mut last: Option<(NodeId, EntryKey)> = None;
    for entry in entries.iter().filter(|entry| !entry.side) {
        match (&entry.body, entry.usage()) {
            (_, Some(usage)) if usage.tokens.output == 0 => {}
            (_, Some(usage)) if usage.precedes => (waiting, ahead) = (None, Some(usage.tokens.output)),
            (_, Some(usage)) => {
                // The last telling of a reply is the whole one.
                let same = last.filter(|(reply, _)| usage.reply == Some(*reply)).map(|(_, key)| key);
                if let Some(key) = same.or(waiting) {
                    tokens.insert(key, usage.tokens.output);
                    last = usage.reply.map(|reply| (reply, key));
                }
                waiting = None;
            }
            (Body::Reply(_), _) => match ahead.take() {
                Some(output) => drop(tokens.insert(entry.key, output)),
                None => waiting = Some(entry.key),
            },
            (Body::Prompt(_), _) if entry.origin == Origin::User => (waiting, ahead) = (None, None),
            _ => {}
        }
    }
    tokens
}
