//! What is in the way: failures that nothing resolved, limits, and what the words call a blocker.

use super::attempts::{self, Attempt};
use super::cues::{self, Cue};
use super::digest::{Digest, short};
use super::heading::Section;
use super::progress::dedup;
use super::{Deed, Item, Voice};
use crate::transcript::FailureKind;

/// Blockers that are told, the newest of them.
const MANY: usize = 30;

pub(super) fn blockers(digest: &Digest<'_>, attempts: &[Attempt]) -> Vec<Item> {
    let mut found = attempts::in_the_way(digest, attempts);
    found.extend(in_words(digest));
    found.extend(ended_badly(digest));
    dedup(&mut found);
    let extra = found.len().saturating_sub(MANY);
    found.drain(..extra);
    found
}

/// What was called a blocker, and nobody called solved later.
fn in_words(digest: &Digest<'_>) -> Vec<Item> {
    let mut found = Vec::new();
    let last_turn = digest.last_prompt().map_or(0, |prompt| prompt.step);
    for said in &digest.said {
        for line in &said.lines {
            if line.section == Section::Blockers {
                if !digest.is_settled_later(said.step, &line.text) {
                    found.push(said.item(&line.text));
                }
                continue;
            }
            if said.is_summary || line.section == Section::Done {
                continue;
            }
            let blocks = line.said().filter(|(text, cues)| {
                let is_meant = cues.has(Cue::Blocked) && !cues.has(Cue::Solved) && !text.ends_with('?');
                is_meant && !is_denied(text) && (said.step >= last_turn || !complains(text))
            });
            let open = blocks.filter(|(text, _)| !digest.is_settled_later(said.step, text));
            found.extend(open.map(|(text, _)| said.item(text)));
        }
    }
    found
}

/// `So that it is never blocked by …`: what is not in the way.
fn is_denied(text: &str) -> bool {
    let before = cues::first(text, Cue::Blocked).map_or("", |(start, _)| &text[..start]);
    ["never ", "not ", "n't ", "no longer ", "n't be ", "not be ", "never be "].iter().any(|no| before.ends_with(no))
}

/// `Still fails` was said of a moment; later moments tell for themselves.
fn complains(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["still ", "keeps ", "remains ", "stuck"].iter().any(|word| lower.contains(word))
}

/// The limit or the error of the service with which the session ended.
fn ended_badly(digest: &Digest<'_>) -> Option<Item> {
    let after =
        digest.story.steps.iter().rev().take_while(|step| !matches!(step.deed, Deed::Reply { .. } | Deed::Call { .. }));
    for step in after {
        let Deed::Failure(failure) = &step.deed else { continue };
        if failure.kind != FailureKind::Interrupted && !failure.message.trim().is_empty() {
            return Some(Item {
                text: short(&failure.message, 300),
                voice: Voice::Tool,
                at: step.at,
                cites: vec![step.key],
            });
        }
    }
    None
}
