//! Decisions: answers and approvals, which structure tells, then the user's own sentences that rank as standing.

use super::printout::{has_printed_line, is_prose};
use super::ranking::{may_rank, rank_sentence};
use super::sentences::split_sentences;
use super::{Event, Item, Message, Step, Voice, Words};
use crate::distill::work::reads_like_error;
use crate::distill::{CallEvent, Decision, DecisionKind};
use crate::transcript::{Action, Status};

/// The longest quotations, in characters.
const ANSWER_CHARS: usize = 1_000;
const PLAN_CHARS: usize = 3_000;
const SENTENCE_CHARS: usize = 400;
const LONG_PROMPT_BYTES: usize = 2_000;
/// Decisions of each kind that are told, the newest of them.
const MAX_ANSWERS: usize = 60;
const MAX_SENTENCES: usize = 60;

/// Answers, approvals and refusals, the newest first; then sentences, those that rank highest first.
pub(super) fn collect_from(words: &Words<'_>) -> Vec<Decision> {
    let steps = words.history.steps.iter().skip(words.history.context_from());
    let mut found: Vec<Decision> = steps.flat_map(|step| step_decisions(words, step)).collect();
    found.reverse();
    found.truncate(MAX_ANSWERS);
    found.extend(standing_sentences(words));
    found
}

fn step_decisions(words: &Words<'_>, step: &Step) -> Vec<Decision> {
    let Event::Call(call) = &step.event else { return Vec::new() };
    match &call.action {
        Action::Ask(_) if call.refusal.is_none() => answer_decisions(words, step, call),
        // Where a client asks what is wrong with a plan, the answer is the refusal.
        Action::Propose { plan } if call.refusal.is_none() && call.answers.is_empty() => {
            approval_decision(words, step, call, plan).into_iter().collect()
        }
        Action::Propose { .. } => vec![refusal_decision(words, step, call)],
        _ if call.refusal.is_some() => vec![refusal_decision(words, step, call)],
        _ => Vec::new(),
    }
}

fn answer_decisions(words: &Words<'_>, step: &Step, call: &CallEvent) -> Vec<Decision> {
    let (key, at) = call.end.as_ref().map_or((step.key, step.at), |end| (end.key, end.at.or(step.at)));
    let told = call.answers.iter().filter(|answer| !answer.answer.trim().is_empty()).map(|answer| {
        let mut what = words.quoting.quote_item(&answer.answer, ANSWER_CHARS, Voice::User, at, key);
        what.entries.insert(0, step.key);
        let question = Some(words.quoting.quote_passage(&answer.question, ANSWER_CHARS));
        Decision { kind: DecisionKind::Answered, question, what, rank: 0 }
    });
    told.collect()
}

/// A plan that the user approved: its words are the agent's.
fn approval_decision(words: &Words<'_>, step: &Step, call: &CallEvent, plan: &str) -> Option<Decision> {
    let end = call.end.as_ref().filter(|end| end.status == Status::Done)?;
    let mut what = words.quoting.quote_item(plan, PLAN_CHARS, Voice::Agent, end.at.or(step.at), step.key);
    what.entries.push(end.key);
    Some(Decision { kind: DecisionKind::Approved, question: None, what, rank: 0 })
}

/// A call that the user turned down.
fn refusal_decision(words: &Words<'_>, step: &Step, call: &CallEvent) -> Decision {
    let subject = call.action.subject();
    let text = match &call.action {
        Action::Run { command, .. } => command.clone(),
        _ => format!("{} {subject}", call.tool).trim_end().to_owned(),
    };
    let mut what = words.quoting.quote_item(&text, SENTENCE_CHARS, Voice::Agent, step.at, step.key);
    what.entries.extend(call.end.as_ref().map(|end| end.key));
    let said = call.refusal.as_ref().and_then(|refusal| refusal.words.as_deref());
    let said = said.or_else(|| call.answers.first().map(|said| said.answer.as_str()));
    let said = said.map(|said| words.quoting.quote_passage(said, ANSWER_CHARS));
    Decision { kind: DecisionKind::Refused, question: said, what, rank: 0 }
}

/// The user's sentences that say how things are to be, by rank and then the newest first.
fn standing_sentences(words: &Words<'_>) -> Vec<Decision> {
    let mut ranked: Vec<(u32, usize, Item)> = Vec::new();
    for prompt in words.prompts.iter().filter(|prompt| may_rank(prompt.text)) {
        ranked.extend(ranked_sentences(words, prompt));
    }
    ranked.sort_by_key(|(rank, step, _)| std::cmp::Reverse((*rank, *step)));
    let mut told: Vec<Decision> = Vec::new();
    for (rank, _, what) in ranked {
        if told.len() < MAX_SENTENCES && !told.iter().any(|known| known.what.text == what.text) {
            told.push(Decision { kind: DecisionKind::Said, question: None, what, rank });
        }
    }
    told
}

fn ranked_sentences(words: &Words<'_>, prompt: &Message<'_>) -> Vec<(u32, usize, Item)> {
    // Of a long one, only the rules for good.
    let least = if prompt.text.len() > LONG_PROMPT_BYTES { 3 } else { 2 };
    let mut found = Vec::new();
    for sentence in own_sentences(&words.quoting.mask_whole(prompt.text)) {
        let weight = rank_sentence(sentence);
        let is_whole = !sentence.ends_with(':');
        if weight >= least
            && is_whole
            && is_prose(sentence)
            && !reads_like_error(sentence)
            && sentence.chars().count() <= SENTENCE_CHARS
        {
            let item = words.quoting.quote_item(sentence, SENTENCE_CHARS, Voice::User, prompt.at, prompt.key);
            found.push((weight, prompt.step, item));
        }
    }
    found
}

/// Prompts of more lines are most often pasted, and what somebody says of it stands before it or after it.
const MAX_OWN_LINES: usize = 12;
const LINES_AROUND_PASTE: usize = 3;

/// The sentences that the user wrote, as far as that can be told from what was pasted.
fn own_sentences(text: &str) -> Vec<&str> {
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let is_pasted = ends.len() > MAX_OWN_LINES && text.lines().any(|line| !line.trim().is_empty() && !is_prose(line));
    if !is_pasted {
        let paragraphs = text[..text.floor_char_boundary(16 * 1024)].split("\n\n");
        return paragraphs.filter(|paragraph| !has_printed_line(paragraph)).flat_map(split_sentences).collect();
    }
    let (head, tail) = (&text[..ends[LINES_AROUND_PASTE - 1]], &text[ends[ends.len() - LINES_AROUND_PASTE]..]);
    [split_sentences(head), split_sentences(tail)].concat()
}
