//! How texts begin, so that those which begin like no other need not be read to their ends.

use std::collections::BTreeMap;

/// Letters of a beginning.
const FIRST: usize = 32;

/// Which of some texts begin with other words than all others. Texts without letters of ASCII are not told apart.
pub(super) fn are_alone<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<bool> {
    let beginnings: Vec<Option<u64>> = texts.map(beginning).collect();
    let mut uses: BTreeMap<u64, usize> = BTreeMap::new();
    for beginning in beginnings.iter().flatten() {
        *uses.entry(*beginning).or_default() += 1;
    }
    beginnings.into_iter().map(|beginning| beginning.is_some_and(|beginning| uses[&beginning] == 1)).collect()
}

/// What stands for the first letters of a text: the same for texts of the same words, in whichever case.
fn beginning(text: &str) -> Option<u64> {
    let (mut print, mut letters) = (0_u64, 0);
    for (at, byte) in text.bytes().enumerate() {
        let letter = match LETTERS[usize::from(byte)] {
            NONE => continue,
            OTHER => match lowered(&text[at..]) {
                NONE => continue,
                letter => letter,
            },
            letter => letter,
        };
        print = (print ^ u64::from(letter)).wrapping_mul(0x0100_0000_01b3);
        letters += 1;
        if letters == FIRST {
            break;
        }
    }
    (letters > 0).then_some(print)
}

/// No letter of ASCII, and perhaps one in lower case.
const NONE: u8 = 0;
const OTHER: u8 = 1;

/// The letters and digits of ASCII in lower case, by the byte that a character begins with.
const LETTERS: [u8; 256] = {
    let (mut letters, mut byte) = ([NONE; 256], 0_u8);
    while byte < 0x80 {
        if byte.is_ascii_alphanumeric() {
            letters[byte as usize] = byte.to_ascii_lowercase();
        }
        byte += 1;
    }
    letters[0xc4] = OTHER;
    letters[0xe2] = OTHER;
    letters
};

/// The letter that the first character has in lower case, of the two that are not of ASCII and have one.
fn lowered(text: &str) -> u8 {
    match text.chars().next() {
        Some('\u{130}') => b'i',
        Some('\u{212a}') => b'k',
        _ => NONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_same_words_begin_alike() {
        let lower = |next: char| next.to_lowercase().filter(char::is_ascii_alphanumeric).collect::<String>();
        for next in '\0'..=char::MAX {
            assert_eq!(beginning(&next.to_string()), beginning(&lower(next)), "{next:?}");
        }
        assert_eq!(beginning("Fix *the* \u{212a}ey - now!"), beginning("fix the key, now"));
        assert_ne!(beginning("fix the key"), beginning("fix the keys"));
    }

    #[test]
    fn only_what_begins_like_no_other_is_alone() {
        let texts = ["Fix it.", "fix it", "fix that", "日本", "→"];
        assert_eq!(are_alone(texts.into_iter()), [false, false, true, false, false]);
    }
}
