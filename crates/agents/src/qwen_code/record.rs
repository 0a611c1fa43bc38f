//! One line of a session file, made into entries.

use carryover_core::json::Json;
use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Blob, BlobLocation, Body, Call, CallForm, CallId, Compaction, EntryKey, Fact, Failure, FailureKind, Node, NodeId,
    Note, Opaque, Origin, Outcome, Part, Reasoning, SessionId, Status, TitleRank, Usage,
};

use super::prompt::{self, is_boilerplate};
use super::wire::{
    WireCommand, WireCompaction, WireContent, WireData, WireOutput, WirePart, WireRecord, WireResponse, WireTelemetry,
    WireTitle,
};
use super::{outcome, usage};
use crate::formats::jsonl::{self, Line, SeenFacts};
use crate::formats::text::Text;

/// The facts and entries of one line.
pub(super) type Parsed = jsonl::ParsedRecord<More>;

/// What only lines of this client tell.
#[derive(Default)]
pub(super) struct More {
    /// Of a kind that we know.
    pub known: bool,
    /// The session that a sub-agent's record belongs to.
    pub parent_session: Option<SessionId>,
}

/// How the names of system records begin that are no links of the chain.
const OFF_CHAIN_PREFIXES: &[&str] = &["session_artifact_", "session_sources_snapshot", "managed_session_"];

/// With this, the client goes on behind a summary.
const RESUME_REQUEST: &str = "\n\nResume the prior task using the summary above.";

/// Reads a line. `None`: it ends without a line feed and is not whole.
pub(super) fn parse_record(line: Line<'_>, file: u16) -> Option<Parsed> {
    parse_line_after(&mut SeenFacts::default(), line, file)
}

/// Reads a line that comes after others.
pub(super) fn parse_line_after(said: &mut SeenFacts, line: Line<'_>, file: u16) -> Option<Parsed> {
    jsonl::parse_line(line, file, |key, record: WireRecord<'_>| {
        RecordReader { line: line.bytes, key, record: &record }.read_record(said)
    })
}

type Bodies = Vec<(Origin, Body)>;

/// A record in the course of being read.
struct RecordReader<'r, 'a> {
    line: &'a [u8],
    key: EntryKey,
    record: &'r WireRecord<'a>,
}

