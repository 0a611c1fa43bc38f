//! Writing a session as events.

use std::collections::{BTreeMap, VecDeque};

use super::{Queued, UASF_SCHEMA, Uasf, UasfCall, UasfEvent, UasfOutcome, UasfPart, UasfSession, VERSION, kind};
use crate::json::Json;
use crate::time::Timestamp;
use crate::transcript::{
    Action, Answer, BlobLocation, Body, Call, CallId, Change, Entry, Header, Hunk, Origin, Outcome, Part, text_of,
};

/// One thing that is told; all of them are in the order in which the model saw them.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "nearly all of them are entries")]
pub enum UasfItem {
    /// An entry whose images are in memory.
    Entry {
        entry: Entry,
        past: bool,
        /// Of a call.
        meaning: Option<CallMeaning>,
    },
    Queued {
        at: Option<Timestamp>,
        text: String,
        queued: Queued,
    },
    /// The content of a file.
    Snapshot {
        at: Option<Timestamp>,
        path: String,
        content: String,
    },
}

/// The meaning of a call, and what the record of its outcome adds to it.
#[derive(Debug, Clone, PartialEq)]
pub struct CallMeaning {
    pub action: Action,
    /// The whole action, where it was known only from the outcome.
    pub fuller_action: Option<Action>,
    pub answers: Vec<Answer>,
}

/// Writes a session as UASF.
pub fn write_uasf(header: &Header, told: Vec<UasfItem>) -> Uasf {
    let first = told.iter().find_map(|told| match told {
        UasfItem::Entry { entry, .. } => entry.at,
        UasfItem::Queued { at, .. } | UasfItem::Snapshot { at, .. } => *at,
    });
    let session = UasfSession {
        id: header.session.0.clone(),
        agent: header.agent.to_owned(),
        model: header.model.clone().unwrap_or_default(),
        cwd: header.project.as_ref().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default(),
        git_branch: header.branch.clone(),
        started_at: header.started_at.or(first).map(|at| at.to_string()).unwrap_or_default(),
        version: VERSION.to_owned(),
        title: header.title.clone(),
    };
    let mut telling = UasfWriter { outcomes: index_outcomes(&told), ..UasfWriter::default() };
    for (order, told) in told.into_iter().enumerate() {
        telling.write_item(order as u64, told);
    }
    Uasf { schema: UASF_SCHEMA, session, events: telling.events }
}

/// Outcomes by the position of their call, each with its own position.
type Outcomes = BTreeMap<u64, (u64, Option<Timestamp>, Outcome)>;

/// Some models give the same id to call after call, so an outcome belongs to the first call before it that has none yet.
fn index_outcomes(told: &[UasfItem]) -> Outcomes {
    let mut waiting: BTreeMap<&CallId, VecDeque<u64>> = BTreeMap::new();
    let mut found = BTreeMap::new();
    for (order, told) in (0..).zip(told) {
        let UasfItem::Entry { entry, .. } = told else { continue };
        match &entry.body {
            Body::Call(call) => waiting.entry(&call.id).or_default().push_back(order),
            Body::Outcome(outcome) => {
                if let Some(call) = waiting.get_mut(&outcome.call).and_then(VecDeque::pop_front) {
                    found.insert(call, (order, entry.at, (**outcome).clone()));
                }
            }
            _ => {}
        }
    }
    found
}

#[derive(Default)]
struct UasfWriter {
    events: Vec<UasfEvent>,
    outcomes: Outcomes,
    /// The record that the last event stood in, and its number.
    record: Option<((u16, u64), u64)>,
}

impl UasfWriter {
    fn write_item(&mut self, order: u64, told: UasfItem) {
        let (at, event) = match told {
            UasfItem::Entry { entry, past, meaning } => return self.write_entry(order, entry, past, meaning),
            UasfItem::Queued { at, text, queued } => (
                at,
                UasfEvent {
                    content: Some(Some(text)),
                    queued: Some(queued),
                    ..UasfEvent::with_kind(kind::USER_MESSAGE)
                },
            ),
            UasfItem::Snapshot { at, path, content } => (
                at,
                UasfEvent {
                    path: Some(path),
                    content: Some(Some(content)),
                    ..UasfEvent::with_kind(kind::FILE_SNAPSHOT)
                },
            ),
        };
        self.events.push(UasfEvent { order: Some(order), at: at.map(|at| at.to_string()), ..event });
    }

    fn write_entry(&mut self, order: u64, entry: Entry, past: bool, meaning: Option<CallMeaning>) {
        let record = entry.key.record();
        let (at, origin) = (entry.at.map(|at| at.to_string()), entry.origin);
        let mut events = match entry.body {
            Body::Prompt(parts) => {
                let origin = (origin != Origin::User).then_some(origin);
                vec![UasfEvent { origin, ..message_event(kind::USER_MESSAGE, parts) }]
            }
            Body::Reply(parts) => vec![message_event(kind::ASSISTANT_TEXT, parts)],
            Body::Summary(parts) => vec![UasfEvent { summary: true, ..message_event(kind::ASSISTANT_TEXT, parts) }],
            Body::Reasoning(reasoning) => {
                let content = Some(Some(reasoning.text));
                vec![UasfEvent { content, sealed: reasoning.sealed, ..UasfEvent::with_kind(kind::THINKING) }]
            }
            Body::Failure(failure) => vec![UasfEvent {
                message: Some(failure.message),
                failure: Some(failure.kind),
                resets_at: failure.resets_at.map(|at| at.to_string()),
                ..UasfEvent::with_kind(kind::ERROR)
            }],
            Body::Call(call) => {
                let origin = (origin == Origin::Harness).then_some(origin);
                let mut events = call_events(*call, meaning, self.outcomes.remove(&order));
                for event in &mut events {
                    event.origin = origin;
                }
                events
            }
            _ => return,
        };
        let number = match self.record {
            Some((last, number)) if last == record => number,
            Some((_, number)) => number + 1,
            None => 0,
        };
        self.record = Some((record, number));
        for event in &mut events {
            (event.order, event.record, event.past) = (Some(order), Some(number), past);
            event.at.clone_from(&at);
        }
        self.events.append(&mut events);
    }
}

