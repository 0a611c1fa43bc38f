//! Words that are understood already.
//!
//! Splitting words into sentences and judging these is most of the work of a brief, and it needs one message at a time.
//! Who reads a session has other threads do it, while it puts the session in order.

use std::ops::Deref;
use std::sync::Arc;

use super::prose::{self, Line};
use super::request::{self, Kind};
use super::{Voice, words};
use crate::transcript::EntryKey;

/// Messages by the entry that holds them, in the order of these.
#[derive(Default)]
pub struct Heard(Vec<(EntryKey, Spoken)>);

/// What a message says. Shared: the reader keeps it, and so does who distils.
#[derive(Clone)]
pub(super) struct Spoken(Arc<Understood>);

pub(super) struct Understood {
    /// A prompt's own words; of replies only the lines are kept.
    pub(super) text: String,
    pub(super) lines: Vec<Line>,
    /// How a prompt stands to the task.
    pub(super) kind: Kind,
}

impl Heard {
    /// A message of the user, in the words that the story will have, so with its secrets masked where the story's are.
    pub fn prompt(&mut self, key: EntryKey, text: &str) {
        self.insert(key, Spoken::prompt(text));
    }

    /// A message of the agent.
    pub fn reply(&mut self, key: EntryKey, text: &str) {
        self.insert(key, Spoken::reply(text));
    }

    /// What a compaction left.
    pub fn summary(&mut self, key: EntryKey, text: &str) {
        self.insert(key, Spoken::summary(text));
    }

    /// These and others; of the same place, the others.
    #[must_use]
    pub fn and(mut self, mut others: Self) -> Self {
        let are_behind = self.0.last().map(|(key, _)| key) < others.0.first().map(|(key, _)| key);
        if are_behind {
            self.0.append(&mut others.0);
        } else {
            others.0.into_iter().for_each(|(key, spoken)| self.insert(key, spoken));
        }
        self
    }

    pub(super) fn get(&self, key: EntryKey) -> Option<Spoken> {
        self.place(key).ok().map(|at| self.0[at].1.clone())
    }

    /// Where a message is, or where it would be.
    fn place(&self, key: EntryKey) -> Result<usize, usize> {
        self.0.binary_search_by_key(&key, |(key, _)| *key)
    }

    fn insert(&mut self, key: EntryKey, spoken: Spoken) {
        // Nearly all come in their order.
        if self.0.last().is_none_or(|(last, _)| *last < key) {
            self.0.push((key, spoken));
            return;
        }
        match self.place(key) {
            Ok(at) => self.0[at].1 = spoken,
            Err(at) => self.0.insert(at, (key, spoken)),
        }
    }
}

impl Spoken {
    pub(super) fn prompt(text: &str) -> Self {
        let text = words::own(text);
        let (lines, kind) = request::understood(&text);
        Self(Arc::new(Understood { text, lines, kind }))
    }

    pub(super) fn reply(text: &str) -> Self {
        Self::by_agent(prose::lines(&crate::plain::plain(&words::clipped(text)), Voice::Agent))
    }

    pub(super) fn summary(text: &str) -> Self {
        let text = words::clipped(text);
        // A summary comes with the harness's own words around it.
        Self::by_agent(prose::lines(&words::without_notices(&crate::plain::plain(&text)), Voice::Agent))
    }

    fn by_agent(lines: Vec<Line>) -> Self {
        Self(Arc::new(Understood { text: String::new(), lines, kind: Kind::Nod }))
    }
}

impl Deref for Spoken {
    type Target = Understood;

    fn deref(&self) -> &Understood {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Heard;
    use crate::transcript::EntryKey;

    #[test]
    fn what_is_heard_later_of_a_place_counts() {
        let key = |offset: u64| EntryKey { file: 0, offset, part: 0, length: 1 };
        let heard = |messages: &[(u64, &str)]| {
            let mut heard = Heard::default();
            for (at, text) in messages {
                heard.prompt(key(*at), text);
            }
            heard
        };
        let both = heard(&[(5, "five"), (2, "two"), (5, "Five")]).and(heard(&[(1, "one"), (2, "Two")]));
        let text = |at: u64| both.get(key(at)).map(|spoken| spoken.text.clone());
        assert_eq!(
            [1, 2, 3, 5].map(text),
            [Some("one"), Some("Two"), None, Some("Five")].map(|text| text.map(str::to_owned))
        );
    }
}
