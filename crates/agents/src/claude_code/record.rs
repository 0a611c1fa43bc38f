//! One line of a session file, made into entries.

use carryover_core::json::Json;
use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Blob, BlobLocation, Body, Call, CallForm, CallId, Compaction, EntryKey, Fact, Failure, FailureKind, Node, NodeId,
    Note, Opaque, Origin, Outcome, Part, Reasoning, SessionId, StartSetting, Status, TitleRank,
};

use super::boilerplate::{self, PromptSource};
use super::prompt_sorter::PromptSorter;
use super::request_log::RequestLog;
use super::wire::{WireBlock, WireCompaction, WireContent, WireErrorParams, WireRecord, WireSource, is_from_elsewhere};
use super::{queue, usage};
use crate::Version;
use crate::formats::jsonl::{self, Line, SeenFacts};
use crate::formats::text::Text;

/// The entries and facts of one line.
pub(super) type Parsed = jsonl::ParsedRecord<More>;

/// What only lines of this client tell.
#[derive(Default)]
pub(super) struct More {
    /// Chained records name their session and their client.
    pub chained: bool,
    /// The session that an agent's file belongs to.
    pub agent_of: Option<SessionId>,
}

/// The model of what the client says in the model's place.
pub(super) const SYNTHETIC_MODEL: &str = "<synthetic>";

/// Bookkeeping that no model ever sees and that can be large; its lines begin with their type.
const NOISE_KINDS: &[&str] = &[
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
pub(super) struct LastFacts {
    repeated: SeenFacts,
    entrypoint: String,
    requests: RequestLog,
}

impl LastFacts {
    /// The model, where it is another one than before.
    pub(super) fn update_model(&mut self, model: Option<&str>) -> Option<Fact> {
        self.repeated.changed_model(model.filter(|model| *model != SYNTHETIC_MODEL))
    }
}

/// Reads a line. `None`: it ends without a line feed and is not whole.
pub(super) fn parse(line: Line<'_>, file: u16) -> Option<Parsed> {
    parse_after(&mut LastFacts::default(), line, file)
}

/// Reads a line that comes after others.
pub(super) fn parse_after(said: &mut LastFacts, line: Line<'_>, file: u16) -> Option<Parsed> {
    if let Some(kind) = noise_kind(line.bytes).filter(|_| !line.unterminated) {
        let body = match kind {
            "file-history-snapshot" | "file-history-delta" => Body::Note(Note::Snapshot),
            _ => Body::known(kind),
        };
        let mut parsed = Parsed::empty(line.key(file));
        parsed.facts = said.requests.read_line(kind, line.bytes);
        parsed.push_entries(None, false, None, [(Origin::Harness, body)]);
        return Some(parsed);
    }
    jsonl::parse_line(line, file, |key, record: WireRecord<'_>| {
        RecordReader { line: line.bytes, key, record: &record, last_facts: said }.parse_record()
    })
}

/// Whether a kind is bookkeeping that we know.
pub(super) fn is_noise(kind: &str) -> bool {
    NOISE_KINDS.contains(&kind)
}

/// The kind of a noise line, by its first bytes alone. Progress has a place in the chain, which its first bytes do not
/// tell.
fn noise_kind(line: &[u8]) -> Option<&'static str> {
    let rest = line.strip_prefix(br#"{"type":""#)?;
    let kind = &rest[..rest.iter().take(32).position(|byte| *byte == b'"')?];
    NOISE_KINDS.iter().copied().find(|noise| noise.as_bytes() == kind && *noise != "progress")
}

/// A record in the course of being read.
pub(super) struct RecordReader<'r, 'a> {
    line: &'a [u8],
    key: EntryKey,
    record: &'r WireRecord<'a>,
    last_facts: &'r mut LastFacts,
}

impl RecordReader<'_, '_> {
    fn parse_record(&mut self) -> Parsed {
        let mut parsed = Parsed::empty(self.key);
        parsed.more.chained = self.record.uuid.is_some();
        if parsed.more.chained {
            self.read_envelope(&mut parsed);
        }
        let bodies = self.read_bodies(&mut parsed.facts);
        if &*self.record.kind == "human" && self.record.message.is_some() {
            // Descriptions of the format on the web have it, and no client; what somebody wrote after them is not passed over.
            parsed.rejected = Some("words of the user in a shape that no version of the client writes");
        }
        let node = self.make_node();
        let at = self.record.timestamp.as_deref().and_then(Timestamp::parse);
        let side = self.record.is_sidechain == Some(true);
        parsed.push_entries(at, side, node, bodies);
        parsed
    }

