//! One record, made into entries: a line of a log, or a message in a list.
//!
//! A message is known by the bytes that it stands in, wherever that is, so that it can be read again alone.

use std::borrow::Cow;

use carryover_core::json::Json;
use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Blob, Body, Call, CallForm, CallId, Entry, EntryKey, Fact, Note, Origin, Outcome, Part, Place, Reasoning, Rejected,
    SessionId, Status, TitleRank, WORDLESS, text_of,
};
use serde_json::value::RawValue;

use super::boilerplate::{self, Sorted};
use super::prompt;
use super::wire::{WireBlob, WireContent, WirePart, WireRecord, WireResponse, WireSession, WireToolCall};
use super::{failure, usage};
use crate::formats::jsonl::Line;
use crate::formats::text::Text;

/// A message of the conversation.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub id: String,
    pub entries: Vec<Entry>,
    pub facts: Vec<Fact>,
}

/// What a record does to the conversation.
pub(super) enum Change {
    Nothing,
    /// Added, or put in the place of the one with its id.
    Message(Message),
    /// The conversation is this from here on.
    Messages(Vec<Message>),
    /// The message with this id and all behind it are gone.
    RewindTo(String),
}

/// What a record says.
pub(super) struct Parsed {
    pub key: EntryKey,
    pub facts: Vec<Fact>,
    /// The record itself, where it is no message.
    pub entry: Option<Entry>,
    pub change: Change,
    pub rejected: Vec<Rejected>,
    pub known: bool,
}

/// What the lines before have told already, so that it need not be made again.
#[derive(Default)]
pub(super) struct Told {
    /// A prompt that names the session.
    title: bool,
}

/// Reads a line. `None`: it ends without a line feed and is not whole.
pub(super) fn parse(line: Line<'_>) -> Option<Parsed> {
    parse_after(&mut Told::default(), line)
}

/// Reads a line behind others.
pub(super) fn parse_after(told: &mut Told, line: Line<'_>) -> Option<Parsed> {
    let key = key_of(line.offset, line.length);
    if line.is_too_long() {
        return Some(Parsed::rejected(key, "the record is longer than 64 MiB"));
    }
    let Ok(text) = simdutf8::basic::from_utf8(line.bytes) else {
        return (!line.unterminated).then(|| Parsed::rejected(key, "not UTF-8"));
    };
    match serde_json::from_str::<WireRecord<'_>>(text) {
        Ok(record) => Some(parsed(record, text, key, told)),
        Err(_) if line.unterminated => None,
        Err(error) if error.is_data() => Some(Parsed::rejected(key, "a field has another type than it had")),
        Err(_) => Some(Parsed::rejected(key, "not a JSON object")),
    }
}

/// Reads a whole file of the older form: one object with the messages in it.
pub(super) fn parse_document(text: &str) -> Parsed {
    let key = key_of(0, text.len() as u64);
    match serde_json::from_str::<WireSession<'_>>(text) {
        Ok(session) => of_session(&session, text, key, &mut Told::default()),
        Err(_) => Parsed::rejected(key, "not a JSON object"),
    }
}

pub(super) fn key_of(offset: u64, length: u64) -> EntryKey {
    EntryKey { file: 0, offset, part: 0, length: u32::try_from(length).unwrap_or(u32::MAX) }
}

fn parsed(record: WireRecord<'_>, text: &str, key: EntryKey, told: &mut Told) -> Parsed {
    if let Some(id) = &record.rewind_to {
        return Parsed { change: Change::RewindTo(id.to_string()), ..Parsed::of(key, None, opaque("$rewindTo"), true) };
    }
    if record.id.is_some() {
        let is_known = matches!(record.kind.as_deref(), Some("user" | "gemini" | "info" | "warning"));
        let mut message = message(record, text, key, told);
        let known = is_known || message.entries.iter().any(|entry| !matches!(entry.body, Body::Opaque(_)));
        let facts = std::mem::take(&mut message.facts);
        return Parsed {
            facts,
            entry: None,
            change: Change::Message(message),
            ..Parsed::of(key, None, opaque("message"), known)
        };
    }
    if let Some(session) = &record.set {
        return of_session(session, text, key, told);
    }
    match serde_json::from_str::<WireSession<'_>>(text) {
        Ok(session) if session.session_id.is_some() && session.project_hash.is_some() => {
            of_session(&session, text, key, told)
        }
        _ => {
            let kind = record.kind.as_deref().unwrap_or("unknown").to_owned();
            Parsed::of(key, None, Body::Opaque(Cow::Owned(kind)), false)
        }
    }
}

