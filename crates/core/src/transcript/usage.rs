//! Usage of the model: its input and output in tokens, as the client recorded them.
//!
//! Clients count differently: some leave what came from a cache out of the input, some leave what was thought out of the
//! output. Here both are in, so that figures of different agents can be told in the same words.

use std::collections::{BTreeMap, BTreeSet};

use super::{Body, Entry, NodeId, Note, Transcript};
use crate::time::Timestamp;

/// Tokens of one reply, or of many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tokens {
    /// All that the model was given, what came from a cache among it.
    pub input: u64,
    /// All that the model wrote, what it thought among it.
    pub output: u64,
    /// Of the input: read from a cache.
    pub cache_read: u64,
    /// Of the input: written to a cache.
    pub cache_written: u64,
    /// Of the output: thought.
    pub reasoning: u64,
}

/// How much of a limit is used up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    pub used_percent: f64,
    /// How long the window is that the limit holds for.
    pub window_minutes: Option<u32>,
    pub resets_at: Option<Timestamp>,
}

/// The usage that a client recorded for one reply. Small, for a long session has one for each reply.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Usage {
    pub tokens: Tokens,
    /// The reply: a client that tells it several times means one and the same.
    pub reply: Option<NodeId>,
    /// The model, by its name; where the record does not tell it, it is the one that was told last.
    pub model: Option<NodeId>,
    /// It stands before the reply and not behind it.
    pub precedes: bool,
    pub limits: [Option<Limit>; 2],
}

impl Tokens {
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    pub fn add(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_written = self.cache_written.saturating_add(other.cache_written);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
    }
}

impl Usage {
    /// The note of a reply's tokens; a client that tells nothing but zeros has counted nothing.
    pub fn for_reply(tokens: Tokens, reply: Option<NodeId>) -> Option<Self> {
        (!tokens.is_empty()).then_some(Self { tokens, reply, ..Self::default() })
    }

    pub fn into_body(self) -> Body {
        Body::Note(Note::Usage(Box::new(self)))
    }
}

/// The usage of a session.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionUsage {
    pub total: Tokens,
    /// By model, in the order in which the session came to them; what no model is known of is in the total only.
    pub models: Vec<(String, Tokens)>,
    /// How far the limits were used up when that was last told.
    pub limits: Vec<Limit>,
}

impl SessionUsage {
    /// Adds up what entries tell; nothing where no client told anything.
    pub(super) fn from_transcript(transcript: &Transcript) -> Option<Self> {
        let mut used = Self::default();
        let mut by_model: BTreeMap<NodeId, Tokens> = BTreeMap::new();
        let mut counted: BTreeSet<NodeId> = BTreeSet::new();
        // The last telling of a reply is the whole one: the first may have been written while the model still spoke.
        for (index, entry) in transcript.entries.iter().enumerate().rev() {
            let Some(usage) = entry.usage() else { continue };
            if used.limits.is_empty() {
                used.limits.extend(usage.limits.iter().flatten());
            }
            if usage.reply.is_some_and(|reply| !counted.insert(reply)) {
                continue;
            }
            used.total.add(usage.tokens);
            if let Some(model) = usage.model.or_else(|| transcript.model_at(index)) {
                by_model.entry(model).or_default().add(usage.tokens);
            }
        }
        let of_model = |name: &String| Some((name.clone(), by_model.get(&NodeId::from_name(name)).copied()?));
        used.models =
            transcript.header.models.iter().filter_map(of_model).filter(|(_, tokens)| !tokens.is_empty()).collect();
        (!used.total.is_empty() || !used.limits.is_empty()).then_some(used)
    }
}

impl Entry {
    /// The tokens that the client counted, where the entry is a note of them.
    pub fn usage(&self) -> Option<&Usage> {
        match &self.body {
            Body::Note(Note::Usage(usage)) => Some(usage),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::{EntryKey, Fact, Origin, TranscriptBuilder};

    fn put_usage(builder: &mut TranscriptBuilder, offset: u64, usage: Usage) {
        let key = EntryKey { file: 0, offset, part: 0, length: 1 };
        let entry = Entry { key, at: None, origin: Origin::Harness, side: false, node: None, body: usage.into_body() };
        assert!(builder.put(entry).is_continue());
    }

    #[test]
    fn a_reply_counts_once_and_for_the_model_that_gave_it() {
        let mut builder = TranscriptBuilder::new("a");
        let tokens = |input| Tokens { input, output: 1, ..Tokens::default() };
        let reply = Some(NodeId::from_name("m"));
        assert!(builder.learn(Fact::Model("one".into())).is_continue());
        put_usage(&mut builder, 0, Usage::for_reply(tokens(5), reply).unwrap());
        put_usage(&mut builder, 1, Usage::for_reply(tokens(7), reply).unwrap());
        assert!(builder.learn(Fact::Model("two".into())).is_continue());
        put_usage(&mut builder, 2, Usage::for_reply(tokens(10), None).unwrap());
        put_usage(&mut builder, 3, Usage::for_reply(tokens(10), None).unwrap());
        let used = builder.finish().total_usage().unwrap();
        assert_eq!(used.total, Tokens { input: 27, output: 3, ..Tokens::default() });
        let of_two = Tokens { input: 20, output: 2, ..Tokens::default() };
        assert_eq!(used.models, [("one".to_owned(), tokens(7)), ("two".to_owned(), of_two)]);
    }

    #[test]
    fn nothing_is_told_where_nothing_was_counted() {
        let mut builder = TranscriptBuilder::new("a");
        put_usage(&mut builder, 0, Usage::default());
        assert_eq!(builder.finish().total_usage(), None);
    }
}
