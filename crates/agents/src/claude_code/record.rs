//! One line of a session file, made into entries.

use std::borrow::Cow;

use carryover_core::json::Json;
use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Begin, Blob, Body, Call, CallForm, CallId, Compacted, EntryKey, Fact, Failure, FailureKind, Node, NodeId, Note,
    Origin, Outcome, Part, Place, Reasoning, SessionId, Status, TitleRank, WORDLESS,
};

use super::boilerplate::{self, Came};
use super::heard::Heard;
use super::wire::{WireBlock, WireCompaction, WireContent, WireErrorParams, WireRecord, WireSource, is_from_elsewhere};
use super::{queue, usage};
use crate::Version;
use crate::formats::jsonl::{self, Line, Repeated};
use crate::formats::text::Text;

/// What a line says.
pub(super) type Parsed = jsonl::Parsed<More>;

/// What only lines of this client tell.
#[derive(Default)]
pub(super) struct More {
    /// Chained records name their session and their client.
    pub chained: bool,
    /// The session that an agent's file belongs to.
    pub agent_of: Option<SessionId>,
}

/// The model of what the client says in the model's place.
pub(super) const SYNTHETIC: &str = "<synthetic>";

/// Bookkeeping that no model ever sees and that can be large; its lines begin with their type.
const NOISE: &[&str] = &[
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "atis-latch",
    "cost-state",
    "file-history-delta",
    "file-history-snapshot",
    "progress",
    "tools-used",
];

/// What the lines before said of the session as a whole.
#[derive(Default)]
pub(super) struct Said {
    repeated: Repeated,
    entrypoint: String,
}

impl Said {
    /// The model, where it is another one than before.
    pub(super) fn model(&mut self, model: Option<&str>) -> Option<Fact> {
        self.repeated.model(model.filter(|model| *model != SYNTHETIC))
    }
}

/// Reads a line. `None`: it ends without a line feed and is not whole.
pub(super) fn parse(line: Line<'_>, file: u16) -> Option<Parsed> {
    parse_after(&mut Said::default(), line, file)
}

/// Reads a line that comes after others.
pub(super) fn parse_after(said: &mut Said, line: Line<'_>, file: u16) -> Option<Parsed> {
    if let Some(kind) = noise(line.bytes).filter(|_| !line.unterminated) {
        let body = match kind {
            "file-history-snapshot" | "file-history-delta" => Body::Note(Note::Snapshot),
            _ => Body::Opaque(Cow::Borrowed(kind)),
        };
        let mut parsed = Parsed::empty(line.key(file));
        parsed.put(None, false, None, [(Origin::Harness, body)]);
        return Some(parsed);
    }
    jsonl::parse_line(line, file, |key, record: WireRecord<'_>| {
        Reading { line: line.bytes, key, record: &record, said }.parsed()
    })
}

/// Whether a kind is bookkeeping that we know.
pub(super) fn is_noise(kind: &str) -> bool {
    NOISE.contains(&kind)
}

/// The kind of a noise line, by its first bytes alone. Progress has a place in the chain, which its first bytes do not
/// tell.
fn noise(line: &[u8]) -> Option<&'static str> {
    let rest = line.strip_prefix(br#"{"type":""#)?;
    let kind = &rest[..rest.iter().take(32).position(|byte| *byte == b'"')?];
    NOISE.iter().copied().find(|noise| noise.as_bytes() == kind && *noise != "progress")
}

/// A record in the course of being read.
pub(super) struct Reading<'r, 'a> {
    line: &'a [u8],
    key: EntryKey,
    record: &'r WireRecord<'a>,
    said: &'r mut Said,
}

impl Reading<'_, '_> {
    fn parsed(&mut self) -> Parsed {
        let mut parsed = Parsed::empty(self.key);
        parsed.more.chained = self.record.uuid.is_some();
        if parsed.more.chained {
            self.envelope(&mut parsed);
        }
        let bodies = self.bodies(&mut parsed.facts);
        if &*self.record.kind == "human" && self.record.message.is_some() {
            // Descriptions of the format on the web have it, and no client; what somebody wrote after them is not passed over.
            parsed.rejected = Some("words of the user in a shape that no version of the client writes");
        }
        let node = self.node();
        let at = self.record.timestamp.as_deref().and_then(Timestamp::parse);
        let side = self.record.is_sidechain == Some(true);
        parsed.put(at, side, node, bodies);
        parsed
    }

