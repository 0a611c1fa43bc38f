//! What the agent explained on the way, and what it said last. No extractor knows all the ways in which a choice is told
//! or a question put, but a choice that is explained has its reason beside it, and a question stands in the last reply:
//! such sentences are kept, as what was said and not as what was settled or asked.

use std::collections::{BTreeMap, BTreeSet};

use super::cues::{Cue, CueSet};
use super::digest::{Digest, Said};
use super::heading::Section;
use super::prose::Line;
use super::wording::gist;
use super::{Decision, Item, vocabulary};
use crate::transcript::EntryKey;

/// Remarks that are told, the newest of them.
const MANY: usize = 40;

/// What is told by others: plans, offers, questions and failures.
const ELSEWHERE: &[Cue] =
    &[Cue::Announces, Cue::Courtesy, Cue::Asks, Cue::Open, Cue::Next, Cue::Left, Cue::Tried, Cue::Blocked];

pub(super) fn remarks(digest: &Digest<'_>, decisions: &[Decision]) -> Vec<Item> {
    let mut seen = BTreeSet::new();
    let mut decided: BTreeMap<EntryKey, Vec<&Decision>> = BTreeMap::new();
    for decision in decisions {
        for key in &decision.what.cites {
            decided.entry(*key).or_default().push(decision);
        }
    }
    // The newest first: there may be many more than are told.
    let last = digest.replies().next_back().map(|reply| reply.step);
    let said = digest
        .replies()
        .rev()
        .flat_map(|reply| remarked(reply, last == Some(reply.step)).rev().map(move |text| (reply, text)));
    let new = said.filter(|(reply, text)| !decided.get(&reply.key).is_some_and(|made| is_decided(text, made)));
    let new = new.filter(|(_, text)| seen.insert(gist(text)));
    let mut found: Vec<Item> = new.take(MANY).map(|(reply, text)| reply.item(text)).collect();
    found.reverse();
    found
}

fn remarked<'a>(reply: &'a Said<'_>, is_last: bool) -> impl DoubleEndedIterator<Item = &'a str> {
    let lines = reply.lines.iter().filter(|line| matches!(line.section, Section::Other | Section::Goal));
    let said = lines.flat_map(Line::said).filter(move |(text, cues)| is_remark(text, *cues, is_last));
    said.map(|(text, _)| text)
}

fn is_remark(text: &str, cues: CueSet, is_last: bool) -> bool {
    (cues.has(Cue::Explains) || is_last && !cues.has(Cue::Finished))
        && !cues.any(ELSEWHERE)
        && !text.ends_with('?')
        && vocabulary::split(text).nth(3).is_some()
}

/// Whether a decision of the same reply tells the sentence already.
fn is_decided(text: &str, decisions: &[&Decision]) -> bool {
    decisions.iter().any(|decision| {
        let what = &decision.what.text;
        let is_reason = decision.reason.as_deref().is_some_and(|reason| text.contains(reason));
        is_reason || what.contains(text) || text.contains(what)
    })
}
