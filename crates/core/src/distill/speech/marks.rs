//! Marks of punctuation in a text, found without looking at each of its characters.

use super::letters;

/// Marks that are looked for together.
#[derive(Clone, Copy)]
pub(in crate::distill) struct Marks<const N: usize> {
    /// Of ASCII.
    signs: [u8; N],
    /// Whether the long dashes count as well.
    dashes: bool,
}

impl<const N: usize> Marks<N> {
    pub(in crate::distill) const fn of(signs: [u8; N]) -> Self {
        Self { signs, dashes: false }
    }

    pub(in crate::distill) const fn and_dashes(signs: [u8; N]) -> Self {
        Self { signs, dashes: true }
    }

    /// Where the first one is.
    pub(in crate::distill) fn first(self, text: &str) -> Option<usize> {
        self.all(text).next().map(|mark| mark.at)
    }

    /// Where they are, in order.
    #[expect(clippy::needless_bitwise_bool, reason = "without branches, many bytes are compared at once")]
    pub(in crate::distill) fn all(self, text: &str) -> impl Iterator<Item = Mark> {
        let (is_sign, dashes) = (letters::one_of(self.signs), self.dashes);
        let may_be = move |byte: u8| is_sign(byte) | dashes & (byte == DASH);
        letters::places(text.as_bytes(), may_be).filter_map(move |at| match &text.as_bytes()[at..] {
            [DASH, rest @ ..] => matches!(rest, [0x80, 0x93 | 0x94, ..]).then_some(Mark { at, is_dash: true }),
            _ => Some(Mark { at, is_dash: false }),
        })
    }
}

/// Where some signs stand together, looked for by the one of them that is rarest.
pub(in crate::distill) fn find(text: &str, signs: &str, rarest: usize) -> Option<usize> {
    let mut places = memchr::memchr_iter(signs.as_bytes()[rarest], text.as_bytes());
    places.find_map(|at| {
        let start = at.checked_sub(rarest)?;
        text.as_bytes()[start..].starts_with(signs.as_bytes()).then_some(start)
    })
}

/// What the dashes begin with.
const DASH: u8 = 0xe2;

/// A mark that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::distill) struct Mark {
    pub(in crate::distill) at: usize,
    pub(in crate::distill) is_dash: bool,
}

impl Mark {
    /// Where the text goes on.
    pub(in crate::distill) fn end(self) -> usize {
        self.at + if self.is_dash { '—'.len_utf8() } else { 1 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Marks, find};

    proptest! {
        #[test]
        fn signs_are_found_together(text in "[i.e -]{0,30}") {
            prop_assert_eq!(find(&text, "i.e.", 1), text.find("i.e."));
            prop_assert_eq!(find(&text, ". ", 0), text.find(". "));
            prop_assert_eq!(find(&text, " - ", 1), text.find(" - "));
        }

        #[test]
        fn marks_are_found_as_characters_are(text in "[a,;—–→ é\u{80}]{0,90}|.{0,40}") {
            let found = |is: fn(char) -> bool| -> Vec<(usize, usize)> {
                text.char_indices().filter(|(_, c)| is(*c)).map(|(at, c)| (at, at + c.len_utf8())).collect()
            };
            let places = |marks: Marks<2>| -> Vec<(usize, usize)> {
                marks.all(&text).map(|mark| (mark.at, mark.end())).collect()
            };
            prop_assert_eq!(places(Marks::of(*b",;")), found(|c| matches!(c, ',' | ';')));
            let with_dashes = Marks::and_dashes(*b",;");
            prop_assert_eq!(places(with_dashes), found(|c| matches!(c, ',' | ';' | '—' | '–')));
            prop_assert_eq!(with_dashes.first(&text), text.find([',', ';', '—', '–']));
        }
    }
}
