//! Words as they are compared: in lower case, with lists of words and of phrases that are asked for every sentence.

use std::borrow::{Borrow, Cow};
use std::cell::RefCell;
use std::ops::Deref;

use aho_corasick::AhoCorasick;

/// A word in lower case. Most are as they stand, and are not copied.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Word<'a>(Cow<'a, str>);

impl<'a> Word<'a> {
    pub(super) fn of(word: &'a str) -> Self {
        let is_lower = word.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
        Self(if is_lower { Cow::Borrowed(word) } else { Cow::Owned(word.to_lowercase()) })
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Word<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Word<'_> {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for Word<'_> {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other
    }
}

impl PartialEq<&str> for Word<'_> {
    fn eq(&self, other: &&str) -> bool {
        *self.0 == **other
    }
}

/// Whether a word stands in a list of words that are parted by spaces.
pub(super) fn is_in(list: &'static str, word: &str) -> bool {
    LISTS.with_borrow_mut(|lists| lists.of(list, List::of).has(word))
}

/// Whether a text says one of some phrases that are parted by bars.
pub(super) fn says(text: &str, phrases: &'static str) -> bool {
    let ready = |phrases: &'static str| AhoCorasick::new(phrases.split('|').filter(|phrase| !phrase.is_empty())).ok();
    PHRASES.with_borrow_mut(|known| known.of(phrases, ready).as_ref().is_some_and(|known| known.is_match(text)))
}

thread_local! {
    static LISTS: RefCell<Ready<List>> = RefCell::default();
    static PHRASES: RefCell<Ready<Option<AhoCorasick>>> = RefCell::default();
}

/// What was made ready of constants, by where these are: a brief asks the same ones for every sentence.
struct Ready<T> {
    made: Vec<(Place, T)>,
    /// Where each is, at the slot of its place or at one behind it; at most half of the slots are taken.
    slots: Vec<Option<usize>>,
}

type Place = (usize, usize);

impl<T> Default for Ready<T> {
    fn default() -> Self {
        Self { made: Vec::new(), slots: vec![None; 1024] }
    }
}

impl<T> Ready<T> {
    fn of(&mut self, constant: &'static str, ready: impl FnOnce(&'static str) -> T) -> &T {
        let place = (constant.as_ptr() as usize, constant.len());
        let mut slot = self.slot(place);
        if self.slots[slot].is_none() {
            if self.made.len() * 2 >= self.slots.len() {
                self.grow();
                slot = self.slot(place);
            }
            self.slots[slot] = Some(self.made.len());
            self.made.push((place, ready(constant)));
        }
        &self.made[self.slots[slot].unwrap_or_default()].1
    }

    /// The slot that a place has, or the free one that it would get.
    fn slot(&self, place: Place) -> usize {
        let mut slot = (place.0 >> 3 ^ place.0 >> 13 ^ place.1) % self.slots.len();
        while self.slots[slot].is_some_and(|at| self.made[at].0 != place) {
            slot = (slot + 1) % self.slots.len();
        }
        slot
    }

    fn grow(&mut self) {
        self.slots = vec![None; self.slots.len() * 2];
        for at in 0..self.made.len() {
            let slot = self.slot(self.made[at].0);
            self.slots[slot] = Some(at);
        }
    }
}

/// A list of words, ready to be asked. Nearly every word is in no list, and two looks tell most of them.
struct List {
    /// Which first letters there are, and which lengths.
    firsts: u64,
    lengths: u64,
    words: Vec<&'static str>,
}

impl List {
    fn of(list: &'static str) -> Self {
        let mut words: Vec<&str> = list.split(' ').filter(|word| !word.is_empty()).collect();
        words.sort_unstable();
        let all = words.iter().map(|word| marks(word)).fold((0, 0), |all, one| (all.0 | one.0, all.1 | one.1));
        Self { firsts: all.0, lengths: all.1, words }
    }

    fn has(&self, word: &str) -> bool {
        let (first, length) = marks(word);
        self.firsts & first != 0 && self.lengths & length != 0 && self.words.binary_search(&word).is_ok()
    }
}

/// The first letter and the length of a word, as bits.
fn marks(word: &str) -> (u64, u64) {
    let first = word.bytes().next().map_or(0, |byte| 1 << (byte & 63));
    (first, 1 << (word.len() & 63))
}

#[cfg(test)]
mod tests {
    use super::{Ready, is_in, says};

    #[test]
    fn words_are_found_whole_and_phrases_anywhere() {
        assert!(is_in("use keep  drop", "keep"));
        assert!(!is_in("use keep  drop", "kee"));
        assert!(!is_in("use keep  drop", ""));
        assert!(says("we can come back to this later", "back to this|on hold"));
        assert!(!says("we can go", "back to this|on hold"));
    }

    #[test]
    fn every_constant_has_its_own_however_many_there_are() {
        let text: &'static str = "abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstuvwxyz";
        let mut ready = Ready::default();
        let parts = || (0..text.len()).flat_map(|from| (from + 1..text.len()).map(move |to| &text[from..to]));
        for part in parts() {
            assert_eq!(*ready.of(part, str::to_owned), part);
        }
        for part in parts() {
            assert_eq!(*ready.of(part, |_| String::new()), part);
        }
    }
}
