//! Words that are understood already.
//!
//! Splitting words into sentences and judging these is most of the work of a brief, and it needs one message at a time.
//! Who reads a session has other threads do it, while it puts the session in order.

use super::prose::{self, Line};
use super::request::{self, Kind};
use super::{Deed, Voice, references, words};
use crate::transcript::EntryKey;

/// Messages by the entry that holds them, in the order of these.
#[derive(Default)]
pub struct Heard(Vec<(EntryKey, Understood)>);

/// What a message says.
#[derive(Clone)]
pub(super) struct Understood {
    /// A prompt's own words; of replies only the lines are kept.
    pub(super) text: String,
    pub(super) lines: Vec<Line>,
    /// How a prompt stands to the task.
    pub(super) kind: Kind,
    /// What is referred to; in a summary nothing is.
    pub(super) references: Vec<String>,
}

impl Heard {
    /// A message of the user, in the words that the story will have, so with its secrets masked where the story's are.
    pub fn prompt(&mut self, key: EntryKey, text: &str) {
        self.insert(key, Understood::prompt(text));
    }

    /// A message of the agent.
    pub fn reply(&mut self, key: EntryKey, text: &str) {
        self.insert(key, Understood::reply(text));
    }

    /// What a compaction left.
    pub fn summary(&mut self, key: EntryKey, text: &str) {
        self.insert(key, Understood::summary(text));
    }

    /// These and others; of the same place, the others.
    #[must_use]
    pub fn and(mut self, mut others: Self) -> Self {
        let are_behind = self.0.last().map(|(key, _)| key) < others.0.first().map(|(key, _)| key);
        if are_behind {
            self.0.append(&mut others.0);
        } else {
            others.0.into_iter().for_each(|(key, understood)| self.insert(key, understood));
        }
        self
    }

    /// What was understood of a place; `next` is where that stands if this is the place behind the one asked for before.
    pub(super) fn get(&self, key: EntryKey, next: &mut usize) -> Option<&Understood> {
        let is_next = self.0.get(*next).is_some_and(|(known, _)| *known == key);
        let at = if is_next { *next } else { self.place(key).ok()? };
        *next = at + 1;
        Some(&self.0[at].1)
    }

    /// Where a message is, or where it would be.
    fn place(&self, key: EntryKey) -> Result<usize, usize> {
        self.0.binary_search_by_key(&key, |(key, _)| *key)
    }

    fn insert(&mut self, key: EntryKey, understood: Understood) {
        // Nearly all come in their order.
        if self.0.last().is_none_or(|(last, _)| *last < key) {
            self.0.push((key, understood));
            return;
        }
        match self.place(key) {
            Ok(at) => self.0[at].1 = understood,
            Err(at) => self.0.insert(at, (key, understood)),
        }
    }
}

impl Understood {
    /// What a deed says, where it is done in words.
    pub(super) fn of(deed: &Deed) -> Self {
        match deed {
            Deed::Prompt { text, .. } => Self::prompt(text),
            Deed::Summary { text } => Self::summary(text),
            Deed::Reply { text } => Self::reply(text),
            _ => Self::reply(""),
        }
    }

    fn prompt(text: &str) -> Self {
        let references = references::in_text(text);
        let text = words::own(text);
        let (lines, kind) = request::understood(&text);
        Self { text, lines, kind, references }
    }

    fn reply(text: &str) -> Self {
        let lines = prose::lines(&crate::plain::plain(&words::clipped(text)), Voice::Agent);
        Self::by_agent(lines, references::in_text(text))
    }

    fn summary(text: &str) -> Self {
        let text = words::clipped(text);
        // A summary comes with the harness's own words around it.
        let lines = prose::lines(&words::without_notices(&crate::plain::plain(&text)), Voice::Agent);
        Self::by_agent(lines, Vec::new())
    }

    fn by_agent(lines: Vec<Line>, references: Vec<String>) -> Self {
        Self { text: String::new(), lines, kind: Kind::Nod, references }
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
        let mut next = 0;
        let mut text = |at: u64| both.get(key(at), &mut next).map(|understood| understood.text.as_str());
        // In their order, and in another one.
        assert_eq!([1, 2, 3, 5].map(&mut text), [Some("one"), Some("Two"), None, Some("Five")]);
        assert_eq!([5, 9, 1, 1].map(&mut text), [Some("Five"), None, Some("one"), Some("one")]);
    }
}
