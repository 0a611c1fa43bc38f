//! One line of a session file, made into entries.

use std::borrow::Cow;

use carryover_core::json::Json;
use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Blob, Body, Call, CallForm, CallId, Compacted, Entry, EntryKey, Fact, Failure, FailureKind, Node, NodeId, Note,
    Origin, Outcome, Part, Place, Reasoning, Rejected, SessionId, Status, TitleRank,
};

use super::edits::{Edit, Edits};
use super::outcome;
use super::wire::{WireBlock, WireContent, WireMessage, WireRecord};
use crate::formats::line::Line;
use crate::formats::text::Text;

/// What a line says.
pub(super) struct Parsed {
    pub key: EntryKey,
    pub facts: Vec<Fact>,
    pub entries: Vec<Entry>,
    pub rejected: Option<&'static str>,
    /// Of a kind that we know.
    pub known: bool,
    /// The first record that a compaction keeps, in a file whose records have numbers only.
    pub first_kept: Option<u64>,
}

/// Why a line is none of the client's records; it skips such lines.
pub(super) const NO_RECORD: &str = "not a JSON object";

/// Reads a line. `None`: it ends without a line feed and is not whole.
pub(super) fn parse(line: Line<'_>, file: u16, edits: &Edits) -> Option<Parsed> {
    let length = u32::try_from(line.length).unwrap_or(u32::MAX);
    let key = EntryKey { file, offset: line.offset, part: 0, length };
    if line.is_too_long() {
        return Some(Parsed::rejected(key, "the record is longer than 64 MiB"));
    }
    match deserialize(line.bytes) {
        Ok(record) => Some(Reading { line: line.bytes, key, record: &record }.parsed(edits)),
        Err(_) if line.unterminated => None,
        Err(error) if error.is_data() => Some(Parsed::rejected(key, "a field has another type than it had")),
        Err(_) => Some(Parsed::rejected(key, NO_RECORD)),
    }
}

/// Parses a line as text where it is text: then serde need not check each string again.
fn deserialize(line: &[u8]) -> serde_json::Result<WireRecord<'_>> {
    match simdutf8::basic::from_utf8(line) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(line),
    }
}

impl Parsed {
    fn rejected(key: EntryKey, reason: &'static str) -> Self {
        let body = Body::Opaque(Cow::Borrowed("rejected"));
        let entry = Entry { key, at: None, origin: Origin::Harness, side: false, node: None, body };
        Self { key, facts: Vec::new(), entries: vec![entry], rejected: Some(reason), known: false, first_kept: None }
    }

    pub(super) fn rejection(&self) -> Option<Rejected> {
        self.rejected.map(|reason| Rejected { key: self.key, reason })
    }
}

type Bodies = Vec<(Origin, Body)>;

/// A record in the course of being read.
struct Reading<'r, 'a> {
    line: &'a [u8],
    key: EntryKey,
    record: &'r WireRecord<'a>,
}

impl Reading<'_, '_> {
    fn parsed(&self, edits: &Edits) -> Parsed {
        let mut facts = Vec::new();
        let edit = self.record.id.as_deref().and_then(|id| edits.of(id));
        let bodies = match edit {
            Some(Edit::Omitted) => vec![opaque("message/omitted")],
            Some(Edit::Replaced(content)) => self.replaced(content, &mut facts),
            None => self.bodies(&mut facts),
        };
        let known = bodies.iter().all(|(_, body)| !matches!(body, Body::Opaque(Cow::Owned(_))));
        let node = self.node();
        let at = self.record.timestamp.as_deref().and_then(Timestamp::parse);
        let mut entries = Vec::with_capacity(bodies.len());
        for (part, (origin, body)) in bodies.into_iter().enumerate() {
            let key = EntryKey { part: u16::try_from(part).unwrap_or(u16::MAX), ..self.key };
            entries.push(Entry { key, at, origin, side: false, node, body });
        }
        let first_kept = self.record.first_kept_entry_index;
        Parsed { key: self.key, facts, entries, rejected: None, known, first_kept }
    }

