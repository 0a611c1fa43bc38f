//! A text in words: split once, and looked at by every rule, whole or in parts.

use std::cell::OnceCell;
use std::ops::Deref;

use super::lexicon::Class;
use super::sayings::{self, Saying, SayingSet};
use super::vocabulary::{self, Printer, Word};

/// The words of a text in lower case, one behind the other, and where they are.
pub(super) struct Spelling<'t> {
    text: &'t str,
    /// The words, with a space between.
    said: String,
    places: Vec<Place>,
}

/// Where a word is.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// In the text.
    at: usize,
    /// In what is said.
    from: usize,
    to: usize,
    print: u64,
}

/// A text in words, or a part of one.
#[derive(Clone, Copy)]
pub(super) struct Wording<'a> {
    /// As it stands.
    pub(super) text: &'a str,
    words: &'a [Word<'a>],
    places: &'a [Place],
    said: &'a str,
    /// Where the text begins in the whole.
    start: usize,
    sayings: Option<&'a OnceCell<SayingSet>>,
    /// What its words can be, or those of the whole.
    classes: Class,
}

/// Splits a text and looks at it.
pub(super) fn spelt<T>(text: &str, look: impl FnOnce(Wording<'_>) -> T) -> T {
    let spelling = Spelling::of(text);
    let words = spelling.words();
    let sayings = OnceCell::new();
    look(spelling.wording(&words, &sayings))
}

impl<'t> Spelling<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let (said, places) = (String::with_capacity(text.len() + 1), Vec::with_capacity(text.len() / 5 + 1));
        let mut spelling = Self { text, said, places };
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            match LETTERS[usize::from(bytes[at])] {
                NONE | EDGE_MARK | EDGE_DASH => at += 1,
                OTHER => match text[at..].chars().next() {
                    Some(next) if !next.is_alphanumeric() => at += next.len_utf8(),
                    _ => at = spelling.take(at),
                },
                _ => at = spelling.take(at),
            }
        }
        spelling
    }

    /// Takes the word that begins here, and tells where it ends.
    fn take(&mut self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        let from = self.begin();
        let (mut end, mut printer) = (at, Printer::new());
        loop {
            match bytes.get(end).map_or(NONE, |byte| LETTERS[usize::from(*byte)]) {
                NONE => break,
                OTHER => return self.take_any(at, from),
                letter => {
                    self.said.push(char::from(letter));
                    printer = printer.with(letter);
                    end += 1;
                }
            }
        }
        let is_edged = self.said.ends_with(EDGES);
        if is_edged {
            let word = self.said[from..].trim_end_matches(EDGES).len();
            self.said.truncate(from + word);
        }
        let print = if is_edged { vocabulary::print(&self.said.as_bytes()[from..]) } else { printer.print() };
        self.places.push(Place { at, from, to: self.said.len(), print });
        end
    }

    /// The same where other letters than those of ASCII are, or signs that are none.
    #[cold]
    fn take_any(&mut self, at: usize, from: usize) -> usize {
        self.said.truncate(from);
        let end = at + run(&self.text[at..]);
        let raw = &self.text[at..end];
        let begun = raw.trim_start_matches(EDGES);
        let word = begun.trim_end_matches(EDGES);
        if word.is_empty() {
            self.said.truncate(from.saturating_sub(1));
            // What is no letter is passed over.
            return end.max(at + self.text[at..].chars().next().map_or(1, char::len_utf8));
        }
        if word.is_ascii() {
            self.said.push_str(word);
            self.said[from..].make_ascii_lowercase();
        } else {
            self.said.push_str(&word.to_lowercase());
        }
        let print = vocabulary::print(&self.said.as_bytes()[from..]);
        self.places.push(Place { at: at + raw.len() - begun.len(), from, to: self.said.len(), print });
        end
    }

    /// Where the next word will be.
    fn begin(&mut self) -> usize {
        if !self.said.is_empty() {
            self.said.push(' ');
        }
        self.said.len()
    }

    /// The first word.
    pub(super) fn first(&self) -> Option<&str> {
        self.places.first().map(|place| &self.said[place.from..place.to])
    }

    /// What stands for all its words.
    pub(super) fn print(&self) -> u64 {
        vocabulary::print(self.said.as_bytes())
    }

    /// The prints of its words.
    pub(super) fn prints(&self) -> impl Iterator<Item = u64> {
        self.places.iter().map(|place| place.print)
    }

    pub(super) fn words(&self) -> Vec<Word<'_>> {
        self.places.iter().map(|place| Word::known(&self.said[place.from..place.to], place.print)).collect()
    }

    pub(super) fn wording<'a>(&'a self, words: &'a [Word<'a>], sayings: &'a OnceCell<SayingSet>) -> Wording<'a> {
        let classes = words.iter().fold(0, |classes, word| classes | word.class());
        let (places, said) = (&*self.places, &*self.said);
        Wording { text: self.text, words, places, said, start: 0, sayings: Some(sayings), classes }
    }
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
    pub(super) fn all(self) -> &'a [Word<'a>] {
        self.words
    }

    /// Whether one of the words may be of a class. Of a part it is known of the whole.
    pub(super) fn has(self, class: Class) -> bool {
        self.classes & class != 0
    }

    /// The words in lower case, with a space between.
    pub(super) fn said(self) -> &'a str {
        self.said_from(0)
    }

    /// The same from a word on.
    pub(super) fn said_from(self, word: usize) -> &'a str {
        match (self.places.get(word), self.places.last()) {
            (Some(first), Some(last)) => &self.said[first.from..last.to],
            _ => "",
        }
    }

    /// Where a word begins in the text.
    pub(super) fn begins(self, word: usize) -> usize {
        self.places.get(word).map_or(self.text.len(), |place| place.at - self.start)
    }

    /// Whether the words say one of some phrases.
    pub(super) fn says(self, saying: Saying) -> bool {
        match self.sayings {
            Some(known) => known.get_or_init(|| sayings::of(self)).has(saying),
            None => sayings::of(self).has(saying),
        }
    }

    /// No more than so many words, of the same text.
    pub(super) fn at_most(self, words: usize) -> Self {
        let words = words.min(self.words.len());
        Self { words: &self.words[..words], places: &self.places[..words], sayings: None, ..self }
    }

    /// The words from one on.
    pub(super) fn skip(self, words: usize) -> Self {
        self.from(self.begins(words))
    }

    /// What stands behind a place in the text.
    pub(super) fn from(self, at: usize) -> Self {
        let first = self.places.partition_point(|place| place.at < self.start + at);
        Self {
            text: &self.text[at..],
            words: &self.words[first..],
            places: &self.places[first..],
            start: self.start + at,
            sayings: None,
            ..self
        }
    }

    /// What stands before a place in the text.
    pub(super) fn until(self, at: usize) -> Self {
        let end = self.places.partition_point(|place| place.at < self.start + at);
        Self { text: &self.text[..at], words: &self.words[..end], places: &self.places[..end], sayings: None, ..self }
    }

    /// How many words stand before a place in the text.
    pub(super) fn count_until(self, at: usize) -> usize {
        self.places.partition_point(|place| place.at < self.start + at)
    }

    /// The parts between some marks.
    pub(super) fn clauses(self, is_mark: impl Fn(char) -> bool) -> impl Iterator<Item = Self> {
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
    pub(super) fn split_once(self, mark: &str) -> Option<(Self, Self)> {
        let at = self.text.find(mark)?;
        Some((self.until(at), self.from(at + mark.len())))
    }
}

#[cfg(test)]
mod tests {
    use super::{Spelling, spelt};
    use crate::distill::request;
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
            assert_eq!((lead.said(), rest.said()), ("don't é x 日本", "a b"));
            // A part of a part is found by its own places.
            let part = lead.from("Don't—".len());
            assert_eq!((part.text, part.said()), ("é x-, 日本", "é x 日本"));
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
