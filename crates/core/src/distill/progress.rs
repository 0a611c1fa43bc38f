//! What is done, what is being done, and what is left: from the plan, else from the work and the replies.

use std::collections::BTreeSet;

use super::beginning::are_alone;
use super::cues::Cue;
use super::digest::{Digest, Said, short};
use super::heading::Section;
use super::prose::{Line, Mark};
use super::wording::gist;
use super::{Item, Voice, commands, plan};
use crate::transcript::{Action, StepState};

/// Items of one kind that are told; of what is done, the newest.
const MANY: usize = 12;

/// How far the work is.
#[derive(Default)]
#[expect(clippy::struct_field_names, reason = "they are called as in the brief")]
pub(super) struct Progress {
    pub(super) done: Vec<Item>,
    pub(super) in_progress: Vec<Item>,
    pub(super) remaining: Vec<Item>,
}

pub(super) fn progress(digest: &Digest<'_>, task_from: usize) -> Progress {
    let mut progress = planned(digest, task_from).or_else(|| ticked(digest, task_from)).unwrap_or_default();
    let has_plan = !(progress.done.is_empty() && progress.in_progress.is_empty() && progress.remaining.is_empty());
    if !has_plan {
        progress.done = finished(digest, task_from);
        progress.remaining = left(digest, task_from);
        progress.in_progress = doing(digest);
    }
    for items in [&mut progress.done, &mut progress.in_progress, &mut progress.remaining] {
        dedup(items);
    }
    let extra = progress.done.len().saturating_sub(MANY * 2);
    progress.done.drain(..extra);
    progress.remaining.truncate(MANY * 2);
    progress
}

/// The plan that was made with the agent's own tools.
fn planned(digest: &Digest<'_>, task_from: usize) -> Option<Progress> {
    let steps = plan::in_force(&digest.calls, task_from);
    if steps.is_empty() {
        return None;
    }
    let mut progress = Progress::default();
    for step in steps {
        let items = match step.state {
            StepState::Done => &mut progress.done,
            StepState::InProgress => &mut progress.in_progress,
            StepState::Pending => &mut progress.remaining,
        };
        items.push(step.item);
    }
    Some(progress)
}

/// The newest list with boxes that was written in a message.
fn ticked(digest: &Digest<'_>, task_from: usize) -> Option<Progress> {
    let is_ticked = |line: &&Line| matches!(line.mark, Mark::Checked | Mark::Unchecked);
    let with_list = |said: &&Said<'_>| said.step >= task_from && said.lines.iter().filter(is_ticked).count() >= 2;
    let said = digest.said.iter().rfind(with_list)?;
    let mut progress = Progress::default();
    for line in said.lines.iter().filter(is_ticked) {
        let items = if line.mark == Mark::Checked { &mut progress.done } else { &mut progress.remaining };
        items.push(said.item(&line.text));
    }
    Some(progress)
}

/// What the replies say was finished, and what was committed.
fn finished(digest: &Digest<'_>, task_from: usize) -> Vec<Item> {
    let mut done: Vec<(usize, Item)> = Vec::new();
    for said in digest.said.iter().filter(|said| said.step >= task_from && !said.is_user()) {
        let telling =
            |line: &&Line| line.section == Section::Done || (line.section == Section::Other && tells_done(line));
        for line in said.lines.iter().filter(telling) {
            let text = match line.section {
                Section::Done => line.text.as_str(),
                _ => line.said().find(|(text, _)| is_report(text)).map_or(line.text.as_str(), |(text, _)| text),
            };
            done.push((said.step, said.item(text)));
        }
    }
    for call in digest.calls.iter().filter(|call| call.may_commit && call.step >= task_from && call.succeeded()) {
        let Action::Run { command, .. } = call.action else { continue };
        if let Some(subject) = commands::committed(command) {
            let text = short(&format!("committed: {subject}"), 240);
            done.push((call.step, Item { text, voice: Voice::Agent, at: call.at, cites: call.cites() }));
        }
    }
    done.sort_by_key(|(step, _)| *step);
    done.into_iter().map(|(_, item)| item).collect()
}