    /// Everything but the first line is part of the tree; the oldest files have no names in it.
    fn node(&self) -> Option<Node> {
        let id = self.record.id.as_deref().filter(|_| &*self.record.kind != "session")?;
        let parent = self.record.parent_id.as_deref().map(NodeId::of);
        Some(Node { id: NodeId::of(id), parent, group: None })
    }

    fn bodies(&self, facts: &mut Vec<Fact>) -> Bodies {
        let record = self.record;
        match &*record.kind {
            "session" => self.session(facts),
            "message" => match &record.message {
                Some(message) => self.message(message, &message.content, facts),
                None => vec![opaque("message")],
            },
            "custom_message" => self.injected(&record.content),
            "compaction" => self.compaction(),
            "branch_summary" => branch_left(record.summary.as_ref()),
            "session_info" => note(facts, title(TitleRank::Given, record.name.as_deref()), Note::Title),
            "model_change" => {
                let model = record.model_id.as_deref().map(|model| Fact::Model(model.to_owned()));
                note(facts, model, Note::Mode)
            }
            "thinking_level_change" => note(facts, None, Note::Mode),
            "usage" => note(facts, None, Note::Usage),
            "context_edit" => vec![opaque("context_edit")],
            "custom" => vec![opaque("custom")],
            "label" => vec![opaque("label")],
            kind => vec![unknown(kind.to_owned())],
        }
    }

    /// A record whose content was changed later on.
    fn replaced(&self, content: &Json, facts: &mut Vec<Fact>) -> Bodies {
        let Ok(content) = serde_json::from_str::<WireContent<'_>>(content.as_str()) else {
            return self.bodies(facts);
        };
        match (&*self.record.kind, &self.record.message) {
            ("message", Some(message)) => self.message(message, &content, facts),
            ("custom_message", _) => self.injected(&content),
            _ => self.bodies(facts),
        }
    }

    fn session(&self, facts: &mut Vec<Fact>) -> Bodies {
        let record = self.record;
        facts.extend(record.id.as_deref().map(|id| Fact::Session(SessionId(id.to_owned()))));
        facts.extend(record.cwd.as_deref().filter(|cwd| !cwd.is_empty()).map(|cwd| Fact::Project(cwd.into())));
        facts.extend(record.timestamp.as_deref().and_then(Timestamp::parse).map(Fact::StartedAt));
        vec![opaque("session")]
    }

    fn message(&self, message: &WireMessage<'_>, content: &WireContent<'_>, facts: &mut Vec<Fact>) -> Bodies {
        match &*message.role {
            "user" => {
                let parts = self.parts(content);
                facts.extend(first_prompt(&parts));
                spoken(Origin::User, parts, "message/user")
            }
            "assistant" => {
                facts.extend(message.model.as_deref().map(|model| Fact::Model(model.to_owned())));
                assistant(message, content)
            }
            "toolResult" => vec![(Origin::Agent, self.outcome(message, content))],
            "bashExecution" => ran(message),
            "custom" | "hookMessage" => self.injected(content),
            "system" => vec![opaque("message/system")],
            role => vec![unknown(format!("message/{role}"))],
        }
    }

    fn outcome(&self, message: &WireMessage<'_>, content: &WireContent<'_>) -> Body {
        let parts = self.parts(content);
        let failed = message.is_error == Some(true);
        let status = match failed {
            true if outcome::is_interruption(&parts) => Status::Interrupted,
            true => Status::Failed,
            false => Status::Done,
        };
        let exit_code = if failed { outcome::exit_code(&parts) } else { None };
        let call = CallId(message.tool_call_id.as_deref().unwrap_or_default().into());
        Body::Outcome(Box::new(Outcome { call, status, exit_code, parts }))
    }

    /// What an extension of the user's told the model.
    fn injected(&self, content: &WireContent<'_>) -> Bodies {
        spoken(Origin::Hook, self.parts(content), "custom_message")
    }

    /// What stands between the first record that is kept and the compaction stays, behind the summary.
    fn compaction(&self) -> Bodies {
        let record = self.record;
        let head = record.first_kept_entry_id.as_deref().filter(|head| Some(*head) != record.id.as_deref());
        let kept = head.zip(record.parent_id.as_deref()).map(|(head, tail)| (NodeId::of(head), NodeId::of(tail)));
        let barrier = Compacted { kept, anchor: None, keeps_prompts: false };
        vec![
            (Origin::Harness, Body::Compacted(Box::new(barrier))),
            (Origin::Agent, Body::Summary(text(record.summary.as_ref()))),
        ]
    }

    fn parts(&self, content: &WireContent<'_>) -> Vec<Part> {
        match content {
            WireContent::Text(text) if text.is_empty() => Vec::new(),
            WireContent::Text(text) => vec![Part::Text(text.to_string())],
            WireContent::Blocks(blocks) => blocks.iter().filter_map(|block| self.part(block)).collect(),
        }
    }

    fn part(&self, block: &WireBlock<'_>) -> Option<Part> {
        if let Some(text) = &block.text {
            return Some(Part::Text(text.to_string()));
        }
        let data = block.data.as_ref()?;
        let media_type = block.mime_type.as_deref().unwrap_or("image/png").to_owned();
        Some(Part::Blob(Blob { media_type, name: None, place: self.place(data) }))
    }

    /// Base64 stands in the line as it is, so its place is enough.
    fn place(&self, data: &Text<'_>) -> Place {
        match data.place_in(self.line) {
            Some(start) => Place::Encoded {
                file: self.key.file,
                offset: self.key.offset + start as u64,
                length: data.len() as u64,
            },
            None => Place::Inline((&**data).into()),
        }
    }
}

