//! Compares a request with what the source client itself would have sent.

use std::cmp::Ordering;
use std::collections::HashSet;

use serde_json::Value;

use super::loss::REMOVED_IMAGE;
use super::{Item, ItemKind, Loss, read_items};
use crate::scenario::{Expect, Fact, Nature};

/// The facts as the source client's own request shows them.
#[derive(Clone, Debug)]
pub struct Truth {
    /// Live facts, in the order in which the client sends them.
    pub live: Vec<Fact>,
    pub ghosts: Vec<Fact>,
    pub images: usize,
    /// How many outcomes the client sends twice, by a fault of its own.
    repeated: usize,
    /// Words that stand in native calls and outcomes; a report may come as a message, too.
    native: Vec<String>,
    /// Names and ids of the calls, in order.
    pub calls: Vec<(String, String)>,
}

impl Truth {
    pub fn new(request: &Value, facts: &[Fact]) -> Self {
        let (items, repeated) = remove_repeats(read_items(request));
        let mut live: Vec<(usize, Fact)> = Vec::new();
        let mut ghosts = Vec::new();
        for fact in facts {
            match find_word(&items, &fact.word) {
                // Files that a client attaches anew after a compaction are not the conversation's.
                Some(_) if only_in_harness(&items, &fact.word) => {}
                Some(at) => live.push((at, fact.clone())),
                None if fact.expect == Expect::Tolerated => {}
                None => ghosts.push(fact.clone()),
            }
        }
        live.sort_by_key(|(at, _)| *at);
        let live: Vec<Fact> = live.into_iter().map(|(_, fact)| fact).collect();
        let native = live.iter().filter(|fact| is_native(&items, fact)).map(|fact| fact.word.clone()).collect();
        Self { live, ghosts, images: count_kind(&items, ItemKind::Image), repeated, native, calls: list_calls(&items) }
    }

    /// The facts that must arrive in another agent: reasoning is sealed for its own model.
    pub fn portable_facts(&self) -> impl Iterator<Item = &Fact> {
        self.live.iter().filter(|fact| fact.nature != Nature::Reasoning)
    }
}

/// How a request compares with the truth.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Live facts, without those of reasoning: how many are there, of how many.
    pub live: (usize, usize),
    pub reasoning: (usize, usize),
    /// Live facts that are missing, as `word (about)`.
    pub missing: Vec<String>,
    pub ghosts: Vec<String>,
    /// Facts that come earlier than one that they should follow.
    pub disordered: Vec<String>,
    pub images: (usize, usize),
    /// Images in whose place the client says that it has left them out.
    pub removed: usize,
    /// Facts of calls and outcomes that are in native calls and outcomes, of how many.
    pub native: (usize, usize),
    /// Calls without an outcome, outcomes without a call, ids used twice.
    pub unpaired: usize,
    /// Outcomes that come again, and how many of them the source's client sends itself.
    pub repeated: (usize, usize),
    pub calls: Vec<(String, String)>,
    /// Losses of the source's own client when it resumes.
    pub lost_by_source: &'static [Loss],
}

impl Comparison {
    /// Everything live is there, in order, natively, and no ghost, as far as the target can hold it.
    pub fn is_whole(&self, lost: &[Loss]) -> bool {
        let all = |(there, of): (usize, usize)| there >= of;
        all(self.live)
            && (all(self.native) || lost.contains(&Loss::Structure))
            && self.has_images(lost)
            && self.ghosts.is_empty()
            && self.disordered.is_empty()
            && self.unpaired == 0
            && self.repeated.0 <= self.repeated.1
    }

    fn has_images(&self, lost: &[Loss]) -> bool {
        let (there, of) = self.images;
        match there.cmp(&of) {
            Ordering::Equal => true,
            Ordering::Less => {
                let told = lost.contains(&Loss::OldImages) && there + self.removed >= of;
                told || lost.contains(&Loss::Images) || lost.contains(&Loss::OutcomeImages)
            }
            // Images that the source's own client does not send again may still be in its store.
            Ordering::Greater => {
                [Loss::OutcomeImages, Loss::OldImages].iter().any(|loss| self.lost_by_source.contains(loss))
            }
        }
    }
}

