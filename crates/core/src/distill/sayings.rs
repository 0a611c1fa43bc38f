//! Phrases that rules ask for in words, found in one pass over what is said. Each rule keeps its own phrases.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::{choice, next, pick, questions, turn, verdict};

/// What is said by a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Saying {
    /// A lead behind which a conclusion stands, at the beginning.
    Lead,
    Closed,
    Sensible,
    Accepted,
    Explained,
    Aside,
    Given,
    Ranked,
    Gone,
    Offered,
    /// A question that is answered has both of these.
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
    (Saying::Explained, pick::EXPLAINED),
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
pub(super) struct SayingSet(u32);

impl SayingSet {
    pub(super) fn has(self, saying: Saying) -> bool {
        self.0 & (1 << saying as u8) != 0
    }
}

/// The automaton of all phrases, and what each says; without an automaton no phrase is found.
static PHRASES: LazyLock<(Option<AhoCorasick>, Vec<Saying>)> = LazyLock::new(|| {
    let all = TABLE.iter().flat_map(|(saying, phrases)| phrases.split('|').map(|phrase| (*saying, phrase)));
    let (sayings, phrases): (Vec<Saying>, Vec<&str>) = all.filter(|(_, phrase)| !phrase.is_empty()).unzip();
    (AhoCorasick::new(phrases).ok(), sayings)
});

/// What a text in lower case says.
pub(super) fn of(lower: &str) -> SayingSet {
    let (automaton, sayings) = &*PHRASES;
    let mut set = SayingSet::default();
    for found in automaton.iter().flat_map(|automaton| automaton.find_overlapping_iter(lower)) {
        let saying = sayings[found.pattern().as_usize()];
        if saying != Saying::Lead || found.start() == 0 {
            set.0 |= 1 << saying as u8;
        }
    }
    set
}

#[cfg(test)]
mod tests {
    use super::{Saying, of};

    #[test]
    fn phrases_are_found_anywhere_and_leads_at_the_beginning() {
        assert!(of("we can come back to this later").has(Saying::Aside));
        assert!(!of("we can go").has(Saying::Aside));
        assert!(of("in the end a queue").has(Saying::Lead));
        assert!(!of("a queue in the end").has(Saying::Lead));
    }
}
