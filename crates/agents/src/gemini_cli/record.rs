//! One record, made into entries: a line of a log, or a message in a list.
//!
//! A message is known by the bytes that it stands in, wherever that is, so that it can be read again alone.

use std::borrow::Cow;

use carryover_core::json::Json;
use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Blob, BlobLocation, Body, Call, CallForm, CallId, Entry, EntryKey, Fact, Note, Opaque, Origin, Outcome, Part,
    Reasoning, RejectedRecord, SessionId, Status, TitleRank, text_of,
};
use serde_json::value::RawValue;

use super::boilerplate::{self, SortedText};
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

/// The effect of a record on the conversation.
pub(super) enum ConversationChange {
    Nothing,
    /// Added, or put in the place of the one with its id.
    Message(Message),
    /// The conversation is this from here on.
    Messages(Vec<Message>),
    /// The message with this id and all behind it are gone.
    RewindTo(String),
}

/// The facts, entries and effect of one record.
pub(super) struct ParsedRecord {
    pub key: EntryKey,
    pub facts: Vec<Fact>,
    /// The record itself, where it is no message.
    pub entry: Option<Entry>,
    pub change: ConversationChange,
    pub rejected: Vec<RejectedRecord>,
    pub known: bool,
}

/// The facts that earlier lines have told, so that they need not be made again.
#[derive(Default)]
pub(super) struct LastFacts {
    /// A prompt that names the session.
    has_title: bool,
}

/// Reads a line. `None`: it ends without a line feed and is not whole.
pub(super) fn parse_record(line: Line<'_>) -> Option<ParsedRecord> {
    parse_line_after(&mut LastFacts::default(), line)
}

/// Reads a line behind others.
pub(super) fn parse_line_after(told: &mut LastFacts, line: Line<'_>) -> Option<ParsedRecord> {
    let key = entry_key(line.offset, line.length);
    if line.is_too_long() {
        return Some(ParsedRecord::new_rejected(key, "the record is longer than 64 MiB"));
    }
    let Ok(text) = simdutf8::basic::from_utf8(line.bytes) else {
        return (!line.unterminated).then(|| ParsedRecord::new_rejected(key, "not UTF-8"));
    };
    match serde_json::from_str::<WireRecord<'_>>(text) {
        Ok(record) => Some(read_record(record, text, key, told)),
        Err(_) if line.unterminated => None,
        Err(error) if error.is_data() => Some(ParsedRecord::new_rejected(key, "a field has another type than it had")),
        Err(_) => Some(ParsedRecord::new_rejected(key, "not a JSON object")),
    }
}

/// Reads a whole file of the older form: one object with the messages in it.
pub(super) fn parse_document(text: &str) -> ParsedRecord {
    let key = entry_key(0, text.len() as u64);
    match serde_json::from_str::<WireSession<'_>>(text) {
        Ok(session) => read_session(&session, text, key, &mut LastFacts::default()),
        Err(_) => ParsedRecord::new_rejected(key, "not a JSON object"),
    }
}

pub(super) fn entry_key(offset: u64, length: u64) -> EntryKey {
    EntryKey { file: 0, offset, part: 0, length: u32::try_from(length).unwrap_or(u32::MAX) }
}

fn read_record(record: WireRecord<'_>, text: &str, key: EntryKey, told: &mut LastFacts) -> ParsedRecord {
    if let Some(id) = &record.rewind_to {
        return ParsedRecord {
            change: ConversationChange::RewindTo(id.to_string()),
            ..ParsedRecord::with_body(key, None, Body::known("$rewindTo"), true)
        };
    }
    if record.id.is_some() {
        let is_known = matches!(record.kind.as_deref(), Some("user" | "gemini" | "info" | "warning"));
        let mut message = read_message(record, text, key, told);
        let known = is_known || message.entries.iter().any(|entry| !matches!(entry.body, Body::Opaque(_)));
        let facts = std::mem::take(&mut message.facts);
        return ParsedRecord {
            facts,
            entry: None,
            change: ConversationChange::Message(message),
            ..ParsedRecord::with_body(key, None, Body::known("message"), known)
        };
    }
    if let Some(session) = &record.set {
        return read_session(session, text, key, told);
    }
    match serde_json::from_str::<WireSession<'_>>(text) {
        Ok(session) if session.session_id.is_some() && session.project_hash.is_some() => {
            read_session(&session, text, key, told)
        }
        _ => {
            let body = record.kind.as_deref().map_or(Body::Opaque(Opaque::Unnamed("unknown")), kind_body);
            ParsedRecord::with_body(key, None, body, false)
        }
    }
}

