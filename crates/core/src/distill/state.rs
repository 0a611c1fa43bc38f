//! How the session stands, by structure alone: what the next agent needs most.

use super::words::Words;
use super::{CallEvent, Event, History, Item, Quoting, State, StateKind, Step, Voice};
use crate::transcript::{Action, Failure, FailureKind, RUN_BY_HAND_PREFIX, Status};

/// The longest detail, in characters.
const DETAIL_CHARS: usize = 1_200;
const OUTPUT_CHARS: usize = 600;

/// How a session stands at its end.
pub(super) fn classify_end(history: &History, words: &Words<'_>, quoting: Quoting) -> State {
    let queued = words.queued_items();
    let mut state = classify_steps(history, quoting);
    state.queued = queued;
    state.cleared = history.context_from() > 0;
    state
}

fn classify_steps(history: &History, quoting: Quoting) -> State {
    let present = history.steps.iter().skip(history.context_from());
    let mut telling = present.rev().filter(|step| !is_incidental(&step.event));
    let Some(last) = telling.next() else { return plain_state(StateKind::Empty, None) };
    if let Some(state) = classify_failure(history, last, quoting) {
        return state;
    }
    match &last.event {
        Event::Call(call) => classify_call(last, call, quoting),
        Event::Prompt { text, .. } => {
            let prompt = quoting.quote_item(text, DETAIL_CHARS, Voice::User, last.at, last.key);
            State { detail: Some(prompt), ..plain_state(StateKind::Unanswered, last) }
        }
        Event::Reply { .. } if history.header.is_turn_open || is_thinking_since(history, last) => {
            plain_state(StateKind::MidTurn, last)
        }
        _ => State { detail: run_by_hand(history, quoting), ..plain_state(StateKind::Waiting, last) },
    }
}

/// The command that the user ran by hand after all else.
fn run_by_hand(history: &History, quoting: Quoting) -> Option<Item> {
    let step = history.steps.last()?;
    match &step.event {
        Event::Call(call) if call.unasked && call.tool == RUN_BY_HAND_PREFIX.trim() => {
            Some(call_item(step, call, quoting))
        }
        _ => None,
    }
}

fn plain_state<'s>(kind: StateKind, last: impl Into<Option<&'s Step>>) -> State {
    State {
        kind,
        at: last.into().and_then(|step| step.at),
        until: None,
        detail: None,
        output: None,
        queued: Vec::new(),
        cleared: false,
    }
}

/// Attachments, thinking and the client's own work are no sign of how the session stands.
fn is_incidental(event: &Event) -> bool {
    match event {
        Event::Attached { .. } | Event::Reasoning { .. } => true,
        Event::Call(call) => call.unasked,
        Event::Reply { text } => text.trim().is_empty(),
        Event::Prompt { text, images } => text.trim().is_empty() && *images == 0,
        _ => false,
    }
}

/// Whether the model had begun to think again after its last words.
fn is_thinking_since(history: &History, last: &Step) -> bool {
    let since = history.steps.iter().rev().take_while(|step| !std::ptr::eq(*step, last));
    since.filter(|step| matches!(step.event, Event::Reasoning { .. })).count() > 0
}

/// The failure with which the session ended. A prompt after a limit may have met the same wall, so it is no way out.
fn classify_failure(history: &History, last: &Step, quoting: Quoting) -> Option<State> {
    let is_limit = |failure: &Failure| matches!(failure.kind, FailureKind::RateLimit | FailureKind::Billing);
    let mut end = history.steps.iter().rev().take_while(|step| {
        matches!(
            step.event,
            Event::Failure(_) | Event::Prompt { .. } | Event::Attached { .. } | Event::Reasoning { .. }
        )
    });
    let limit = end.find_map(|step| match &step.event {
        Event::Failure(failure) if is_limit(failure) => Some((step, failure)),
        _ => None,
    });
    let (step, failure) = match (limit, &last.event) {
        (Some(found), _) => found,
        (None, Event::Failure(failure)) => (last, failure),
        (None, _) => return None,
    };
    let kind = match failure.kind {
        FailureKind::RateLimit | FailureKind::Billing => StateKind::Limit,
        FailureKind::Interrupted => StateKind::Interrupted,
        _ => StateKind::ServiceError,
    };
    let said = Some(failure.message.trim()).filter(|message| !message.is_empty());
    let detail = said.map(|message| quoting.quote_item(message, 300, Voice::Service, step.at, step.key));
    let detail = if kind == StateKind::Interrupted { interrupted_call(history, quoting) } else { detail };
    Some(State { until: failure.resets_at, detail, ..plain_state(kind, step) })
}

/// The call that the user stopped, where it was one.
fn interrupted_call(history: &History, quoting: Quoting) -> Option<Item> {
    let step =
        history.steps.iter().rev().find(|step| !matches!(step.event, Event::Failure(_) | Event::Attached { .. }))?;
    match &step.event {
        Event::Call(call) => Some(call_item(step, call, quoting)),
        _ => None,
    }
}

/// A call is the last thing that is recorded.
fn classify_call(last: &Step, call: &CallEvent, quoting: Quoting) -> State {
    let asks = matches!(call.action, Action::Ask(_) | Action::Propose { .. });
    let kind = match &call.end {
        None if asks => StateKind::AskedUser,
        Some(end) if end.status == Status::Interrupted => StateKind::Interrupted,
        _ => StateKind::MidTurn,
    };
    let output = call.end.as_ref().filter(|_| kind == StateKind::MidTurn).and_then(|end| {
        let is_said = !end.text.trim().is_empty();
        is_said.then(|| quoting.quote_item(&end.text, OUTPUT_CHARS, Voice::Tool, end.at, end.key))
    });
    State { detail: Some(call_item(last, call, quoting)), output, ..plain_state(kind, last) }
}

/// A call in words: its subject as it was given.
fn call_item(step: &Step, call: &CallEvent, quoting: Quoting) -> Item {
    let subject = call.action.subject();
    let text = if subject.is_empty() { call.tool.as_str() } else { &subject };
    let mut item = quoting.quote_item(text, DETAIL_CHARS, Voice::Agent, step.at, step.key);
    item.entries.extend(call.end.as_ref().map(|end| end.key));
    item
}