impl UasfEvent {
    fn with_kind(kind: &str) -> Self {
        Self { kind: kind.to_owned(), ..Self::default() }
    }
}

fn message_event(kind: &str, parts: Vec<Part>) -> UasfEvent {
    let content = Some(Some(text_of(&parts)));
    let parts = if let [Part::Text(_)] = parts.as_slice() { Vec::new() } else { write_parts(parts) };
    UasfEvent { content, parts, ..UasfEvent::with_kind(kind) }
}

fn write_parts(parts: Vec<Part>) -> Vec<UasfPart> {
    let part = |part| match part {
        Part::Text(text) => UasfPart { text: Some(text), ..UasfPart::default() },
        Part::Blob(blob) => {
            // Whoever tells has loaded it; an address that only its vendor resolves is of no use to others.
            let data = if let BlobLocation::Inline(data) = &blob.location { Some(data.to_string()) } else { None };
            UasfPart { text: None, media_type: Some(blob.media_type), name: blob.name, data }
        }
    };
    parts.into_iter().map(part).collect()
}

/// The events of a call: one, or one for each thing that an edit replaces; and an error, where it failed.
fn call_events(
    call: Call,
    meaning: Option<CallMeaning>,
    outcome: Option<(u64, Option<Timestamp>, Outcome)>,
) -> Vec<UasfEvent> {
    let CallMeaning { action, fuller_action: fuller, answers } =
        meaning.unwrap_or(CallMeaning { action: Action::Other, fuller_action: None, answers: Vec::new() });
    let came_back = outcome.as_ref().filter(|(.., outcome)| !outcome.parts.is_empty());
    let output = came_back.map(|(.., outcome)| text_of(&outcome.parts));
    let exit_code = outcome.as_ref().and_then(|(.., outcome)| outcome.exit_code);
    let failed = outcome.as_ref().is_some_and(|(.., outcome)| outcome.status.is_failure());
    let mut events = action_events(fuller.as_ref().unwrap_or(&action), &call.tool, output.clone(), exit_code);
    let is_run = events[0].kind == kind::SHELL_COMMAND;
    events.iter_mut().skip(1).for_each(|event| event.same_call = true);
    if failed && !is_run {
        events.push(UasfEvent {
            message: Some(output.unwrap_or_default()),
            same_call: true,
            ..UasfEvent::with_kind(kind::ERROR)
        });
    }
    let first = &mut events[0];
    first.outcome = outcome.map(|(order, at, outcome)| {
        // A text that stands in the event already is not said twice.
        let is_said = matches!(outcome.parts.as_slice(), [Part::Text(text)] if first.answer_text() == Some(text));
        UasfOutcome {
            order: Some(order),
            at: at.map(|at| at.to_string()),
            status: outcome.status,
            exit_code: outcome.exit_code.filter(|_| !is_run),
            parts: if is_said { Vec::new() } else { write_parts(outcome.parts) },
            action: fuller.and_then(|action| serde_json::to_value(action).ok()).map(|value| Json::from_value(&value)),
            answers,
        }
    });
    let Call { id, tool, input, form } = call;
    first.call = Some(UasfCall { id: id.0.into(), tool, form, input });
    events
}

/// An action in the format's own kinds; there is always one event.
fn action_events(action: &Action, tool: &str, output: Option<String>, exit_code: Option<i32>) -> Vec<UasfEvent> {
    let events = match action {
        Action::Run { command, .. } => vec![UasfEvent {
            command: Some(command.clone()),
            output: Some(output.clone()),
            exit_code: Some(exit_code),
            ..UasfEvent::with_kind(kind::SHELL_COMMAND)
        }],
        Action::Read { path, .. } | Action::View { path } => vec![UasfEvent {
            path: Some(path.clone()),
            content: Some(output.clone()),
            ..UasfEvent::with_kind(kind::FILE_READ)
        }],
        Action::Write { path, content } => vec![file_write(path, content)],
        Action::Edit(changes) => changes.iter().flat_map(change_events).collect(),
        _ => Vec::new(),
    };
    if !events.is_empty() {
        return events;
    }
    vec![UasfEvent {
        tool: Some(tool.to_owned()),
        query: Some(action.subject().into_owned()),
        results: Some(output),
        ..UasfEvent::with_kind(kind::CODE_SEARCH)
    }]
}

fn file_write(path: &str, content: &str) -> UasfEvent {
    let (path, content) = (Some(path.to_owned()), Some(Some(content.to_owned())));
    UasfEvent { content, path, ..UasfEvent::with_kind(kind::FILE_WRITE) }
}

fn change_events(change: &Change) -> Vec<UasfEvent> {
    let edit = |path: &str, old: &str, new: &str| UasfEvent {
        path: Some(path.to_owned()),
        old: Some(old.to_owned()),
        new: Some(new.to_owned()),
        ..UasfEvent::with_kind(kind::FILE_EDIT)
    };
    match change {
        Change::Add { path, content } => vec![file_write(path, content)],
        Change::Delete { path } => vec![edit(path, "", "")],
        Change::Update { path, hunks, .. } => hunks.iter().map(|Hunk { old, new, .. }| edit(path, old, new)).collect(),
    }
}
