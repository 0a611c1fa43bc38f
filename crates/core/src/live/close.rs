//! Calls without an outcome, and outcomes without a call.

use std::collections::{BTreeMap, VecDeque};

use super::LiveItem;
use crate::transcript::{Body, Call, CallId, Closing, Entry};

/// Pairs calls with outcomes the way the client does when it resumes.
pub(super) fn close_calls(entries: &[Entry], order: &[usize], closing: Option<Closing>) -> Vec<LiveItem> {
    let paired = pair_calls(order.iter().map(|index| &entries[*index].body));
    let end = last_prompt(entries, order);
    // Calls whose outcome comes later.
    let mut open: BTreeMap<&CallId, &Call> = BTreeMap::new();
    let mut alive = Vec::with_capacity(order.len());
    for (at, index) in order.iter().enumerate() {
        let body = &entries[*index].body;
        match body {
            Body::Call(call) if paired[at] => drop(open.insert(&call.id, call)),
            Body::Outcome(outcome) => drop(open.remove(&outcome.call)),
            _ => {}
        }
        match body {
            // Without its call, or a second time, it would be refused by every API.
            Body::Outcome(_) if !paired[at] => {}
            // A record that was written twice; no API takes two calls of one name.
            Body::Call(call) if !paired[at] && open.get(&call.id).is_some_and(|open| **open == **call) => {}
            Body::Call(_) if !paired[at] => alive.extend(answer_call(*index, at >= end, closing)),
            _ => alive.push(LiveItem::Entry(*index)),
        }
    }
    move_answers_back(entries, alive)
}

/// Which calls have an outcome and which outcomes a call, by place. Some models give the same id to call after call, so
/// an outcome belongs to the first call before it that has none yet.
pub fn pair_calls<'a>(bodies: impl Iterator<Item = &'a Body>) -> Vec<bool> {
    let mut paired = Vec::new();
    let mut waiting: BTreeMap<&CallId, VecDeque<usize>> = BTreeMap::new();
    for (at, body) in bodies.enumerate() {
        paired.push(false);
        match body {
            Body::Call(call) => waiting.entry(&call.id).or_default().push_back(at),
            Body::Outcome(outcome) => {
                if let Some(call) = waiting.get_mut(&outcome.call).and_then(VecDeque::pop_front) {
                    paired[call] = true;
                    paired[at] = true;
                }
            }
            _ => {}
        }
    }
    paired
}

fn answer_call(call: usize, at_end: bool, closing: Option<Closing>) -> Vec<LiveItem> {
    match closing {
        Some(Closing::Answer(text)) => vec![LiveItem::Entry(call), LiveItem::Answer { call, text }],
        Some(Closing::AnswerAtEnd(text)) if at_end => {
            vec![LiveItem::Entry(call), LiveItem::Answer { call, text }]
        }
        _ => Vec::new(),
    }
}

/// The place of the last prompt: a call after it is one that the session ended in.
fn last_prompt(entries: &[Entry], order: &[usize]) -> usize {
    order.iter().rposition(|index| matches!(entries[*index].body, Body::Prompt(_))).unwrap_or(0)
}

/// Moves answers behind the calls of the same message, so that parallel calls stay together.
fn move_answers_back(entries: &[Entry], alive: Vec<LiveItem>) -> Vec<LiveItem> {
    let mut sorted: Vec<LiveItem> = Vec::with_capacity(alive.len());
    let mut waiting: Vec<LiveItem> = Vec::new();
    for next in alive {
        match next {
            LiveItem::Answer { .. } => waiting.push(next),
            LiveItem::Entry(index) if matches!(entries[index].body, Body::Call(_)) => sorted.push(next),
            LiveItem::Entry(_) => {
                sorted.append(&mut waiting);
                sorted.push(next);
            }
        }
    }
    sorted.append(&mut waiting);
    sorted
}
