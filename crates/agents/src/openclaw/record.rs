//! One record of a session, made into entries.

use std::borrow::Cow;

use carryover_core::json::Json;
use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Blob, Body, Call, CallForm, CallId, Compacted, Entry, EntryKey, Fact, Failure, FailureKind, Node, Note, Origin,
    Outcome, Part, Place, Reasoning, Rejected, TitleRank,
};

use super::branch::Fate;
use super::kept::Raw;
use super::outcome;
use super::wire::{WireBlock, WireContent, WireDetails, WireMessage, WireProvenance, WireRecord, lenient};
use crate::formats::text::Text;

/// What a record says.
pub(super) struct Parsed {
    pub facts: Vec<Fact>,
    pub entries: Vec<Entry>,
    pub rejected: Option<Rejected>,
}

/// Reads a record.
pub(super) fn parse(raw: &Raw, key: EntryKey, fate: &Fate) -> Parsed {
    let text = match raw {
        Raw::Text(text) => text,
        Raw::Bad(reason) => return Parsed::rejected(key, reason),
    };
    match serde_json::from_str::<WireRecord<'_>>(text) {
        Ok(record) => Reading { key, record: &record, fate }.parsed(),
        Err(error) if error.is_data() => Parsed::rejected(key, "a field has another type than it had"),
        Err(_) => Parsed::rejected(key, "not a JSON object"),
    }
}

impl Parsed {
    fn rejected(key: EntryKey, reason: &'static str) -> Self {
        let body = Body::Opaque(Cow::Borrowed("rejected"));
        let entry = Entry { key, at: None, origin: Origin::Harness, side: false, node: None, body };
        let rejected = Some(Rejected { key, reason });
        Self { facts: Vec::new(), entries: vec![entry], rejected }
    }
}

type Bodies = Vec<(Origin, Body)>;

/// A record in the course of being read.
struct Reading<'r, 'a> {
    key: EntryKey,
    record: &'r WireRecord<'a>,
    fate: &'r Fate,
}

impl Reading<'_, '_> {
    fn parsed(&self) -> Parsed {
        let mut facts = Vec::new();
        let mut bodies = self.bodies(&mut facts);
        let node = self.fate.node.map(|id| Node { id, parent: self.fate.before, group: None });
        if node.is_none() {
            // Not on the branch that the client goes on from: kept in its place, and no more.
            facts.clear();
            bodies = bodies.into_iter().take(1).map(|(_, body)| left(body)).collect();
        }
        let at = self.record.timestamp.as_deref().and_then(Timestamp::parse);
        let mut entries = Vec::with_capacity(bodies.len());
        for (part, (origin, body)) in bodies.into_iter().enumerate() {
            let key = EntryKey { part: u16::try_from(part).unwrap_or(u16::MAX), ..self.key };
            entries.push(Entry { key, at, origin, side: false, node, body });
        }
        Parsed { facts, entries, rejected: None }
    }

    fn bodies(&self, facts: &mut Vec<Fact>) -> Bodies {
        let record = self.record;
        match &*record.kind {
            "session" => vec![opaque("session")],
            "message" => match &record.message {
                Some(message) => message_bodies(message, facts),
                None => vec![opaque("message")],
            },
            "custom_message" => self.injected(),
            "compaction" => self.compaction(),
            "reset" => vec![self.barrier()],
            "branch_summary" => branch_left(record.summary.as_ref()),
            "session_info" => note(facts, title(TitleRank::Given, record.name.as_deref()), Note::Title),
            "model_change" => {
                let model = record.model_id.as_deref().map(|model| Fact::Model(model.to_owned()));
                note(facts, model, Note::Mode)
            }
            "thinking_level_change" => note(facts, None, Note::Mode),
            "custom" => vec![opaque("custom")],
            "label" => vec![opaque("label")],
            "leaf" => vec![opaque("leaf")],
            kind => vec![(Origin::Harness, Body::Opaque(Cow::Owned(kind.to_owned())))],
        }
    }

    /// What neither the user nor the model said. What the client tells anew at every turn is its own.
    fn injected(&self) -> Bodies {
        let details: WireDetails = lenient(self.record.details).unwrap_or_default();
        let carrier = details.runtime_context_carrier == Some(true);
        let origin = if carrier { Origin::Harness } else { Origin::Hook };
        spoken(origin, parts(&self.record.content), "custom_message")
    }