/// What is set for the session as a whole, the messages among it.
fn of_session(session: &WireSession<'_>, text: &str, key: EntryKey, told: &mut Told) -> Parsed {
    let at = session.last_updated.as_deref().and_then(Timestamp::parse);
    let body = if session.summary.is_some() { Body::Note(Note::Title) } else { opaque("session") };
    let mut parsed = Parsed::of(key, at, body, true);
    if let Some(id) = session.session_id.as_deref().filter(|id| !id.is_empty()) {
        parsed.facts.push(Fact::Session(SessionId(id.to_owned())));
    }
    parsed.facts.extend(session.start_time.as_deref().and_then(Timestamp::parse).map(Fact::StartedAt));
    parsed.facts.extend(session.summary.as_deref().and_then(|title| titled(TitleRank::Generated, title)));
    if let Some(messages) = &session.messages {
        let mut list = Vec::with_capacity(messages.len());
        for raw in messages {
            list.push(listed(raw, text, key, &mut parsed, told));
        }
        parsed.change = Change::Messages(list);
    }
    parsed
}

/// A message in a list.
fn listed(raw: &RawValue, text: &str, key: EntryKey, parsed: &mut Parsed, told: &mut Told) -> Message {
    let start = (raw.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize) as u64;
    let place = EntryKey { offset: key.offset + start, ..key_of(0, raw.get().len() as u64) };
    if let Ok(record) = serde_json::from_str::<WireRecord<'_>>(raw.get()) {
        let mut message = message(record, raw.get(), place, told);
        parsed.facts.append(&mut message.facts);
        message
    } else {
        parsed.rejected.push(Rejected { key: place, reason: "a message in a list could not be read" });
        let id = format!("rejected at {}", place.offset);
        Message { id, entries: vec![entry(place, None, opaque("rejected"))], facts: Vec::new() }
    }
}

/// The entries of a message, read again.
pub(super) fn reload(text: &str, key: EntryKey) -> Vec<Entry> {
    let Ok(record) = serde_json::from_str::<WireRecord<'_>>(text) else { return Vec::new() };
    message(record, text, EntryKey { part: 0, ..key }, &mut Told { title: true }).entries
}

fn message(mut record: WireRecord<'_>, text: &str, key: EntryKey, told: &mut Told) -> Message {
    let content = std::mem::take(&mut record.content);
    let mut reading = Reading { text, key, record: &record, told, bodies: Vec::new(), facts: Vec::new() };
    reading.read(content);
    let at = record.timestamp.as_deref().and_then(Timestamp::parse);
    let entries = reading.bodies.into_iter().enumerate().map(|(part, (origin, body))| {
        let key = EntryKey { part: u16::try_from(part).unwrap_or(u16::MAX), ..key };
        Entry { key, at, origin, side: false, node: None, body }
    });
    let id = record.id.as_deref().map_or_else(|| format!("unnamed at {}", key.offset), str::to_owned);
    Message { id, entries: entries.collect(), facts: reading.facts }
}

impl Parsed {
    fn of(key: EntryKey, at: Option<Timestamp>, body: Body, known: bool) -> Self {
        let entry = Some(entry(key, at, body));
        Self { key, facts: Vec::new(), entry, change: Change::Nothing, rejected: Vec::new(), known }
    }

    fn rejected(key: EntryKey, reason: &'static str) -> Self {
        Self { rejected: vec![Rejected { key, reason }], ..Self::of(key, None, opaque("rejected"), false) }
    }
}