/// Reads the fields of the session as a whole, the messages among them.
fn read_session(session: &WireSession<'_>, text: &str, key: EntryKey, told: &mut LastFacts) -> ParsedRecord {
    let at = session.last_updated.as_deref().and_then(Timestamp::parse);
    let body = if session.summary.is_some() { Body::Note(Note::Title) } else { Body::known("session") };
    let mut parsed = ParsedRecord::with_body(key, at, body, true);
    if let Some(id) = session.session_id.as_deref().filter(|id| !id.is_empty()) {
        parsed.facts.push(Fact::Session(SessionId(id.to_owned())));
    }
    parsed.facts.extend(session.start_time.as_deref().and_then(Timestamp::parse).map(Fact::StartedAt));
    parsed.facts.extend(session.summary.as_deref().and_then(|title| title_fact(TitleRank::Generated, title)));
    if let Some(messages) = &session.messages {
        let mut list = Vec::with_capacity(messages.len());
        for raw in messages {
            list.push(read_listed(raw, text, key, &mut parsed, told));
        }
        parsed.change = ConversationChange::Messages(list);
    }
    parsed
}

/// A message in a list.
fn read_listed(raw: &RawValue, text: &str, key: EntryKey, parsed: &mut ParsedRecord, told: &mut LastFacts) -> Message {
    let start = (raw.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize) as u64;
    let place = EntryKey { offset: key.offset + start, ..entry_key(0, raw.get().len() as u64) };
    if let Ok(record) = serde_json::from_str::<WireRecord<'_>>(raw.get()) {
        let mut message = read_message(record, raw.get(), place, told);
        parsed.facts.append(&mut message.facts);
        message
    } else {
        parsed.rejected.push(RejectedRecord { key: place, reason: "a message in a list could not be read" });
        let id = format!("rejected at {}", place.offset);
        Message { id, entries: vec![harness_entry(place, None, Body::Opaque(Opaque::Rejected))], facts: Vec::new() }
    }
}

/// The entries of a message, read again.
pub(super) fn reload_entries(text: &str, key: EntryKey) -> Vec<Entry> {
    let Ok(record) = serde_json::from_str::<WireRecord<'_>>(text) else { return Vec::new() };
    read_message(record, text, EntryKey { part: 0, ..key }, &mut LastFacts { has_title: true }).entries
}

fn read_message(mut record: WireRecord<'_>, text: &str, key: EntryKey, told: &mut LastFacts) -> Message {
    let content = std::mem::take(&mut record.content);
    let mut reading = MessageReader { text, key, record: &record, told, bodies: Vec::new(), facts: Vec::new() };
    reading.read_content(content);
    let at = record.timestamp.as_deref().and_then(Timestamp::parse);
    let entries = reading.bodies.into_iter().enumerate().map(|(part, (origin, body))| {
        let key = EntryKey { part: u16::try_from(part).unwrap_or(u16::MAX), ..key };
        Entry { key, at, origin, side: false, node: None, body }
    });
    let id = record.id.as_deref().map_or_else(|| format!("unnamed at {}", key.offset), str::to_owned);
    Message { id, entries: entries.collect(), facts: reading.facts }
}

impl ParsedRecord {
    fn with_body(key: EntryKey, at: Option<Timestamp>, body: Body, known: bool) -> Self {
        let entry = Some(harness_entry(key, at, body));
        Self { key, facts: Vec::new(), entry, change: ConversationChange::Nothing, rejected: Vec::new(), known }
    }

    fn new_rejected(key: EntryKey, reason: &'static str) -> Self {
        Self {
            rejected: vec![RejectedRecord { key, reason }],
            ..Self::with_body(key, None, Body::Opaque(Opaque::Rejected), false)
        }
    }
}

fn harness_entry(key: EntryKey, at: Option<Timestamp>, body: Body) -> Entry {
    Entry { key, at, origin: Origin::Harness, side: false, node: None, body }
}

/// A record that is not looked into, by its kind.
fn kind_body(kind: &str) -> Body {
    match ["info", "warning", "message"].into_iter().find(|known| *known == kind) {
        Some(known) => Body::known(known),
        None => Body::unknown(kind),
    }
}

fn title_fact(rank: TitleRank, text: &str) -> Option<Fact> {
    // Long prompts are named by their beginning, and that needs no look at the rest.
    let line = one_line(&text[..text.floor_char_boundary(2_000)], 200);
    (!line.is_empty()).then_some(Fact::Title(rank, line))
}

