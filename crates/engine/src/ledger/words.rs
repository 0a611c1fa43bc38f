//! Texts as the terms by which they are found: our own splitting, the same for what is kept and for what is asked.
//!
//! Letters are folded (case and accents). A name of several parts, `snake_case` or `camelCase`, is found by each part and
//! by all of it; a path by its parts; and writing without blanks between words by every two neighbours.

use std::ops::Range;

use nucleo_matcher::chars;

/// Longer runs of letters are data, not words: their beginning is enough.
const MAX_TERM_CHARS: usize = 64;
/// Of these, nobody looks for parts.
const MAX_SPLIT_BYTES: usize = 128;

/// What a term is in its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TermKind {
    /// A part of a name, and not its last.
    Part,
    /// A word, or the last part of a name.
    LastPart,
    /// A name of several parts.
    Whole,
    /// Two neighbours of a writing without blanks.
    Pair,
    /// The last letter of such a run.
    LastLetter,
    /// A run of one such letter.
    Letter,
}

/// A term and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    pub(super) text: String,
    pub(super) kind: TermKind,
    pub(super) range: Range<usize>,
}

/// Splits a text.
pub(super) fn split_terms(text: &str, take: &mut dyn FnMut(Term)) {
    let mut chars = text.char_indices().peekable();
    while let Some((start, first)) = chars.next() {
        let class = CharClass::from_char(first);
        if class == CharClass::Blank {
            continue;
        }
        let mut end = start + first.len_utf8();
        while let Some((at, next)) = chars.next_if(|(_, next)| class.goes_on_with(*next)) {
            end = at + next.len_utf8();
        }
        match class {
            CharClass::Unspaced => split_pairs(text, start..end, take),
            _ => split_name(text, start..end, take),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Blank,
    Letter,
    Unspaced,
}

impl CharClass {
    fn from_char(c: char) -> Self {
        match c {
            c if c.is_ascii() => {
                if c.is_ascii_alphanumeric() {
                    Self::Letter
                } else {
                    Self::Blank
                }
            }
            c if is_unspaced(c) => Self::Unspaced,
            c if c.is_alphanumeric() => Self::Letter,
            _ => Self::Blank,
        }
    }

    fn goes_on_with(self, next: char) -> bool {
        self == Self::from_char(next) || (self == Self::Letter && (next == '_' || is_accent(next)))
    }
}

/// Writings that put no blanks between words.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff // Thai, Lao, Burmese, Khmer
        | 0x1100..=0x11ff | 0xac00..=0xd7af // Hangul
        | 0x3005..=0x3007 | 0x3040..=0x30ff | 0x31f0..=0x31ff | 0xff66..=0xff9f // Kana
        | 0x2e80..=0x2fdf | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3ffff) // Han
}

/// Accents that stand behind their letter.
fn is_accent(c: char) -> bool {
    matches!(u32::from(c), 0x0300..=0x036f)
}

fn split_pairs(text: &str, run: Range<usize>, take: &mut dyn FnMut(Term)) {
    let letters: Vec<(usize, char)> = text[run.clone()].char_indices().collect();
    let end_of = |index: usize| letters.get(index + 1).map_or(run.end, |(at, _)| run.start + at);
    for (index, pair) in letters.windows(2).enumerate() {
        let range = run.start + pair[0].0..end_of(index + 1);
        take(Term { text: fold_text(&text[range.clone()]), kind: TermKind::Pair, range });
    }
    if let Some((at, last)) = letters.last() {
        let kind = if letters.len() == 1 { TermKind::Letter } else { TermKind::LastLetter };
        take(Term { text: fold_text(last.encode_utf8(&mut [0; 4])), kind, range: run.start + at..run.end });
    }
}

fn split_name(text: &str, run: Range<usize>, take: &mut dyn FnMut(Term)) {
    let parts = if run.len() > MAX_SPLIT_BYTES { vec![run.clone()] } else { find_parts(text, run.clone()) };
    let Some((last, before)) = parts.split_last() else { return };
    let term = |range: &Range<usize>, kind| Term { text: fold_text(&text[range.clone()]), kind, range: range.clone() };
    for part in before {
        take(term(part, TermKind::Part));
    }
    take(term(last, TermKind::LastPart));
    if let Some(first) = before.first() {
        take(term(&(first.start..last.end), TermKind::Whole));
    }
}

/// The parts of a name: between underscores, and where a capital begins a word.
fn find_parts(text: &str, run: Range<usize>) -> Vec<Range<usize>> {
    let letters: Vec<(usize, char)> = text[run.clone()].char_indices().collect();
    let mut parts = Vec::new();
    let mut start = run.start;
    for (index, (at, c)) in letters.iter().enumerate() {
        let at = run.start + at;
        let before = index.checked_sub(1).map(|before| letters[before].1);
        let after = letters.get(index + 1).map(|(_, after)| *after);
        let begins = c.is_uppercase()
            && before.is_some_and(|before| !before.is_uppercase() || after.is_some_and(char::is_lowercase));
        if *c == '_' || begins {
            parts.push(start..at);
            start = if *c == '_' { at + 1 } else { at };
        }
    }
    parts.push(start..run.end);
    parts.retain(|part| !part.is_empty());
    parts
}

/// A text as it is compared: lower case, without accents and underscores.
fn fold_text(text: &str) -> String {
    let letters = text.chars().filter(|c| *c != '_' && !is_accent(*c)).take(MAX_TERM_CHARS);
    letters
        .flat_map(char::to_lowercase)
        .map(chars::normalize)
        .filter(|c| c.is_alphanumeric() || !c.is_ascii())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms_of(text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        split_terms(text, &mut |term| {
            assert!(text.is_char_boundary(term.range.start) && text.is_char_boundary(term.range.end));
            terms.push(term.text);
        });
        terms
    }

    #[test]
    fn words_are_folded() {
        assert_eq!(terms_of("Déjà-vu, STRASSE ÜBER cafe\u{301}!"), ["deja", "vu", "strasse", "uber", "cafe"]);
    }

    #[test]
    fn names_are_found_by_their_parts_and_as_a_whole() {
        assert_eq!(terms_of("max_retry_count"), ["max", "retry", "count", "maxretrycount"]);
        assert_eq!(terms_of("parseHTTPServer2"), ["parse", "http", "server2", "parsehttpserver2"]);
        assert_eq!(terms_of("__init__ README I"), ["init", "readme", "i"]);
    }

    #[test]
    fn paths_are_found_by_their_parts() {
        assert_eq!(terms_of("./src/auth/log-in.rs:12"), ["src", "auth", "log", "in", "rs", "12"]);
    }

    #[test]
    fn writing_without_blanks_is_found_by_two_neighbours() {
        assert_eq!(terms_of("修复登录bug"), ["修复", "复登", "登录", "录", "bug"]);
        assert_eq!(terms_of("の 中"), ["の", "中"]);
    }

    #[test]
    fn data_is_not_split() {
        assert_eq!(terms_of(&"aB".repeat(500)), ["ab".repeat(32)]);
    }
}
