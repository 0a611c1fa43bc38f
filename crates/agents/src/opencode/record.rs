//! From a message to entries.

use std::sync::LazyLock;

use carryover_core::json::Json;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Blob, BlobLocation, Body, Call, CallForm, CallId, Entry, EntryKey, Node, NodeId, Note, Opaque, Origin, Outcome,
    Part, Reasoning, RejectedRecord, Status, Usage,
};
use memchr::memmem::Finder;
use serde_json::value::RawValue;

use super::message_state::{MessageState, Reverted};
use super::part_buffer::{self, PartParser};
use super::stored_session::Message;
use super::text_origin::{self, READ_TOOL_CALLED, TASK_EXECUTED, TextOrigin};
use super::wire::{WireEnding, WireInfo, WireMarks, WireNoted, WirePart, WireState, parse_lenient};
use super::{commands, failure, usage};
use crate::formats::ids;
use crate::formats::tree::words::{SkippedText, Words};

/// Stands for an outcome that the client took out of the context.
const CLEARED_NOTICE: &str = "[Old tool result content cleared]";

static EXIT_FINDER: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("\"exit\""));
static ESCAPE_FINDER: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(r"\u"));

/// The entries of a message, and what of it could not be read.
#[derive(Debug, Default)]
pub(super) struct ParsedMessage {
    pub entries: Vec<Entry>,
    pub rejected: Vec<RejectedRecord>,
    /// The model that said it.
    pub model: Option<String>,
}

/// The entries of a message.
pub(super) fn parse_message<'m>(
    message: Message<'m>,
    fate: &MessageState,
    parser: &mut PartParser<'m>,
) -> ParsedMessage {
    build_entries(message, EntryBuilder::new(message, fate), parser)
}

/// The same, where nobody will see what the agent said: it is told by its kind, and its words are passed over.
pub(super) fn skim_message<'m>(
    message: Message<'m>,
    fate: &MessageState,
    parser: &mut PartParser<'m>,
) -> ParsedMessage {
    build_entries(message, EntryBuilder { is_past: true, ..EntryBuilder::new(message, fate) }, parser)
}

fn build_entries<'m>(message: Message<'m>, mut page: EntryBuilder<'_>, parser: &mut PartParser<'m>) -> ParsedMessage {
    match message.head.record {
        Err(reason) => page.push_rejected(reason),
        Ok(text) => match serde_json::from_str::<WireInfo<'_>>(text) {
            Ok(info) => page.add_message(message, &info, parser),
            Err(error) => page.push_rejected(reject_reason(&error)),
        },
    }
    if page.parsed.entries.is_empty() {
        page.push_known("message/empty");
    }
    page.parsed
}

fn reject_reason(error: &serde_json::Error) -> &'static str {
    if error.is_data() { "a field has another type than it had" } else { "not a JSON object" }
}

/// Reads a part, or as much of it as is needed.
trait PartReader<'m, W>: FnMut(part_buffer::RawPart<'m>, &'m str) -> serde_json::Result<WirePart<'m, W>> {}

impl<'m, W, F: FnMut(part_buffer::RawPart<'m>, &'m str) -> serde_json::Result<WirePart<'m, W>>> PartReader<'m, W>
    for F
{
}

/// A part without its words. What is wrong with one is said as if it had been read with them.
fn skim_part(record: &str) -> serde_json::Result<WirePart<'_, SkippedText>> {
    serde_json::from_str(record).map_err(|error| serde_json::from_str::<WirePart<'_>>(record).err().unwrap_or(error))
}

/// The entries of one message in the making.
struct EntryBuilder<'a> {
    fate: &'a MessageState,
    key: EntryKey,
    node: Node,
    at: Option<Timestamp>,
    model: Option<NodeId>,
    /// The agent's words and calls are told by their kind only.
    is_past: bool,
    parsed: ParsedMessage,
    /// The client would send what comes now.
    live: bool,
    /// The outcomes of this step: they come after all that the agent said in it.
    outcomes: Vec<(Option<Timestamp>, Body)>,
}

impl<'a> EntryBuilder<'a> {
    fn new(message: Message<'_>, fate: &'a MessageState) -> Self {
        let id = message.head.id;
        let key = EntryKey { file: 0, offset: ids::digest_name(id), part: 0, length: message.byte_len() };
        let node = Node { id: NodeId::from_name(id), parent: fate.before, group: None };
        let parsed =
            ParsedMessage { entries: Vec::with_capacity(message.parts().len() + 1), ..ParsedMessage::default() };
        Self { fate, key, node, at: None, model: None, is_past: false, parsed, live: true, outcomes: Vec::new() }
    }

