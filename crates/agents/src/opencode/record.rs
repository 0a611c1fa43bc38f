//! From a message to entries.

use std::borrow::Cow;
use std::sync::LazyLock;

use carryover_core::json::Json;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Blob, Body, Call, CallForm, CallId, Entry, EntryKey, Node, NodeId, Note, Origin, Outcome, Part, Place, Reasoning,
    Rejected, Status, Usage, WORDLESS,
};
use memchr::memmem::Finder;
use serde_json::value::RawValue;

use super::pile::{self, Parser};
use super::speech::{self, CALLED_READ, EXECUTED, Said};
use super::stored_session::Message;
use super::thread::{Fate, Reverted};
use super::wire::{WireEnding, WireInfo, WireMarks, WireNoted, WirePart, WireState, lenient};
use super::{commands, failure, usage};
use crate::formats::ids;
use crate::formats::tree::words::{PassedOver, Words};

/// What stands for an outcome that the client took out of the context.
const CLEARED: &str = "[Old tool result content cleared]";

static EXIT: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("\"exit\""));
static NUMBERED: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(r"\u"));

/// What a message makes.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub entries: Vec<Entry>,
    pub rejected: Vec<Rejected>,
    /// The model that said it.
    pub model: Option<String>,
}

/// The entries of a message.
pub(super) fn parse<'m>(message: Message<'m>, fate: &Fate, parser: &mut Parser<'m>) -> Parsed {
    write(message, Page::new(message, fate), parser)
}

/// The same, where nobody will see what the agent said: it is told by its kind, and its words are passed over.
pub(super) fn pass_over<'m>(message: Message<'m>, fate: &Fate, parser: &mut Parser<'m>) -> Parsed {
    write(message, Page { is_past: true, ..Page::new(message, fate) }, parser)
}

fn write<'m>(message: Message<'m>, mut page: Page<'_>, parser: &mut Parser<'m>) -> Parsed {
    match message.head.record {
        Err(reason) => page.reject(reason),
        Ok(text) => match serde_json::from_str::<WireInfo<'_>>(text) {
            Ok(info) => page.message(message, &info, parser),
            Err(error) => page.reject(reason(&error)),
        },
    }
    if page.parsed.entries.is_empty() {
        page.opaque("message/empty");
    }
    page.parsed
}

fn reason(error: &serde_json::Error) -> &'static str {
    if error.is_data() { "a field has another type than it had" } else { "not a JSON object" }
}

/// Reads a part, or as much of it as is needed.
trait Parse<'m, W>: FnMut(pile::Part<'m>, &'m str) -> serde_json::Result<WirePart<'m, W>> {}

impl<'m, W, F: FnMut(pile::Part<'m>, &'m str) -> serde_json::Result<WirePart<'m, W>>> Parse<'m, W> for F {}

/// A part without its words. What is wrong with one is said as if it had been read with them.
fn passed_over(record: &str) -> serde_json::Result<WirePart<'_, PassedOver>> {
    serde_json::from_str(record).map_err(|error| serde_json::from_str::<WirePart<'_>>(record).err().unwrap_or(error))
}

/// The entries of one message in the making.
struct Page<'a> {
    fate: &'a Fate,
    key: EntryKey,
    node: Node,
    at: Option<Timestamp>,
    model: Option<NodeId>,
    /// What the agent says and does is told by its kind only.
    is_past: bool,
    parsed: Parsed,
    /// The client would send what comes now.
    live: bool,
    /// The outcomes of this step: they come after all that the agent said in it.
    outcomes: Vec<(Option<Timestamp>, Body)>,
}

impl<'a> Page<'a> {
    fn new(message: Message<'_>, fate: &'a Fate) -> Self {
        let id = message.head.id;
        let key = EntryKey { file: 0, offset: ids::digest(id), part: 0, length: message.length() };
        let node = Node { id: NodeId::of(id), parent: fate.before, group: None };
        let parsed = Parsed { entries: Vec::with_capacity(message.parts().len() + 1), ..Parsed::default() };
        Self { fate, key, node, at: None, model: None, is_past: false, parsed, live: true, outcomes: Vec::new() }
    }

