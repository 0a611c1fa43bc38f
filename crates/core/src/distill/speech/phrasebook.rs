//! Phrases that are known by their first words: a sentence that is split already need not be searched for them.

use super::vocabulary::{self, Word, pair};
use super::wording;

/// Phrases, each with what it stands for.
pub(in crate::distill) struct Phrasebook<T> {
    /// By their keys.
    phrases: Vec<(u64, &'static str, T)>,
    /// A key and where its phrases begin, at the slot of the key or at one behind it.
    slots: Vec<Option<(u64, usize)>>,
}

impl<T: Copy> Phrasebook<T> {
    pub(in crate::distill) fn of(phrases: impl Iterator<Item = (&'static str, T)>) -> Self {
        let mut phrases: Vec<_> = phrases.filter_map(|(phrase, of)| Some((key_of(phrase)?, phrase, of))).collect();
        phrases.sort_by_key(|(key, phrase, _)| (*key, *phrase));
        let mut book = Self { slots: vec![None; (phrases.len() * 2 + 2).next_power_of_two()], phrases };
        for (at, (key, _, _)) in book.phrases.iter().enumerate() {
            let slot = book.slot(*key);
            book.slots[slot].get_or_insert((*key, at));
        }
        book
    }

    /// The phrases that may begin with a word that has another one behind it, or none.
    pub(in crate::distill) fn beginning(
        &self,
        word: &Word<'_>,
        next: Option<&Word<'_>>,
    ) -> impl Iterator<Item = (&'static str, T)> {
        let alone = self.with(word.print());
        let paired = next.map(|next| self.with(pair(word.print(), next.print())));
        alone.chain(paired.into_iter().flatten())
    }

    fn with(&self, key: u64) -> impl Iterator<Item = (&'static str, T)> {
        let from = self.slots[self.slot(key)].map_or(self.phrases.len(), |(_, at)| at);
        let same = self.phrases[from..].iter().take_while(move |(known, _, _)| *known == key);
        same.map(|(_, phrase, of)| (*phrase, *of))
    }

    /// The slot that a key has, or the free one that it would get.
    fn slot(&self, key: u64) -> usize {
        let mut slot = vocabulary::slot(key, self.slots.len());
        while self.slots[slot].is_some_and(|(known, _)| known != key) {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        slot
    }
}

/// What stands for the first words of a phrase; a phrase without words is none.
fn key_of(phrase: &str) -> Option<u64> {
    let (first, second) = wording::first_prints(phrase);
    first.map(|first| second.map_or(first, |second| pair(first, second)))
}

#[cfg(test)]
mod tests {
    use super::Phrasebook;
    use crate::distill::speech::vocabulary::Word;

    #[test]
    fn phrases_are_known_by_their_first_words() {
        let book = Phrasebook::of([("go", 1), ("go with", 2), ("go with it", 3), ("go with", 4), ("?", 5)].into_iter());
        let beginning = |word: &str, next: Option<&str>| {
            let next = next.map(Word::of);
            let mut found: Vec<i32> = book.beginning(&Word::of(word), next.as_ref()).map(|(_, of)| of).collect();
            found.sort_unstable();
            found
        };
        assert_eq!(beginning("go", None), [1]);
        assert_eq!(beginning("Go", Some("with")), [1, 2, 3, 4]);
        assert_eq!(beginning("go", Some("on")), [1]);
        assert!(beginning("with", Some("it")).is_empty());
    }
}
