//! Words as they are compared: in lower case, with lists of words that are asked for every sentence.
//!
//! A word gets its print once; lists are tables of prints that the compiler makes, so asking one is a look or two.

use std::borrow::Cow;
use std::ops::{Deref, Range};

use super::letters;
use super::lexicon::{self, Class};

/// A word in lower case. Most are as they stand, and are not copied.
#[derive(Debug, Clone)]
pub(in crate::distill) struct Word<'a> {
    text: Cow<'a, str>,
    print: u64,
    class: Class,
    at: usize,
}

impl<'a> Word<'a> {
    /// A word as it stands in a text.
    pub(in crate::distill) fn of(word: &'a str) -> Self {
        let is_lower = word.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
        let text = if is_lower { Cow::Borrowed(word) } else { Cow::Owned(word.to_lowercase()) };
        let print = print(text.as_bytes());
        let class = lexicon::forms().class(&text, print);
        Self::known(text, print, class, 0)
    }

    /// A word in lower case of which all is known, and where it is in its text.
    pub(in crate::distill) fn known(text: Cow<'a, str>, print: u64, class: Class, at: usize) -> Self {
        Self { text, print, class, at }
    }

    /// Where it begins in the text that was split.
    pub(in crate::distill) fn at(&self) -> usize {
        self.at
    }

    pub(in crate::distill) fn as_str(&self) -> &str {
        &self.text
    }

    pub(in crate::distill) fn print(&self) -> u64 {
        self.print
    }

    /// Whether it can be one of these.
    pub(in crate::distill) fn is(&self, class: Class) -> bool {
        self.class & class != 0
    }

    pub(in crate::distill) fn class(&self) -> Class {
        self.class
    }
}

/// No word at all, as there is none behind the last.
pub(in crate::distill) static NO_WORD: Word<'static> =
    Word { text: Cow::Borrowed(""), print: print(b""), class: 0, at: 0 };

impl Deref for Word<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl PartialEq<str> for Word<'_> {
    fn eq(&self, other: &str) -> bool {
        *self.text == *other
    }
}

impl PartialEq<&str> for Word<'_> {
    fn eq(&self, other: &&str) -> bool {
        *self.text == **other
    }
}

/// A list of words, as the prints of them in the slots where they are looked for.
#[derive(Clone, Copy)]
pub(in crate::distill) struct List(pub(in crate::distill) &'static [u64]);

impl List {
    pub(in crate::distill) fn has(self, word: &Word<'_>) -> bool {
        self.knows(word.print)
    }

    /// Whether a print is that of one of its words.
    pub(in crate::distill) fn knows(self, print: u64) -> bool {
        let mut slot = slot(print, self.0.len());
        loop {
            match self.0[slot] {
                known if known == print => return true,
                NONE => return false,
                _ => slot = (slot + 1) & (self.0.len() - 1),
            }
        }
    }
}

/// The list of the words that are parted by spaces.
macro_rules! list {
    ($words:expr) => {{
        const THESE: &str = $words;
        const PRINTS: [u64; $crate::distill::speech::vocabulary::slots(THESE, b' ')] =
            $crate::distill::speech::vocabulary::prints(THESE, b' ');
        $crate::distill::speech::vocabulary::List(&PRINTS)
    }};
}

/// Whether a word stands in a list of words that are parted by spaces.
macro_rules! is_in {
    ($words:expr, $word:expr $(,)?) => {
        $crate::distill::speech::vocabulary::list!($words).has($word)
    };
}

/// Whether a print is that of one of some phrases that are parted by bars.
macro_rules! is_one_of {
    ($phrases:expr, $print:expr) => {{
        const THESE: &str = $phrases;
        const PRINTS: [u64; $crate::distill::speech::vocabulary::slots(THESE, b'|')] =
            $crate::distill::speech::vocabulary::prints(THESE, b'|');
        $crate::distill::speech::vocabulary::List(&PRINTS).knows($print)
    }};
}

pub(in crate::distill) use {is_in, is_one_of, list};

/// The words of a text as they stand.
pub(in crate::distill) fn split(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '-' | '_')));
    words.map(|word| word.trim_matches(['\'', '-'])).filter(|word| !word.is_empty())
}

/// A slot without a word.
const NONE: u64 = 0;

/// What stands for a word. Two words hardly ever share one; where they did, a sentence would be misjudged, and no more.
pub(in crate::distill) const fn print(word: &[u8]) -> u64 {
    let (mut printer, mut at) = (Printer::new(), 0);
    while at < word.len() {
        printer = printer.with(word[at]);
        at += 1;
    }
    printer.print()
}

/// A print in the making: letters are gathered in eights, and only these are mixed.
#[derive(Clone, Copy)]
pub(in crate::distill) struct Printer {
    mixed: u64,
    gathered: u64,
    letters: usize,
}

impl Printer {
    pub(in crate::distill) const fn new() -> Self {
        Self { mixed: 0x9e37_79b9_7f4a_7c15, gathered: 0, letters: 0 }
    }