    fn message<'m>(&mut self, message: Message<'m>, info: &WireInfo<'_>, parser: &mut Parser<'m>) {
        self.at = info.time.created.map(Timestamp::from_millis);
        self.model = info.model_id.as_deref().map(NodeId::of);
        self.parsed.model = info.model_id.as_deref().map(str::to_owned);
        if let Some(barrier) = self.fate.barrier {
            self.put(Origin::Harness, Body::Compacted(Box::new(barrier)));
        }
        match &*info.role {
            "user" => self.user(message, parser),
            "assistant" if self.is_past => self.assistant(message, info, |_, record| passed_over(record)),
            "assistant" => self.assistant(message, info, |part, _| parser.parse(part)),
            other => self.opaque(format!("message {other}")),
        }
    }

    /// What the user said, then what the client brought along with it.
    fn user<'m>(&mut self, message: Message<'m>, parser: &mut Parser<'m>) {
        let (mut said, mut brought, mut summary) = (Vec::new(), Vec::new(), Vec::new());
        let mut others = Vec::new();
        for named in message.parts() {
            let Some(part) = self.part(named, |part, _| parser.parse(part)) else { continue };
            let words = part.text.as_deref().filter(|text| !text.is_empty());
            match (&*part.kind, words) {
                ("text", _) if part.ignored == Some(true) => others.push("text/ignored"),
                ("text", Some(text)) => {
                    let marks: WireMarks = lenient(part.metadata).unwrap_or_default();
                    match speech::sort(text, part.synthetic == Some(true), &marks) {
                        Said::User(words) => said.push(Part::Text(words.into_owned())),
                        Said::Command(typed) => {
                            let (before, after) = commands::around(text, typed);
                            brought.push(Part::Text([before, after].concat()));
                            said.extend((!typed.is_empty()).then(|| Part::Text(typed.to_owned())));
                        }
                        Said::Brought(words) => brought.push(Part::Text(words.to_owned())),
                        Said::Summary(words) => summary.push(Part::Text(words.to_owned())),
                        Said::Harness => {
                            // Telling that an image was read says nothing without the image's text.
                            let is_call =
                                |part: &Part| matches!(part, Part::Text(text) if text.starts_with(CALLED_READ));
                            if text.ends_with(" read successfully") && brought.last().is_some_and(is_call) {
                                brought.pop();
                            }
                            others.push("text/harness");
                        }
                    }
                }
                ("text", None) if part.text.is_none() => others.push(WORDLESS),
                ("text", None) => others.push("text/empty"),
                ("file", _) => match blob(&part) {
                    Some(blob) => said.push(Part::Blob(blob)),
                    // The client puts the text of such files beside them.
                    None => others.push("file/told"),
                },
                ("subtask", _) => {
                    brought.push(Part::Text(EXECUTED.to_owned()));
                    others.push("subtask/asked");
                }
                ("compaction", _) => others.push("compaction/asked"),
                (kind, _) => others.push(known(kind)),
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
                self.put(origin, body(parts));
            }
        }
        for other in others {
            self.opaque(other);
        }
    }

    fn assistant<'m, W: Words<'m>>(&mut self, message: Message<'m>, info: &WireInfo<'_>, mut parse: impl Parse<'m, W>) {
        let failure = info.error.map(|raw| failure::of(raw, info.time));
        let parts: Vec<Option<WirePart<'_, W>>> = message.parts().map(|named| self.part(named, &mut parse)).collect();
        let is_spoken = |part: &WirePart<'_, W>| !matches!(&*part.kind, "step-start" | "reasoning");
        // The client sends nothing of a message that failed, unless the user stopped it after it had said something.
        let stopped = failure.as_ref().is_some_and(failure::is_stop) && parts.iter().flatten().any(is_spoken);
        let sent = failure.is_none() || stopped;
        let mut taken_back = false;
        for (part, named) in parts.into_iter().zip(message.parts()) {
            taken_back |= matches!(&self.fate.reverted, Reverted::From(id) if *id == named.id);
            self.live = sent && !taken_back;
            if let Some(part) = part {
                self.said(part);
            }
        }
        self.end_step();
        self.live = true;
        if let Some(failure) = failure {
            self.put(Origin::Harness, Body::Failure(Box::new(failure)));
        }
    }

    fn said<'m, W: Words<'m>>(&mut self, mut part: WirePart<'m, W>) {
        let at = part.time.start.map(Timestamp::from_millis);
        let told = part.text.take();
        let is_empty = told.as_ref().is_none_or(W::is_empty);
        // Taken and not copied: it was unescaped into a string of its own.
        let text = || told.map(W::into_string).unwrap_or_default();
        match &*part.kind {
            "text" if is_empty => self.opaque("text/empty"),
            "text" if self.fate.is_summary => self.put_at(at, Origin::Agent, Body::Summary(vec![Part::Text(text())])),
            "text" => self.put_at(at, Origin::Agent, Body::Reply(vec![Part::Text(text())])),
            "reasoning" => {
                let reasoning = Reasoning { text: text(), sealed: part.metadata.is_some() };
                self.put_at(at, Origin::Agent, Body::Reasoning(Box::new(reasoning)));
            }
            "tool" => self.tool(part),
            "step-start" => {
                self.end_step();
                self.opaque("step-start");
            }
            "step-finish" => {
                let usage = usage::of(part.tokens).unwrap_or_default();
                self.put(Origin::Harness, Usage { model: self.model, ..usage }.into_body());
            }
            "patch" | "snapshot" => self.put(Origin::Harness, Body::Note(Note::Snapshot)),
            "file" => match blob(&part) {
                Some(blob) => self.put(Origin::Agent, Body::Reply(vec![Part::Blob(blob)])),
                None => self.opaque("file/told"),
            },
            kind => self.opaque(known(kind)),
        }
    }

    fn tool<'m, W: Words<'m>>(&mut self, part: WirePart<'m, W>) {
        let (Some(tool), Some(id), Some(state)) = (part.tool, part.call, part.state) else {
            return self.reject("a call without a name or a state");
        };
        let input = state.input.map_or_else(Json::empty, W::json);
        let id = CallId((*id).into());
        let end = state.time.end;
        let call = Call { id: id.clone(), tool: tool.to_string(), input, form: CallForm::Function };
        self.put_at(state.time.start.map(Timestamp::from_millis), Origin::Agent, Body::Call(Box::new(call)));
        if let Some(outcome) = outcome(id, state) {
            let at = end.map(Timestamp::from_millis);
            let body = self.body(Body::Outcome(Box::new(outcome)));
            self.outcomes.push((at, body));
        }
    }

    fn end_step(&mut self) {
        self.live = true;
        for (at, body) in std::mem::take(&mut self.outcomes) {
            self.put_at(at, Origin::Agent, body);
        }
    }

    /// Reads a part; a bad one costs itself.
    fn part<'m, W>(&mut self, part: pile::Part<'m>, mut parse: impl Parse<'m, W>) -> Option<WirePart<'m, W>> {
        let read = part.record.and_then(|record| parse(part, record).map_err(|error| reason(&error)));
        read.map_err(|reason| self.reject(reason)).ok()
    }

    fn put(&mut self, origin: Origin, body: Body) {
        self.put_at(None, origin, body);
    }

    fn put_at(&mut self, at: Option<Timestamp>, origin: Origin, body: Body) {
        let part = u16::try_from(self.parsed.entries.len()).unwrap_or(u16::MAX);
        let key = EntryKey { part, ..self.key };
        let body = self.body(body);
        let entry = Entry { key, at: at.or(self.at), origin, side: false, node: Some(self.node), body };
        self.parsed.entries.push(entry);
    }

    /// What the client would not send is kept where it is.
    fn body(&self, body: Body) -> Body {
        let heavy = matches!(
            body,
            Body::Prompt(_) | Body::Reply(_) | Body::Reasoning(_) | Body::Call(_) | Body::Outcome(_) | Body::Summary(_)
        );
        if heavy && self.fate.reverted == Reverted::All {
            return Body::Opaque(Cow::Owned(format!("reverted/{}", body.kind())));
        }
        if heavy && !self.live {
            return Body::Opaque(Cow::Owned(format!("unsent/{}", body.kind())));
        }
        // What was asked names the session, and is for who takes it to reduce.
        if heavy && self.is_past && !matches!(body, Body::Prompt(_)) {
            return Body::Opaque(Cow::Borrowed(body.kind()));
        }
        body
    }

    fn opaque(&mut self, kind: impl Into<Cow<'static, str>>) {
        self.put(Origin::Harness, Body::Opaque(kind.into()));
    }

    fn reject(&mut self, reason: &'static str) {
        let part = u16::try_from(self.parsed.entries.len()).unwrap_or(u16::MAX);
        self.opaque("rejected");
        self.parsed.rejected.push(Rejected { key: EntryKey { part, ..self.key }, reason });
    }
}

