//! One event, made into entries.

use carryover_core::json::Json;
use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Body, Call, CallForm, CallId, Compaction, Condition, EntryKey, Fact, Failure, FailureKind, Note, Origin, Part,
    Permission, Reasoning, SessionId, StartSetting, TitleRank,
};
use serde_json::value::RawValue;

use super::assets::{self, LocatedLine};
use super::wire::{
    WireAssistant, WireAttachment, WireCompaction, WireComplete, WireError, WireEvent, WireNotice, WireSession,
    WireSetting, WireSystem, WireUser,
};
use super::{outcome, prompt, usage};
use crate::formats::digest::digest_text;
use crate::formats::jsonl::{self, Line};
use crate::formats::text::Text;

/// The facts and entries of one line.
pub(super) type Parsed = jsonl::ParsedRecord<More>;

/// What only lines of this client tell.
#[derive(Default)]
pub(super) struct More {
    /// Bytes that later events refer to, and where they stand.
    pub asset: Option<assets::Asset>,
    /// Whether the kind belongs to a family that we know.
    pub known: bool,
}

/// The families of events; a new event in one of them is no drift.
const EVENT_FAMILIES: &[&str] =
    &["session.", "user.", "assistant.", "tool.", "system.", "hook.", "model.", "subagent.", "skill.", "permission."];

/// Records that no model ever sees and that can be large; their lines begin with their type.
const NOISE_KINDS: &[&str] = &[
    "hook.end",
    "hook.start",
    "model.message",
    "model.messages_snapshot",
    "model.model_call_started",
    "model.model_call_success",
    "model.response",
    "model.turn_ended",
    "model.turn_started",
    "session.shutdown",
    "tool.execution_start",
];

type Bodies = Vec<(Origin, Body)>;

/// Reads a line. `None`: it ends without a line feed and is not whole.
pub(super) fn parse_record(line: Line<'_>, file: u16) -> Option<Parsed> {
    let key = line.key(file);
    if line.is_too_long() {
        return Some(Parsed::new_rejected(key, "the record is longer than 64 MiB"));
    }
    if let Some(kind) = noise_kind(line.bytes).filter(|_| !line.unterminated) {
        let mut parsed = Parsed::empty(key);
        parsed.more.known = true;
        parsed.push_entries(None, false, None, vec![(Origin::Harness, Body::known(kind))]);
        return Some(parsed);
    }
    match jsonl::parse_record::<WireEvent<'_>>(line.bytes) {
        Ok(event) => Some(EventReader::read_event(line.bytes, key, &event)),
        Err(_) if line.unterminated => None,
        Err(_) => Some(Parsed::new_rejected(key, "not a JSON object")),
    }
}

/// The kind of a noise line, by its first bytes alone.
fn noise_kind(line: &[u8]) -> Option<&'static str> {
    let rest = line.strip_prefix(br#"{"type":""#)?;
    let kind = &rest[..rest.iter().take(48).position(|byte| *byte == b'"')?];
    NOISE_KINDS.iter().copied().find(|noise| noise.as_bytes() == kind)
}

/// An event in the course of being read.
struct EventReader<'r, 'a> {
    line: LocatedLine<'a>,
    kind: &'r str,
    data: &'a RawValue,
    /// Said in a sub-agent's conversation.
    side: bool,
    facts: Vec<Fact>,
}

impl<'r, 'a> EventReader<'r, 'a> {
    fn read_event(line: &'a [u8], key: EntryKey, event: &'r WireEvent<'a>) -> Parsed {
        let kind = event.kind.as_deref().unwrap_or_default();
        let at = event.timestamp.as_deref().and_then(Timestamp::parse);
        let mut parsed = Parsed::empty(key);
        parsed.more.known = is_known_kind(kind);
        let Some(data) = event.data else {
            parsed.push_entries(at, false, None, vec![opaque_body(kind)]);
            return parsed;
        };
        let ground = LocatedLine { bytes: line, file: key.file, offset: key.offset };
        if kind == "session.binary_asset" {
            parsed.more.asset = assets::from_event(&ground, data);
        }
        let mut reading = Self { line: ground, kind, data, side: event.agent_id.is_some(), facts: Vec::new() };
        let Ok(bodies) = reading.read_bodies() else {
            let more = More { known: true, asset: None };
            return Parsed { more, ..Parsed::new_rejected(key, "a field has another type than it had") };
        };
        parsed.push_entries(at, reading.side, None, bodies);
        // Facts in a sub-agent's events are not the session's.
        if !reading.side {
            parsed.facts = reading.facts;
        }
        parsed
    }