/// A message in the course of being read.
struct MessageReader<'r, 'a> {
    text: &'a str,
    key: EntryKey,
    /// The record without its content.
    record: &'r WireRecord<'a>,
    told: &'r mut LastFacts,
    bodies: Vec<(Origin, Body)>,
    facts: Vec<Fact>,
}

impl MessageReader<'_, '_> {
    fn read_content(&mut self, content: WireContent<'_>) {
        match self.record.kind.as_deref() {
            Some("user") => self.read_user(content),
            Some("gemini") => self.read_agent(content),
            Some("error") => {
                let at = self.record.timestamp.as_deref().and_then(Timestamp::parse);
                let failure = failure::from_message(text_of(&self.read_parts(&content)), at);
                self.bodies.push((Origin::Harness, Body::Failure(Box::new(failure))));
            }
            Some("info") if text_of(&self.read_parts(&content)) == failure::CANCELLED_MESSAGE => {
                self.bodies.push((Origin::Harness, Body::Failure(Box::new(failure::cancelled_turn()))));
            }
            kind => self.bodies.push((Origin::Harness, kind_body(kind.unwrap_or("message")))),
        }
        if self.bodies.is_empty() {
            self.bodies.push((Origin::Harness, Body::known("empty")));
        }
        let usage = usage::from_record(self.record).filter(|_| self.record.kind.as_deref() == Some("gemini"));
        self.bodies.extend(usage.map(|usage| (Origin::Harness, usage.into_body())));
    }

    /// Outcomes first, then what the user said, then what was brought along.
    fn read_user(&mut self, content: WireContent<'_>) {
        let mut prompt = prompt::begin();
        let mut outcomes: Vec<Outcome> = Vec::new();
        if content.0.is_empty() {
            prompt.added.push((Origin::Harness, Body::Opaque(Opaque::Wordless)));
        }
        for part in content.0 {
            if let Some(text) = &part.text {
                if matches!(boilerplate::sort_text(text), SortedText::Harness(_)) {
                    self.facts.extend(boilerplate::find_workspace(text).map(|path| Fact::Project(path.into())));
                }
                prompt.add_text(text);
            } else if let Some(response) = read_outcome(&part, "", None, self) {
                outcomes.push(response);
            } else if let Some(blob) = self.read_blob(&part) {
                // An image right behind an outcome is what the call gave back.
                match outcomes.last_mut().filter(|_| prompt.typed.is_empty()) {
                    Some(outcome) => outcome.parts.push(Part::Blob(blob)),
                    None => prompt.add_part(Part::Blob(blob)),
                }
            } else {
                prompt.added.push((Origin::Harness, Body::Opaque(Opaque::Wordless)));
            }
        }
        prompt::finish(&mut prompt, &self.read_parts(&self.record.display_content));
        self.bodies.extend(outcomes.into_iter().map(|outcome| (Origin::Agent, Body::Outcome(Box::new(outcome)))));
        if !prompt.typed.is_empty() {
            self.note_title(&prompt.typed);
            self.bodies.push((Origin::User, Body::Prompt(prompt.typed)));
        }
        self.bodies.append(&mut prompt.added);
    }

    /// The first prompt names the session; the others need not be looked at.
    fn note_title(&mut self, spoken: &[Part]) {
        if self.told.has_title {
            return;
        }
        let first = spoken.iter().find_map(|part| match part {
            Part::Text(text) => title_fact(TitleRank::FirstPrompt, text),
            Part::Blob(_) => None,
        });
        self.told.has_title = first.is_some();
        self.facts.extend(first);
    }