    fn add_message<'m>(&mut self, message: Message<'m>, info: &WireInfo<'_>, parser: &mut PartParser<'m>) {
        self.at = info.time.created.map(Timestamp::from_millis);
        self.model = info.model_id.as_deref().map(NodeId::from_name);
        self.parsed.model = info.model_id.as_deref().map(str::to_owned);
        if let Some(barrier) = self.fate.barrier {
            self.push_body(Origin::Harness, Body::Compacted(Box::new(barrier)));
        }
        match &*info.role {
            "user" => self.add_user(message, parser),
            "assistant" if self.is_past => self.add_assistant(message, info, |_, record| skim_part(record)),
            "assistant" => self.add_assistant(message, info, |part, _| parser.parse(part)),
            other => self.push_body(Origin::Harness, Body::unknown(format!("message {other}"))),
        }
    }

    /// Adds the user's words, then the text that the client brought along with them.
    fn add_user<'m>(&mut self, message: Message<'m>, parser: &mut PartParser<'m>) {
        let (mut said, mut brought, mut summary) = (Vec::new(), Vec::new(), Vec::new());
        let mut others = Vec::new();
        for named in message.parts() {
            let Some(part) = self.parse_part(named, |part, _| parser.parse(part)) else { continue };
            let words = part.text.as_deref().filter(|text| !text.is_empty());
            match (&*part.kind, words) {
                ("text", _) if part.ignored == Some(true) => others.push(Body::known("text/ignored")),
                ("text", Some(text)) => {
                    let marks: WireMarks = parse_lenient(part.metadata).unwrap_or_default();
                    match text_origin::sort_text(text, part.synthetic == Some(true), &marks) {
                        TextOrigin::User(words) => said.push(Part::Text(words.into_owned())),
                        TextOrigin::Command(typed) => {
                            let (before, after) = commands::split_around(text, typed);
                            brought.push(Part::Text([before, after].concat()));
                            said.extend((!typed.is_empty()).then(|| Part::Text(typed.to_owned())));
                        }
                        TextOrigin::Injected(words) => brought.push(Part::Text(words.to_owned())),
                        TextOrigin::Summary(words) => summary.push(Part::Text(words.to_owned())),
                        TextOrigin::Harness => {
                            // Telling that an image was read says nothing without the image's text.
                            let is_call =
                                |part: &Part| matches!(part, Part::Text(text) if text.starts_with(READ_TOOL_CALLED));
                            if text.ends_with(" read successfully") && brought.last().is_some_and(is_call) {
                                brought.pop();
                            }
                            others.push(Body::known("text/harness"));
                        }
                    }
                }
                ("text", None) if part.text.is_none() => others.push(Body::Opaque(Opaque::Wordless)),
                ("text", None) => others.push(Body::known("text/empty")),
                ("file", _) => match read_blob(&part) {
                    Some(blob) => said.push(Part::Blob(blob)),
                    // The client puts the text of such files beside them.
                    None => others.push(Body::known("file/told")),
                },
                ("subtask", _) => {
                    brought.push(Part::Text(TASK_EXECUTED.to_owned()));
                    others.push(Body::known("subtask/asked"));
                }
                ("compaction", _) => others.push(Body::known("compaction/asked")),
                (kind, _) => others.push(kind_body(kind)),
            }
            self.live = true;
        }
        for (origin, body, parts) in [
            (Origin::User, Body::Prompt as fn(Vec<Part>) -> Body, said),
            (Origin::Hook, Body::Prompt, brought),
            (Origin::Harness, Body::Summary, summary),
        ] {
            if !parts.is_empty() {
                let origin = if matches!(body(Vec::new()), Body::Summary(_)) { Origin::Agent } else { origin };
                self.push_body(origin, body(parts));
            }
        }
        for other in others {
            self.push_body(Origin::Harness, other);
        }
    }

    fn add_assistant<'m, W: Words<'m>>(
        &mut self,
        message: Message<'m>,
        info: &WireInfo<'_>,
        mut parse: impl PartReader<'m, W>,
    ) {
        let failure = info.error.map(|raw| failure::from_error(raw, info.time));
        let parts: Vec<Option<WirePart<'_, W>>> =
            message.parts().map(|named| self.parse_part(named, &mut parse)).collect();
        let is_spoken = |part: &WirePart<'_, W>| !matches!(&*part.kind, "step-start" | "reasoning");
        // The client sends nothing of a message that failed, unless the user stopped it after it had said something.
        let stopped = failure.as_ref().is_some_and(failure::is_interrupted) && parts.iter().flatten().any(is_spoken);
        let sent = failure.is_none() || stopped;
        let mut taken_back = false;
        for (part, named) in parts.into_iter().zip(message.parts()) {
            taken_back |= matches!(&self.fate.reverted, Reverted::From(id) if *id == named.id);
            self.live = sent && !taken_back;
            if let Some(part) = part {
                self.add_part(part);
            }
        }
        self.end_step();
        self.live = true;
        if let Some(failure) = failure {
            self.push_body(Origin::Harness, Body::Failure(Box::new(failure)));
        }
    }

    fn add_part<'m, W: Words<'m>>(&mut self, mut part: WirePart<'m, W>) {
        let at = part.time.start.map(Timestamp::from_millis);
        let told = part.text.take();
        let is_empty = told.as_ref().is_none_or(W::is_empty);
        // Taken and not copied: it was unescaped into a string of its own.
        let text = || told.map(W::into_string).unwrap_or_default();
        match &*part.kind {
            "text" if is_empty => self.push_known("text/empty"),
            "text" if self.fate.is_summary => {
                self.push_body_at(at, Origin::Agent, Body::Summary(vec![Part::Text(text())]));
            }
            "text" => self.push_body_at(at, Origin::Agent, Body::Reply(vec![Part::Text(text())])),
            "reasoning" => {
                let reasoning = Reasoning { text: text(), sealed: part.metadata.is_some() };
                self.push_body_at(at, Origin::Agent, Body::Reasoning(Box::new(reasoning)));
            }
            "tool" => self.add_call(part),
            "step-start" => {
                self.end_step();
                self.push_known("step-start");
            }
            "step-finish" => {
                let usage = usage::read_usage(part.tokens).unwrap_or_default();
                self.push_body(Origin::Harness, Usage { model: self.model, ..usage }.into_body());
            }
            "patch" | "snapshot" => self.push_body(Origin::Harness, Body::Note(Note::Snapshot)),
            "file" => match read_blob(&part) {
                Some(blob) => self.push_body(Origin::Agent, Body::Reply(vec![Part::Blob(blob)])),
                None => self.push_known("file/told"),
            },
            kind => self.push_body(Origin::Harness, kind_body(kind)),
        }
    }

    fn add_call<'m, W: Words<'m>>(&mut self, part: WirePart<'m, W>) {
        let (Some(tool), Some(id), Some(state)) = (part.tool, part.call, part.state) else {
            return self.push_rejected("a call without a name or a state");
        };
        let input = state.input.map_or_else(Json::empty_object, W::read_json);
        let id = CallId((*id).into());
        let end = state.time.end;
        let call = Call { id: id.clone(), tool: tool.to_string(), input, form: CallForm::Function };
        self.push_body_at(state.time.start.map(Timestamp::from_millis), Origin::Agent, Body::Call(Box::new(call)));
        if let Some(outcome) = read_outcome(id, state) {
            let at = end.map(Timestamp::from_millis);
            let body = self.sendable_body(Body::Outcome(Box::new(outcome)));
            self.outcomes.push((at, body));
        }
    }

    fn end_step(&mut self) {
        self.live = true;
        for (at, body) in std::mem::take(&mut self.outcomes) {
            self.push_body_at(at, Origin::Agent, body);
        }
    }

    /// Reads a part; a bad one costs itself.
    fn parse_part<'m, W>(
        &mut self,
        part: part_buffer::RawPart<'m>,
        mut parse: impl PartReader<'m, W>,
    ) -> Option<WirePart<'m, W>> {
        let read = part.record.and_then(|record| parse(part, record).map_err(|error| reject_reason(&error)));
        read.map_err(|reason| self.push_rejected(reason)).ok()
    }

    fn push_body(&mut self, origin: Origin, body: Body) {
        self.push_body_at(None, origin, body);
    }

    fn push_body_at(&mut self, at: Option<Timestamp>, origin: Origin, body: Body) {
        let part = u16::try_from(self.parsed.entries.len()).unwrap_or(u16::MAX);
        let key = EntryKey { part, ..self.key };
        let body = self.sendable_body(body);
        let entry = Entry { key, at: at.or(self.at), origin, side: false, node: Some(self.node), body };
        self.parsed.entries.push(entry);
    }

    /// A body that the client would not send is reduced to its kind.
    fn sendable_body(&self, body: Body) -> Body {
        let heavy = matches!(
            body,
            Body::Prompt(_) | Body::Reply(_) | Body::Reasoning(_) | Body::Call(_) | Body::Outcome(_) | Body::Summary(_)
        );
        if heavy && self.fate.reverted == Reverted::All {
            return Body::known(format!("reverted/{}", body.kind()));
        }
        if heavy && !self.live {
            return Body::known(format!("unsent/{}", body.kind()));
        }
        // Prompts name the session; whoever takes them reduces them.
        if heavy && self.is_past && !matches!(body, Body::Prompt(_)) {
            return Body::reduced(body.kind());
        }
        body
    }

    fn push_known(&mut self, kind: &'static str) {
        self.push_body(Origin::Harness, Body::known(kind));
    }

    fn push_rejected(&mut self, reason: &'static str) {
        let part = u16::try_from(self.parsed.entries.len()).unwrap_or(u16::MAX);
        self.push_body(Origin::Harness, Body::Opaque(Opaque::Rejected));
        self.parsed.rejected.push(RejectedRecord { key: EntryKey { part, ..self.key }, reason });
    }
}

