//! One conversation that several stores hold: which has most of it, by what their indexes count, and which turns one adds to
//! another.

use std::cmp::Ordering;
use std::ops::Range;

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Origin, text_cow};

use super::record;
use super::session::{RawRecord, RecordHead, StoredSession};

/// A prompt of so many letters is not given twice by chance.
const DISTINCT_CHARS: usize = 40;

/// How much of a conversation a store holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Weight {
    pub prompts: usize,
    pub records: usize,
    pub updated: Option<Timestamp>,
}

impl Weight {
    /// Which of two copies in the same form has more of it; of two that have as much, the later.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let order = |weight: &Self| (weight.prompts, weight.records, weight.updated);
        order(self).cmp(&order(other))
    }

    /// Whether it has clearly more than a copy in another form, in which records are cut otherwise.
    pub(super) fn is_clearly_more(&self, other: &Self) -> bool {
        match self.prompts.cmp(&other.prompts) {
            Ordering::Greater => true,
            Ordering::Equal => self.records > 2 * other.records,
            Ordering::Less => false,
        }
    }
}

/// What a copy adds to the one that is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Addition {
    Nothing,
    /// Records of the other, before and after all that is there.
    Around {
        before: Range<usize>,
        after: Range<usize>,
    },
    /// It has turns of its own, and nothing tells where they belong.
    Unplaced,
}

/// The prompts of a copy, each with the number of its record.
pub(super) struct Outline {
    prompts: Vec<(usize, String)>,
    records: usize,
    updated: Option<Timestamp>,
}

impl Outline {
    pub(super) fn read(stored: &dyn StoredSession) -> rusqlite::Result<Self> {
        let heads = stored.heads();
        let mut prompts = Vec::new();
        for (number, head) in heads.iter().enumerate() {
            prompts.extend(find_prompt(head, &stored.read_text(head)?).map(|words| (number, words)));
        }
        Ok(Self { prompts, records: heads.len(), updated: stored.session().updated })
    }

    /// What another copy adds to this one, as far as equal prompts tell where it belongs.
    pub(super) fn align(&self, other: &Self) -> Addition {
        let (own, theirs) = (self.words(), other.words());
        if is_within(&theirs, &own) {
            return self.complete_last_turn(other);
        }
        let Some((first, count)) = find_overlap(&own, &theirs) else { return Addition::Unplaced };
        let end = first + count;
        let is_taken_back = self.updated.zip(other.updated).is_some_and(|(own, other)| other < own);
        if end < theirs.len() && is_taken_back {
            return Addition::Unplaced;
        }
        let before = other.prompts.get(first).map_or(0, |(number, _)| *number);
        let after = match other.prompts.get(end) {
            None => other.records,
            // What came of the last prompt that both have, where nothing of it is here.
            Some(_) if self.ends_with_prompt() => other.prompts[end - 1].0 + 1,
            Some((number, _)) => *number,
        };
        let before = if first == 0 { 0..0 } else { 0..before };
        Addition::Around { before, after: after..other.records }
    }

    fn words(&self) -> Vec<&str> {
        self.prompts.iter().map(|(_, words)| words.as_str()).collect()
    }

    fn ends_with_prompt(&self) -> bool {
        self.prompts.last().is_some_and(|(number, _)| number + 1 == self.records)
    }

    fn complete_last_turn(&self, other: &Self) -> Addition {
        match (self.prompts.last(), other.prompts.last()) {
            (Some((_, own)), Some((number, theirs)))
                if own == theirs && self.ends_with_prompt() && number + 1 < other.records =>
            {
                Addition::Around { before: 0..0, after: number + 1..other.records }
            }
            _ => Addition::Nothing,
        }
    }
}

/// The words of a record that is a prompt of the user's, however they are spaced.
fn find_prompt(head: &RecordHead, raw: &RawRecord) -> Option<String> {
    let entries = record::parse_record(head, raw).entries;
    entries.iter().find_map(|entry| match &entry.body {
        Body::Prompt(parts) if entry.origin == Origin::User => {
            Some(text_cow(parts).split_whitespace().collect::<Vec<_>>().join(" "))
        }
        _ => None,
    })
}

/// Whether some prompts are all among others, in their order.
fn is_within(some: &[&str], others: &[&str]) -> bool {
    let mut left = others.iter();
    some.iter().all(|wanted| left.any(|prompt| prompt == wanted))
}