pub fn compare_with_truth(request: &Value, truth: &Truth) -> Comparison {
    let (items, repeated) = remove_repeats(read_items(request));
    let mut comparison = Comparison {
        repeated: (repeated, truth.repeated),
        images: (count_kind(&items, ItemKind::Image), truth.images),
        removed: items.iter().map(|item| item.text.matches(REMOVED_IMAGE).count()).sum(),
        unpaired: count_unpaired(&items),
        calls: list_calls(&items),
        ..Comparison::default()
    };
    let mut reached = 0;
    for fact in &truth.live {
        let at = find_word(&items, &fact.word);
        let tally = if fact.nature == Nature::Reasoning { &mut comparison.reasoning } else { &mut comparison.live };
        tally.1 += 1;
        tally.0 += usize::from(at.is_some());
        let label = format!("{} ({})", fact.word, fact.about);
        match at {
            // An outcome belongs to its call; those of parallel calls come in any order.
            Some(_) if fact.nature == Nature::Outcome => {}
            Some(at) if at < reached => comparison.disordered.push(label),
            Some(at) => reached = at,
            None if fact.nature != Nature::Reasoning => comparison.missing.push(label),
            None => {}
        }
        if truth.native.contains(&fact.word) {
            comparison.native.1 += 1;
            comparison.native.0 += usize::from(is_native(&items, fact));
        }
    }
    let ghosts = truth.ghosts.iter().filter(|ghost| find_word(&items, &ghost.word).is_some());
    comparison.ghosts = ghosts.map(|fact| format!("{} ({})", fact.word, fact.about)).collect();
    comparison
}

/// Takes out outcomes that were there before, with their images, and tells how many there were.
fn remove_repeats(items: Vec<Item>) -> (Vec<Item>, usize) {
    let mut seen = HashSet::new();
    let mut repeated = 0;
    let mut in_repeat = false;
    let mut kept = Vec::new();
    for item in items {
        in_repeat = match item.kind {
            ItemKind::Outcome => item.call_id.is_some() && !seen.insert(item.call_id.clone()),
            ItemKind::Image => in_repeat,
            _ => false,
        };
        repeated += usize::from(in_repeat && item.kind == ItemKind::Outcome);
        if !in_repeat {
            kept.push(item);
        }
    }
    (kept, repeated)
}

/// Whether a fact of a call stands in a call, or one of an outcome in an outcome.
fn is_native(items: &[Item], fact: &Fact) -> bool {
    let kind = match fact.nature {
        Nature::Call => ItemKind::Call,
        Nature::Outcome => ItemKind::Outcome,
        _ => return false,
    };
    items.iter().any(|item| item.kind == kind && item.text.contains(&fact.word))
}

fn find_word(items: &[Item], word: &str) -> Option<usize> {
    items.iter().position(|item| item.text.contains(word))
}

fn only_in_harness(items: &[Item], word: &str) -> bool {
    items.iter().filter(|item| item.text.contains(word)).all(Item::is_harness)
}

fn count_kind(items: &[Item], kind: ItemKind) -> usize {
    items.iter().filter(|item| item.kind == kind).count()
}

fn list_calls(items: &[Item]) -> Vec<(String, String)> {
    let calls = items.iter().filter(|item| item.kind == ItemKind::Call);
    calls.map(|call| (call.name.clone().unwrap_or_default(), call.call_id.clone().unwrap_or_default())).collect()
}

fn count_unpaired(items: &[Item]) -> usize {
    let ids = |kind: ItemKind| {
        let mut ids: Vec<Option<&str>> =
            items.iter().filter(|item| item.kind == kind).map(|item| item.call_id.as_deref()).collect();
        ids.sort_unstable();
        ids
    };
    let (calls, outcomes) = (ids(ItemKind::Call), ids(ItemKind::Outcome));
    let alone = calls.iter().filter(|id| !outcomes.contains(id)).count();
    let orphans = outcomes.iter().filter(|id| !calls.contains(id)).count();
    let twice = calls.windows(2).filter(|pair| pair[0] == pair[1]).count();
    alone + orphans + twice
}
