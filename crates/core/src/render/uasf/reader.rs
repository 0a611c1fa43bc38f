//! Reading events as entries.
//!
//! They are somebody else's: whatever they say of order, place and meaning, what comes out is a session without permissions,
//! in which nothing points outside of it.

use serde_json::json;

use super::{Queued, UasfCall, UasfEvent, UasfOutcome, UasfPart, kind};
use crate::json::Json;
use crate::time::Timestamp;
use crate::transcript::{
    Action, Blob, BlobLocation, Body, Call, CallForm, CallId, Change, Entry, EntryKey, Failure, FailureKind, Hunk,
    Note, Origin, Outcome, Part, QueueChange, Reasoning, Status,
};

/// So many events are one message at most.
const MESSAGE_EVENTS: u16 = 1_000;

/// A compaction has no event of its own: it stands behind the last that it took away.
const COMPACTION_PART: u16 = u16::MAX;

/// Events on their way to entries.
#[derive(Debug, Default)]
pub struct UasfReader {
    ordered: Vec<OrderedEntry>,
    /// The agent whose calls they are is known, so they are kept as it spelt them.
    keeps_calls: bool,
    /// The number that the last event had.
    order: u64,
    message: Option<MessagePlace>,
}

#[derive(Debug)]
struct OrderedEntry {
    order: u64,
    past: bool,
    entry: Entry,
}

/// Events that were one message.
#[derive(Debug, Clone, Copy)]
struct MessagePlace {
    number: u64,
    /// Where its first event stands.
    key: EntryKey,
}

impl UasfReader {
    pub fn new(keeps_calls: bool) -> Self {
        Self { keeps_calls, ..Self::default() }
    }

    /// Takes in the event that stands at a place of its file.
    pub fn read_event(&mut self, offset: u64, length: u32, mut event: UasfEvent) {
        if event.same_call {
            return;
        }
        self.order = event.order.unwrap_or(self.order);
        let own = EntryKey { file: 0, offset, part: 0, length };
        let (key, at, past) = (self.event_key(own, event.record), parse_time(event.at.as_deref()), event.past);
        let outcome = event.outcome.take();
        let mut bodies = self.event_bodies(own, &mut event);
        let call = bodies.iter().find_map(|(_, body)| match body {
            Body::Call(call) => Some(call.id.clone()),
            _ => None,
        });
        for (part, (origin, body)) in (key.part..).zip(bodies.drain(..)) {
            let entry = Entry { key: EntryKey { part, ..key }, at, origin, side: false, node: None, body };
            self.ordered.push(OrderedEntry { order: self.order, past, entry });
        }
        if let Some(call) = call {
            self.push_outcome(own, call, &event, outcome, at);
        }
    }

    /// The place of an event, which neighbours of the same message share.
    fn event_key(&mut self, own: EntryKey, record: Option<u64>) -> EntryKey {
        let message = self.message.filter(|message| Some(message.number) == record);
        let key = match message {
            // Two for each: a prompt that was taken from a queue makes two entries.
            Some(message) if message.key.part < MESSAGE_EVENTS * 2 => {
                EntryKey { part: message.key.part + 2, ..message.key }
            }
            _ => own,
        };
        self.message = record.map(|number| MessagePlace { number, key });
        key
    }