/// The client never sends a message again that ended in an error or was stopped.
fn assistant(message: &WireMessage<'_>, content: &WireContent<'_>) -> Bodies {
    let stopped = message.stop_reason.as_deref();
    if let Some("error" | "aborted") = stopped {
        let text = owned(message.error_message.as_ref());
        let kind = if stopped == Some("aborted") { FailureKind::Interrupted } else { failure_kind(&text) };
        let failure = Failure { kind, message: text, resets_at: None };
        return vec![(Origin::Harness, Body::Failure(Box::new(failure)))];
    }
    let said: Bodies = match content {
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
        "thinking" => Body::Reasoning(Box::new(Reasoning {
            text: owned(block.thinking.as_ref()),
            sealed: block.thinking_signature.as_deref().is_some_and(|signature| !signature.is_empty()),
        })),
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

/// A command that the user ran with `!`: the client tells the model of it as of something the user said, unless it was
/// run with `!!`.
fn ran(message: &WireMessage<'_>) -> Bodies {
    if message.exclude_from_context == Some(true) {
        return vec![opaque("message/bashExecution")];
    }
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

fn opaque(kind: &'static str) -> (Origin, Body) {
    (Origin::Harness, Body::Opaque(Cow::Borrowed(kind)))
}

/// Kinds that we do not know are told by an owned name.
fn unknown(kind: String) -> (Origin, Body) {
    (Origin::Harness, Body::Opaque(Cow::Owned(kind)))
}

fn note(facts: &mut Vec<Fact>, fact: Option<Fact>, note: Note) -> Bodies {
    facts.extend(fact);
    vec![(Origin::Harness, Body::Note(note))]
}

fn owned(text: Option<&Text<'_>>) -> String {
    text.map(|text| text.to_string()).unwrap_or_default()
}

fn text(text: Option<&Text<'_>>) -> Vec<Part> {
    text.map(|text| vec![Part::Text(text.to_string())]).unwrap_or_default()
}

fn title(rank: TitleRank, text: Option<&str>) -> Option<Fact> {
    let text = one_line(text?, 200);
    (!text.is_empty()).then_some(Fact::Title(rank, text))
}

fn first_prompt(parts: &[Part]) -> Option<Fact> {
    let Some(Part::Text(text)) = parts.iter().find(|part| matches!(part, Part::Text(_))) else { return None };
    // Long prompts are named by their beginning, and that needs no look at the rest.
    title(TitleRank::FirstPrompt, Some(&text[..text.floor_char_boundary(2_000)]))
}

/// What kind of error a message ended in; the client keeps the API's words only, which begin with the status.
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
