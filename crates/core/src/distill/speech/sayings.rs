//! Phrases that rules ask for in words, found in one pass over what is said. Each rule keeps its own phrases.

use std::sync::LazyLock;

use super::phrasebook::Phrasebook;
use super::wording::Wording;
use super::{choice, needs, next, pick, questions, turn, verdict};

/// What is said by a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::distill) enum Saying {
    /// A lead behind which a conclusion stands, at the beginning.
    Lead,
    Closed,
    Sensible,
    Accepted,
    Aside,
    Given,
    Ranked,
    Gone,
    Offered,
    /// A question that is over has both of these.
    Answered,
    Asked,
    /// The agent is asked for something.
    Begged,
}

static TABLE: &[(Saying, &str)] = &[
    (Saying::Lead, verdict::LEADS),
    (Saying::Closed, verdict::CLOSED),
    (Saying::Sensible, choice::SENSIBLE),
    (Saying::Accepted, pick::ACCEPTED),
    (Saying::Aside, turn::ASIDE),
    (Saying::Given, turn::GIVEN),
    (Saying::Ranked, turn::RANKED),
    (Saying::Gone, turn::GONE),
    (Saying::Offered, next::OFFERED),
    (Saying::Answered, questions::ANSWERED),
    (Saying::Asked, questions::ASKED),
    (Saying::Begged, questions::BEGGED),
];

/// What a text says.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::distill) struct SayingSet(u32);

impl SayingSet {
    pub(in crate::distill) fn has(self, saying: Saying) -> bool {
        self.0 & (1 << saying as u8) != 0
    }
}

static PHRASES: LazyLock<Phrasebook<Saying>> = LazyLock::new(|| Phrasebook::of(known()));

fn known() -> impl Iterator<Item = (&'static str, Saying)> {
    TABLE.iter().flat_map(|(saying, phrases)| phrases.split('|').map(|phrase| (phrase.trim(), *saying)))
}

/// Every phrase that is asked for.
pub(in crate::distill) fn phrases() -> impl Iterator<Item = &'static str> {
    known().map(|(phrase, _)| phrase)
}

/// What is said in words.
pub(in crate::distill) fn of(words: Wording<'_>) -> SayingSet {
    let phrases = &*PHRASES;
    let mut set = SayingSet::default();
    for at in (0..words.len()).filter(|at| words[*at].is(needs::SAYING)) {
        for (phrase, saying) in phrases.beginning(&words[at], words.get(at + 1)) {
            if (at == 0 || saying != Saying::Lead) && words.says_at(at, phrase) {
                set.0 |= 1 << saying as u8;
            }
        }
    }
    set
}

#[cfg(test)]
mod tests {
    use super::Saying;
    use crate::distill::speech::wording::spelt;

    fn says(text: &str, saying: Saying) -> bool {
        spelt(text, |words| words.says(saying))
    }

    #[test]
    fn phrases_are_found_anywhere_as_words_and_leads_at_the_beginning() {
        assert!(says("We can come back to this, later.", Saying::Aside));
        assert!(!says("We can go.", Saying::Aside));
        assert!(!says("We put it on iceberg.", Saying::Aside));
        assert!(says("In the end, a queue.", Saying::Lead));
        assert!(!says("A queue in the end.", Saying::Lead));
    }
}