    fn event_bodies(&self, own: EntryKey, event: &mut UasfEvent) -> Vec<(Origin, Body)> {
        let speaker = event.origin;
        let one = |origin, body| vec![(speaker.unwrap_or(origin), body)];
        match event.kind.as_str() {
            kind::USER_MESSAGE if event.queued.is_some() => queue_changes(event),
            kind::USER_MESSAGE => one(Origin::User, Body::Prompt(take_parts(event))),
            kind::ASSISTANT_TEXT if event.summary => {
                let mut parts = take_parts(event);
                // One that only its vendor can open says nothing.
                parts.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
                one(Origin::Agent, Body::Summary(parts))
            }
            kind::ASSISTANT_TEXT => one(Origin::Agent, Body::Reply(take_parts(event))),
            kind::THINKING => {
                let (text, sealed) = (event.content.take().flatten().unwrap_or_default(), event.sealed);
                one(Origin::Agent, Body::Reasoning(Box::new(Reasoning { text, sealed })))
            }
            kind::ERROR => one(Origin::Harness, Body::Failure(Box::new(read_failure(event)))),
            kind::FILE_SNAPSHOT => one(Origin::Harness, Body::Note(Note::Snapshot)),
            kind::FILE_READ | kind::FILE_EDIT | kind::FILE_WRITE | kind::SHELL_COMMAND | kind::CODE_SEARCH => {
                let call = self.read_call(own, event);
                one(Origin::Agent, Body::Call(Box::new(call)))
            }
            other => vec![(Origin::Harness, Body::unknown(other))],
        }
    }

    /// The call as its agent spelt it, else in the format's own words.
    fn read_call(&self, own: EntryKey, event: &mut UasfEvent) -> Call {
        let spelt = event.call.take();
        let id = spelt.as_ref().map(|call| call.id.clone()).filter(|id| !id.is_empty());
        let id = CallId(id.unwrap_or_else(|| format!("call_{:x}", own.offset)).into());
        let is_search = event.kind == kind::CODE_SEARCH;
        if let Some(UasfCall { tool, form, input, .. }) = spelt.filter(|_| self.keeps_calls || is_search) {
            return Call { id, tool, input, form };
        }
        let tool = event.tool.clone().filter(|_| is_search).unwrap_or_else(|| event.kind.clone());
        Call { id, tool, input: input_from_event(event), form: CallForm::Function }
    }

    /// Adds the outcome of a call, where the file has one. It is a record of its own, placed one byte after its event.
    fn push_outcome(
        &mut self,
        own: EntryKey,
        call: CallId,
        event: &UasfEvent,
        outcome: Option<UasfOutcome>,
        at: Option<Timestamp>,
    ) {
        let said = event.answer_text().map(|text| vec![Part::Text(text.to_owned())]);
        let exit_code = event.exit_code.flatten();
        let key = EntryKey { offset: own.offset + 1, length: own.length.saturating_sub(1), ..own };
        let (order, at, outcome) = if let Some(outcome) = outcome {
            let parts = if outcome.parts.is_empty() { said } else { Some(read_parts(outcome.parts)) };
            let told = Outcome {
                call,
                status: outcome.status,
                exit_code: outcome.exit_code.or(exit_code),
                parts: parts.unwrap_or_default(),
            };
            (outcome.order, parse_time(outcome.at.as_deref()).or(at), told)
        } else {
            let Some(parts) = said else { return };
            let is_failed = exit_code.is_some_and(|code| code != 0);
            let status = if is_failed { Status::Failed } else { Status::Done };
            (None, at, Outcome { call, status, exit_code, parts })
        };
        let origin = event.origin.unwrap_or(Origin::Agent);
        let entry = Entry { key, at, origin, side: false, node: None, body: Body::Outcome(Box::new(outcome)) };
        self.ordered.push(OrderedEntry { order: order.unwrap_or(self.order), past: event.past, entry });
    }

    /// The entries: first what is no longer in the context, then a compaction, then the context.
    pub fn finish(mut self) -> Vec<Entry> {
        self.ordered.sort_by_key(|thing| thing.order);
        let Some(last) = self.ordered.iter().rposition(|thing| thing.past) else {
            return self.ordered.into_iter().map(|thing| thing.entry).collect();
        };
        let mut before = Vec::new();
        let mut after = Vec::new();
        for (index, thing) in self.ordered.into_iter().enumerate() {
            let is_aside = matches!(thing.entry.body, Body::Failure(_) | Body::Note(_) | Body::Opaque(_));
            let is_past = thing.past || (is_aside && index < last);
            if is_past { &mut before } else { &mut after }.push(thing.entry);
        }
        let Some(key) = before.last().map(|entry| entry.key) else { return after };
        before.push(Entry {
            key: EntryKey { part: COMPACTION_PART, ..key },
            at: None,
            origin: Origin::Harness,
            side: false,
            node: None,
            body: Body::Compacted(Box::default()),
        });
        before.append(&mut after);
        before
    }
}