fn entry(key: EntryKey, at: Option<Timestamp>, body: Body) -> Entry {
    Entry { key, at, origin: Origin::Harness, side: false, node: None, body }
}

fn opaque(kind: &'static str) -> Body {
    Body::Opaque(Cow::Borrowed(kind))
}

fn titled(rank: TitleRank, text: &str) -> Option<Fact> {
    // Long prompts are named by their beginning, and that needs no look at the rest.
    let line = one_line(&text[..text.floor_char_boundary(2_000)], 200);
    (!line.is_empty()).then_some(Fact::Title(rank, line))
}

/// A message in the course of being read.
struct Reading<'r, 'a> {
    text: &'a str,
    key: EntryKey,
    /// The record without its content.
    record: &'r WireRecord<'a>,
    told: &'r mut Told,
    bodies: Vec<(Origin, Body)>,
    facts: Vec<Fact>,
}

impl Reading<'_, '_> {
    fn read(&mut self, content: WireContent<'_>) {
        match self.record.kind.as_deref() {
            Some("user") => self.user(content),
            Some("gemini") => self.gemini(content),
            Some("error") => {
                let at = self.record.timestamp.as_deref().and_then(Timestamp::parse);
                let failure = failure::of(text_of(&self.parts(&content)), at);
                self.bodies.push((Origin::Harness, Body::Failure(Box::new(failure))));
            }
            Some("info") if text_of(&self.parts(&content)) == failure::CANCELLED => {
                self.bodies.push((Origin::Harness, Body::Failure(Box::new(failure::cancelled()))));
            }
            kind => {
                let kind = kind.unwrap_or("message").to_owned();
                self.bodies.push((Origin::Harness, Body::Opaque(Cow::Owned(kind))));
            }
        }
        if self.bodies.is_empty() {
            self.bodies.push((Origin::Harness, opaque("empty")));
        }
        let usage = usage::of(self.record).filter(|_| self.record.kind.as_deref() == Some("gemini"));
        self.bodies.extend(usage.map(|usage| (Origin::Harness, usage.into_body())));
    }

    /// Outcomes first, then what the user said, then what was brought along.
    fn user(&mut self, content: WireContent<'_>) {
        let mut prompt = prompt::begin();
        let mut outcomes: Vec<Outcome> = Vec::new();
        if content.0.is_empty() {
            prompt.added.push((Origin::Harness, opaque(WORDLESS)));
        }
        for part in content.0 {
            if let Some(text) = &part.text {
                if matches!(boilerplate::sort(text), Sorted::Harness(_)) {
                    self.facts.extend(boilerplate::workspace(text).map(|path| Fact::Project(path.into())));
                }
                prompt.add_text(text);
            } else if let Some(response) = outcome(&part, "", None, self) {
                outcomes.push(response);
            } else if let Some(blob) = self.blob(&part) {
                // An image right behind an outcome is what the call gave back.
                match outcomes.last_mut().filter(|_| prompt.spoken.is_empty()) {
                    Some(outcome) => outcome.parts.push(Part::Blob(blob)),
                    None => prompt.add_part(Part::Blob(blob)),
                }
            } else {
                prompt.added.push((Origin::Harness, opaque(WORDLESS)));
            }
        }
        prompt::finish(&mut prompt, &self.parts(&self.record.display_content));
        self.bodies.extend(outcomes.into_iter().map(|outcome| (Origin::Agent, Body::Outcome(Box::new(outcome)))));
        if !prompt.spoken.is_empty() {
            self.title(&prompt.spoken);
            self.bodies.push((Origin::User, Body::Prompt(prompt.spoken)));
        }
        self.bodies.append(&mut prompt.added);
    }

    /// The first prompt names the session; the others need not be looked at.
    fn title(&mut self, spoken: &[Part]) {
        if self.told.title {
            return;
        }
        let first = spoken.iter().find_map(|part| match part {
            Part::Text(text) => titled(TitleRank::FirstPrompt, text),
            Part::Blob(_) => None,
        });
        self.told.title = first.is_some();
        self.facts.extend(first);
    }