    fn parse_data<T: serde::Deserialize<'a>>(&self) -> serde_json::Result<T> {
        serde_json::from_str(self.data.get())
    }

    fn read_bodies(&mut self) -> serde_json::Result<Bodies> {
        Ok(match self.kind {
            "user.message" => self.read_user()?,
            "assistant.message" => self.read_assistant()?,
            "tool.execution_complete" => {
                let complete: WireComplete<'_> = self.parse_data()?;
                self.side |= complete.parent_tool_call_id.is_some();
                vec![(Origin::Agent, Body::Outcome(Box::new(outcome::from_complete(&complete, &self.line))))]
            }
            "session.compaction_complete" => self.read_compaction()?,
            "session.context_cleared" => self.read_cleared()?,
            "session.error" => vec![(Origin::Harness, Body::Failure(Box::new(read_failure(&self.parse_data()?))))],
            "abort" => {
                let message = "interrupted by the user".to_owned();
                let failure = Failure { kind: FailureKind::Interrupted, message, resets_at: None };
                vec![(Origin::Harness, Body::Failure(Box::new(failure)))]
            }
            "system.notification" => {
                let notice: WireNotice<'_> = self.parse_data()?;
                let (words, live) = prompt::split_blocks(&notice.content);
                let words = live.into_iter().chain(Some(words)).filter(|words| !words.is_empty());
                words.map(|words| (Origin::Hook, Body::Prompt(vec![text_part(words)]))).collect()
            }
            "session.start" | "session.resume" | "session.context_changed" | "session.model_change" => {
                let session: WireSession<'_> = self.parse_data()?;
                self.facts = session_facts(&session);
                vec![opaque_body(self.kind)]
            }
            "session.mode_changed" | "session.permissions_changed" => {
                let setting: WireSetting<'_> = self.parse_data()?;
                self.facts = read_permission(&setting).map(Fact::Permission).into_iter().collect();
                self.facts.extend(mode_setting(&setting).map(Fact::StartSetting));
                note_bodies(Note::Mode)
            }
            "session.title_changed" => {
                let setting: WireSetting<'_> = self.parse_data()?;
                self.facts =
                    setting.title.and_then(|text| title_fact(TitleRank::Generated, &text)).into_iter().collect();
                note_bodies(Note::Title)
            }
            "system.message" => {
                let told: WireSystem<'_> = self.parse_data().unwrap_or_default();
                let prompt = told.content.as_deref().filter(|prompt| !prompt.is_empty()).map(digest_text);
                self.facts =
                    prompt.map(|prompt| Fact::Condition(Condition::SystemPrompt(prompt))).into_iter().collect();
                vec![opaque_body(self.kind)]
            }
            "session.usage_record" => {
                let (usage, model) = usage::from_data(self.data.get());
                self.facts.extend(model);
                note_bodies(Note::Usage(Box::new(usage)))
            }
            "session.usage_info" | "session.usage_checkpoint" => note_bodies(Note::Usage(Box::default())),
            kind => vec![opaque_body(kind)],
        })
    }

    /// The typed words come first: a turn begins with them.
    fn read_user(&mut self) -> serde_json::Result<Bodies> {
        let user: WireUser<'_> = self.parse_data()?;
        let origin = prompt_origin(&user);
        // The same notice has an event of its own.
        if origin == Origin::Harness && user.content.trim_start().starts_with("<system_notification>") {
            return Ok(vec![(origin, Body::Prompt(vec![text_part(&user.content)]))]);
        }
        let (typed, around) = prompt::split_blocks(&user.content);
        let mut live: Vec<String> = around.into_iter().map(str::to_owned).collect();
        if let Some(sent) = user.transformed_content.as_deref() {
            live.extend(prompt::live_words_around(sent, &user.content));
        }
        let mut parts: Vec<Part> = Some(typed).filter(|typed| !typed.is_empty()).map(text_part).into_iter().collect();
        for attachment in &user.attachments {
            match self.read_attachment(attachment) {
                Some(Part::Text(file)) => live.push(file),
                image => parts.extend(image),
            }
        }
        let mut bodies = Vec::new();
        if !parts.is_empty() {
            if origin == Origin::User && !self.side {
                self.facts.extend(first_prompt_title(&parts));
            }
            bodies.push((origin, Body::Prompt(parts)));
        }
        bodies.extend(live.iter().map(|words| (Origin::Hook, Body::Prompt(vec![text_part(words)]))));
        if bodies.is_empty() {
            bodies.push(opaque_body("user.message"));
        }
        Ok(bodies)
    }

    /// An image is shown to the model; of any other file, only its name is.
    fn read_attachment(&self, attachment: &WireAttachment<'_>) -> Option<Part> {
        let name = attachment.path.as_ref().or(attachment.file_path.as_ref()).or(attachment.display_name.as_ref());
        let name = name.or(attachment.url.as_ref()).map(|name| name.to_string());
        if let Some(blob) = self.line.read_blob(&attachment.bytes, name.clone()) {
            return Some(Part::Blob(blob));
        }
        let name = name?;
        Some(Part::Text(match &attachment.text {
            Some(text) => format!("[attached {name}]\n{}", &**text),
            None => format!("[attached {name}]"),
        }))
    }

    fn read_assistant(&mut self) -> serde_json::Result<Bodies> {
        let message: WireAssistant<'_> = self.parse_data()?;
        self.side |= message.parent_tool_call_id.is_some();
        self.facts.extend(message.model.as_deref().map(|model| Fact::Model(model.to_owned())));
        let mut bodies = Vec::new();
        let sealed = message.reasoning_opaque.is_some() || message.encrypted_content.is_some();
        let thought = message.reasoning_text.as_deref().unwrap_or_default();
        if sealed || !thought.is_empty() {
            let reasoning = Reasoning { text: thought.to_owned(), sealed };
            bodies.push((Origin::Agent, Body::Reasoning(Box::new(reasoning))));
        }
        if !message.content.is_empty() {
            bodies.push((Origin::Agent, Body::Reply(vec![Part::Text(message.content.to_string())])));
        }
        for request in &message.tool_requests {
            let input = request.arguments.map_or_else(Json::empty_object, call_input);
            let form = if input.as_str().starts_with('"') { CallForm::Freeform } else { CallForm::Function };
            let id = CallId((&*request.tool_call_id).into());
            let call = Call { id, tool: request.name.to_string(), input, form };
            bodies.push((Origin::Agent, Body::Call(Box::new(call))));
        }
        if bodies.is_empty() {
            bodies.push(opaque_body("assistant.message"));
        }
        Ok(bodies)
    }

    /// The words of the user's prompts stay, in front of the summary.
    fn read_compaction(&self) -> serde_json::Result<Bodies> {
        let compaction: WireCompaction<'_> = self.parse_data()?;
        Ok(match compaction.summary_content {
            Some(summary) if compaction.success && !self.side => vec![
                (Origin::Harness, compaction_body(true)),
                (Origin::Agent, Body::Summary(vec![Part::Text(summary.to_string())])),
            ],
            _ => vec![opaque_body(self.kind)],
        })
    }

    fn read_cleared(&self) -> serde_json::Result<Bodies> {
        let cleared: WireCompaction<'_> = self.parse_data()?;
        if self.side {
            return Ok(vec![opaque_body(self.kind)]);
        }
        let mut bodies = vec![(Origin::Harness, compaction_body(false))];
        if let Some(message) = cleared.initial_message.filter(|message| !message.is_empty()) {
            bodies.push((Origin::User, Body::Prompt(vec![Part::Text(message.to_string())])));
        }
        Ok(bodies)
    }
}

