//! Letters of ASCII, eight at a time: a word is rarely longer, so it is found and put in lower case in a few steps.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = ONES << 7;

/// Eight bytes of a text, the first of them lowest; behind its end there are zeros.
pub(in crate::distill) fn eight(text: &[u8]) -> u64 {
    match text.first_chunk() {
        Some(eight) => u64::from_le_bytes(*eight),
        None => text.iter().rev().fold(0, |gathered, letter| gathered << 8 | u64::from(*letter)),
    }
}

/// The first of eight bytes.
pub(in crate::distill) fn first(eight: u64, letters: u32) -> u64 {
    if letters >= 8 { eight } else { eight & ((1 << (letters * 8)) - 1) }
}

/// Eight bytes with the letters of ASCII in lower case.
pub(in crate::distill) fn lower(eight: u64) -> u64 {
    // `a` is `A` and 0x20.
    eight | (within(eight & !HIGH, b'A', b'Z') & !eight & HIGH) >> 2
}

/// How many of eight bytes, from the first on, are what words are made of: letters and digits of ASCII, `_`, `'`, `-`.
pub(in crate::distill) fn run(eight: u64) -> u32 {
    let ascii = eight & !HIGH;
    // Capitals differ from small letters in this bit alone, and so do no others that would then be between these.
    let letters = within(ascii | ONES * 0x20, b'a', b'z');
    let signs = equal(ascii, b'_') | equal(ascii, b'\'') | equal(ascii, b'-');
    let parts = (letters | within(ascii, b'0', b'9') | signs) & !eight & HIGH;
    (parts ^ HIGH).trailing_zeros() / 8
}

/// The high bit is set of each byte of ASCII that is no less than one and no more than another; the other bits are not
/// to be looked at.
fn within(ascii: u64, from: u8, to: u8) -> u64 {
    (ascii + ONES * u64::from(0x80 - from)) & !(ascii + ONES * u64::from(0x7f - to))
}

/// The same of each that is one.
fn equal(ascii: u64, letter: u8) -> u64 {
    !((ascii ^ (ONES * u64::from(letter))) + ONES * 0x7f)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{eight, first, lower, run};

    fn is_part(byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'\'' | b'-')
    }

    fn check(text: &[u8]) {
        let gathered = eight(text);
        let expected = text.iter().take(8).take_while(|byte| is_part(**byte)).count();
        assert_eq!(run(gathered) as usize, expected, "{text:?}");
        let mut bytes = [0; 8];
        for (to, from) in bytes.iter_mut().zip(text) {
            *to = from.to_ascii_lowercase();
        }
        assert_eq!(lower(gathered).to_le_bytes(), bytes, "{text:?}");
        assert_eq!(first(gathered, 3).to_le_bytes()[..3], gathered.to_le_bytes()[..3]);
        assert_eq!(first(gathered, 3).to_le_bytes()[3..], [0; 5]);
        assert_eq!(first(gathered, 8), gathered);
    }

    #[test]
    fn every_byte_is_known_at_every_place() {
        for (byte, at) in (0..=u8::MAX).flat_map(|byte| (0..8).map(move |at| (byte, at))) {
            for around in *b"aZ~\xff\0" {
                let mut text = [around; 8];
                text[at] = byte;
                check(&text);
            }
        }
    }

    proptest! {
        #[test]
        fn eight_are_seen_as_each_of_them(text in proptest::collection::vec(any::<u8>(), 0..10)) {
            check(&text);
        }
    }
}
