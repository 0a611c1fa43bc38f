//! The words of a wallet: twelve or more of a list that has no articles and hardly a plural.

use std::ops::Range;

/// Words that sentences have, and the list has not.
const SENTENCE_WORDS: &str = "\
    the and for with are was were from has had not but its our your his her into when which does did than then these \
    those there their been being also any because between both each may might more most must much never per please \
    should since some such them through until very what where while who whose would words phrase phrases seed \
    mnemonic see all";
/// A sentence has more words that end like a plural.
const MAX_PLURALS: usize = 3;

/// The words that are a seed: they come in threes, from twelve to twenty-four.
pub(super) fn find_words(text: &str, value: Range<usize>) -> Option<Range<usize>> {
    let is_letter = |next: char| next.is_ascii_lowercase();
    let mut ends = Vec::new();
    let (mut at, mut plurals) = (value.start, 0);
    for word in text[value.clone()].split_inclusive(|next: char| !is_letter(next)) {
        let letters = word.trim_end_matches(|next: char| !is_letter(next));
        if SENTENCE_WORDS.split(' ').any(|other| other == letters) {
            break;
        }
        plurals += usize::from(letters.ends_with('s') && !letters.ends_with("ss"));
        if !letters.is_empty() {
            ends.push(at + letters.len());
        }
        at += word.len();
    }
    let count = ends.len().min(24) / 3 * 3;
    (count >= 12 && plurals <= MAX_PLURALS).then(|| value.start..ends[count - 1])
}
