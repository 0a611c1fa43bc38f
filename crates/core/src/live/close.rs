//! Calls without an outcome, and outcomes without a call.

use std::collections::BTreeSet;

use super::Alive;
use crate::transcript::{Body, CallId, Closing, Entry};

/// Pairs calls with outcomes the way the client does when it resumes.
pub(super) fn close(entries: &[Entry], order: &[usize], closing: Option<Closing>) -> Vec<Alive> {
    let asked: BTreeSet<&CallId> = order.iter().filter_map(|index| call(entries, *index)).collect();
    let answered: BTreeSet<&CallId> = order.iter().filter_map(|index| outcome(entries, *index)).collect();
    let end = last_prompt(entries, order);
    let mut alive = Vec::with_capacity(order.len());
    let mut seen: BTreeSet<&CallId> = BTreeSet::new();
    for (at, index) in order.iter().enumerate() {
        if let Some(id) = outcome(entries, *index) {
            // Without its call, or a second time, it would be refused by every API.
            if asked.contains(id) && seen.insert(id) {
                alive.push(Alive::Entry(*index));
            }
            continue;
        }
        match call(entries, *index) {
            Some(id) if !answered.contains(id) => alive.extend(answer(*index, at >= end, closing)),
            _ => alive.push(Alive::Entry(*index)),
        }
    }
    after_their_calls(entries, alive)
}

fn answer(call: usize, at_end: bool, closing: Option<Closing>) -> Vec<Alive> {
    match closing {
        Some(Closing::Answer(text)) => vec![Alive::Entry(call), Alive::Answer { call, text }],
        Some(Closing::AnswerAtEnd(text)) if at_end => {
            vec![Alive::Entry(call), Alive::Answer { call, text }]
        }
        _ => Vec::new(),
    }
}

/// The place of the last prompt: a call after it is one that the session ended in.
fn last_prompt(entries: &[Entry], order: &[usize]) -> usize {
    order.iter().rposition(|index| matches!(entries[*index].body, Body::Prompt(_))).unwrap_or(0)
}

/// Moves answers behind the calls of the same message, so that parallel calls stay together.
fn after_their_calls(entries: &[Entry], alive: Vec<Alive>) -> Vec<Alive> {
    let mut sorted: Vec<Alive> = Vec::with_capacity(alive.len());
    let mut waiting: Vec<Alive> = Vec::new();
    for next in alive {
        match next {
            Alive::Answer { .. } => waiting.push(next),
            Alive::Entry(index) if matches!(entries[index].body, Body::Call(_)) => sorted.push(next),
            Alive::Entry(_) => {
                sorted.append(&mut waiting);
                sorted.push(next);
            }
        }
    }
    sorted.append(&mut waiting);
    sorted
}

fn call(entries: &[Entry], index: usize) -> Option<&CallId> {
    match &entries[index].body {
        Body::Call(call) => Some(&call.id),
        _ => None,
    }
}

fn outcome(entries: &[Entry], index: usize) -> Option<&CallId> {
    match &entries[index].body {
        Body::Outcome(outcome) => Some(&outcome.call),
        _ => None,
    }
}
