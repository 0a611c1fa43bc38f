//! A text in words: split once, and looked at by every rule, whole or in parts.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Deref;

use super::sayings::{self, Saying, SayingSet};
use super::vocabulary::Word;

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
        let mut spelling =
            Self { text, said: String::with_capacity(text.len() + 1), places: Vec::with_capacity(text.len() / 4) };
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let end = at + run(&text[at..]);
            if end > at {
                spelling.take(at, end);
                at = end;
            }
            // What ended the word is not looked at again.
            at += text[at..].chars().next().map_or(0, char::len_utf8);
        }
        spelling
    }

    /// A word with what is written before and behind it.
    fn take(&mut self, at: usize, end: usize) {
        let raw = &self.text[at..end];
        let begun = raw.trim_start_matches(EDGES);
        let word = begun.trim_end_matches(EDGES);
        if word.is_empty() {
            return;
        }
        if !self.said.is_empty() {
            self.said.push(' ');
        }
        let from = self.said.len();
        if word.is_ascii() {
            self.said.push_str(word);
            self.said[from..].make_ascii_lowercase();
        } else {
            self.said.push_str(&word.to_lowercase());
        }
        self.places.push(Place { at: at + raw.len() - begun.len(), from, to: self.said.len() });
    }

    pub(super) fn words(&self) -> Vec<Word<'_>> {
        self.places.iter().map(|place| Word::lower(Cow::Borrowed(&self.said[place.from..place.to]))).collect()
    }

    pub(super) fn wording<'a>(&'a self, words: &'a [Word<'a>], sayings: &'a OnceCell<SayingSet>) -> Wording<'a> {
        Wording { text: self.text, words, places: &self.places, said: &self.said, start: 0, sayings: Some(sayings) }
    }
}

/// What may stand at the edge of a word and is none of it.
const EDGES: [char; 2] = ['\'', '-'];

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
    /// The words in lower case, with a space between.
    pub(super) fn said(self) -> &'a str {
        match (self.places.first(), self.places.last()) {
            (Some(first), Some(last)) => &self.said[first.from..last.to],
            _ => "",
        }
    }

    /// Whether the words say one of some phrases.
    pub(super) fn says(self, saying: Saying) -> bool {
        match self.sayings {
            Some(known) => known.get_or_init(|| sayings::of(self.said())).has(saying),
            None => sayings::of(self.said()).has(saying),
        }
    }

    /// No more than so many words, of the same text.
    pub(super) fn at_most(self, words: usize) -> Self {
        let words = words.min(self.words.len());
        Self { words: &self.words[..words], places: &self.places[..words], sayings: None, ..self }
    }

    /// The words from one on.
    pub(super) fn skip(self, words: usize) -> Self {
        match self.places.get(words) {
            Some(first) => self.from(first.at - self.start),
            None => self.from(self.text.len()),
        }
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