    pub(in crate::distill) const fn with(self, letter: u8) -> Self {
        let gathered = self.gathered | (letter as u64) << (self.letters % 8 * 8);
        let letters = self.letters + 1;
        if letters.is_multiple_of(8) {
            return Self { mixed: mix(self.mixed ^ gathered), gathered: 0, letters };
        }
        Self { gathered, letters, ..self }
    }

    pub(in crate::distill) const fn print(self) -> u64 {
        finished(self.mixed ^ self.gathered, self.letters)
    }
}

/// The print of the lower case of a word of ASCII in a text, and whether it stands in that. As `print`, by eight letters
/// at once.
#[inline]
pub(in crate::distill) fn print_lower(text: &[u8], word: Range<usize>) -> (u64, bool) {
    // Most words are shorter.
    if word.len() < 8
        && let Some(eight) = text[word.start..].first_chunk()
    {
        let stands = letters::first(u64::from_le_bytes(*eight), word.len());
        let lower = letters::lower(stands);
        return (finished(Printer::new().mixed ^ lower, word.len()), lower == stands);
    }
    print_long(text, word)
}

/// The same of any word.
#[inline(never)]
fn print_long(text: &[u8], word: Range<usize>) -> (u64, bool) {
    let (mut mixed, mut is_lower, mut at) = (Printer::new().mixed, true, word.start);
    loop {
        let left = word.end - at;
        let stands = letters::first(letters::eight(&text[at..]), left);
        let lower = letters::lower(stands);
        is_lower &= lower == stands;
        if left < 8 {
            return (finished(mixed ^ lower, word.len()), is_lower);
        }
        mixed = mix(mixed ^ lower);
        at += 8;
    }
}

/// The print of so many letters, the last of which are not mixed yet.
const fn finished(mixed: u64, length: usize) -> u64 {
    mix(mixed ^ (length as u64) << 56)
}

/// The print of a word as it stands in a text.
pub(in crate::distill) fn print_of(word: &str) -> u64 {
    if word.is_ascii() { print_lower(word.as_bytes(), 0..word.len()).0 } else { print(word.to_lowercase().as_bytes()) }
}

const fn mix(bits: u64) -> u64 {
    let mixed = bits.wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed ^ mixed >> 32
}

/// What stands for two words, one behind the other.
pub(in crate::distill) fn pair(one: u64, other: u64) -> u64 {
    (one.rotate_left(23) ^ other).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Where a print is looked for first among so many slots, a power of two.
#[expect(clippy::cast_possible_truncation, reason = "what is cut off is no part of a slot")]
pub(in crate::distill) const fn slot(print: u64, slots: usize) -> usize {
    print as usize & (slots - 1)
}

/// How many slots a list has: a power of two, so that half of them stay free.
pub(in crate::distill) const fn slots(list: &str, between: u8) -> usize {
    let bytes = list.as_bytes();
    let (mut words, mut at) = (1, 0);
    while at < bytes.len() {
        words += (bytes[at] == between) as usize;
        at += 1;
    }
    (words * 2).next_power_of_two()
}

/// The slots of a list.
pub(in crate::distill) const fn prints<const SLOTS: usize>(list: &str, between: u8) -> [u64; SLOTS] {
    let mut slots = [NONE; SLOTS];
    let mut rest = list.as_bytes();
    while !rest.is_empty() {
        let mut length = 0;
        while length < rest.len() && rest[length] != between {
            length += 1;
        }
        let (word, behind) = rest.split_at(length);
        if !word.is_empty() {
            let print = print(word);
            let mut slot = slot(print, SLOTS);
            while slots[slot] != NONE && slots[slot] != print {
                slot = (slot + 1) % SLOTS;
            }
            slots[slot] = print;
        }
        rest = if behind.is_empty() { behind } else { behind.split_at(1).1 };
    }
    slots
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{NO_WORD, Word, print, print_lower};

    #[test]
    fn words_are_found_whole() {
        assert!(is_in!("use keep  drop", &Word::of("keep")));
        assert!(is_in!("use keep  drop", &Word::of("Drop")));
        assert!(!is_in!("use keep  drop", &Word::of("kee")));
        assert!(!is_in!("use keep  drop", &NO_WORD));
        assert!(is_in!("日本 élan", &Word::of("Élan")));
    }

    proptest! {
        #[test]
        fn a_print_by_eights_is_the_print(
            before in "[a-z é]{0,3}", word in "[a-z0-9'_-]{0,20}|[a-zA-Z0-9'_ -]{0,20}", behind in "[a-zA-Z é]{0,9}",
        ) {
            let text = format!("{before}{word}{behind}");
            let lower = word.to_ascii_lowercase();
            let printed = print_lower(text.as_bytes(), before.len()..before.len() + word.len());
            prop_assert_eq!(printed, (print(lower.as_bytes()), lower == word));
        }
    }
}