/// Whether a kind is of a family that we know.
fn is_known_kind(kind: &str) -> bool {
    kind == "abort" || EVENT_FAMILIES.iter().any(|family| kind.starts_with(family))
}

fn compaction_body(keeps_prompts: bool) -> Body {
    Body::Compacted(Box::new(Compaction { keeps_prompts, ..Compaction::default() }))
}

/// An event of the families in which things are said that says nothing to us: where nothing else does, it was renamed.
fn is_unknown_message(kind: &str) -> bool {
    let talks = ["user.", "assistant."].iter().any(|family| kind.starts_with(family));
    talks && !matches!(kind, "assistant.turn_start" | "assistant.turn_end")
}

fn opaque_body(kind: &str) -> (Origin, Body) {
    let is_known = is_known_kind(kind) && !is_unknown_message(kind);
    (Origin::Harness, if is_known { Body::known(kind.to_owned()) } else { Body::unknown(kind) })
}

fn note_bodies(note: Note) -> Bodies {
    vec![(Origin::Harness, Body::Note(note))]
}

/// How the sources of messages begin that a command, a sub-agent or a schedule puts in the user's place.
const NOT_TYPED_PREFIXES: &[&str] = &["skill-", "command-", "agent-", "schedule-"];

/// Who speaks in the user's place. A skill is the user's own text, but not typed by the user.
fn prompt_origin(user: &WireUser<'_>) -> Origin {
    match user.source.as_deref() {
        _ if user.is_autopilot_continuation => Origin::Harness,
        Some("system" | "jit-instruction" | "autopilot") => Origin::Harness,
        Some(source) if NOT_TYPED_PREFIXES.iter().any(|start| source.starts_with(start)) => Origin::Hook,
        _ => Origin::User,
    }
}

