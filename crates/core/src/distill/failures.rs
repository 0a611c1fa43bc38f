//! Approaches that were tried and given up: calls that failed, and what the words tell of them.

use std::collections::BTreeSet;

use super::FailedApproach;
use super::attempts::{self, Attempt};
use super::cues::Cue;
use super::digest::{Digest, Said, short};
use super::heading::Section;
use super::prose::Line;
use super::wording::gist;

/// Failed approaches that are told, the newest of them.
const MANY: usize = 40;

pub(super) fn failures(digest: &Digest<'_>, attempts: &[Attempt]) -> Vec<FailedApproach> {
    let mut found = attempts::given_up(digest, attempts);
    for said in &digest.said {
        for line in &said.lines {
            found.extend(in_line(said, line));
        }
    }
    found.sort_by_key(|approach| approach.what.cites.iter().copied().max());
    let mut seen: BTreeSet<Option<u64>> = BTreeSet::new();
    found.retain(|approach| seen.insert(gist(&approach.what.text)));
    let extra = found.len().saturating_sub(MANY);
    found.drain(..extra);
    found
}

fn in_line(said: &Said<'_>, line: &Line) -> Vec<FailedApproach> {
    if line.section == Section::Failed {
        return vec![approach(said, &line.text)];
    }
    // Nearly every line tells of no attempt.
    if said.is_summary || !line.said().any(|(_, cues)| cues.has(Cue::Tried)) {
        return Vec::new();
    }
    let told: Vec<(&str, super::cues::CueSet)> = line.said().collect();
    let mut found = Vec::new();
    for (index, (text, cues)) in told.iter().enumerate() {
        if text.ends_with('?') || !cues.has(Cue::Tried) || is_wish(text) {
            continue;
        }
        // `I tried X. It broke Y.` is told in two sentences.
        let follows = told.get(index + 1).filter(|(_, cues)| cues.has(Cue::Failed) && !cues.has(Cue::Tried));
        if cues.has(Cue::Failed) || says_but(text) {
            found.push(approach(said, text));
        } else if let Some((next, _)) = follows {
            let mut failed = approach(said, text);
            failed.reason = Some(short(next, 240));
            found.push(failed);
        }
    }
    found
}

/// What is to be tried has not failed.
fn is_wish(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["i'll try", "let me try", "let's try", "could try", "we can try", "should try", "going to try", "don't try", "if "]
        .iter()
        .any(|wish| lower.contains(wish) && !lower.contains("tried"))
}

fn says_but(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower.contains("tried") && [" but ", ", but", " however", "—", " – ", "; "].iter().any(|turn| lower.contains(turn))
}

fn approach(said: &Said<'_>, text: &str) -> FailedApproach {
    let (what, reason) = split(text);
    FailedApproach { what: said.item(what), reason: reason.map(|reason| short(reason, 240)), tries: 1 }
}

/// What was tried, and why it was given up.
fn split(text: &str) -> (&str, Option<&str>) {
    const TURNS: &[&str] =
        &[", but ", " but ", " — ", " – ", " because ", "; ", ": ", " since ", " due to ", ", which ", " (", " - "];
    let at = TURNS.iter().filter_map(|turn| text.find(turn).map(|at| (at, turn.len()))).filter(|(at, _)| *at > 8).min();
    match at {
        Some((at, length)) => (text[..at].trim(), Some(text[at + length..].trim().trim_end_matches(['.', ')']))),
        None => (text, None),
    }
}
