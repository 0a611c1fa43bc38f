//! The live context: the entries that the agent's model would see on its next turn.
//!
//! Branches are resolved by their leaf, compactions cut what stands before them, roll-backs take back what they name,
//! sub-agents' chatter and the harness's own text are left out, and calls without an outcome are closed the way the
//! client closes them.

mod close;
mod linear;
#[cfg(test)]
mod tests;
mod tree;

pub use close::pair_calls;

use crate::transcript::{Body, Entry, Origin, Transcript};

/// One element of the live context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiveItem {
    /// The entry at this index of the transcript.
    Entry(usize),
    /// The answer that the client gives to the call at this index, which never got one.
    Answer { call: usize, text: &'static str },
}

/// The indices of the entries on the live branch, in the order in which the model sees them.
///
/// Some of them may have been reduced to their positions: load those, then `close_calls`.
pub fn context_order(transcript: &Transcript) -> Vec<usize> {
    let entries = &transcript.entries;
    let branching = entries.iter().any(|entry| entry.node.is_some());
    let mut order = if branching { tree::context_order(entries) } else { linear::context_order(entries) };
    order.retain(|index| is_context(&entries[*index]));
    order
}

/// The indices of everything that happened on the branch in force, in the order in which it was recorded: also what
/// compactions took out of the context, and the failures, but not what was taken back, nor a sub-agent's chatter.
///
/// The compactions themselves are among them.
pub fn full_history(transcript: &Transcript) -> Vec<usize> {
    let entries = &transcript.entries;
    let branching = entries.iter().any(|entry| entry.node.is_some());
    let mut order = if branching { tree::full_history(entries) } else { linear::full_history(entries) };
    // Some clients do work of their own for the agent, of which its model is told nothing.
    let is_done =
        |body: &Body| matches!(body, Body::Failure(_) | Body::Compacted(_) | Body::Call(_) | Body::Outcome(_));
    let is_told = |entry: &Entry| is_done(&entry.body) && !entry.side;
    order.retain(|index| is_context(&entries[*index]) || is_told(&entries[*index]));
    order
}

/// Pairs calls with outcomes the way the client does when it resumes.
pub fn close_calls(transcript: &Transcript, order: &[usize]) -> Vec<LiveItem> {
    close::close_calls(&transcript.entries, order, transcript.header.closing)
}

/// The live context of a transcript whose live entries are all loaded.
pub fn resolve_context(transcript: &Transcript) -> Vec<LiveItem> {
    close_calls(transcript, &context_order(transcript))
}

/// Whether the client would send it, and it is not the harness's own boilerplate.
fn is_context(entry: &Entry) -> bool {
    if entry.side || entry.origin == Origin::Harness {
        return false;
    }
    matches!(entry.body.whole_kind(), "prompt" | "reply" | "reasoning" | "call" | "outcome" | "summary")
}