    /// What stands between the first record that is kept and this one stays, behind the summary.
    fn barrier(&self) -> (Origin, Body) {
        let kept = self.fate.kept.zip(self.fate.before);
        (Origin::Harness, Body::Compacted(Box::new(Compacted { kept, anchor: None, keeps_prompts: false })))
    }

    fn compaction(&self) -> Bodies {
        let text = self.record.summary.as_deref().unwrap_or_default();
        let parts = if text.is_empty() { Vec::new() } else { vec![Part::Text(text.to_owned())] };
        vec![self.barrier(), (Origin::Agent, Body::Summary(parts))]
    }
}

fn message_bodies(message: &WireMessage<'_>, facts: &mut Vec<Fact>) -> Bodies {
    if message.exclude_from_context == Some(true) {
        return vec![opaque("message/excluded")];
    }
    match &*message.role {
        "user" => {
            let parts = parts(&message.content);
            let origin = sender(message);
            if origin == Origin::User {
                facts.extend(first_prompt(&parts));
            }
            spoken(origin, parts, "message/user")
        }
        "assistant" if is_copy(message) => vec![opaque("message/delivered")],
        "assistant" => {
            facts.extend(message.model.as_deref().map(|model| Fact::Model(model.to_owned())));
            assistant(message)
        }
        "toolResult" => vec![(Origin::Agent, outcome_of(message))],
        "bashExecution" => ran(message),
        "custom" | "hookMessage" => {
            let details: WireDetails = lenient(message.details).unwrap_or_default();
            let carrier = details.runtime_context_carrier == Some(true);
            let origin = if carrier { Origin::Harness } else { Origin::Hook };
            spoken(origin, parts(&message.content), "message/custom")
        }
        "system" => vec![opaque("message/system")],
        role => vec![(Origin::Harness, Body::Opaque(Cow::Owned(format!("message/{role}"))))],
    }
}

/// Other sessions and the client itself write to the model in the user's place, and say so.
fn sender(message: &WireMessage<'_>) -> Origin {
    let provenance: Option<WireProvenance<'_>> = lenient(message.provenance);
    match provenance.as_ref().map(|provenance| &*provenance.kind) {
        Some("inter_session" | "internal_system") => Origin::Hook,
        _ => Origin::User,
    }
}

/// What was delivered to a chat is noted a second time as a message, which the model never sees.
fn is_copy(message: &WireMessage<'_>) -> bool {
    let own = message.provider.as_deref() == Some("openclaw");
    let model = message.model.as_deref();
    (own && matches!(model, Some("delivery-mirror" | "gateway-injected"))) || message.openclaw_delivery_mirror.is_some()
}

fn outcome_of(message: &WireMessage<'_>) -> Body {
    let details: WireDetails = lenient(message.details).unwrap_or_default();
    let parts = parts(&message.content);
    let ended = outcome::Ended::of(&details, message.is_error == Some(true), &parts);
    let call = CallId(message.tool_call_id.as_deref().unwrap_or_default().into());
    Body::Outcome(Box::new(Outcome { call, status: ended.status, exit_code: ended.exit_code, parts }))
}

fn parts(content: &WireContent<'_>) -> Vec<Part> {
    match content {
        WireContent::Text(text) if text.is_empty() => Vec::new(),
        WireContent::Text(text) => vec![Part::Text(text.to_string())],
        WireContent::Blocks(blocks) => blocks.iter().filter_map(part).collect(),
    }
}

fn part(block: &WireBlock<'_>) -> Option<Part> {
    if let Some(text) = &block.text {
        return Some(Part::Text(text.to_string()));
    }
    let data = block.data.as_ref()?;
    let media_type = block.mime_type.as_deref().unwrap_or("image/png").to_owned();
    Some(Part::Blob(Blob { media_type, name: None, place: Place::Inline((&**data).into()) }))
}

/// The client never sends a message again that ended in an error or was stopped.
fn assistant(message: &WireMessage<'_>) -> Bodies {
    let stopped = message.stop_reason.as_deref();
    if let Some("error" | "aborted") = stopped {
        let text = owned(message.error_message.as_ref());
        let kind = if stopped == Some("aborted") { FailureKind::Interrupted } else { failure_kind(&text) };
        let failure = Failure { kind, message: text, resets_at: None };
        return vec![(Origin::Harness, Body::Failure(Box::new(failure)))];
    }
    let said: Bodies = match &message.content {
        WireContent::Text(text) => vec![(Origin::Agent, reply(text))],
        WireContent::Blocks(blocks) => blocks.iter().map(|block| (Origin::Agent, said(block))).collect(),
    };
    if said.is_empty() { vec![opaque("message/assistant")] } else { said }
}