fn parse_time(time: Option<&str>) -> Option<Timestamp> {
    time.and_then(Timestamp::parse)
}

fn queue_changes(event: &mut UasfEvent) -> Vec<(Origin, Body)> {
    let text = event.content.take().flatten().unwrap_or_default();
    let mut changes = vec![QueueChange::Added(text.clone())];
    if event.queued == Some(Queued::Taken) {
        changes.push(QueueChange::Removed(text));
    }
    changes.into_iter().map(|change| (Origin::User, Body::Note(Note::Queue(change)))).collect()
}

fn read_failure(event: &mut UasfEvent) -> Failure {
    Failure {
        kind: event.failure.unwrap_or(FailureKind::Other),
        message: event.message.take().unwrap_or_default(),
        resets_at: parse_time(event.resets_at.as_deref()),
    }
}

fn take_parts(event: &mut UasfEvent) -> Vec<Part> {
    let text = event.content.take().flatten();
    if event.parts.is_empty() {
        return text.into_iter().map(Part::Text).collect();
    }
    read_parts(std::mem::take(&mut event.parts))
}

fn read_parts(parts: Vec<UasfPart>) -> Vec<Part> {
    parts.into_iter().map(read_part).collect()
}

/// A part whose bytes are in the file. Paths and addresses are not followed: they would lead out of it.
fn read_part(part: UasfPart) -> Part {
    let UasfPart { text, media_type, name, data } = part;
    let is_encoded = |data: &String| data.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
    match (text, data) {
        (Some(text), _) => Part::Text(text),
        (None, data) => Part::Blob(Blob {
            media_type: media_type.unwrap_or_else(|| "application/octet-stream".to_owned()),
            name,
            location: match data.filter(is_encoded) {
                Some(data) => BlobLocation::Inline(data.into()),
                None => BlobLocation::LeftOut,
            },
        }),
    }
}

/// The input of a call in the format's own words.
fn input_from_event(event: &UasfEvent) -> Json {
    let content = event.content.as_ref().and_then(Option::as_deref).unwrap_or_default();
    let path = event.path.as_deref().unwrap_or_default();
    Json::from_value(&match event.kind.as_str() {
        kind::SHELL_COMMAND => json!({ "command": event.command.as_deref().unwrap_or_default() }),
        kind::FILE_READ => json!({ "path": path }),
        kind::FILE_WRITE => json!({ "path": path, "content": content }),
        kind::FILE_EDIT => json!({ "path": path, "old": event.old, "new": event.new }),
        _ => json!({ "query": event.query.as_deref().unwrap_or_default() }),
    })
}

/// The meaning of a call that is written in the format's own words; `None` for any other.
pub fn action_from_call(call: &Call) -> Option<Action> {
    let input = call.input.to_value();
    let text = |field: &str| input.get(field).and_then(|value| value.as_str()).map(str::to_owned);
    Some(match call.tool.as_str() {
        kind::SHELL_COMMAND => Action::Run { command: text("command")?, workdir: None },
        kind::FILE_READ => Action::Read { path: text("path")?, offset: None, limit: None },
        kind::FILE_WRITE => Action::Write { path: text("path")?, content: text("content")? },
        kind::FILE_EDIT => {
            let (path, old, new) = (text("path")?, text("old").unwrap_or_default(), text("new").unwrap_or_default());
            let hunks = || vec![Hunk { context: None, old: old.clone(), new: new.clone(), everywhere: false }];
            // So the format spells a deletion.
            let is_deleted = old.is_empty() && new.is_empty();
            let update = |path| Change::Update { path, moved_to: None, hunks: hunks() };
            Action::Edit(vec![if is_deleted { Change::Delete { path } } else { update(path) }])
        }
        _ => return None,
    })
}
