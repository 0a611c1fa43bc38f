//! One record of a session, made into entries.

use std::borrow::Cow;
use std::ops::ControlFlow;

use carryover_core::transcript::{
    Body, CallId, Entry, EntryKey, Fact, Node, Note, Origin, Outcome, Part, Place, Rejected, TitleRank,
};
use serde_json::value::RawValue;

use super::branch::{Fate, Link};
use super::outcome;
use super::raw::Raw;
use super::speech;
use super::wire::{WireDetails, WireLink, WireMirrored, WireProvenance, lenient};
use crate::Sink;
use crate::formats::jsonl;
use crate::formats::text::Text;
use crate::formats::tree::bodies::{self, Bodies, note, opaque, spoken, title, unknown};
use crate::formats::tree::wire::{Content, Message, Record};
use crate::formats::tree::words::{PassedOver, Words};

/// What a record says.
pub(super) struct Parsed {
    pub facts: Vec<Fact>,
    pub entries: Vec<Entry>,
    pub rejected: Option<Rejected>,
}

impl Parsed {
    pub(super) fn hand_over(self, sink: &mut dyn Sink) -> ControlFlow<()> {
        jsonl::hand_over(self.rejected, self.facts, self.entries, sink)
    }
}

/// What a record says, whether or not it is on the branch that the client goes on from.
#[derive(Default)]
pub(super) struct Said {
    bodies: Bodies,
    facts: Vec<Fact>,
    at: Option<String>,
    rejected: Option<&'static str>,
    /// It may name the session, if it is read whole.
    pub may_name: bool,
}

/// A record that was passed over: what it says, without the words.
pub(super) struct Passed {
    pub link: Link,
    /// Records of the oldest files have none.
    pub name: Option<String>,
    pub said: Said,
}

/// Reads a record whose fate is known. `is_named` tells whether a prompt has named the session already.
pub(super) fn parse(raw: &Raw<'_>, key: EntryKey, fate: &Fate, is_named: &mut bool) -> Parsed {
    let parsed = whole(raw, *is_named).on(key, fate);
    *is_named |= parsed.facts.iter().any(|fact| matches!(fact, Fact::Title(TitleRank::FirstPrompt, _)));
    parsed
}

fn whole(raw: &Raw<'_>, is_named: bool) -> Said {
    let text = match raw {
        Raw::Text(text) => text,
        Raw::Bad(reason) => return Said::rejected(reason),
    };
    match serde_json::from_str::<Record<'_, Text<'_>>>(text) {
        Ok(record) => Reading { text, record, is_named }.said(),
        Err(error) if error.is_data() => Said::rejected("a field has another type than it had"),
        Err(_) => Said::rejected("not a JSON object"),
    }
}

/// Looks at a record for its place in the tree and its kind. Most of a long session stands before its last compaction,
/// and most of such a record is text that nobody will see.
pub(super) fn pass_over(raw: &Raw<'_>) -> Passed {
    let text = if let Raw::Text(text) = raw { text } else { "" };
    if let Ok(mut record) = serde_json::from_str::<Record<'_, PassedOver>>(text) {
        let (link, name) = Link::of(&WireLink::of(&mut record));
        let said = if is_from_user(&record) {
            // Whose words they are is told by the words.
            whole(raw, true).without_words()
        } else {
            Reading { text, record, is_named: true }.said()
        };
        return Passed { link, name, said };
    }
    // What is wrong with it is told by who reads it whole; its place may be known all the same.
    let link = serde_json::from_str::<WireLink<'_>>(text).ok();
    let (link, name) = link.map(|link| Link::of(&link)).unwrap_or_default();
    Passed { link, name, said: whole(raw, true) }
}

fn is_from_user<W>(record: &Record<'_, W>) -> bool {
    record.message.as_ref().is_some_and(|message| &*message.role == "user")
}

impl Said {
    fn without_words(mut self) -> Self {
        self.bodies.iter_mut().for_each(|(_, body)| body.reduce());
        self
    }

    fn rejected(reason: &'static str) -> Self {
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
    pub(super) fn on(mut self, key: EntryKey, fate: &Fate) -> Parsed {
        if let Some(reason) = self.rejected {
            let rejected = Some(Rejected { key, reason });
            return Parsed { facts: Vec::new(), entries: vec![bodies::rejected(key)], rejected };
        }
        let node = fate.node.map(|id| Node { id, parent: fate.before, group: None });
        if node.is_none() {
            // Not on the branch that the client goes on from: kept in its place, and no more.
            self.facts.clear();
            self.bodies = self.bodies.into_iter().take(1).map(|(_, body)| left(body)).collect();
        }
        // What stands between the first record that is kept and this one stays, behind the summary.
        for (_, body) in &mut self.bodies {
            if let Body::Compacted(compacted) = body {
                compacted.kept = fate.kept.zip(fate.before);
            }
        }
        let entries = bodies::entries(self.bodies, key, self.at.as_deref(), node);
        Parsed { facts: self.facts, entries, rejected: None }
    }
}

/// A record that is not on the branch, by its kind.
fn left(body: Body) -> (Origin, Body) {
    let kind = match body {
        Body::Opaque(kind) => kind,
        Body::Failure(_) | Body::Note(_) => return (Origin::Harness, body),
        _ => Cow::Borrowed("branch/left"),
    };
    (Origin::Harness, Body::Opaque(kind))
}

/// A record in the course of being read.
struct Reading<'a, W> {
    text: &'a str,
    record: Record<'a, W>,
    is_named: bool,
}