    fn envelope(&mut self, parsed: &mut Parsed) {
        let record = self.record;
        let (cwd, branch) = (record.cwd.as_deref(), record.git_branch.as_deref());
        self.said.repeated.tell(&mut parsed.facts, cwd, branch, record.version.as_deref());
        let model = record.message.as_ref().and_then(|message| message.model.as_deref());
        parsed.facts.extend(self.said.model(model));
        if let Some(name) = record.entrypoint.as_deref().filter(|name| jsonl::is_news(&mut self.said.entrypoint, name))
        {
            parsed.facts.push(Fact::Begun(Begin::Entrypoint(name.to_owned())));
        }
        if record.is_sidechain == Some(true) {
            parsed.more.agent_of = record.session_id.as_deref().map(|id| SessionId(id.to_owned()));
        }
    }

    fn node(&self) -> Option<Node> {
        let id = NodeId::of(self.record.uuid.as_deref()?);
        let parent = self.record.parent_uuid.as_deref().filter(|_| !self.names_wrong_parent());
        // A parent that is nowhere is the record before.
        let parent = parent.map(NodeId::of).or(self.record.parent_uuid.as_ref().map(|_| NodeId::of("")));
        let group = match &*self.record.kind {
            "assistant" => self.record.message.as_ref().and_then(|message| message.id.as_deref()).map(NodeId::of),
            _ => None,
        };
        Some(Node { id, parent, group })
    }

    /// 1.0 hangs all commands that the user ran in the client on one and the same record, whatever was said in between.
    fn names_wrong_parent(&self) -> bool {
        let Some(WireContent::Text(text)) = self.record.message.as_ref().map(|message| &message.content) else {
            return false;
        };
        let runs_locally = text.starts_with("<bash-input>") || text.starts_with("<command-name>");
        runs_locally && self.version().is_some_and(|version| version < Version(2, 0, 0))
    }

    fn version(&self) -> Option<Version> {
        self.record.version.as_deref().and_then(Version::find)
    }

    fn bodies(&self, facts: &mut Vec<Fact>) -> Vec<(Origin, Body)> {
        let record = self.record;
        match &*record.kind {
            "user" => self.user(facts),
            "assistant" => self.assistant(),
            "attachment" => record.attachment.as_ref().map(|attachment| self.attached(attachment)).unwrap_or_default(),
            "system" => vec![(Origin::Harness, self.system())],
            "custom-title" => note(facts, title(TitleRank::Given, record.custom_title.as_ref()), Note::Title),
            "ai-title" => note(facts, title(TitleRank::Generated, record.ai_title.as_ref()), Note::Title),
            "summary" => note(facts, title(TitleRank::Generated, record.summary.as_ref()), Note::Title),
            "permission-mode" => {
                facts.extend(self.permission());
                note(facts, None, Note::Mode)
            }
            "mode" | "agent-name" => note(facts, None, Note::Mode),
            "queue-operation" => vec![(Origin::Harness, queue::change(record))],
            "last-prompt" => self.last_prompt(),
            kind => vec![(Origin::Harness, Body::Opaque(Cow::Owned(kind.to_owned())))],
        }
    }

    fn permission(&self) -> Vec<Fact> {
        let Some(mode) = self.record.permission_mode.as_deref() else { return Vec::new() };
        let begin = Begin::PermissionMode(mode.to_owned());
        vec![Fact::Permission(super::permission(mode)), Fact::Begun(begin)]
    }

    /// The record that the client goes on from. The prompt in it names the session in the client's own list; the first
    /// one, which stays the same, names it better.
    fn last_prompt(&self) -> Vec<(Origin, Body)> {
        let leaf = self.record.leaf_uuid.as_deref().map_or(Note::Title, |leaf| Note::Leaf(NodeId::of(leaf)));
        vec![(Origin::Harness, Body::Note(leaf))]
    }

    fn system(&self) -> Body {
        match self.record.subtype.as_deref() {
            Some("compact_boundary") => Body::Compacted(Box::new(compacted(self.record.compact_metadata.as_ref()))),
            Some(subtype) => Body::Opaque(Cow::Owned(format!("system/{subtype}"))),
            None => Body::Opaque(Cow::Borrowed("system")),
        }
    }

    fn user(&self, facts: &mut Vec<Fact>) -> Vec<(Origin, Body)> {
        let Some(message) = &self.record.message else { return vec![opaque(WORDLESS)] };
        facts.extend(self.permission());
        if self.record.is_compact_summary == Some(true) {
            return vec![(Origin::Agent, Body::Summary(self.parts(&message.content)))];
        }
        let mut bodies = self.heard(&message.content, self.came());
        if bodies.is_empty() {
            bodies.push(opaque(WORDLESS));
        }
        if self.record.is_meta != Some(true) && self.record.is_sidechain != Some(true) {
            facts.extend(bodies.iter().find_map(first_prompt));
        }
        bodies
    }

