//! One record of a session, made into entries.

use std::ops::ControlFlow;

use carryover_core::transcript::{
    BlobLocation, Body, CallId, Entry, EntryKey, Fact, Node, Note, Origin, Outcome, Part, RejectedRecord, TitleRank,
};
use serde_json::value::RawValue;

use super::branch::{BranchPosition, RecordLink};
use super::injected_text;
use super::outcome;
use super::raw::RawRecord;
use super::wire::{WireDetails, WireLink, WireMirrored, WireProvenance, parse_lenient};
use crate::Sink;
use crate::formats::jsonl;
use crate::formats::text::Text;
use crate::formats::tree::bodies::{self, Bodies, note_bodies, opaque_body, prompt_bodies, title_fact, unknown_body};
use crate::formats::tree::conditions;
use crate::formats::tree::wire::{Content, Message, Record};
use crate::formats::tree::words::{SkippedText, Words};

/// The facts and entries of one record.
pub(super) struct ParsedRecord {
    pub facts: Vec<Fact>,
    pub entries: Vec<Entry>,
    pub rejected: Option<RejectedRecord>,
}

impl ParsedRecord {
    pub(super) fn hand_over(self, sink: &mut dyn Sink) -> ControlFlow<()> {
        jsonl::send_to_sink(self.rejected, self.facts, self.entries, sink)
    }
}

/// The content of a record, whether or not it is on the branch that the client goes on from.
#[derive(Default)]
pub(super) struct RecordContent {
    bodies: Bodies,
    facts: Vec<Fact>,
    at: Option<String>,
    rejected: Option<&'static str>,
    /// It may name the session, if it is read whole.
    pub may_name: bool,
}

/// A record that was passed over: what it says, without the words.
pub(super) struct SkimmedRecord {
    pub link: RecordLink,
    /// Records of the oldest files have none.
    pub name: Option<String>,
    pub content: RecordContent,
}

/// Reads a record whose fate is known. `is_called_issue` tells whether a prompt has named the session already.
pub(super) fn parse_record(
    raw: &RawRecord<'_>,
    key: EntryKey,
    fate: &BranchPosition,
    is_named: &mut bool,
) -> ParsedRecord {
    let parsed = read_content(raw, *is_named).into_parsed(key, fate);
    *is_named |= parsed.facts.iter().any(|fact| matches!(fact, Fact::Title(TitleRank::FirstPrompt, _)));
    parsed
}

fn read_content(raw: &RawRecord<'_>, is_named: bool) -> RecordContent {
    let text = match raw {
        RawRecord::Text(text) => text,
        RawRecord::Unreadable(reason) => return RecordContent::from_rejected(reason),
    };
    match serde_json::from_str::<Record<'_, Text<'_>>>(text) {
        Ok(record) => RecordReader { text, record, is_named }.into_content(),
        Err(error) if error.is_data() => RecordContent::from_rejected("a field has another type than it had"),
        Err(_) => RecordContent::from_rejected("not a JSON object"),
    }
}

/// Looks at a record for its place in the tree and its kind. Most of a long session stands before its last compaction,
/// and most of such a record is text that nobody will see.
pub(super) fn skim_record(raw: &RawRecord<'_>) -> SkimmedRecord {
    let text = if let RawRecord::Text(text) = raw { text } else { "" };
    // Whose words a user's message is, is told by the words: they are taken along at once.
    let skimmed = if looks_like_prompt(text) { skim_words::<Text<'_>>(text) } else { skim_words::<SkippedText>(text) };
    skimmed.unwrap_or_else(|| {
        // Whoever reads it whole says what is wrong with it; its place may be known all the same.
        let link = serde_json::from_str::<WireLink<'_>>(text).ok();
        let (link, name) = link.map(|link| RecordLink::from_wire(&link)).unwrap_or_default();
        SkimmedRecord { link, name, content: read_content(raw, true) }
    })
}

fn skim_words<'a, W: Words<'a>>(text: &'a str) -> Option<SkimmedRecord> {
    let mut record = serde_json::from_str::<Record<'_, W>>(text).ok()?;
    let (link, name) = RecordLink::from_wire(&WireLink::take_from(&mut record));
    let is_from_user = is_from_user(&record);
    let content = if is_from_user && !W::ARE_KEPT {
        read_content(&RawRecord::Text(text.into()), true)
    } else {
        RecordReader { text, record, is_named: true }.into_content()
    };
    Some(SkimmedRecord { link, name, content: if is_from_user { content.reduce_bodies() } else { content } })
}

/// Whether a record is a user's message as the client writes it. Inside of a text, quotes are escaped.
fn looks_like_prompt(text: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), br#""role":"user""#).is_some()
}

