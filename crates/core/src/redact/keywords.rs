//! Finding keywords: a text is mostly none of them, and three bytes tell so at nearly every place.

use std::ops::Range;

/// A keyword that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The place of the keyword in its list.
    pub(super) keyword: usize,
}

/// A list of keywords; letters of ASCII in either case are the same.
pub(super) struct Keywords {
    words: Vec<Vec<u8>>,
    /// Keywords of one byte.
    bytes: Vec<(u8, usize)>,
    /// Which three bytes a keyword may begin with.
    starts: Vec<Start>,
    /// Which four bytes a keyword of so many may begin with.
    long_starts: Vec<bool>,
    /// The keywords that begin with the same two bytes: from the first of such a list to its end, in `ordered`.
    lists: Vec<(u16, u16)>,
    ordered: Vec<u16>,
}

/// What may begin with three bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Start {
    Nothing,
    /// A keyword of four bytes or more.
    Long,
    Any,
}

const START_BITS: u32 = 15;
const LONG_START_BITS: u32 = 16;
const LIST_BITS: u32 = 10;

impl Keywords {
    pub(super) fn new<'w>(words: impl Iterator<Item = &'w str>) -> Self {
        let words: Vec<Vec<u8>> = words.map(|word| word.to_ascii_lowercase().into_bytes()).collect();
        let one_byte =
            |(index, word): (usize, &Vec<u8>)| <[u8; 1]>::try_from(word.as_slice()).ok().map(|[byte]| (byte, index));
        let bytes = words.iter().enumerate().filter_map(one_byte).collect();
        let mut starts = vec![Start::Nothing; 1 << START_BITS];
        let mut long_starts = vec![false; 1 << LONG_START_BITS];
        for word in &words {
            match *word.as_slice() {
                [first, second, third, fourth, ..] => {
                    let start = &mut starts[start_index(first, second, third)];
                    *start = Start::Long.max(*start);
                    long_starts[long_start_index([first, second, third, fourth])] = true;
                }
                [first, second, third] => starts[start_index(first, second, third)] = Start::Any,
                [first, second] => (0..=255).for_each(|third| starts[start_index(first, second, third)] = Start::Any),
                _ => {}
            }
        }
        let mut lists: Vec<Vec<u16>> = vec![Vec::new(); 1 << LIST_BITS];
        for (index, word) in words.iter().enumerate() {
            if let (&[first, second, ..], Ok(index)) = (word.as_slice(), u16::try_from(index)) {
                lists[list_index(first, second)].push(index);
            }
        }
        let mut ordered = Vec::with_capacity(words.len());
        let lists = lists.into_iter().map(|list| {
            let from = ordered.len();
            ordered.extend(list);
            (to_u16(from), to_u16(ordered.len()))
        });
        let lists = lists.collect();
        Self { words, bytes, starts, long_starts, lists, ordered }
    }

    /// Every keyword of a text, by where it ends; of those that end together, the longest first.
    pub(super) fn find_all(&self, text: &[u8]) -> Vec<Hit> {
        let mut hits = Vec::new();
        self.add_beginning(text, 0..text.len(), &mut hits);
        sort_hits(&mut hits);
        hits
    }

    /// The length of the longest keyword.
    pub(super) fn max_bytes(&self) -> usize {
        self.words.iter().map(Vec::len).max().unwrap_or_default()
    }

    /// Adds the keywords that begin in a part of a text.
    pub(super) fn add_beginning(&self, text: &[u8], part: Range<usize>, hits: &mut Vec<Hit>) {
        for (byte, keyword) in &self.bytes {
            let starts = memchr::memchr_iter(*byte, &text[part.clone()]).map(|at| part.start + at);
            hits.extend(starts.map(|start| Hit { start, end: start + 1, keyword: *keyword }));
        }
        let seen = &text[part.start..text.len().min(part.end + 3)];
        for (at, window) in seen.windows(4).enumerate() {
            let &[first, second, third, fourth] = window else { continue };
            let may_start = match self.starts[start_index(first, second, third)] {
                Start::Nothing => false,
                Start::Long => self.long_starts[long_start_index([first, second, third, fourth])],
                Start::Any => true,
            };
            if may_start {
                self.add_hits(text, part.start + at, hits);
            }
        }
        // At the end, only short ones are left.
        let end = part.end.min(text.len().saturating_sub(1));
        for start in text.len().saturating_sub(3).max(part.start)..end {
            self.add_hits(text, start, hits);
        }
    }

    /// Adds the keywords that begin at a place, which has two bytes at least.
    fn add_hits(&self, text: &[u8], start: usize, hits: &mut Vec<Hit>) {
        let rest = &text[start..];
        let (from, to) = self.lists[list_index(rest[0], rest[1])];
        for index in &self.ordered[usize::from(from)..usize::from(to)] {
            let keyword = usize::from(*index);
            let word = self.words[keyword].as_slice();
            if rest.get(..word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word)) {
                hits.push(Hit { start, end: start + word.len(), keyword });
            }
        }
    }
}

pub(super) fn sort_hits(hits: &mut [Hit]) {
    hits.sort_unstable_by_key(|hit| (hit.end, hit.start, hit.keyword));
}

fn to_u16(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

/// Letters in either case have the same index.
#[inline]
fn start_index(first: u8, second: u8, third: u8) -> usize {
    let bytes = u32::from_le_bytes([first, second, third, 0]) | 0x0020_2020;
    (bytes.wrapping_mul(0x9e37_79b1) >> (32 - START_BITS)) as usize
}

#[inline]
fn long_start_index(bytes: [u8; 4]) -> usize {
    let bytes = u32::from_le_bytes(bytes) | 0x2020_2020;
    (bytes.wrapping_mul(0x9e37_79b1) >> (32 - LONG_START_BITS)) as usize
}

fn list_index(first: u8, second: u8) -> usize {
    let bytes = u32::from_le_bytes([first, second, 0, 0]) | 0x0000_2020;
    (bytes.wrapping_mul(0x9e37_79b1) >> (32 - LIST_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use aho_corasick::AhoCorasick;
    use proptest::prelude::*;

    use super::*;

    const WORDS: [&str; 9] = ["@", "pass", "password", ".x", "ss", "密码", "éa", "\"--", "user pass"];

    fn find_plainly(text: &str) -> Vec<Hit> {
        let automaton = AhoCorasick::builder().ascii_case_insensitive(true).build(WORDS).unwrap();
        let hits = automaton.find_overlapping_iter(text);
        hits.map(|hit| Hit { start: hit.start(), end: hit.end(), keyword: hit.pattern().as_usize() }).collect()
    }

    proptest! {
        #[test]
        fn all_keywords_are_found_in_the_order_of_their_ends(parts in prop::collection::vec("(?i)pass|word|\\.x|ss|s|@|密码|密|é|a|\"--|user |[ -~]", 0..40)) {
            let text = parts.concat();
            let keywords = Keywords::new(WORDS.into_iter());
            prop_assert_eq!(keywords.find_all(text.as_bytes()), find_plainly(&text));
        }
    }
}