    /// Sorts what stands in the user's place by who said it.
    pub(super) fn heard(&self, content: &WireContent<'_>, came: Came) -> Vec<(Origin, Body)> {
        let mut heard = Heard::new(came);
        match content {
            WireContent::Text(text) => heard.text(text),
            WireContent::Blocks(blocks) => {
                for block in blocks {
                    match &*block.kind {
                        "text" => heard.text(block.text.as_deref().unwrap_or_default()),
                        "tool_result" => heard.outcome(self.outcome(block)),
                        _ => heard.parts(self.part(block)),
                    }
                }
            }
        }
        heard.finish()
    }

    fn came(&self) -> Came {
        let record = self.record;
        match record.prompt_source.as_deref() {
            _ if record.is_meta == Some(true) => Came::Hidden,
            _ if is_from_elsewhere(record.origin) => Came::Brought,
            Some("typed" | "sdk") => Came::Typed,
            _ => Came::Unknown,
        }
    }

    fn assistant(&self) -> Vec<(Origin, Body)> {
        let Some(message) = &self.record.message else { return vec![opaque("assistant")] };
        if self.record.is_api_error_message == Some(true) {
            return vec![(Origin::Harness, Body::Failure(Box::new(self.failure(&message.content))))];
        }
        let synthetic = message.model.as_deref() == Some(SYNTHETIC);
        let origin = if synthetic { Origin::Harness } else { Origin::Agent };
        let mut bodies: Vec<(Origin, Body)> = match &message.content {
            WireContent::Text(text) => vec![(origin, Body::Reply(vec![Part::Text(text.to_string())]))],
            WireContent::Blocks(blocks) => blocks.iter().map(|block| (origin, said(block))).collect(),
        };
        // A record that says nothing has no place in the conversation.
        let usage = usage::of(message.usage, message.id.as_deref()).filter(|_| !bodies.is_empty());
        bodies.extend(usage.map(|usage| (Origin::Harness, usage.into_body())));
        bodies
    }

    fn outcome(&self, block: &WireBlock<'_>) -> Body {
        let mut parts = block.content.as_ref().map(|content| self.parts(content)).unwrap_or_default();
        if self.appends_reminders() {
            for part in &mut parts {
                if let Part::Text(text) = part {
                    boilerplate::strip_reminders(text);
                }
            }
        }
        let text = parts.iter().find_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Blob(_) => None,
        });
        let exit_code = text.and_then(exit_code);
        let interrupted = text.is_some_and(boilerplate::is_interruption);
        let status = match block.is_error {
            _ if interrupted => Status::Interrupted,
            Some(true) => Status::Failed,
            _ => Status::Done,
        };
        let exit_code = if status == Status::Failed { exit_code } else { None };
        let call = CallId(block.tool_use_id.as_deref().unwrap_or_default().into());
        Body::Outcome(Box::new(Outcome { call, status, exit_code, parts }))
    }

    /// 1.0 and 2.0 append reminders to what tools say; later clients do not, so what looks like one is the tool's.
    fn appends_reminders(&self) -> bool {
        self.version().is_some_and(|version| version < Version(2, 1, 100))
    }

    pub(super) fn parts(&self, content: &WireContent<'_>) -> Vec<Part> {
        match content {
            WireContent::Text(text) => vec![Part::Text(text.to_string())],
            WireContent::Blocks(blocks) => blocks.iter().filter_map(|block| self.part(block)).collect(),
        }
    }

    fn part(&self, block: &WireBlock<'_>) -> Option<Part> {
        if let Some(text) = &block.text {
            return Some(Part::Text(text.to_string()));
        }
        let blob = self.blob(block.source.as_ref()?, &block.kind)?;
        Some(Part::Blob(blob))
    }

    fn blob(&self, source: &WireSource<'_>, kind: &str) -> Option<Blob> {
        let usual = if kind == "document" { "application/pdf" } else { "image/png" };
        let media_type = source.media_type.as_deref().unwrap_or(usual).to_owned();
        let place = match (&source.data, &source.url) {
            (Some(data), _) => self.place(data),
            (None, Some(url)) => Place::Remote(url.to_string()),
            (None, None) => return None,
        };
        Some(Blob { media_type, name: None, place })
    }

    /// Base64 stands in the line as it is, so its place is enough.
    pub(super) fn place(&self, data: &Text<'_>) -> Place {
        match data.place_in(self.line) {
            Some(start) => Place::Encoded {
                file: self.key.file,
                offset: self.key.offset + start as u64,
                length: data.len() as u64,
            },
            None => Place::Inline((&**data).into()),
        }
    }

    fn failure(&self, content: &WireContent<'_>) -> Failure {
        let message = carryover_core::transcript::text_of(&self.parts(content));
        let kind = match self.record.error.as_deref() {
            Some("rate_limit") => FailureKind::RateLimit,
            Some("server_error") => FailureKind::Server,
            Some("authentication_failed") => FailureKind::Authentication,
            Some("billing_error") => FailureKind::Billing,
            _ if tells_limit(&message) => FailureKind::RateLimit,
            _ => FailureKind::Other,
        };
        let params =
            self.record.api_error_params.and_then(|raw| serde_json::from_str::<WireErrorParams>(raw.get()).ok());
        let resets_at = params.and_then(|params| params.rate_limit_info).and_then(|limit| limit.resets_at);
        let resets_at = resets_at.or_else(|| told_reset(&message));
        let resets_at = resets_at.map(|seconds| Timestamp::from_millis(seconds.saturating_mul(1000)));
        Failure { kind, message, resets_at }
    }
}

