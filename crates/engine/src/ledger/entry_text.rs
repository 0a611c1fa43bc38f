//! What is searched of an entry: the words of the user and of the agent, commands, and paths. Not what tools gave back.

use std::borrow::Cow;

use carryover_agents::Agent;
use carryover_core::transcript::{Action, Body, Call, Entry, Origin, PlanStep, StepChange, text_cow};

/// More of one entry is not searched.
const MAX_TEXT_BYTES: usize = 64 << 10;
/// The inputs of calls that mean nothing to us.
const MAX_INPUT_BYTES: usize = 2 << 10;

/// The text of an entry; `None` where it has none that anybody would look for.
pub(super) fn entry_text<'e>(agent: &dyn Agent, entry: &'e Entry) -> Option<Cow<'e, str>> {
    let is_spoken = matches!(entry.origin, Origin::User | Origin::Agent);
    let text = match &entry.body {
        Body::Prompt(parts) | Body::Reply(parts) | Body::Summary(parts) if is_spoken => text_cow(parts),
        Body::Call(call) => call_text(agent, call).into(),
        _ => return None,
    };
    let text = cut_text(text, MAX_TEXT_BYTES);
    (!text.trim().is_empty()).then_some(text)
}

fn cut_text(text: Cow<'_, str>, limit: usize) -> Cow<'_, str> {
    let end = text.floor_char_boundary(limit);
    match text {
        text if end == text.len() => text,
        Cow::Borrowed(text) => text[..end].into(),
        Cow::Owned(mut text) => {
            text.truncate(end);
            text.into()
        }
    }
}

fn call_text(agent: &dyn Agent, call: &Call) -> String {
    let action = agent.action(call, None);
    match &action {
        Action::Grep { pattern, path, glob } => join_lines([Some(pattern), path.as_ref(), glob.as_ref()]),
        Action::Glob { pattern, path } => join_lines([Some(pattern), path.as_ref()]),
        Action::Delegate { prompt, description } => join_lines([description.as_ref(), Some(prompt)]),
        Action::Plan(steps) => join_lines(steps.iter().map(|PlanStep { text, .. }| Some(text))),
        Action::Step(StepChange::Add { text, .. }) => text.clone(),
        Action::Step(StepChange::Update { text, .. }) => text.clone().unwrap_or_default(),
        Action::Step(StepChange::Drop { .. }) => String::new(),
        Action::Other => {
            let input = call.input.as_str();
            format!("{} {}", call.tool, &input[..input.floor_char_boundary(MAX_INPUT_BYTES)])
        }
        action => action.subject().into_owned(),
    }
}

fn join_lines<'t>(texts: impl IntoIterator<Item = Option<&'t String>>) -> String {
    texts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join("\n")
}