fn tells_done(line: &Line) -> bool {
    line.mark == Mark::Checked || line.said().any(|(text, cues)| cues.has(Cue::Finished) && is_report(text))
}

/// `I've added …`, `Fixed …`: a report begins with what was done.
fn is_report(text: &str) -> bool {
    const STARTS: &[&str] = &[
        "i've ",
        "i have ",
        "i ",
        "we've ",
        "we have ",
        "all tests ",
        "done",
        "added",
        "fixed",
        "implemented",
        "created",
        "wrote",
        "updated",
        "removed",
        "refactored",
        "renamed",
        "moved",
        "migrated",
        "committed",
        "extracted",
        "replaced",
        "wired",
        "converted",
        "built",
        "set up",
        "drafted",
        "verified",
        "ported",
        "introduced",
        "documented",
        "cleaned",
        "deleted",
        "installed",
        "configured",
        "rewrote",
        "split",
        "completed",
        "finished",
        "merged",
        "deployed",
        "tests ",
        "the tests ",
    ];
    let lower = text.to_ascii_lowercase();
    let tells = ["i will", "i'll", "going to", "not yet", "haven't", "need to", "should", "would", "could", "if "];
    let cues = super::cues::in_text(text);
    STARTS.iter().any(|start| lower.starts_with(start))
        && cues.has(Cue::Finished)
        && !text.ends_with('?')
        && !tells.iter().any(|word| lower.contains(word))
}

/// What the newest reply that speaks of it says is left.
fn left(digest: &Digest<'_>, task_from: usize) -> Vec<Item> {
    for said in digest.said.iter().rev().filter(|said| said.step >= task_from && !said.is_user()) {
        let mut items = Vec::new();
        for line in &said.lines {
            match line.section {
                Section::Remaining | Section::Next | Section::Actions => items.push(said.item(&line.text)),
                Section::Other if !said.is_summary => {
                    let open = line.said().filter(|(text, cues)| cues.has(Cue::Left) && !text.ends_with('?'));
                    items.extend(open.map(|(text, _)| said.item(text)));
                }
                _ => {}
            }
        }
        if !items.is_empty() {
            return items;
        }
    }
    Vec::new()
}

/// What is being done: said so, or a call that has not come back.
fn doing(digest: &Digest<'_>) -> Vec<Item> {
    let mut items = Vec::new();
    for said in digest.last_turn() {
        for line in &said.lines {
            let is_current = |text: &str| {
                let lower = text.to_ascii_lowercase();
                ["currently ", "i'm in the middle of", "in the middle of", "working on", "halfway through"]
                    .iter()
                    .any(|start| lower.contains(start))
            };
            if line.section == Section::Doing {
                items.push(said.item(&line.text));
            } else {
                items.extend(line.said().filter(|(text, _)| is_current(text)).map(|(text, _)| said.item(text)));
            }
        }
    }
    items.extend(running(digest));
    items
}

/// The call that was running when the session ended.
pub(super) fn running(digest: &Digest<'_>) -> Option<Item> {
    let call = digest.calls.last().filter(|call| call.ended.is_none() && call.step == digest.last)?;
    Some(Item { text: call.told(), voice: Voice::Agent, at: call.at, cites: vec![call.key] })
}

/// Leaves out what was said before, word for word or nearly so.
pub(super) fn dedup(items: &mut Vec<Item>) {
    let mut are_alone = are_alone(items.iter().map(|item| item.text.as_str())).into_iter();
    let mut seen: BTreeSet<u64> = BTreeSet::new();
    let mut is_new = |item: &Item| gist(&item.text).is_some_and(|gist| seen.insert(gist));
    items.retain(|item| are_alone.next().unwrap_or_default() || is_new(item));
}