/// The kinds of parts that say nothing to a model; an unknown one is told by its first word only.
fn kind_body(kind: &str) -> Body {
    match kind {
        "agent" => Body::known("agent/named"),
        "subtask" => Body::known("subtask/asked"),
        "retry" => Body::known("retry/tried"),
        _ => Body::unknown("unknown"),
    }
}

/// The outcome of a call; none yet where it still runs.
fn read_outcome<'m, W: Words<'m>>(call: CallId, state: WireState<'m, W>) -> Option<Outcome> {
    let noted = match &*state.status {
        "completed" if W::ARE_KEPT => read_ending(state.metadata),
        "error" if W::ARE_KEPT => parse_lenient(state.metadata).unwrap_or_default(),
        _ => WireEnding::default(),
    };
    let text = |text: Option<W>| vec![Part::Text(text.map(W::into_string).unwrap_or_default())];
    match &*state.status {
        "completed" if state.time.compacted.is_some() => {
            let status = if noted.exit.unwrap_or(0) == 0 { Status::Done } else { Status::Failed };
            Some(Outcome { call, status, exit_code: noted.exit, parts: vec![Part::Text(CLEARED_NOTICE.to_owned())] })
        }
        "completed" => {
            let mut parts = text(state.output);
            let status = if noted.exit.unwrap_or(0) == 0 { cut_short_status(&parts) } else { Status::Failed };
            parts.extend(state.attachments.iter().filter_map(read_blob).map(Part::Blob));
            Some(Outcome { call, status, exit_code: noted.exit, parts })
        }
        "error" if noted.interrupted == Some(true) => {
            let told = parse_lenient::<WireNoted>(state.metadata).and_then(|noted| noted.output);
            let parts = told.map_or_else(|| text(state.error), |told| vec![Part::Text(told)]);
            Some(Outcome { call, status: Status::Interrupted, exit_code: noted.exit, parts })
        }
        "error" => Some(Outcome { call, status: Status::Failed, exit_code: noted.exit, parts: text(state.error) }),
        _ => None,
    }
}

