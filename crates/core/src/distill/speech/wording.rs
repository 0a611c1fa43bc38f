//! A text in words: split once, and looked at by every rule, whole or in parts.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::ops::Deref;

use super::letters::{STRETCH, Stretch};
use super::lexicon::{self, Class};
use super::marks::{Mark, Marks};
use super::sayings::{self, Saying, SayingSet};
use super::vocabulary::{self, NO_WORD, Printer, Word};

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
    let spelling = Spelling::in_room(text, ROOM.take());
    let seen = look(spelling.wording(&sayings));
    ROOM.set(emptied(spelling.words));
    seen
}

thread_local! {
    /// Room for words: a text has many, and the next one has them again.
    static ROOM: Cell<Vec<Word<'static>>> = const { Cell::new(Vec::new()) };
}

/// The room that words took. The standard library makes a list in the place of another one where it can.
fn emptied(mut words: Vec<Word<'_>>) -> Vec<Word<'static>> {
    words.clear();
    words.into_iter().map(|_| NO_WORD.clone()).collect()
}

impl<'t> Spelling<'t> {
    #[cfg(test)]
    fn of(text: &'t str) -> Self {
        Self::in_room(text, Vec::new())
    }

    fn in_room(text: &'t str, room: Vec<Word<'t>>) -> Self {
        let mut spelling = Self { text, words: room, classes: 0 };
        let forms = lexicon::forms();
        each(text, |word, print, at| {
            let class = forms.class(&word, print);
            spelling.classes |= class;
            spelling.words.push(Word::known(word, print, class, at));
        });
        spelling
    }

    pub(in crate::distill) fn wording<'a>(&'a self, sayings: &'a OnceCell<SayingSet>) -> Wording<'a> {
        Wording { text: self.text, words: &self.words, start: 0, sayings: Some(sayings), classes: self.classes }
    }
}

/// Hands over the words of a text in lower case, each with its print and where it begins.
fn each<'t>(text: &'t str, mut take: impl FnMut(Cow<'t, str>, u64, usize)) {
    let mut at = 0;
    while at < text.len() {
        at = each_near(text, at, &mut take);
    }
}

/// The words of the next stretch; where to go on is told.
fn each_near<'t>(text: &'t str, from: usize, take: &mut impl FnMut(Cow<'t, str>, u64, usize)) -> usize {
    let bytes = text.as_bytes();
    let stretch = Stretch::of(&bytes[from..]);
    let mut at = 0;
    while let Some(start) = stretch.next(at) {
        let begin = from + start;
        let (end, is_other) = (stretch.end(start), stretch.is_other(start));
        if is_other && let Some(length) = sign(&text[begin..]) {
            at = start + length;
            continue;
        }
        if end == STRETCH && start > 0 {
            // It may go on behind the stretch.
            return begin;
        }
        if is_edge(bytes[begin]) {
            at = start + 1;
            continue;
        }
        // One place to hand words over, so that what is done with them stands in this loop.
        let is_plain = !is_other && end < STRETCH && !stretch.is_other(end) && !is_edge(bytes[from + end - 1]);
        let (word, print, length) = if is_plain {
            let word = &text[begin..from + end];
            let (print, is_lower) = vocabulary::print_lower(bytes, begin..from + end);
            (if is_lower { Cow::Borrowed(word) } else { Cow::Owned(word.to_ascii_lowercase()) }, print, word.len())
        } else {
            word_of_any(text, begin)
        };
        at = start + length;
        take(word, print, begin);
    }
    from + at.max(STRETCH)
}

/// How long the character is that a text begins with, where it is of no word.
fn sign(text: &str) -> Option<usize> {
    text.chars().next().filter(|next| !is_letter(*next)).map(char::len_utf8)
}

/// The word that begins here, of whichever letters, its print, and how long it is with what stands at its end.
#[cold]
fn word_of_any(text: &str, at: usize) -> (Cow<'_, str>, u64, usize) {
    let (length, is_lower) = run(&text[at..]);
    let word = text[at..at + length].trim_end_matches(EDGES);
    if is_lower {
        let (print, _) = vocabulary::print_lower(text.as_bytes(), at..at + word.len());
        (Cow::Borrowed(word), print, length)
    } else {
        let word = word.to_lowercase();
        let print = vocabulary::print(word.as_bytes());
        (Cow::Owned(word), print, length)
    }
}

/// What stands for the words of a text, whatever stands between them; nothing for a text without words.
pub(in crate::distill) fn gist(text: &str) -> Option<u64> {
    let mut gist = None;
    each(text, |_, print, _| gist = Some(vocabulary::pair(gist.unwrap_or_default(), print)));
    gist
}

/// The prints of the first two words of a text, as far as there are two.
pub(in crate::distill) fn first_prints(text: &str) -> (Option<u64>, Option<u64>) {
    let (mut first, mut second) = (None, None);
    each(text, |_, print, _| match first {
        None => first = Some(print),
        Some(_) => second = second.or(Some(print)),
    });
    (first, second)
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

fn is_edge(byte: u8) -> bool {
    matches!(byte, b'\'' | b'-')
}

/// How long a text is made of what words are made of, and whether that stays as it is in lower case, as far as it is known
/// without the tables of all scripts.
fn run(text: &str) -> (usize, bool) {
    let mut is_lower = true;
    for (at, next) in text.char_indices() {
        match next {
            'a'..='z' | '0'..='9' | '\'' | '-' | '_' => {}
            'A'..='Z' => is_lower = false,
            _ if is_common(next) => {}
            _ if next.is_ascii() || !is_letter(next) => return (at, is_lower),
            _ => is_lower = false,
        }
    }
    (text.len(), is_lower)
}

/// Whether a character is a letter or a digit. What is most written is known without the tables of all scripts.
fn is_letter(next: char) -> bool {
    match next {
        // Punctuation, arrows, signs of mathematics.
        '\u{2010}'..='\u{205e}' | '\u{2190}'..='\u{22ff}' => false,
        _ => is_common(next) || next.is_alphanumeric(),
    }
}

/// Small letters of Western Europe and Cyrillic, kana, ideographs, Hangul.
fn is_common(next: char) -> bool {
    matches!(next, 'ß'..='ö' | 'ø'..='ÿ' | 'а'..='я' | 'ぁ'..='ゖ' | 'ァ'..='ヺ' | '\u{4e00}'..='\u{9fff}' | '가'..='힣')
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

    /// Looks at a part, which begins at a place, in the words of its own text: a space may stand there for a line feed.
    pub(in crate::distill) fn part<T>(self, at: usize, text: &str, look: impl FnOnce(Wording<'_>) -> T) -> T {
        let sayings = OnceCell::new();
        let Self { words, start, .. } = self.until(at + text.len()).from(at);
        look(Wording { text, words, start, sayings: Some(&sayings), classes: self.classes })
    }

    /// How many words stand before a place in the text.
    pub(in crate::distill) fn count_until(self, at: usize) -> usize {
        self.words.partition_point(|word| word.at() < self.start + at)
    }

    /// The parts between some marks.
    pub(in crate::distill) fn clauses<const N: usize>(self, marks: Marks<N>) -> impl Iterator<Item = Self> {
        let (mut found, mut from, mut is_over) = (marks.all(self.text), 0, false);
        std::iter::from_fn(move || {
            if is_over {
                return None;
            }
            let mark = found.next();
            is_over = mark.is_none();
            let until = mark.map_or(self.text.len(), |mark| mark.at);
            let clause = self.until(until).from(from);
            from = mark.map_or(until, Mark::end);
            Some(clause)
        })
    }

    /// The part before and the part behind the first of a mark.
    pub(in crate::distill) fn split_once(self, mark: &str) -> Option<(Self, Self)> {
        let first = *mark.as_bytes().first()?;
        let at = memchr::memchr_iter(first, self.text.as_bytes()).find(|at| self.text[*at..].starts_with(mark))?;
        Some((self.until(at), self.from(at + mark.len())))
    }
}

#[cfg(test)]
mod tests {
    use super::{Marks, Spelling, spelt};
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
            let clauses: Vec<_> = whole.clauses(Marks::of(*b",:")).map(super::Wording::said).collect();
            assert_eq!(clauses, ["don't é x", "日本", "a", "b"]);
        });
        spelt("", |none| assert!(none.is_empty() && none.said().is_empty() && none.skip(1).is_empty()));
    }

    #[test]
    fn common_letters_are_letters_that_stay_as_they_are() {
        for next in ('\0'..=char::MAX).filter(|next| !next.is_ascii()) {
            assert_eq!(super::is_letter(next), next.is_alphanumeric(), "{next:?}");
            assert!(!super::is_common(next) || next.to_lowercase().eq([next]), "{next:?}");
        }
    }

    proptest! {
        #[test]
        fn a_text_is_split_as_words_are(text in "[a-zA-Z0-9'_ .,:—éß→ÄЯяか日本한-]{0,60}|\\PC{0,40}") {
            let spelling = Spelling::of(&text);
            let words: Vec<String> = spelling.words.iter().map(|word| word.as_str().to_owned()).collect();
            let known: Vec<String> = request::words(&text).map(|word| word.as_str().to_owned()).collect();
            prop_assert_eq!(words, known);
        }
    }
}