impl<'a> RecordReader<'_, 'a> {
    fn read_record(&self, said: &mut SeenFacts) -> Parsed {
        let record = self.record;
        let mut facts = Vec::new();
        if record.uuid.is_some() {
            let (cwd, branch) = (record.cwd.as_deref(), record.git_branch.as_deref());
            said.add_changed(&mut facts, cwd, branch, record.version.as_deref());
            facts.extend(said.changed_model(record.model.as_deref()));
        }
        let mut bodies = self.read_bodies(&mut facts);
        if bodies.is_empty() {
            bodies.push(opaque_body("empty"));
        }
        let usage = usage::from_record(record).filter(|_| &*record.kind == "assistant");
        bodies.extend(usage.map(|usage| (Origin::Harness, usage.into_body())));
        let known = bodies.iter().all(|(_, body)| !body.is_unknown());
        let node = record.uuid.as_deref().filter(|_| !is_off_chain(record)).map(|uuid| Node {
            id: NodeId::from_name(uuid),
            parent: record.parent_uuid.as_deref().map(NodeId::from_name),
            group: None,
        });
        let at = record.timestamp.as_deref().and_then(Timestamp::parse);
        let side = record.is_sidechain == Some(true);
        let agent_of = record.session_id.as_deref().filter(|_| side).map(|id| SessionId(id.to_owned()));
        let more = More { known, parent_session: agent_of };
        let mut parsed = Parsed { key: self.key, facts, entries: Vec::new(), rejected: None, more };
        parsed.push_entries(at, side, node, bodies);
        parsed
    }

    fn read_bodies(&self, facts: &mut Vec<Fact>) -> Bodies {
        let record = self.record;
        match (&*record.kind, &record.message) {
            ("system", _) => self.read_system(facts),
            ("user", Some(message)) => self.read_user(message, facts),
            ("assistant", Some(message)) => self.read_assistant(message),
            // Text beside an outcome comes from a hook.
            ("tool_result", Some(message)) => self.read_input(message, Origin::Hook),
            ("user", None) => vec![(Origin::Harness, Body::Opaque(Opaque::Wordless))],
            ("assistant", None) => vec![opaque_body("assistant")],
            ("tool_result", None) => vec![opaque_body("tool_result")],
            (kind, _) => vec![unknown_body(kind)],
        }
    }

    /// Reads a message in the user's place: typed, or put there by the client.
    fn read_user(&self, message: &WireContent<'_>, facts: &mut Vec<Fact>) -> Bodies {
        let record = self.record;
        let origin = match record.subtype.as_deref() {
            // Spoken aside, and never sent.
            Some("realtime_message") => return vec![opaque_body("user/realtime_message")],
            None | Some("mid_turn_user_message") if record.provenance.as_deref() != Some("system") => Origin::User,
            // Reports of tasks in the background, schedules and the like.
            _ => Origin::Hook,
        };
        let mut bodies = self.read_input(message, origin);
        // Of a message that is known to be empty, the empty part is there.
        if bodies.is_empty() && !message.parts.iter().any(|part| part.text.is_some()) {
            bodies.push((Origin::Harness, Body::Opaque(Opaque::Wordless)));
        }
        for (origin, body) in &bodies {
            if let (Origin::User, Body::Prompt(parts)) = (origin, body) {
                facts.extend(first_prompt_title(parts));
            }
        }
        bodies
    }

    /// The parts of a message that goes to the model: outcomes, what was said, and what was brought along.
    fn read_input(&self, message: &WireContent<'_>, origin: Origin) -> Bodies {
        let mut bodies = Vec::new();
        let mut prompt = prompt::begin();
        for part in &message.parts {
            if let Some(response) = &part.function_response {
                bodies.push((Origin::Agent, self.read_outcome(response)));
                continue;
            }
            match self.read_part(part) {
                Some(part) => prompt.add_part(part),
                None => bodies.push(unknown_body("part")),
            }
        }
        prompt.end_files();
        let begins_with_harness = prompt.added.iter().take_while(|(origin, _)| *origin == Origin::Harness).count();
        bodies.extend(prompt.added.drain(..begins_with_harness));
        if !prompt.typed.is_empty() {
            bodies.push((origin, Body::Prompt(prompt.typed)));
        }
        bodies.append(&mut prompt.added);
        bodies
    }

    /// The parts of a message of the model's.
    fn read_assistant(&self, message: &WireContent<'_>) -> Bodies {
        message.parts.iter().map(|part| (Origin::Agent, self.assistant_body(part))).collect()
    }

    fn assistant_body(&self, part: &WirePart<'_>) -> Body {
        if let Some(call) = &part.function_call {
            return Body::Call(Box::new(Call {
                id: CallId(call.id.as_deref().unwrap_or_default().into()),
                tool: call.name.to_string(),
                input: call.args.map_or_else(Json::empty_object, Json::from_raw),
                form: CallForm::Function,
            }));
        }
        match (&part.text, part.thought) {
            (Some(text), Some(true)) => {
                let sealed = part.thought_signature.as_deref().is_some_and(|signature| !signature.is_empty());
                Body::Reasoning(Box::new(Reasoning { text: text.to_string(), sealed }))
            }
            (Some(text), _) if text.is_empty() => Body::known("part/empty"),
            (Some(text), _) => Body::Reply(vec![Part::Text(text.to_string())]),
            (None, _) => self.read_part(part).map_or_else(|| Body::unknown("part"), |part| Body::Reply(vec![part])),
        }
    }

    fn read_outcome(&self, response: &WireResponse<'_>) -> Body {
        let raw = response.response.map(ResponseText::from_raw).unwrap_or_default();
        let mut parts = Vec::new();
        if !raw.text.is_empty() {
            parts.push(Part::Text(raw.text));
        }
        parts.extend(response.parts.iter().filter_map(|part| self.read_part(part)));
        let exit_code = if &*response.name == "run_shell_command" { outcome::find_exit_code(&parts) } else { None };
        let told = self.record.tool_call_result.as_ref().and_then(|result| result.status.as_deref());
        let status = match told {
            Some("cancelled") => Status::Interrupted,
            _ if outcome::is_declined(&response.name, &parts) => Status::Interrupted,
            _ if outcome::is_refused(&response.name, &parts) => Status::Failed,
            _ if raw.failed || told == Some("error") || exit_code.is_some_and(|code| code != 0) => Status::Failed,
            _ => Status::Done,
        };
        let call = CallId(response.id.as_deref().unwrap_or_default().into());
        Body::Outcome(Box::new(Outcome { call, status, exit_code, parts }))
    }

    fn read_part(&self, part: &WirePart<'_>) -> Option<Part> {
        if let Some(text) = &part.text {
            return Some(Part::Text(text.to_string()));
        }
        if let Some(WireData { mime_type, data, display_name }) = &part.inline_data {
            let media_type = mime_type.as_deref().unwrap_or("image/png").to_owned();
            let name = display_name.as_deref().map(str::to_owned);
            return Some(Part::Blob(Blob { media_type, name, location: self.blob_location(data) }));
        }
        let file = part.file_data.as_ref()?;
        let media_type = file.mime_type.as_deref().unwrap_or("application/octet-stream").to_owned();
        Some(Part::Blob(Blob { media_type, name: None, location: BlobLocation::Remote(file.file_uri.to_string()) }))
    }

    fn blob_location(&self, data: &Text<'_>) -> BlobLocation {
        data.blob_location(self.line, self.key.record())
    }

    fn parse_payload<T: serde::Deserialize<'a>>(&self) -> Option<T> {
        serde_json::from_str(self.record.system_payload?.get()).ok()
    }

    fn read_system(&self, facts: &mut Vec<Fact>) -> Bodies {
        match self.record.subtype.as_deref() {
            Some("chat_compression") => match self.parse_payload::<WireCompaction<'a>>() {
                Some(compaction) => self.read_compaction(&compaction.compressed_history),
                // One that failed leaves nothing.
                None => vec![opaque_body("system/chat_compression")],
            },
            Some("custom_title") => {
                facts.extend(self.parse_payload::<WireTitle>().as_ref().and_then(given_title));
                vec![(Origin::Harness, Body::Note(Note::Title))]
            }
            Some("ui_telemetry") => vec![(Origin::Harness, self.read_telemetry())],
            Some("attribution_snapshot" | "file_history_snapshot") => {
                vec![(Origin::Harness, Body::Note(Note::Snapshot))]
            }
            Some("session_model") => vec![(Origin::Harness, Body::Note(Note::Mode))],
            Some("at_command") => vec![opaque_body("system/at_command")],
            Some("slash_command") => self.read_command(facts),
            Some("rewind") => vec![opaque_body("system/rewind")],
            Some(subtype) => vec![unknown_body(format!("system/{subtype}"))],
            None => vec![opaque_body("system")],
        }
    }

    /// A command of the user's own: what was typed stands here, and its template in the message that follows.
    fn read_command(&self, facts: &mut Vec<Fact>) -> Bodies {
        let command = self.parse_payload::<WireCommand>().filter(|command| command.phase == "invocation");
        let typed =
            command.as_ref().and_then(|command| prompt::typed_command(&command.raw_command, command.sent_to_model));
        let Some(typed) = typed else { return vec![opaque_body("system/slash_command")] };
        let parts = vec![Part::Text(typed.to_owned())];
        facts.extend(first_prompt_title(&parts));
        vec![(Origin::User, Body::Prompt(parts))]
    }

    /// The context begins anew with what the record holds: a summary, the client's own assent to it in the model's
    /// place, and what was kept.
    fn read_compaction(&self, history: &[WireContent<'_>]) -> Bodies {
        let barrier = Compaction { repeats: true, ..Compaction::default() };
        let mut bodies = vec![(Origin::Harness, Body::Compacted(Box::new(barrier)))];
        let mut summary: Option<usize> = None;
        let mut assented = false;
        for content in history {
            let is_models = &*content.role == "model";
            let only = || content.parts.iter().all(|part| part.text.is_some() && part.thought != Some(true));
            match (summary, is_models) {
                (None, false) if only() && !content.parts.iter().any(starts_boilerplate) => {
                    summary = Some(bodies.len());
                    bodies.push((Origin::Agent, Body::Summary(self.summary_parts(content))));
                }
                (None, true) => bodies.extend(as_harness(self.read_assistant(content))),
                (Some(_), true) if !assented && only() => {
                    assented = true;
                    bodies.extend(as_harness(self.read_assistant(content)));
                }
                (Some(at), false) if only() && content.parts.iter().all(is_embedded_file) => {
                    if let Body::Summary(parts) = &mut bodies[at].1 {
                        parts.extend(self.summary_parts(content));
                    }
                }
                (_, true) => bodies.extend(self.read_assistant(content)),
                (_, false) => bodies.extend(self.read_input(content, Origin::User)),
            }
        }
        bodies
    }

    fn summary_parts(&self, content: &WireContent<'_>) -> Vec<Part> {
        let mut parts: Vec<Part> = content.parts.iter().filter_map(|part| self.read_part(part)).collect();
        for part in &mut parts {
            if let Part::Text(text) = part
                && let Some(end) = text.find(RESUME_REQUEST)
            {
                text.truncate(end);
            }
        }
        parts
    }

    fn read_telemetry(&self) -> Body {
        let event = self.parse_payload::<WireTelemetry>().map(|telemetry| telemetry.ui_event);
        match event {
            Some(event) if event.name == "qwen-code.api_error" => {
                let message = event.error_message.unwrap_or_default();
                let status = event.status_code.as_ref().and_then(serde_json::Value::as_u64);
                let kind = failure_kind(status, &message);
                Body::Failure(Box::new(Failure { kind, message, resets_at: None }))
            }
            _ => Usage::default().into_body(),
        }
    }
}