/// Whether an error tells a limit in words alone, as clients before 2.1 write it.
fn tells_limit(message: &str) -> bool {
    ["usage limit reached", "rate_limit_error", "hit your limit"].iter().any(|words| message.contains(words))
}

/// When a limit ends: clients of 1.0 write the second behind a bar, `usage limit reached|1794744000`.
fn told_reset(message: &str) -> Option<i64> {
    let (_, second) = message.split_once("limit reached|")?;
    second.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// One block of the agent's message.
fn said(block: &WireBlock<'_>) -> Body {
    match &*block.kind {
        "text" => Body::Reply(vec![Part::Text(owned(block.text.as_ref()))]),
        "thinking" => Body::Reasoning(Box::new(Reasoning {
            text: owned(block.thinking.as_ref()),
            sealed: block.signature.as_deref().is_some_and(|signature| !signature.is_empty()),
        })),
        "redacted_thinking" => Body::Reasoning(Box::new(Reasoning { text: String::new(), sealed: true })),
        "tool_use" => Body::Call(Box::new(Call {
            id: CallId(block.id.as_deref().unwrap_or_default().into()),
            tool: owned(block.name.as_ref()),
            input: block.input.map_or_else(Json::empty, Json::from_raw),
            form: CallForm::Function,
        })),
        kind => Body::Opaque(Cow::Owned(kind.to_owned())),
    }
}

fn opaque(kind: &'static str) -> (Origin, Body) {
    (Origin::Harness, Body::Opaque(Cow::Borrowed(kind)))
}

fn note(facts: &mut Vec<Fact>, fact: Option<Fact>, note: Note) -> Vec<(Origin, Body)> {
    facts.extend(fact);
    vec![(Origin::Harness, Body::Note(note))]
}

fn owned(text: Option<&Text<'_>>) -> String {
    text.map(|text| text.to_string()).unwrap_or_default()
}

fn title(rank: TitleRank, text: Option<&Text<'_>>) -> Option<Fact> {
    let text = one_line(text?, 200);
    (!text.is_empty()).then_some(Fact::Title(rank, text))
}

/// The title that a prompt of the user's gives.
fn first_prompt((origin, body): &(Origin, Body)) -> Option<Fact> {
    let parts = Some(body.parts()).filter(|_| *origin == Origin::User)?;
    let Some(Part::Text(text)) = parts.iter().find(|part| matches!(part, Part::Text(_))) else { return None };
    // Long prompts are named by their beginning, and that needs no look at the rest.
    let beginning = &text[..text.floor_char_boundary(2_000)];
    let line = one_line(beginning, 200);
    (!line.is_empty()).then_some(Fact::Title(TitleRank::FirstPrompt, line))
}

fn compacted(metadata: Option<&WireCompaction<'_>>) -> Compacted {
    let segment = metadata.and_then(|metadata| metadata.preserved_segment.as_ref());
    Compacted {
        kept: segment.map(|segment| (NodeId::of(&segment.head), NodeId::of(&segment.tail))),
        anchor: segment.and_then(|segment| segment.anchor.as_deref()).map(NodeId::of),
        ..Compacted::default()
    }
}

/// The exit code that a failed command's outcome begins with.
fn exit_code(text: &str) -> Option<i32> {
    let rest = text.strip_prefix("Error: ").unwrap_or(text).strip_prefix("Exit code ")?;
    let digits = rest.split(|c: char| !c.is_ascii_digit() && c != '-').next()?;
    digits.parse().ok()
}
