//! The goal in force: the first request, unless a later one changed it.

use super::digest::{Digest, Said, short};
use super::heading::Section;
use super::request::{self, Kind};
use super::wording::spelt;
use super::{ENOUGH, Item, cues::Cue, vocabulary};
use crate::parts::mapped;

/// The longest task, in characters.
const LONG: usize = 1500;

/// The task and the step that it was given in.
pub(super) struct Task {
    pub(super) item: Item,
    pub(super) step: usize,
}

/// The task in force, the prompts that gave one being known.
pub(super) fn task(digest: &Digest<'_>, given: &[&Said<'_>]) -> Option<Task> {
    let told = summarised(digest);
    match (given.last(), told) {
        // What a summary tells is older than every prompt behind it, and better than a remark.
        (Some(prompt), Some(told)) if prompt.step > told.step && prompt.kind == Kind::Remark => Some(told),
        (Some(prompt), _) => Some(Task { item: asked(prompt), step: prompt.step }),
        (None, told) => told,
    }
}

/// The prompts that gave a task, each of which took the place of the one before.
pub(super) fn given<'a>(digest: &'a Digest<'_>) -> Vec<&'a Said<'a>> {
    let mut given: Vec<&Said<'_>> = Vec::new();
    let mut is_greeting = false;
    for prompt in requested(digest) {
        if given.last().is_none_or(|task| replaces(digest, (task, is_greeting), prompt)) {
            is_greeting = prompt.kind == Kind::Remark && vocabulary::split(&prompt.text).nth(2).is_none();
            given.push(prompt);
        }
    }
    given
}

/// The prompts that ask for something or tell something.
fn requested<'a>(digest: &'a Digest<'_>) -> impl Iterator<Item = &'a Said<'a>> {
    digest.prompts().filter(|prompt| prompt.kind != Kind::Nod)
}

/// Whether a request takes the place of the task, which may be no more than a greeting.
fn replaces(digest: &Digest<'_>, (task, is_greeting): (&Said<'_>, bool), prompt: &Said<'_>) -> bool {
    match prompt.kind {
        // In a language whose verbs are not known, length tells a request from a greeting.
        Kind::Remark => is_greeting && vocabulary::split(&prompt.text).nth(4).is_some() && !prompt.text.ends_with('?'),
        Kind::Nod => false,
        Kind::Turn => true,
        Kind::Veer => request::is_apart(&task.text, &prompt.text),
        // A question at the beginning is not yet the task.
        Kind::Work if task.kind == Kind::Remark => true,
        Kind::Work => request::is_apart(&task.text, &prompt.text) && is_over(digest, prompt.step),
    }
}

/// Whether the agent had said, when the prompt came, that it was done.
fn is_over(digest: &Digest<'_>, step: usize) -> bool {
    let Some(reply) = digest.replies().rfind(|reply| reply.step < step) else { return false };
    let mut said = reply.lines.iter().flat_map(super::prose::Line::said);
    let is_done = said.any(|(_, cues)| cues.has(Cue::Finished));
    let goes_on = reply.lines.iter().any(|line| line.section == Section::Next || line.section == Section::Remaining)
        || reply.lines.last().is_some_and(|line| line.said().any(|(_, cues)| cues.any(&[Cue::Next, Cue::Left])));
    is_done && !goes_on
}

/// The words of a request; of a long one the sentences that ask come first.
fn asked(prompt: &Said<'_>) -> Item {
    let mut item = prompt.item_of(without_lead_in(&prompt.text), usize::MAX / 16);
    if item.text.chars().count() > LONG {
        item.text = condensed(prompt);
    }
    item
}

/// A request without the line at its end that led to something pasted.
fn without_lead_in(text: &str) -> &str {
    let Some((before, last)) = text.trim_end().rsplit_once("\n\n") else { return text };
    let leads = last.ends_with(':') && !last.contains('\n') && request::count(last) <= 12;
    if leads && !spelt(last, request::is_order) { before.trim_end() } else { text }
}

fn condensed(prompt: &Said<'_>) -> String {
    const ASKS: &[&str] = &[
        "want",
        "need",
        "please",
        "goal",
        "task",
        "can you",
        "could you",
        "should",
        "let's",
        "must",
        "build",
        "implement",
        "fix",
        "write",
        "add",
    ];
    let sentences: Vec<&str> = prompt.lines.iter().flat_map(|line| line.said().map(|(text, _)| text)).collect();
    let asks = |text: &str| {
        let lower = text.to_ascii_lowercase();
        ASKS.iter().any(|word| lower.contains(word))
    };
    // The first sentences say what it is about; behind them, what asks has precedence over what tells.
    let mut chosen: Vec<usize> = (0..sentences.len().min(2)).collect();
    chosen.extend((2..sentences.len()).filter(|index| asks(sentences[*index])));
    chosen.extend((2..sentences.len()).filter(|index| !asks(sentences[*index])));
    let (mut length, mut kept) = (0, Vec::new());
    for index in chosen {
        length += sentences[index].chars().count() + 1;
        if length > LONG && !kept.is_empty() {
            break;
        }
        kept.push(index);
    }
    kept.sort_unstable();
    short(&kept.into_iter().map(|index| sentences[index]).collect::<Vec<_>>().join(" "), LONG)
}

/// What a summary says that the goal is, where no prompt from before it is there.
fn summarised(digest: &Digest<'_>) -> Option<Task> {
    let first = requested(digest).next().map_or(usize::MAX, |prompt| prompt.step);
    let summaries = digest.said.iter().filter(|said| said.is_summary && said.step < first);
    for summary in summaries {
        let goal = summary.lines.iter().find(|line| line.section == Section::Goal).or_else(|| summary.lines.first());
        if let Some(goal) = goal {
            return Some(Task { item: summary.item(&goal.text), step: summary.step });
        }
    }
    None
}

/// What the user asked for, in order, a line each.
pub(super) fn requests(digest: &Digest<'_>) -> Vec<Item> {
    let prompts: Vec<&Said<'_>> = requested(digest).collect();
    let mut requests = mapped(&prompts, ENOUGH, |prompt| prompt.item_of(&prompt.text, 240));
    // A compaction may repeat the prompts that it keeps.
    super::progress::dedup(&mut requests);
    requests
}