/// How a command ended that gave back no code: the client tells behind its output if it was stopped, and by whom.
fn cut_short_status(parts: &[Part]) -> Status {
    let [Part::Text(text)] = parts else { return Status::Done };
    let told = text.strip_suffix("\n</shell_metadata>").and_then(|text| text.rsplit_once("\n<shell_metadata>\n"));
    match told {
        Some((_, told)) if told.contains("User aborted the command") => Status::Interrupted,
        Some((_, told)) if told.contains("terminated command after exceeding timeout") => Status::Failed,
        _ => Status::Done,
    }
}

/// How a call ended that came to its end. What is noted of it may be as long as the outcome, and tells nothing where this
/// word is not in it, which might be spelt by the numbers of its letters.
fn read_ending(noted: Option<&RawValue>) -> WireEnding {
    let tells = |noted: &&RawValue| {
        let noted = noted.get().as_bytes();
        EXIT_FINDER.find(noted).or_else(|| ESCAPE_FINDER.find(noted)).is_some()
    };
    parse_lenient(noted.filter(tells)).unwrap_or_default()
}

/// An image or a file that the model sees as such.
fn read_blob<W>(part: &WirePart<'_, W>) -> Option<Blob> {
    let (mime, url) = (part.mime.as_deref()?, part.url.as_deref()?);
    if matches!(mime, "text/plain" | "application/x-directory") {
        return None;
    }
    let place = match url.strip_prefix("data:").and_then(|data| data.split_once(";base64,")) {
        Some((_, data)) => BlobLocation::Inline(data.into()),
        None => BlobLocation::Remote(url.to_owned()),
    };
    Some(Blob { media_type: mime.to_owned(), name: part.filename.as_deref().map(str::to_owned), location: place })
}