    fn read_envelope(&mut self, parsed: &mut Parsed) {
        let record = self.record;
        let (cwd, branch) = (record.cwd.as_deref(), record.git_branch.as_deref());
        self.last_facts.repeated.add_changed(&mut parsed.facts, cwd, branch, record.version.as_deref());
        let model = record.message.as_ref().and_then(|message| message.model.as_deref());
        parsed.facts.extend(self.last_facts.update_model(model));
        if let Some(name) =
            record.entrypoint.as_deref().filter(|name| jsonl::update_if_new(&mut self.last_facts.entrypoint, name))
        {
            parsed.facts.push(Fact::StartSetting(StartSetting::Entrypoint(name.to_owned())));
        }
        if record.is_sidechain == Some(true) {
            parsed.more.agent_of = record.session_id.as_deref().map(|id| SessionId(id.to_owned()));
        }
    }

    pub(super) fn record(&self) -> &WireRecord<'_> {
        self.record
    }

    fn make_node(&self) -> Option<Node> {
        let id = NodeId::from_name(self.record.uuid.as_deref()?);
        let parent = self.record.parent_uuid.as_deref().filter(|_| !self.names_wrong_parent());
        // A parent that is nowhere is the record before.
        let parent = parent.map(NodeId::from_name).or(self.record.parent_uuid.as_ref().map(|_| NodeId::from_name("")));
        let group = match &*self.record.kind {
            "assistant" => {
                self.record.message.as_ref().and_then(|message| message.id.as_deref()).map(NodeId::from_name)
            }
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
        self.record.version.as_deref().and_then(Version::find_in)
    }

    fn read_bodies(&self, facts: &mut Vec<Fact>) -> Vec<(Origin, Body)> {
        let record = self.record;
        match &*record.kind {
            "user" => self.read_user(facts),
            "assistant" => self.read_assistant(),
            "attachment" => {
                let attachment = record.attachment.as_ref();
                let bodies = attachment.map(|attachment| self.read_attachment(attachment)).unwrap_or_default();
                facts.extend(self.attachment_facts(&bodies));
                bodies
            }
            "system" => vec![(Origin::Harness, self.read_system())],
            "custom-title" => {
                note_bodies(facts, title_fact(TitleRank::Given, record.custom_title.as_ref()), Note::Title)
            }
            "ai-title" => note_bodies(facts, title_fact(TitleRank::Generated, record.ai_title.as_ref()), Note::Title),
            "summary" => note_bodies(facts, title_fact(TitleRank::Generated, record.summary.as_ref()), Note::Title),
            "permission-mode" => {
                facts.extend(self.permission_facts());
                note_bodies(facts, None, Note::Mode)
            }
            "mode" | "agent-name" => note_bodies(facts, None, Note::Mode),
            "queue-operation" => vec![(Origin::Harness, queue::read_change(record))],
            "last-prompt" => self.read_last_prompt(),
            kind => vec![(Origin::Harness, kind_body(kind))],
        }
    }

    fn permission_facts(&self) -> Vec<Fact> {
        let Some(mode) = self.record.permission_mode.as_deref() else { return Vec::new() };
        let begin = StartSetting::PermissionMode(mode.to_owned());
        vec![Fact::Permission(super::parse_permission(mode)), Fact::StartSetting(begin)]
    }

    /// The record that the client goes on from. The prompt in it names the session in the client's own list; the first
    /// one, which stays the same, names it better.
    fn read_last_prompt(&self) -> Vec<(Origin, Body)> {
        let leaf = self.record.leaf_uuid.as_deref().map_or(Note::Title, |leaf| Note::Leaf(NodeId::from_name(leaf)));
        vec![(Origin::Harness, Body::Note(leaf))]
    }

    fn read_system(&self) -> Body {
        match self.record.subtype.as_deref() {
            Some("compact_boundary") => {
                Body::Compacted(Box::new(read_compaction(self.record.compact_metadata.as_ref())))
            }
            Some(subtype) => Body::known(format!("system/{subtype}")),
            None => Body::known("system"),
        }
    }

    fn read_user(&self, facts: &mut Vec<Fact>) -> Vec<(Origin, Body)> {
        let Some(message) = &self.record.message else {
            return vec![(Origin::Harness, Body::Opaque(Opaque::Wordless))];
        };
        facts.extend(self.permission_facts());
        if self.record.is_compact_summary == Some(true) {
            return vec![(Origin::Agent, Body::Summary(self.read_parts(&message.content)))];
        }
        let mut bodies = self.sort_content(&message.content, self.prompt_source());
        if bodies.is_empty() {
            bodies.push((Origin::Harness, Body::Opaque(Opaque::Wordless)));
        }
        if self.record.is_meta != Some(true) && self.record.is_sidechain != Some(true) {
            facts.extend(bodies.iter().find_map(prompt_title_fact));
        }
        bodies
    }

    /// Sorts what stands in the user's place by who said it.
    pub(super) fn sort_content(&self, content: &WireContent<'_>, came: PromptSource) -> Vec<(Origin, Body)> {
        let mut heard = PromptSorter::new(came);
        match content {
            WireContent::Text(text) => heard.add_text(text),
            WireContent::Blocks(blocks) => {
                for block in blocks {
                    match &*block.kind {
                        "text" => heard.add_text(block.text.as_deref().unwrap_or_default()),
                        "tool_result" => heard.add_outcome(self.read_outcome(block)),
                        _ => heard.add_parts(self.read_part(block)),
                    }
                }
            }
        }
        heard.finish()
    }

    fn prompt_source(&self) -> PromptSource {
        let record = self.record;
        match record.prompt_source.as_deref() {
            _ if record.is_meta == Some(true) => PromptSource::Hidden,
            _ if is_from_elsewhere(record.origin) => PromptSource::External,
            Some("typed" | "sdk") => PromptSource::Typed,
            _ => PromptSource::Unknown,
        }
    }

    fn read_assistant(&self) -> Vec<(Origin, Body)> {
        let Some(message) = &self.record.message else { return vec![opaque_body("assistant")] };
        if self.record.is_api_error_message == Some(true) {
            return vec![(Origin::Harness, Body::Failure(Box::new(self.read_failure(&message.content))))];
        }
        let synthetic = message.model.as_deref() == Some(SYNTHETIC_MODEL);
        let origin = if synthetic { Origin::Harness } else { Origin::Agent };
        let mut bodies: Vec<(Origin, Body)> = match &message.content {
            WireContent::Text(text) => vec![(origin, Body::Reply(vec![Part::Text(text.to_string())]))],
            WireContent::Blocks(blocks) => blocks.iter().map(|block| (origin, read_block(block))).collect(),
        };
        // A record that says nothing has no place in the conversation.
        let usage = usage::from_message(message.usage, message.id.as_deref()).filter(|_| !bodies.is_empty());
        bodies.extend(usage.map(|usage| (Origin::Harness, usage.into_body())));
        bodies
    }

    fn read_outcome(&self, block: &WireBlock<'_>) -> Body {
        let mut parts = block.content.as_ref().map(|content| self.read_parts(content)).unwrap_or_default();
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
        let exit_code = text.and_then(parse_exit_code);
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

    pub(super) fn read_parts(&self, content: &WireContent<'_>) -> Vec<Part> {
        match content {
            WireContent::Text(text) => vec![Part::Text(text.to_string())],
            WireContent::Blocks(blocks) => blocks.iter().filter_map(|block| self.read_part(block)).collect(),
        }
    }

    fn read_part(&self, block: &WireBlock<'_>) -> Option<Part> {
        if let Some(text) = &block.text {
            return Some(Part::Text(text.to_string()));
        }
        let blob = self.read_blob(block.source.as_ref()?, &block.kind)?;
        Some(Part::Blob(blob))
    }

    fn read_blob(&self, source: &WireSource<'_>, kind: &str) -> Option<Blob> {
        let usual = if kind == "document" { "application/pdf" } else { "image/png" };
        let media_type = source.media_type.as_deref().unwrap_or(usual).to_owned();
        let place = match (&source.data, &source.url) {
            (Some(data), _) => self.blob_location(data),
            (None, Some(url)) => BlobLocation::Remote(url.to_string()),
            (None, None) => return None,
        };
        Some(Blob { media_type, name: None, location: place })
    }

    pub(super) fn blob_location(&self, data: &Text<'_>) -> BlobLocation {
        data.blob_location(self.line, self.key.record())
    }

    fn read_failure(&self, content: &WireContent<'_>) -> Failure {
        let message = carryover_core::transcript::text_of(&self.read_parts(content));
        let kind = match self.record.error.as_deref() {
            Some("rate_limit") => FailureKind::RateLimit,
            Some("server_error") => FailureKind::Server,
            Some("authentication_failed") => FailureKind::Authentication,
            Some("billing_error") => FailureKind::Billing,
            _ if mentions_limit(&message) => FailureKind::RateLimit,
            _ => FailureKind::Other,
        };
        let params =
            self.record.api_error_params.and_then(|raw| serde_json::from_str::<WireErrorParams>(raw.get()).ok());
        let resets_at = params.and_then(|params| params.rate_limit_info).and_then(|limit| limit.resets_at);
        let resets_at = resets_at.or_else(|| parse_reset_time(&message));
        let resets_at = resets_at.map(|seconds| Timestamp::from_millis(seconds.saturating_mul(1000)));
        Failure { kind, message, resets_at }
    }
}

/// Whether an error tells a limit in words alone, as clients before 2.1 write it.
fn mentions_limit(message: &str) -> bool {
    ["usage limit reached", "rate_limit_error", "hit your limit"].iter().any(|words| message.contains(words))
}

/// When a limit ends: clients of 1.0 write the second behind a bar, `usage limit reached|1794744000`.
fn parse_reset_time(message: &str) -> Option<i64> {
    let (_, second) = message.split_once("limit reached|")?;
    second.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// One block of the agent's message.
fn read_block(block: &WireBlock<'_>) -> Body {
    match &*block.kind {
        "text" => Body::Reply(vec![Part::Text(owned_text(block.text.as_ref()))]),
        "thinking" => Body::Reasoning(Box::new(Reasoning {
            text: owned_text(block.thinking.as_ref()),
            sealed: block.signature.as_deref().is_some_and(|signature| !signature.is_empty()),
        })),
        "redacted_thinking" => Body::Reasoning(Box::new(Reasoning { text: String::new(), sealed: true })),
        "tool_use" => Body::Call(Box::new(Call {
            id: CallId(block.id.as_deref().unwrap_or_default().into()),
            tool: owned_text(block.name.as_ref()),
            input: block.input.map_or_else(Json::empty_object, Json::from_raw),
            form: CallForm::Function,
        })),
        kind => Body::unknown(kind),
    }
}

/// A record that is not looked into, by its kind.
fn kind_body(kind: &str) -> Body {
    match NOISE_KINDS.iter().find(|known| **known == kind) {
        Some(known) => Body::known(*known),
        None => Body::unknown(kind),
    }
}

fn opaque_body(kind: &'static str) -> (Origin, Body) {
    (Origin::Harness, Body::known(kind))
}

fn note_bodies(facts: &mut Vec<Fact>, fact: Option<Fact>, note: Note) -> Vec<(Origin, Body)> {
    facts.extend(fact);
    vec![(Origin::Harness, Body::Note(note))]
}

fn owned_text(text: Option<&Text<'_>>) -> String {
    text.map(|text| text.to_string()).unwrap_or_default()
}

fn title_fact(rank: TitleRank, text: Option<&Text<'_>>) -> Option<Fact> {
    let text = one_line(text?, 200);
    (!text.is_empty()).then_some(Fact::Title(rank, text))
}

/// The title that a prompt of the user's gives.
fn prompt_title_fact((origin, body): &(Origin, Body)) -> Option<Fact> {
    let parts = Some(body.parts()).filter(|_| *origin == Origin::User)?;
    let Some(Part::Text(text)) = parts.iter().find(|part| matches!(part, Part::Text(_))) else { return None };
    // Long prompts are named by their beginning, and that needs no look at the rest.
    let beginning = &text[..text.floor_char_boundary(2_000)];
    let line = one_line(beginning, 200);
    (!line.is_empty()).then_some(Fact::Title(TitleRank::FirstPrompt, line))
}

fn read_compaction(metadata: Option<&WireCompaction<'_>>) -> Compaction {
    let segment = metadata.and_then(|metadata| metadata.preserved_segment.as_ref());
    Compaction {
        kept: segment.map(|segment| (NodeId::from_name(&segment.head), NodeId::from_name(&segment.tail))),
        anchor: segment.and_then(|segment| segment.anchor.as_deref()).map(NodeId::from_name),
        ..Compaction::default()
    }
}

/// The exit code that a failed command's outcome begins with.
fn parse_exit_code(text: &str) -> Option<i32> {
    let rest = text.strip_prefix("Error: ").unwrap_or(text).strip_prefix("Exit code ")?;
    let digits = rest.split(|c: char| !c.is_ascii_digit() && c != '-').next()?;
    digits.parse().ok()
}