fn is_from_user<W>(record: &Record<'_, W>) -> bool {
    record.message.as_ref().is_some_and(|message| &*message.role == "user")
}

impl RecordContent {
    fn reduce_bodies(mut self) -> Self {
        self.bodies.iter_mut().for_each(|(_, body)| body.reduce());
        self
    }

    fn from_rejected(reason: &'static str) -> Self {
        Self { rejected: Some(reason), ..Self::default() }
    }

    pub(super) fn is_rejected(&self) -> bool {
        self.rejected.is_some()
    }

    /// Whether the context begins anew here.
    pub(super) fn is_barrier(&self) -> bool {
        self.bodies.iter().any(|(_, body)| matches!(body, Body::Compacted(_)))
    }

    /// The entries, now that it is known what became of the record.
    pub(super) fn into_parsed(mut self, key: EntryKey, fate: &BranchPosition) -> ParsedRecord {
        if let Some(reason) = self.rejected {
            let rejected = Some(RejectedRecord { key, reason });
            return ParsedRecord { facts: Vec::new(), entries: vec![bodies::rejected_entry(key)], rejected };
        }
        let node = fate.node.map(|id| Node { id, parent: fate.before, group: None });
        if node.is_none() {
            // Not on the branch that the client goes on from: kept in its place, and no more.
            self.facts.clear();
            self.bodies = self.bodies.into_iter().take(1).map(|(_, body)| left_body(body)).collect();
        }
        // Records between the first that is kept and this one stay, behind the summary.
        for (_, body) in &mut self.bodies {
            if let Body::Compacted(compacted) = body {
                compacted.kept = fate.kept.zip(fate.before);
            }
        }
        let entries = bodies::make_entries(self.bodies, key, self.at.as_deref(), node);
        ParsedRecord { facts: self.facts, entries, rejected: None }
    }
}

/// A record that is not on the branch, by its kind.
fn left_body(body: Body) -> (Origin, Body) {
    let is_light = matches!(body, Body::Opaque(_) | Body::Failure(_) | Body::Note(_));
    (Origin::Harness, if is_light { body } else { Body::known("branch/left") })
}

/// A record in the course of being read.
struct RecordReader<'a, W> {
    text: &'a str,
    record: Record<'a, W>,
    is_named: bool,
}