impl<'a, W: Words<'a>> Reading<'a, W> {
    fn said(mut self) -> Said {
        let mut facts = Vec::new();
        let bodies = self.bodies(&mut facts);
        let may_name = bodies.iter().any(|(origin, body)| *origin == Origin::User && matches!(body, Body::Prompt(_)));
        let at = self.record.timestamp.map(|at| at.0.into_owned());
        Said { bodies, facts, at, rejected: None, may_name }
    }

    fn bodies(&mut self, facts: &mut Vec<Fact>) -> Bodies {
        let record = &mut self.record;
        match &*record.kind {
            "session" => vec![opaque("session")],
            "message" => match record.message.take() {
                Some(message) => self.message(message, facts),
                None => vec![bodies::wordless()],
            },
            "custom_message" => {
                let content = std::mem::take(&mut record.content);
                spoken(teller(record.details), parts(content), "custom_message")
            }
            "compaction" => {
                let summary = record.summary.take().filter(|text| !text.is_empty());
                let summary = summary.map(|text| Part::Text(text.0.into_owned()));
                vec![barrier(), (Origin::Agent, Body::Summary(summary.into_iter().collect()))]
            }
            "reset" => vec![barrier()],
            "branch_summary" => bodies::branch_left(record.summary.as_ref()),
            "session_info" => note(facts, title(TitleRank::Given, record.name.as_deref()), Note::Title),
            "model_change" => {
                let model = record.model_id.as_deref().map(|model| Fact::Model(model.to_owned()));
                note(facts, model, Note::Mode)
            }
            "thinking_level_change" => note(facts, None, Note::Mode),
            "custom" => vec![opaque("custom")],
            "label" => vec![opaque("label")],
            "leaf" => vec![opaque("leaf")],
            kind => vec![unknown(kind.to_owned())],
        }
    }

    fn message(&self, mut message: Message<'a, W>, facts: &mut Vec<Fact>) -> Bodies {
        if message.exclude_from_context == Some(true) {
            return vec![opaque("message/excluded")];
        }
        let content = std::mem::take(&mut message.content);
        match &*message.role {
            "user" => {
                let parts = parts(content);
                let said = match sender(&message) {
                    Origin::User => speech::prompted(parts),
                    origin => spoken(origin, parts, "message/user"),
                };
                let typed = said.iter().find(|(origin, _)| *origin == Origin::User);
                facts.extend(typed.filter(|_| !self.is_named).and_then(|(_, body)| bodies::first_prompt(body.parts())));
                said
            }
            "assistant" if self.is_copy(&message) => vec![opaque("message/delivered")],
            "assistant" => {
                facts.extend(message.model.as_deref().map(|model| Fact::Model(model.to_owned())));
                bodies::assistant(&message, content, is_seal)
            }
            "toolResult" => vec![(Origin::Agent, outcome_of(&message, content))],
            "bashExecution" => bodies::ran(&message),
            "custom" | "hookMessage" => spoken(teller(message.details), parts(content), "message/custom"),
            "system" => vec![opaque("message/system")],
            role => vec![unknown(format!("message/{role}"))],
        }
    }

    /// What was delivered to a chat is noted a second time as a message, which the model never sees.
    fn is_copy(&self, message: &Message<'_, W>) -> bool {
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

/// What neither the user nor the model said. What the client tells anew at every turn is its own.
fn teller(details: Option<&RawValue>) -> Origin {
    let details: WireDetails = lenient(details).unwrap_or_default();
    if details.runtime_context_carrier == Some(true) { Origin::Harness } else { Origin::Hook }
}

/// Which records are kept is told by what became of this one.
fn barrier() -> (Origin, Body) {
    (Origin::Harness, Body::Compacted(Box::default()))
}

/// Other sessions and the client itself write to the model in the user's place, and say so.
fn sender<W>(message: &Message<'_, W>) -> Origin {
    let provenance: Option<WireProvenance<'_>> = lenient(message.provenance);
    match provenance.as_ref().map(|provenance| &*provenance.kind) {
        Some("inter_session" | "internal_system") => Origin::Hook,
        _ => Origin::User,
    }
}

/// Open models tell the field that they thought in, and no seal.
fn is_seal(signature: &str) -> bool {
    !signature.is_empty() && !signature.starts_with("reasoning")
}

fn outcome_of<'a, W: Words<'a>>(message: &Message<'_, W>, content: Content<'a, W>) -> Body {
    let parts = parts(content);
    let details = if W::ARE_KNOWN { lenient(message.details) } else { None };
    let details: WireDetails = details.unwrap_or_default();
    let ended = outcome::Ended::of(&details, message.is_error == Some(true), &parts);
    let call = CallId(message.tool_call_id.as_deref().unwrap_or_default().into());
    Body::Outcome(Box::new(Outcome { call, status: ended.status, exit_code: ended.exit_code, parts }))
}

fn parts<'a, W: Words<'a>>(content: Content<'a, W>) -> Vec<Part> {
    bodies::parts(content, |data| Place::Inline(data.into_string().into()))
}