/// Whether a record stands beside the conversation: the client neither goes on from it nor through it.
fn is_off_chain(record: &WireRecord<'_>) -> bool {
    let named = |subtype: &str| OFF_CHAIN_PREFIXES.iter().any(|beginning| subtype.starts_with(beginning));
    &*record.kind == "system" && record.subtype.as_deref().is_some_and(named)
}

/// Collects the facts of a record about the session as a whole.
/// The response to a call, as text.
#[derive(Default)]
struct ResponseText {
    text: String,
    failed: bool,
}

impl ResponseText {
    fn from_raw(raw: &serde_json::value::RawValue) -> Self {
        match serde_json::from_str::<WireOutput>(raw.get()) {
            Ok(WireOutput { error: Some(text), .. }) => Self { text, failed: true },
            Ok(WireOutput { output: Some(text), .. }) => Self { text, failed: false },
            _ => Self { text: raw.get().to_owned(), failed: false },
        }
    }
}

fn as_harness(bodies: Bodies) -> Bodies {
    bodies.into_iter().map(|(_, body)| (Origin::Harness, body)).collect()
}

fn starts_boilerplate(part: &WirePart<'_>) -> bool {
    part.text.as_deref().is_some_and(is_boilerplate)
}

/// Files that the client puts behind a summary.
fn is_embedded_file(part: &WirePart<'_>) -> bool {
    part.text.as_deref().is_some_and(|text| text.starts_with("Recently accessed file"))
}