/// Where in `theirs` the prompts stand that both have, and how many they are: all of `own`, or one end of each. None where
/// that is not sure.
fn find_overlap(own: &[&str], theirs: &[&str]) -> Option<(usize, usize)> {
    if own.is_empty() {
        return None;
    }
    if theirs.starts_with(own) {
        return Some((0, own.len()));
    }
    let is_sure = |shared: &[&str]| shared.len() > 1 || shared.iter().any(|words| words.len() >= DISTINCT_CHARS);
    let mut whole = theirs.windows(own.len()).enumerate().filter(|(_, window)| *window == own);
    if let Some((first, _)) = whole.next() {
        return (whole.next().is_none() && is_sure(own)).then_some((first, own.len()));
    }
    let longest = own.len().min(theirs.len());
    let follows = (1..longest).rev().find(|count| own.ends_with(&theirs[..*count]));
    let precedes = (1..longest).rev().find(|count| theirs.ends_with(&own[..*count]));
    let found = match (follows, precedes) {
        (Some(count), None) => (0, count),
        (None, Some(count)) => (theirs.len() - count, count),
        _ => return None,
    };
    is_sure(&theirs[found.0..found.0 + found.1]).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each letter is a prompt, or, in small, an answer.
    fn outline(letters: &str) -> Outline {
        let prompts = letters.char_indices().filter(|(_, letter)| letter.is_ascii_uppercase());
        Outline {
            prompts: prompts.map(|(number, letter)| (number, letter.to_string())).collect(),
            records: letters.len(),
            updated: None,
        }
    }

    fn added(own: &str, other: &str) -> String {
        match outline(own).align(&outline(other)) {
            Addition::Nothing => "nothing".to_owned(),
            Addition::Unplaced => "unplaced".to_owned(),
            Addition::Around { before, after } => format!("{}[{own}]{}", &other[before], &other[after]),
        }
    }

    #[test]
    fn what_only_another_has_is_put_around_what_both_have() {
        for (own, other, whole) in [
            ("AaBb", "AaBbCc", "[AaBb]Cc"),
            ("AaB", "AaBbCc", "[AaB]bCc"),
            ("AaB", "AaBb", "[AaB]b"),
            ("CcDd", "AaBbCcDd", "AaBb[CcDd]"),
            ("BbCc", "AaBbCcDd", "Aa[BbCc]Dd"),
            ("AaBbCc", "BbCcDd", "[AaBbCc]Dd"),
            ("BbCcDd", "AaBbCc", "Aa[BbCcDd]"),
            ("Aa", "AaBb", "[Aa]Bb"),
        ] {
            assert_eq!(added(own, other), whole, "{own} and {other}");
        }
    }

    #[test]
    fn what_is_there_is_not_added_and_what_is_not_sure_is_left() {
        for (own, other, told) in [
            ("AaBbCc", "AaBb", "nothing"),
            ("AaBbCc", "AaCc", "nothing"),
            ("AaBb", "", "nothing"),
            ("AaBb", "CcDd", "unplaced"),
            ("AaBb", "AaCc", "unplaced"),
            ("AaBb", "BbCc", "unplaced"),
            ("", "Aa", "unplaced"),
            ("AaAa", "AaAaAaBb", "[AaAa]AaBb"),
        ] {
            assert_eq!(added(own, other), told, "{own} and {other}");
        }
    }

    #[test]
    fn turns_that_the_later_copy_has_no_more_are_not_brought_back() {
        let at = |millis| Some(Timestamp::from_millis(millis));
        let own = Outline { updated: at(2), ..outline("AaBb") };
        let align = |millis| own.align(&Outline { updated: at(millis), ..outline("AaBbCc") });
        assert_eq!(align(1), Addition::Unplaced);
        assert_eq!(align(3), Addition::Around { before: 0..0, after: 4..6 });
    }

    #[test]
    fn the_copy_with_more_turns_is_richer_and_of_equal_ones_the_later() {
        let weight =
            |prompts, records, updated| Weight { prompts, records, updated: Some(Timestamp::from_millis(updated)) };
        assert_eq!(weight(3, 1, 1).compare(&weight(2, 9, 9)), Ordering::Greater);
        assert_eq!(weight(3, 5, 1).compare(&weight(3, 5, 9)), Ordering::Less);
        assert!(weight(1, 3, 1).is_clearly_more(&weight(1, 1, 9)));
        assert!(!weight(1, 3, 1).is_clearly_more(&weight(1, 2, 1)));
        assert!(!weight(1, 30, 1).is_clearly_more(&weight(2, 2, 1)));
    }
}
