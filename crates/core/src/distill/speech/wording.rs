//! A text in words: split once, and looked at by every rule, whole or in parts.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Deref;

use super::lexicon::Class;
use super::sayings::{self, Saying, SayingSet};
use super::vocabulary::{self, Printer, Word};

/// The words of a text, where they are in it, and what they can be.
pub(in crate::distill) struct Spelling<'t> {
    text: &'t str,
    words: Vec<Word<'t>>,
    classes: Class,
}

/// A text in words, or a part of one.
#[derive(Clone, Copy)]
pub(in crate::distill) struct Wording<'a> {
    /// As it stands.
    pub(in crate::distill) text: &'a str,
    words: &'a [Word<'a>],
    /// Where the text begins in the whole.
    start: usize,
    sayings: Option<&'a OnceCell<SayingSet>>,
    /// What its words can be, or those of the whole.
    classes: Class,
}

/// Splits a text and looks at it.
pub(in crate::distill) fn spelt<T>(text: &str, look: impl FnOnce(Wording<'_>) -> T) -> T {
    let sayings = OnceCell::new();
    look(Spelling::of(text).wording(&sayings))
}

impl<'t> Spelling<'t> {
    pub(in crate::distill) fn of(text: &'t str) -> Self {
        let mut spelling = Self { text, words: Vec::with_capacity(text.len() / 5 + 1), classes: 0 };
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            match LETTERS[usize::from(bytes[at])] {
                NONE | EDGE_MARK | EDGE_DASH => at += 1,
                OTHER => match text[at..].chars().next() {
                    Some(next) if !next.is_alphanumeric() => at += next.len_utf8(),
                    _ => at = spelling.take_any(at),
                },
                _ => at = spelling.take(at),
            }
        }
        spelling
    }

    /// Takes the word that begins here, and tells where it ends.
    fn take(&mut self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        let (mut end, mut printer, mut is_lower) = (at, Printer::new(), true);
        loop {
            let byte = bytes.get(end).copied().unwrap_or_default();
            match LETTERS[usize::from(byte)] {
                NONE => break,
                OTHER => return self.take_any(at),
                letter => {
                    is_lower &= letter == byte;
                    printer = printer.with(letter);
                    end += 1;
                }
            }
        }
        let word = self.text[at..end].trim_end_matches(EDGES);
        let text = if is_lower { Cow::Borrowed(word) } else { Cow::Owned(word.to_ascii_lowercase()) };
        let print = if word.len() < end - at { vocabulary::print(text.as_bytes()) } else { printer.print() };
        self.push(Word::known(text, print, at));
        end
    }

    /// The same where other letters than those of ASCII are.
    #[cold]
    fn take_any(&mut self, at: usize) -> usize {
        let end = at + run(&self.text[at..]);
        let word = self.text[at..end].trim_end_matches(EDGES);
        let text = if word.is_ascii() { word.to_ascii_lowercase() } else { word.to_lowercase() };
        let print = vocabulary::print(text.as_bytes());
        self.push(Word::known(Cow::Owned(text), print, at));
        end
    }

    fn push(&mut self, word: Word<'t>) {
        self.classes |= word.class();
        self.words.push(word);
    }

    pub(in crate::distill) fn words(&self) -> &[Word<'t>] {
        &self.words
    }

    /// What stands for all its words.
    pub(in crate::distill) fn print(&self) -> u64 {
        print_of(&self.words)
    }

    pub(in crate::distill) fn wording<'a>(&'a self, sayings: &'a OnceCell<SayingSet>) -> Wording<'a> {
        Wording { text: self.text, words: &self.words, start: 0, sayings: Some(sayings), classes: self.classes }
    }
}

/// What stands for words with a space between, as for the text that they make.
fn print_of(words: &[Word<'_>]) -> u64 {
    let mut printer = Printer::new();
    for (at, word) in words.iter().enumerate() {
        let space = (at > 0).then_some(b' ');
        printer = space.into_iter().chain(word.bytes()).fold(printer, Printer::with);
    }
    printer.print()
}

/// What may stand at the edge of a word and is none of it.
const EDGES: [char; 2] = ['\'', '-'];
const EDGE_MARK: u8 = b'\'';
const EDGE_DASH: u8 = b'-';

/// No letter, and no letter of ASCII.
const NONE: u8 = 0;
const OTHER: u8 = 0xff;

/// Bytes as they are in words: letters in lower case.
const LETTERS: [u8; 256] = {
    let mut letters = [NONE; 256];
    let mut byte: u8 = 0;
    while byte < 0x80 {
        if byte.is_ascii_alphanumeric() || matches!(byte, EDGE_MARK | EDGE_DASH | b'_') {
            letters[byte as usize] = byte.to_ascii_lowercase();
        }
        byte += 1;
    }
    let mut byte = 0x80;
    while byte < 0x100 {
        letters[byte] = OTHER;
        byte += 1;
    }
    letters
};

/// How long a text is made of what words are made of.
fn run(text: &str) -> usize {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'\'' | b'-' | b'_');
    let mut end = 0;
    loop {
        let rest = &text[end..];
        end += rest.bytes().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        match text[end..].chars().next() {
            Some(next) if !next.is_ascii() && next.is_alphanumeric() => end += next.len_utf8(),
            _ => return end,
        }
    }
}