fn text_part(words: &str) -> Part {
    Part::Text(words.to_owned())
}

fn session_facts(session: &WireSession<'_>) -> Vec<Fact> {
    let text = |text: &Option<Text<'_>>| text.as_deref().map(str::to_owned);
    let context = session.context.as_ref();
    let cwd = context.and_then(|context| text(&context.cwd)).or_else(|| text(&session.cwd));
    let branch = context.and_then(|context| text(&context.branch)).or_else(|| text(&session.branch));
    let facts = [
        text(&session.session_id).map(SessionId).map(Fact::Session),
        text(&session.detached_from_spawning_parent_session_id).map(SessionId).map(Fact::Parent),
        text(&session.copilot_version).map(Fact::ClientVersion),
        session.start_time.as_deref().and_then(Timestamp::parse).map(Fact::StartedAt),
        text(&session.selected_model).or_else(|| text(&session.new_model)).map(Fact::Model),
        cwd.map(|cwd| Fact::Project(cwd.into())),
        branch.map(Fact::Branch),
    ];
    facts.into_iter().flatten().collect()
}

fn read_permission(setting: &WireSetting<'_>) -> Option<Permission> {
    match (setting.new_mode.as_deref(), setting.allow_all_permissions) {
        (Some("plan"), _) => Some(Permission::Plan),
        (Some("autopilot"), _) | (_, Some(true)) => Some(Permission::Everything),
        (Some(_), _) | (_, Some(false)) => Some(Permission::Ask),
        (None, None) => None,
    }
}

/// The mode that was in force, and the one that is.
fn mode_setting(setting: &WireSetting<'_>) -> Option<StartSetting> {
    let allowed = |mode: &Option<Text<'_>>| mode.as_deref().map(|mode| format!("allow all: {mode}"));
    let named = |mode: &Option<Text<'_>>| mode.as_deref().map(str::to_owned);
    let now = named(&setting.new_mode).or_else(|| allowed(&setting.allow_all_permission_mode))?;
    let before = named(&setting.previous_mode).or_else(|| allowed(&setting.previous_allow_all_permission_mode));
    Some(StartSetting::ModeChanged { before, now })
}

pub(super) fn title_fact(rank: TitleRank, text: &str) -> Option<Fact> {
    let text = one_line(text, 200);
    (!text.is_empty()).then_some(Fact::Title(rank, text))
}

pub(super) fn first_prompt_title(parts: &[Part]) -> Option<Fact> {
    let Some(Part::Text(text)) = parts.iter().find(|part| matches!(part, Part::Text(_))) else { return None };
    // Long prompts are named by their beginning, and that needs no look at the rest.
    title_fact(TitleRank::FirstPrompt, &text[..text.floor_char_boundary(2_000)])
}

/// The input of a call. The extension in VS Code, which writes such events for hooks, has the object in a string.
fn call_input(arguments: &RawValue) -> Json {
    let object = serde_json::from_str::<String>(arguments.get()).ok().filter(|text| text.starts_with('{'));
    object.and_then(|text| Json::parse(&text)).unwrap_or_else(|| Json::from_raw(arguments))
}

fn read_failure(error: &WireError<'_>) -> Failure {
    let kind = match (&*error.error_type, error.status_code) {
        ("rate_limit", _) | (_, Some(429)) => FailureKind::RateLimit,
        ("quota", _) | (_, Some(402)) => FailureKind::Billing,
        ("authentication" | "authorization" | "policy", _) | (_, Some(401 | 403)) => FailureKind::Authentication,
        ("context_limit", _) => FailureKind::ContextTooLong,
        (_, Some(500..)) => FailureKind::Server,
        _ => FailureKind::Other,
    };
    Failure { kind, message: error.message.to_string(), resets_at: None }
}