fn opaque_body(kind: &'static str) -> (Origin, Body) {
    (Origin::Harness, Body::known(kind))
}

fn unknown_body(kind: impl Into<Box<str>>) -> (Origin, Body) {
    (Origin::Harness, Body::unknown(kind))
}

fn given_title(title: &WireTitle) -> Option<Fact> {
    let rank = if title.title_source.as_deref() == Some("auto") { TitleRank::Generated } else { TitleRank::Given };
    let text = one_line(&title.custom_title, 200);
    (!text.is_empty()).then_some(Fact::Title(rank, text))
}

fn first_prompt_title(parts: &[Part]) -> Option<Fact> {
    let Some(Part::Text(text)) = parts.iter().find(|part| matches!(part, Part::Text(_))) else { return None };
    // Long prompts are named by their beginning, and that needs no look at the rest.
    let line = one_line(&text[..text.floor_char_boundary(2_000)], 200);
    (!line.is_empty()).then_some(Fact::Title(TitleRank::FirstPrompt, line))
}

fn failure_kind(status: Option<u64>, message: &str) -> FailureKind {
    let lower = message.to_ascii_lowercase();
    match status {
        Some(429) => FailureKind::RateLimit,
        Some(401 | 403) => FailureKind::Authentication,
        Some(402) => FailureKind::Billing,
        Some(500..=599) => FailureKind::Server,
        _ if lower.contains("aborted") => FailureKind::Interrupted,
        _ if lower.contains("rate limit") || lower.contains("quota") => FailureKind::RateLimit,
        _ if lower.contains("context length") || lower.contains("too long") => FailureKind::ContextTooLong,
        _ => FailureKind::Other,
    }
}
