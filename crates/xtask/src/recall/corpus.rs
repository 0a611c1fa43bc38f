//! Wordings and things to say in them. Which half a wording belongs to is decided by the seed.

use std::hash::{DefaultHasher, Hash, Hasher};

pub(super) const TASKS: &str = include_str!("corpus/task.txt");
pub(super) const REBASES: &str = include_str!("corpus/rebase.txt");
pub(super) const DECISIONS: &str = include_str!("corpus/decision.txt");
pub(super) const QUESTIONS: &str = include_str!("corpus/question.txt");
pub(super) const ANSWERS: &str = include_str!("corpus/answer.txt");
pub(super) const NEXT: &str = include_str!("corpus/next.txt");
pub(super) const THINGS: &str = include_str!("corpus/things.txt");
pub(super) const CHOICES: &str = include_str!("corpus/choices.txt");
pub(super) const REASONS: &str = include_str!("corpus/reasons.txt");
pub(super) const STEPS: &str = include_str!("corpus/steps.txt");
pub(super) const SUBJECTS: &str = include_str!("corpus/subjects.txt");
pub(super) const TALK: &str = include_str!("corpus/talk.txt");
pub(super) const WORKING: &str = include_str!("corpus/working.txt");

/// Which wordings are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Half {
    Open,
    HeldOut,
}

impl Half {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Open => "open half",
            Self::HeldOut => "held-out half",
        }
    }
}

/// Chooses, the same for the same seed.
pub(super) struct Dice {
    state: u64,
    seed: u64,
    half: Half,
}

impl Dice {
    pub(super) fn new(number: u64, seed: u64, half: Half) -> Self {
        Self { state: number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d, seed, half }
    }

    pub(super) fn roll(&mut self, below: usize) -> usize {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.state >> 33).unwrap_or(0) % below.max(1)
    }

    /// A wording of this half.
    pub(super) fn wording(&mut self, list: &'static str) -> &'static str {
        let mut lines: Vec<&str> = list.lines().filter(|line| !line.is_empty()).collect();
        let order = |line: &&str| {
            let mut hasher = DefaultHasher::new();
            (self.seed, *line).hash(&mut hasher);
            hasher.finish()
        };
        lines.sort_by_key(order);
        let middle = lines.len().div_ceil(2);
        let half = if self.half == Half::Open { &lines[..middle] } else { &lines[middle..] };
        half[self.roll(half.len())]
    }

    /// Some things, none twice.
    pub(super) fn things(&mut self, list: &'static str, count: usize) -> Vec<&'static str> {
        let mut lines: Vec<&str> = list.lines().filter(|line| !line.is_empty()).collect();
        let mut taken = Vec::new();
        while taken.len() < count && !lines.is_empty() {
            taken.push(lines.swap_remove(self.roll(lines.len())));
        }
        taken
    }
}

/// A wording with a thing in it.
pub(super) fn say(wording: &str, thing: &str, reason: &str) -> String {
    wording.replace("\\n", "\n").replace("{x}", thing).replace("{y}", reason)
}

/// The word by which a thing is known again: the name in it.
pub(super) fn key(thing: &str) -> &str {
    let is_name = |word: &&str| {
        let mut letters = word.chars();
        letters.next().is_some_and(char::is_uppercase) && letters.next().is_some_and(char::is_lowercase)
    };
    thing.split(|c: char| !c.is_alphanumeric()).find(is_name).unwrap_or(thing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thing_has_a_key_of_its_own() {
        let mut keys = std::collections::BTreeSet::new();
        for thing in [THINGS, CHOICES, STEPS, SUBJECTS].iter().flat_map(|list| list.lines()) {
            assert!(keys.insert(key(thing)), "{thing}");
        }
    }

    #[test]
    fn halves_share_nothing() {
        let all = |half| {
            let mut dice = Dice::new(1, 7, half);
            (0..200).map(|_| dice.wording(DECISIONS)).collect::<std::collections::BTreeSet<_>>()
        };
        assert!(all(Half::Open).is_disjoint(&all(Half::HeldOut)));
    }
}