fn spoken(origin: Origin, parts: Vec<Part>, kind: &'static str) -> Bodies {
    if parts.is_empty() { vec![opaque(kind)] } else { vec![(origin, Body::Prompt(parts))] }
}

/// One block of the agent's message. Empty texts are not sent.
fn said(block: &WireBlock<'_>) -> Body {
    match &*block.kind {
        "text" => reply(block.text.as_deref().unwrap_or_default()),
        "thinking" => {
            let signature = block.thinking_signature.as_deref().unwrap_or_default();
            // Open models tell the field that they thought in, and no seal.
            let sealed = !signature.is_empty() && !signature.starts_with("reasoning");
            Body::Reasoning(Box::new(Reasoning { text: owned(block.thinking.as_ref()), sealed }))
        }
        "toolCall" => Body::Call(Box::new(Call {
            id: CallId(block.id.as_deref().unwrap_or_default().into()),
            tool: owned(block.name.as_ref()),
            input: block.arguments.map_or_else(Json::empty, Json::from_raw),
            form: CallForm::Function,
        })),
        kind => Body::Opaque(Cow::Owned(format!("block/{kind}"))),
    }
}

fn reply(text: &str) -> Body {
    if text.trim().is_empty() {
        return Body::Opaque(Cow::Borrowed("block/empty"));
    }
    Body::Reply(vec![Part::Text(text.to_owned())])
}

/// A command that the user ran: the client tells the model of it as of something the user said.
fn ran(message: &WireMessage<'_>) -> Bodies {
    let command = message.command.as_deref().unwrap_or_default();
    let output = message.output.as_deref().unwrap_or_default();
    let output = if output.is_empty() { "(no output)".to_owned() } else { format!("```\n{output}\n```") };
    let ending = match message.exit_code {
        _ if message.cancelled == Some(true) => "\n\n(command cancelled)".to_owned(),
        Some(code) if code != 0 => format!("\n\nCommand exited with code {code}"),
        _ => String::new(),
    };
    vec![(Origin::User, Body::Prompt(vec![Part::Text(format!("Ran `{command}`\n{output}{ending}"))]))]
}

/// What the model is told of a branch that was left; it stands in the midst of a context and replaces nothing.
fn branch_left(summary: Option<&Text<'_>>) -> Bodies {
    let Some(summary) = summary.filter(|summary| !summary.is_empty()) else { return vec![opaque("branch_summary")] };
    let text = format!("[summary of another branch of this conversation]\n{}", &**summary);
    vec![(Origin::Hook, Body::Prompt(vec![Part::Text(text)]))]
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

fn opaque(kind: &'static str) -> (Origin, Body) {
    (Origin::Harness, Body::Opaque(Cow::Borrowed(kind)))
}

fn note(facts: &mut Vec<Fact>, fact: Option<Fact>, note: Note) -> Bodies {
    facts.extend(fact);
    vec![(Origin::Harness, Body::Note(note))]
}

fn owned(text: Option<&Text<'_>>) -> String {
    text.map(|text| text.to_string()).unwrap_or_default()
}

pub(super) fn title(rank: TitleRank, text: Option<&str>) -> Option<Fact> {
    let text = one_line(text?, 200);
    (!text.is_empty()).then_some(Fact::Title(rank, text))
}

fn first_prompt(parts: &[Part]) -> Option<Fact> {
    let Some(Part::Text(text)) = parts.iter().find(|part| matches!(part, Part::Text(_))) else { return None };
    // Long prompts are named by their beginning, and that needs no look at the rest.
    title(TitleRank::FirstPrompt, Some(&text[..text.floor_char_boundary(2_000)]))
}

/// What kind of error a message ended in; the API's words begin with the status.
fn failure_kind(text: &str) -> FailureKind {
    let lower = text.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    match lower.get(..3).and_then(|status| status.parse::<u16>().ok()) {
        Some(429) => FailureKind::RateLimit,
        Some(401 | 403) => FailureKind::Authentication,
        Some(402) => FailureKind::Billing,
        Some(500..=599) => FailureKind::Server,
        _ if says(&["rate limit", "rate_limit", "usage limit", "too many requests"]) => FailureKind::RateLimit,
        _ if says(&["context length", "context window", "too long", "maximum context"]) => FailureKind::ContextTooLong,
        _ if says(&["overloaded", "server error", "server_error"]) => FailureKind::Server,
        _ => FailureKind::Other,
    }
}