/// The kinds of parts that say nothing to a model; an unknown one is told by its first word only.
fn known(kind: &str) -> &'static str {
    match kind {
        "agent" => "agent/named",
        "subtask" => "subtask/asked",
        "retry" => "retry/tried",
        _ => "unknown",
    }
}

/// What came back from a call; nothing yet where it still runs.
fn outcome<'m, W: Words<'m>>(call: CallId, state: WireState<'m, W>) -> Option<Outcome> {
    let noted = match &*state.status {
        "completed" if W::ARE_KNOWN => exit_code(state.metadata),
        "error" if W::ARE_KNOWN => lenient(state.metadata).unwrap_or_default(),
        _ => WireEnding::default(),
    };
    let text = |text: Option<W>| vec![Part::Text(text.map(W::into_string).unwrap_or_default())];
    match &*state.status {
        "completed" if state.time.compacted.is_some() => {
            let status = if noted.exit.unwrap_or(0) == 0 { Status::Done } else { Status::Failed };
            Some(Outcome { call, status, exit_code: noted.exit, parts: vec![Part::Text(CLEARED.to_owned())] })
        }
        "completed" => {
            let mut parts = text(state.output);
            let status = if noted.exit.unwrap_or(0) == 0 { cut_short(&parts) } else { Status::Failed };
            parts.extend(state.attachments.iter().filter_map(blob).map(Part::Blob));
            Some(Outcome { call, status, exit_code: noted.exit, parts })
        }
        "error" if noted.interrupted == Some(true) => {
            let told = lenient::<WireNoted>(state.metadata).and_then(|noted| noted.output);
            let parts = told.map_or_else(|| text(state.error), |told| vec![Part::Text(told)]);
            Some(Outcome { call, status: Status::Interrupted, exit_code: noted.exit, parts })
        }
        "error" => Some(Outcome { call, status: Status::Failed, exit_code: noted.exit, parts: text(state.error) }),
        _ => None,
    }
}

/// How a command ended that gave back no code: the client tells behind its output if it was stopped, and by whom.
fn cut_short(parts: &[Part]) -> Status {
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
fn exit_code(noted: Option<&RawValue>) -> WireEnding {
    let tells = |noted: &&RawValue| {
        let noted = noted.get().as_bytes();
        EXIT.find(noted).or_else(|| NUMBERED.find(noted)).is_some()
    };
    lenient(noted.filter(tells)).unwrap_or_default()
}

/// An image or a file that the model sees as such.
fn blob<W>(part: &WirePart<'_, W>) -> Option<Blob> {
    let (mime, url) = (part.mime.as_deref()?, part.url.as_deref()?);
    if matches!(mime, "text/plain" | "application/x-directory") {
        return None;
    }
    let place = match url.strip_prefix("data:").and_then(|data| data.split_once(";base64,")) {
        Some((_, data)) => Place::Inline(data.into()),
        None => Place::Remote(url.to_owned()),
    };
    Some(Blob { media_type: mime.to_owned(), name: part.filename.as_deref().map(str::to_owned), place })
}