impl<'a, W: Words<'a>> RecordReader<'a, W> {
    fn into_content(mut self) -> RecordContent {
        let mut facts = Vec::new();
        let bodies = self.read_bodies(&mut facts);
        let may_name = bodies.iter().any(|(origin, body)| *origin == Origin::User && matches!(body, Body::Prompt(_)));
        let at = self.record.timestamp.map(|at| at.0.into_owned());
        RecordContent { bodies, facts, at, rejected: None, may_name }
    }

    fn read_bodies(&mut self, facts: &mut Vec<Fact>) -> Bodies {
        let record = &mut self.record;
        match &*record.kind {
            "session" => vec![opaque_body("session")],
            "message" => match record.message.take() {
                Some(message) => self.read_message(message, facts),
                None => vec![bodies::prompt_without_words()],
            },
            "custom_message" => {
                let content = std::mem::take(&mut record.content);
                prompt_bodies(injected_origin(record.details), read_parts(content), "custom_message")
            }
            "compaction" => {
                let summary = record.summary.take().filter(|text| !text.is_empty());
                let summary = summary.map(|text| Part::Text(text.0.into_owned()));
                vec![compaction_body(), (Origin::Agent, Body::Summary(summary.into_iter().collect()))]
            }
            "reset" => vec![compaction_body()],
            "branch_summary" => bodies::branch_summary_bodies(record.summary.as_ref()),
            "session_info" => note_bodies(facts, title_fact(TitleRank::Given, record.name.as_deref()), Note::Title),
            "model_change" => {
                facts.extend(conditions::setting_facts(record));
                let model = record.model_id.as_deref().map(|model| Fact::Model(model.to_owned()));
                note_bodies(facts, model, Note::Mode)
            }
            "thinking_level_change" => {
                facts.extend(conditions::setting_facts(record));
                note_bodies(facts, None, Note::Mode)
            }
            "custom" => vec![opaque_body("custom")],
            "label" => vec![opaque_body("label")],
            "leaf" => vec![opaque_body("leaf")],
            kind => vec![unknown_body(kind)],
        }
    }

    fn read_message(&self, mut message: Message<'a, W>, facts: &mut Vec<Fact>) -> Bodies {
        if message.exclude_from_context == Some(true) {
            return vec![opaque_body("message/excluded")];
        }
        let content = std::mem::take(&mut message.content);
        match &*message.role {
            "user" => {
                let parts = read_parts(content);
                let said = match sender_origin(&message) {
                    Origin::User => injected_text::split_prompt(parts),
                    origin => prompt_bodies(origin, parts, "message/user"),
                };
                let typed = said.iter().find(|(origin, _)| *origin == Origin::User);
                facts.extend(
                    typed.filter(|_| !self.is_named).and_then(|(_, body)| bodies::first_prompt_title(body.parts())),
                );
                said
            }
            "assistant" if self.is_delivery_copy(&message) => vec![opaque_body("message/delivered")],
            "assistant" => {
                facts.extend(message.model.as_deref().map(|model| Fact::Model(model.to_owned())));
                facts.extend(conditions::reply_routing(&message));
                bodies::assistant_bodies(&message, content, is_seal)
            }
            "toolResult" => vec![(Origin::Agent, read_outcome(&message, content))],
            "bashExecution" => bodies::user_command_bodies(&message),
            "custom" | "hookMessage" => {
                prompt_bodies(injected_origin(message.details), read_parts(content), "message/custom")
            }
            "system" => {
                facts.extend(conditions::prompt_facts(&message));
                vec![opaque_body("message/system")]
            }
            role => vec![unknown_body(format!("message/{role}"))],
        }
    }

    /// Messages delivered to a chat are noted a second time as a message, which the model never sees.
    fn is_delivery_copy(&self, message: &Message<'_, W>) -> bool {
        let own = message.provider.as_deref() == Some("openclaw");
        let model = message.model.as_deref();
        (own && matches!(model, Some("delivery-mirror" | "gateway-injected"))) || self.is_mirrored()
    }

    /// Looked for by its name first: hardly any record has it, and what is said is not gone through again.
    fn is_mirrored(&self) -> bool {
        memchr::memmem::find(self.text.as_bytes(), WireMirrored::FIELD.as_bytes()).is_some()
            && serde_json::from_str::<WireMirrored>(self.text).is_ok_and(|record| record.is_mirrored())
    }
}

/// Whose words an injected message is: neither the user's nor the model's. The client's own come anew at every turn.
fn injected_origin(details: Option<&RawValue>) -> Origin {
    let details: WireDetails = parse_lenient(details).unwrap_or_default();
    if details.runtime_context_carrier == Some(true) { Origin::Harness } else { Origin::Hook }
}

/// Which records are kept is told by what became of this one.
fn compaction_body() -> (Origin, Body) {
    (Origin::Harness, Body::Compacted(Box::default()))
}

/// Other sessions and the client itself write to the model in the user's place, and say so.
fn sender_origin<W>(message: &Message<'_, W>) -> Origin {
    let provenance: Option<WireProvenance<'_>> = parse_lenient(message.provenance);
    match provenance.as_ref().map(|provenance| &*provenance.kind) {
        Some("inter_session" | "internal_system") => Origin::Hook,
        _ => Origin::User,
    }
}

/// Open models tell the field that they thought in, and no seal.
fn is_seal(signature: &str) -> bool {
    !signature.is_empty() && !signature.starts_with("reasoning")
}

fn read_outcome<'a, W: Words<'a>>(message: &Message<'_, W>, content: Content<'a, W>) -> Body {
    let parts = read_parts(content);
    let details = if W::ARE_KEPT { parse_lenient(message.details) } else { None };
    let details: WireDetails = details.unwrap_or_default();
    let ended = outcome::CallEnding::from_details(&details, message.is_error == Some(true), &parts);
    let call = CallId(message.tool_call_id.as_deref().unwrap_or_default().into());
    Body::Outcome(Box::new(Outcome { call, status: ended.status, exit_code: ended.exit_code, parts }))
}

fn read_parts<'a, W: Words<'a>>(content: Content<'a, W>) -> Vec<Part> {
    bodies::content_parts(content, |data| BlobLocation::Inline(data.into_string().into()))
}