impl<'a> Deref for Wording<'a> {
    type Target = [Word<'a>];

    fn deref(&self) -> &[Word<'a>] {
        self.words
    }
}

impl<'a> Wording<'a> {
    pub(in crate::distill) fn all(self) -> &'a [Word<'a>] {
        self.words
    }

    /// Whether one of the words may be of a class. Of a part it is known of the whole.
    pub(in crate::distill) fn has(self, class: Class) -> bool {
        self.classes & class != 0
    }

    /// The words in lower case, with a space between.
    pub(in crate::distill) fn said(self) -> String {
        let words: Vec<&str> = self.words.iter().map(Word::as_str).collect();
        words.join(" ")
    }

    /// What stands for what is said.
    pub(in crate::distill) fn print(self) -> u64 {
        print_of(self.words)
    }

    /// Whether a phrase of whole words is said from a word on.
    pub(in crate::distill) fn says_at(self, word: usize, phrase: &str) -> bool {
        let mut words = self.words[word..].iter();
        phrase.split(' ').all(|part| words.next().is_some_and(|word| word == part))
    }

    /// Where a word begins in the text.
    pub(in crate::distill) fn begins(self, word: usize) -> usize {
        self.words.get(word).map_or(self.text.len(), |word| word.at() - self.start)
    }

    /// Whether the words say one of some phrases.
    pub(in crate::distill) fn says(self, saying: Saying) -> bool {
        match self.sayings {
            Some(known) => known.get_or_init(|| sayings::of(self)).has(saying),
            None => sayings::of(self).has(saying),
        }
    }

    /// No more than so many words, of the same text.
    pub(in crate::distill) fn at_most(self, words: usize) -> Self {
        Self { words: &self.words[..words.min(self.words.len())], sayings: None, ..self }
    }

    /// The words from one on.
    pub(in crate::distill) fn skip(self, words: usize) -> Self {
        self.from(self.begins(words))
    }

    /// What stands behind a place in the text.
    pub(in crate::distill) fn from(self, at: usize) -> Self {
        let first = self.count_until(at);
        Self { text: &self.text[at..], words: &self.words[first..], start: self.start + at, sayings: None, ..self }
    }

    /// What stands before a place in the text.
    pub(in crate::distill) fn until(self, at: usize) -> Self {
        Self { text: &self.text[..at], words: &self.words[..self.count_until(at)], sayings: None, ..self }
    }

    /// How many words stand before a place in the text.
    pub(in crate::distill) fn count_until(self, at: usize) -> usize {
        self.words.partition_point(|word| word.at() < self.start + at)
    }

    /// The parts between some marks.
    pub(in crate::distill) fn clauses(self, is_mark: impl Fn(char) -> bool) -> impl Iterator<Item = Self> {
        let mut rest = Some(self);
        std::iter::from_fn(move || {
            let whole = rest?;
            let Some((at, mark)) = whole.text.char_indices().find(|(_, c)| is_mark(*c)) else {
                return rest.take();
            };
            rest = Some(whole.from(at + mark.len_utf8()));
            Some(whole.until(at))
        })
    }

    /// The part before and the part behind the first of a mark.
    pub(in crate::distill) fn split_once(self, mark: &str) -> Option<(Self, Self)> {
        let at = self.text.find(mark)?;
        Some((self.until(at), self.from(at + mark.len())))
    }
}

#[cfg(test)]
mod tests {
    use super::{Spelling, spelt};
    use crate::distill::speech::request;
    use proptest::prelude::*;

    const TEXT: &str = "Don't—é x-, 日本: A, b!";

    #[test]
    fn parts_have_the_words_that_stand_in_them() {
        spelt(TEXT, |whole| {
            assert_eq!(whole.said(), "don't é x 日本 a b");
            assert_eq!(whole.at_most(2).said(), "don't é");
            assert_eq!(whole.skip(3).said(), "日本 a b");
            assert_eq!(whole.skip(9).text, "");
            let (lead, rest) = whole.split_once(": ").unwrap();
            assert_eq!((lead.said().as_str(), rest.said().as_str()), ("don't é x 日本", "a b"));
            // A part of a part is found by its own places.
            let part = lead.from("Don't—".len());
            assert_eq!((part.text, part.said().as_str()), ("é x-, 日本", "é x 日本"));
            assert_eq!(part.until(part.begins(2)).said(), "é x");
            assert_eq!(part.count_until(part.begins(1)), 1);
            let clauses: Vec<_> = whole.clauses(|c| matches!(c, ',' | ':')).map(super::Wording::said).collect();
            assert_eq!(clauses, ["don't é x", "日本", "a", "b"]);
        });
        spelt("", |none| assert!(none.is_empty() && none.said().is_empty() && none.skip(1).is_empty()));
    }

    proptest! {
        #[test]
        fn a_text_is_split_as_words_are(text in "[a-zA-Z0-9'_ .,:—é日本-]{0,60}|\\PC{0,40}") {
            let spelling = Spelling::of(&text);
            let words: Vec<String> = spelling.words().iter().map(|word| word.as_str().to_owned()).collect();
            let known: Vec<String> = request::words(&text).map(|word| word.as_str().to_owned()).collect();
            prop_assert_eq!(words, known);
        }
    }
}