    fn gemini(&mut self, content: WireContent<'_>) {
        let record = self.record;
        if let Some(model) = record.model.as_deref().filter(|model| !model.is_empty()) {
            self.facts.push(Fact::Model(model.to_owned()));
        }
        let parts = content.0;
        let calls_in_content = parts.iter().any(|part| part.function_call.is_some() || part.thought == Some(true));
        if !parts.iter().any(|part| part.thought == Some(true)) {
            for thought in record.thoughts.iter().flatten() {
                let texts = [thought.subject.as_deref(), thought.description.as_deref()];
                let texts: Vec<&str> = texts.into_iter().flatten().filter(|text| !text.is_empty()).collect();
                self.reasoning(texts.join("\n"));
            }
        }
        self.said(parts);
        let tool_calls = record.tool_calls.as_deref().unwrap_or_default();
        if !calls_in_content {
            for call in tool_calls {
                self.call(call.id.as_ref(), call.name.as_ref(), call.args);
            }
        }
        self.results(tool_calls);
    }

    fn reasoning(&mut self, text: String) {
        let origin = if boilerplate::is_own_reply(&text) { Origin::Harness } else { Origin::Agent };
        self.bodies.push((origin, Body::Reasoning(Box::new(Reasoning { text, sealed: false }))));
    }

    /// Texts that follow each other are one text, as the API has it.
    fn said(&mut self, parts: Vec<WirePart<'_>>) {
        let mut reply: Vec<Part> = Vec::new();
        for mut part in parts {
            match (part.text.take(), &part.function_call) {
                (Some(text), _) if part.thought == Some(true) => self.reasoning(text.0.into_owned()),
                (Some(text), _) if text.is_empty() => {}
                (Some(text), _) => match reply.last_mut() {
                    Some(Part::Text(before)) => before.push_str(&text),
                    _ => reply.push(Part::Text(text.0.into_owned())),
                },
                (None, Some(call)) => {
                    self.reply(&mut reply);
                    self.call(call.id.as_ref(), call.name.as_ref(), call.args);
                }
                (None, None) => match self.blob(&part) {
                    Some(blob) => reply.push(Part::Blob(blob)),
                    None => self.bodies.push((Origin::Harness, opaque("part"))),
                },
            }
        }
        self.reply(&mut reply);
    }

    fn reply(&mut self, reply: &mut Vec<Part>) {
        if reply.is_empty() {
            return;
        }
        let own = matches!(reply.as_slice(), [Part::Text(text)] if boilerplate::is_own_reply(text));
        let origin = if own { Origin::Harness } else { Origin::Agent };
        self.bodies.push((origin, Body::Reply(std::mem::take(reply))));
    }

    fn call(&mut self, id: Option<&Text<'_>>, name: Option<&Text<'_>>, args: Option<&RawValue>) {
        let call = Call {
            id: CallId(id.map_or("", |id| &**id).into()),
            tool: name.map(|name| name.to_string()).unwrap_or_default(),
            input: args.map_or_else(Json::empty, Json::from_raw),
            form: CallForm::Function,
        };
        self.bodies.push((Origin::Agent, Body::Call(Box::new(call))));
    }

