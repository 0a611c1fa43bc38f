//! Letters of ASCII, eight at a time: a word is rarely longer, so it is found and put in lower case in a few steps.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = ONES << 7;

/// Eight bytes of a text, the first of them lowest; behind its end there are zeros.
pub(in crate::distill) fn eight(text: &[u8]) -> u64 {
    match text.first_chunk() {
        Some(eight) => u64::from_le_bytes(*eight),
        None => text.iter().take(8).rev().fold(0, |gathered, letter| gathered << 8 | u64::from(*letter)),
    }
}

/// The first of eight bytes.
pub(in crate::distill) fn first(eight: u64, letters: usize) -> u64 {
    if letters >= 8 { eight } else { eight & ((1 << (letters * 8)) - 1) }
}

/// Eight bytes with the letters of ASCII in lower case.
pub(in crate::distill) fn lower(eight: u64) -> u64 {
    // `a` is `A` and 0x20.
    eight | (within(eight & !HIGH, b'A', b'Z') & !eight & HIGH) >> 2
}

/// The high bit is set of each byte of ASCII that is no less than one and no more than another; the other bits are not
/// to be looked at.
fn within(ascii: u64, from: u8, to: u8) -> u64 {
    (ascii + ONES * u64::from(0x80 - from)) & !(ascii + ONES * u64::from(0x7f - to))
}

/// So many bytes are looked at in one go.
pub(in crate::distill) const STRETCH: usize = 64;

/// What a text begins with, a bit for each byte.
#[derive(Clone, Copy)]
pub(in crate::distill) struct Stretch {
    /// What words of ASCII are made of.
    parts: u64,
    /// What is not of ASCII.
    others: u64,
}

impl Stretch {
    pub(in crate::distill) fn of(text: &[u8]) -> Self {
        Self { parts: bits_of(text, is_part), others: bits_of(text, |byte| byte >= 0x80) }
    }

    /// Where the next one is that is of a word, or not of ASCII.
    pub(in crate::distill) fn next(self, at: usize) -> Option<usize> {
        let left = if at < STRETCH { (self.parts | self.others) >> at } else { 0 };
        (left != 0).then(|| at + left.trailing_zeros() as usize)
    }

    /// Where what words are made of ends, which begins at a place.
    pub(in crate::distill) fn end(self, start: usize) -> usize {
        (!self.parts & u64::MAX << start).trailing_zeros() as usize
    }

    /// Whether a byte is not of ASCII.
    pub(in crate::distill) fn is_other(self, at: usize) -> bool {
        at < STRETCH && self.others >> at & 1 != 0
    }
}

/// Letters and digits of ASCII, `_`, `'`, `-`.
#[expect(clippy::needless_bitwise_bool, reason = "without branches, many bytes are compared at once")]
fn is_part(byte: u8) -> bool {
    (byte | 0x20).is_ascii_lowercase() | byte.is_ascii_digit() | (byte == b'_') | (byte == b'\'') | (byte == b'-')
}

/// Which bytes of a text are of a kind, as far as a stretch goes, the first as the lowest bit; a zero must not be.
pub(in crate::distill) fn bits_of(text: &[u8], is: impl Fn(u8) -> bool) -> u64 {
    if let Some(bytes) = text.first_chunk() {
        return bits(bytes, is);
    }
    let mut bytes = [0; STRETCH];
    bytes[..text.len()].copy_from_slice(text);
    bits(&bytes, is)
}

/// Tells of a byte whether it is one of these, without branches, so that many are compared at once.
#[expect(clippy::needless_bitwise_bool, reason = "see above")]
pub(in crate::distill) fn one_of<const N: usize>(these: [u8; N]) -> impl Fn(u8) -> bool + Copy {
    move |byte| these.iter().fold(false, |any, one| any | (byte == *one))
}

/// Where the bytes of a kind are, in order.
pub(in crate::distill) fn places(text: &[u8], is: impl Fn(u8) -> bool + Copy) -> impl Iterator<Item = usize> {
    let (mut from, mut found) = (0, bits_of(text, is));
    std::iter::from_fn(move || {
        while found == 0 {
            from += STRETCH;
            found = bits_of(text.get(from..).filter(|rest| !rest.is_empty())?, is);
        }
        let at = from + found.trailing_zeros() as usize;
        found &= found - 1;
        Some(at)
    })
}

fn bits(bytes: &[u8; STRETCH], is: impl Fn(u8) -> bool) -> u64 {
    let flags = bytes.map(|byte| u8::from(is(byte)));
    let (eights, _) = flags.as_chunks();
    // The flags of eight bytes come to stand side by side in the highest one.
    let side_by_side = |eight: &[u8; 8]| u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    eights.iter().rev().fold(0, |bits, eight| bits << 8 | side_by_side(eight))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{STRETCH, Stretch, eight, first, lower};

    fn is_part(byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'\'' | b'-')
    }

    fn check(text: &[u8]) {
        let gathered = eight(text);
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

    #[test]
    fn a_stretch_knows_each_of_its_bytes() {
        let bytes: Vec<u8> = (0..=u8::MAX).chain(*b"a-b").collect();
        for from in 0..=bytes.len() {
            let (text, stretch) = (&bytes[from..], Stretch::of(&bytes[from..]));
            let byte = |at: usize| text.get(at).copied().filter(|_| at < STRETCH).unwrap_or_default();
            for at in 0..STRETCH {
                let next = (at..STRETCH).find(|at| is_part(byte(*at)) || byte(*at) >= 0x80);
                let end = (at..STRETCH).find(|at| !is_part(byte(*at))).unwrap_or(STRETCH);
                assert_eq!((stretch.next(at), stretch.end(at)), (next, end), "{from} {at}");
                assert_eq!(stretch.is_other(at), byte(at) >= 0x80);
            }
            assert_eq!((stretch.next(STRETCH), stretch.is_other(STRETCH)), (None, false));
        }
    }

    proptest! {
        #[test]
        fn eight_are_seen_as_each_of_them(text in proptest::collection::vec(any::<u8>(), 0..10)) {
            check(&text);
        }
    }
}
