//! The user's requests and the agent's last words: both verbatim.

use std::collections::BTreeSet;

use super::printout::is_printout;
use super::substance::{has_substance, is_client_command};
use super::{Event, Item, Message, Task, Words};
use crate::distill::work::error_lines;

/// The longest quotations, in characters.
const REQUEST_CHARS: usize = 6_000;
const REPLY_CHARS: usize = 6_000;
const EARLIER_CHARS: usize = 3_000;
/// A longer printout is told by so many of its lines.
const PRINTED_CHARS: usize = 500;
const PRINTED_LINES: usize = 2;
/// Requests that are told: the first, and the newest.
const MAX_REQUESTS: usize = 200;
/// Last words that are shorter than this are told with those before them.
const MIN_LAST_WORDS_CHARS: usize = 400;
/// The most messages of last words.
const MAX_LAST_WORDS: usize = 4;

pub(super) fn find_task(words: &Words<'_>) -> Task {
    let present: Vec<&Message<'_>> = words.prompts.iter().filter(|prompt| !is_client_command(prompt.text)).collect();
    let Some(last) = present.last() else { return Task::default() };
    let request = present.iter().copied().rev().find(|prompt| stands_alone(prompt)).unwrap_or(last);
    let follow_up = (request.step != last.step).then_some(*last);
    let began = present.iter().copied().find(|prompt| stands_alone(prompt)).filter(|first| first.step < request.step);
    Task {
        request: Some(words.quote_message(request, REQUEST_CHARS)),
        in_reply_to: follow_up.and_then(|last| reply_before(words, last)),
        follow_up: follow_up.map(|last| quote_briefly(words, last)),
        began_with: began.map(|first| words.quote_message(first, REQUEST_CHARS)),
    }
}

/// Whether a prompt says by itself what is to be done.
fn stands_alone(prompt: &Message<'_>) -> bool {
    has_substance(prompt.text) && !is_printout(prompt.text) && !is_client_command(prompt.text)
}

/// A prompt beside the task; of a long printout, the lines that tell the error.
fn quote_briefly(words: &Words<'_>, prompt: &Message<'_>) -> Item {
    let item = words.quote_message(prompt, EARLIER_CHARS);
    if !is_printout(prompt.text) || prompt.text.chars().count() <= PRINTED_CHARS {
        return item;
    }
    let lines = error_lines(prompt.text, PRINTED_LINES, words.quoting);
    Item { text: format!("[…]\n{}\n[…]", lines.join("\n[…]\n")), ..item }
}

/// The agent's words that a prompt answers: those between the prompt before it and itself.
fn reply_before(words: &Words<'_>, prompt: &Message<'_>) -> Option<Item> {
    let before = words.prompts.iter().rev().find(|other| other.step < prompt.step).map_or(0, |other| other.step);
    let reply = words.replies.iter().rev().find(|reply| (before..prompt.step).contains(&reply.step))?;
    Some(words.quote_message(reply, 2_000))
}

/// Everything that the user said, in order; where that is much, the first and the newest.
pub(super) fn collect_all(words: &Words<'_>) -> Vec<Item> {
    // Some compactions write the prompts from before once more.
    let mut seen = BTreeSet::new();
    let mut prompts: Vec<&Message<'_>> = words.prompts.iter().rev().filter(|prompt| seen.insert(prompt.text)).collect();
    prompts.reverse();
    let newest = prompts.len().saturating_sub(MAX_REQUESTS - 1).max(1).min(prompts.len());
    let told = prompts.iter().take(1).chain(&prompts[newest..]);
    told.map(|prompt| words.quote_message(prompt, EARLIER_CHARS)).collect()
}

/// The step of the request of substance before the last one, since which work counts as present.
pub(super) fn present_from(words: &Words<'_>) -> usize {
    let requests = words.prompts.iter().rev().filter(|prompt| stands_alone(prompt));
    requests.take(2).last().map_or(words.history.context_from(), |request| request.step)
}

/// The agent's last messages, in order: one, or some where the last is only a word on the way.
pub(super) fn last_words(words: &Words<'_>) -> Vec<Item> {
    let from = last_turn_from(words);
    let (mut said, mut n_chars) = (Vec::new(), 0);
    for reply in words.replies.iter().rev() {
        // Words of the last turn; where it has none, the last that its model would still see.
        if reply.step < from && (n_chars > 0 || reply.step < words.history.live_from) {
            break;
        }
        said.push(words.quote_message(reply, REPLY_CHARS));
        n_chars += reply.text.chars().count();
        if n_chars >= MIN_LAST_WORDS_CHARS || said.len() == MAX_LAST_WORDS {
            break;
        }
    }
    said.reverse();
    said
}

/// Where the last turn begins: with its prompt.
fn last_turn_from(words: &Words<'_>) -> usize {
    let prompts = words.history.steps.iter().rposition(|step| matches!(step.event, Event::Prompt { .. }));
    prompts.unwrap_or(0)
}