    fn read_agent(&mut self, content: WireContent<'_>) {
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
                self.push_reasoning(texts.join("\n"));
            }
        }
        self.read_agent_parts(parts);
        let tool_calls = record.tool_calls.as_deref().unwrap_or_default();
        if !calls_in_content {
            for call in tool_calls {
                self.push_call(call.id.as_ref(), call.name.as_ref(), call.args);
            }
        }
        self.read_results(tool_calls);
    }

    fn push_reasoning(&mut self, text: String) {
        let origin = if boilerplate::is_client_reply(&text) { Origin::Harness } else { Origin::Agent };
        self.bodies.push((origin, Body::Reasoning(Box::new(Reasoning { text, sealed: false }))));
    }

    /// Texts that follow each other are one text, as the API has it.
    fn read_agent_parts(&mut self, parts: Vec<WirePart<'_>>) {
        let mut reply: Vec<Part> = Vec::new();
        for mut part in parts {
            match (part.text.take(), &part.function_call) {
                (Some(text), _) if part.thought == Some(true) => self.push_reasoning(text.0.into_owned()),
                (Some(text), _) if text.is_empty() => {}
                (Some(text), _) => match reply.last_mut() {
                    Some(Part::Text(before)) => before.push_str(&text),
                    _ => reply.push(Part::Text(text.0.into_owned())),
                },
                (None, Some(call)) => {
                    self.push_reply(&mut reply);
                    self.push_call(call.id.as_ref(), call.name.as_ref(), call.args);
                }
                (None, None) => match self.read_blob(&part) {
                    Some(blob) => reply.push(Part::Blob(blob)),
                    None => self.bodies.push((Origin::Harness, Body::known("part"))),
                },
            }
        }
        self.push_reply(&mut reply);
    }

    fn push_reply(&mut self, reply: &mut Vec<Part>) {
        if reply.is_empty() {
            return;
        }
        let own = matches!(reply.as_slice(), [Part::Text(text)] if boilerplate::is_client_reply(text));
        let origin = if own { Origin::Harness } else { Origin::Agent };
        self.bodies.push((origin, Body::Reply(std::mem::take(reply))));
    }

    fn push_call(&mut self, id: Option<&Text<'_>>, name: Option<&Text<'_>>, args: Option<&RawValue>) {
        let call = Call {
            id: CallId(id.map_or("", |id| &**id).into()),
            tool: name.map(|name| name.to_string()).unwrap_or_default(),
            input: args.map_or_else(Json::empty_object, Json::from_raw),
            form: CallForm::Function,
        };
        self.bodies.push((Origin::Agent, Body::Call(Box::new(call))));
    }

    /// Reads the outcomes of calls. After a resume, each of parallel calls holds the responses of all.
    fn read_results(&mut self, tool_calls: &[WireToolCall<'_>]) {
        let mut outcomes: Vec<Outcome> = Vec::new();
        for call in tool_calls {
            let Some(result) = &call.result else { continue };
            let mut latest = None;
            for part in &result.0 {
                let own_id = call.id.as_deref().unwrap_or_default();
                if let Some(outcome) = read_outcome(part, own_id, Some(call), self) {
                    let known = outcomes.iter().any(|known| known.call == outcome.call);
                    latest = (!known).then_some(outcomes.len());
                    if !known {
                        outcomes.push(outcome);
                    }
                } else if let (Some(index), Some(blob)) = (latest, self.read_blob(part)) {
                    outcomes[index].parts.push(Part::Blob(blob));
                }
            }
        }
        self.bodies.extend(outcomes.into_iter().map(|outcome| (Origin::Agent, Body::Outcome(Box::new(outcome)))));
    }

    fn read_parts(&self, content: &WireContent<'_>) -> Vec<Part> {
        let parts = content.0.iter().filter_map(|part| match &part.text {
            Some(text) => Some(Part::Text(text.to_string())),
            None => self.read_blob(part).map(Part::Blob),
        });
        parts.collect()
    }

    fn read_blob(&self, part: &WirePart<'_>) -> Option<Blob> {
        let (wire, place) = match (&part.inline_data, &part.file_data) {
            (Some(wire), _) => (wire, self.blob_location(wire.data.as_ref()?)),
            (None, Some(wire)) => (wire, BlobLocation::Remote(wire.file_uri.as_ref()?.to_string())),
            (None, None) => return None,
        };
        let WireBlob { mime_type, display_name, .. } = wire;
        let media_type = mime_type.as_deref().unwrap_or("application/octet-stream").to_owned();
        Some(Blob { media_type, name: display_name.as_deref().map(str::to_owned), location: place })
    }

    fn blob_location(&self, data: &Text<'_>) -> BlobLocation {
        data.blob_location(self.text.as_bytes(), self.key.record())
    }
}

/// The outcome that a part holds: a response, or a plain text in the place of one.
fn read_outcome(
    part: &WirePart<'_>,
    own_id: &str,
    shown: Option<&WireToolCall<'_>>,
    reading: &MessageReader<'_, '_>,
) -> Option<Outcome> {
    let cancelled = shown.is_some_and(|call| call.status.as_deref() == Some("cancelled"));
    let (id, tool, parts, failed) = match (&part.function_response, &part.text, shown) {
        (Some(response), _, _) => {
            let (text, failed) = response.response.map(response_text).unwrap_or_default();
            let mut parts: Vec<Part> = text.map(Part::Text).into_iter().collect();
            parts.extend(response.parts.as_ref().map(|more| reading.read_parts(more)).unwrap_or_default());
            let id = response.id.as_deref().filter(|id| !id.is_empty()).unwrap_or(own_id);
            // An error may be told in the place of an output, and only be marked on the screen.
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
    let (mut status, exit_code) = boilerplate::read_ending(tool, &told, failed);
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