    /// What the calls gave back. After a resume, each of parallel calls holds the responses of all.
    fn results(&mut self, tool_calls: &[WireToolCall<'_>]) {
        let mut outcomes: Vec<Outcome> = Vec::new();
        for call in tool_calls {
            let Some(result) = &call.result else { continue };
            let mut latest = None;
            for part in &result.0 {
                let own_id = call.id.as_deref().unwrap_or_default();
                if let Some(outcome) = outcome(part, own_id, Some(call), self) {
                    let known = outcomes.iter().any(|known| known.call == outcome.call);
                    latest = (!known).then_some(outcomes.len());
                    if !known {
                        outcomes.push(outcome);
                    }
                } else if let (Some(index), Some(blob)) = (latest, self.blob(part)) {
                    outcomes[index].parts.push(Part::Blob(blob));
                }
            }
        }
        self.bodies.extend(outcomes.into_iter().map(|outcome| (Origin::Agent, Body::Outcome(Box::new(outcome)))));
    }

    fn parts(&self, content: &WireContent<'_>) -> Vec<Part> {
        let parts = content.0.iter().filter_map(|part| match &part.text {
            Some(text) => Some(Part::Text(text.to_string())),
            None => self.blob(part).map(Part::Blob),
        });
        parts.collect()
    }

    fn blob(&self, part: &WirePart<'_>) -> Option<Blob> {
        let (wire, place) = match (&part.inline_data, &part.file_data) {
            (Some(wire), _) => (wire, self.place(wire.data.as_ref()?)),
            (None, Some(wire)) => (wire, Place::Remote(wire.file_uri.as_ref()?.to_string())),
            (None, None) => return None,
        };
        let WireBlob { mime_type, display_name, .. } = wire;
        let media_type = mime_type.as_deref().unwrap_or("application/octet-stream").to_owned();
        Some(Blob { media_type, name: display_name.as_deref().map(str::to_owned), place })
    }

    /// Base64 stands in the record as it is, so its place is enough.
    fn place(&self, data: &Text<'_>) -> Place {
        match data.place_in(self.text.as_bytes()) {
            Some(start) => {
                Place::Encoded { file: 0, offset: self.key.offset + start as u64, length: data.len() as u64 }
            }
            None => Place::Inline((&**data).into()),
        }
    }
}

/// The outcome that a part holds: a response, or a plain text in the place of one.
fn outcome(
    part: &WirePart<'_>,
    own_id: &str,
    shown: Option<&WireToolCall<'_>>,
    reading: &Reading<'_, '_>,
) -> Option<Outcome> {
    let cancelled = shown.is_some_and(|call| call.status.as_deref() == Some("cancelled"));
    let (id, tool, parts, failed) = match (&part.function_response, &part.text, shown) {
        (Some(response), _, _) => {
            let (text, failed) = response.response.map(response_text).unwrap_or_default();
            let mut parts: Vec<Part> = text.map(Part::Text).into_iter().collect();
            parts.extend(response.parts.as_ref().map(|more| reading.parts(more)).unwrap_or_default());
            let id = response.id.as_deref().filter(|id| !id.is_empty()).unwrap_or(own_id);
            // What went wrong may be told in the place of an output, and only be marked on the screen.
            let marked = id == own_id && shown.is_some_and(|call| call.status.as_deref() == Some("error"));
            (id, response.name.as_deref().unwrap_or_default(), parts, failed || marked)
        }
        (None, Some(text), Some(call)) => {
            let failed = call.status.as_deref() == Some("error");
            (own_id, call.name.as_deref().unwrap_or_default(), vec![Part::Text(text.to_string())], failed)
        }
        _ => return None,
    };
    let told = match parts.as_slice() {
        [Part::Text(text)] => Cow::Borrowed(text.as_str()),
        parts => Cow::Owned(text_of(parts)),
    };
    let (mut status, exit_code) = boilerplate::ending(tool, &told, failed);
    if cancelled && id == own_id {
        status = Status::Interrupted;
    }
    Some(Outcome { call: CallId(id.into()), status, exit_code, parts })
}

/// The text of a response, and whether it tells an error; another shape than the usual stays JSON.
fn response_text(raw: &RawValue) -> (Option<String>, bool) {
    match serde_json::from_str::<WireResponse<'_>>(raw.get()) {
        Ok(WireResponse { output: Some(text), .. }) => (Some(text.0.into_owned()), false),
        Ok(WireResponse { error: Some(text), .. }) => (Some(text.0.into_owned()), true),
        _ if raw.get() == "{}" => (None, false),
        _ => (Some(raw.get().to_owned()), false),
    }
}
