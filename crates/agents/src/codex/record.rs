//! One line of a rollout, read: its entries, and what it tells of the session as a whole.
//!
//! Every line makes at least one entry, and one line is read without looking at any other: that is what makes
//! reading in steps, and reading one record again, give the same.

use std::path::PathBuf;

use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Body, Compaction, Condition, Entry, EntryKey, Fact, Failure, FailureKind, Note, Opaque, Origin, Part, Permission,
    RejectedRecord, SessionId, StartSetting, Usage,
};
use memchr::memmem;
use serde::de::IgnoredAny;

use super::item::{self, AttributedBody, RecordBytes};
use super::meta::WireMeta;
use super::peek::RecordPeek;
use super::wire::{
    WireCompacted, WireError, WireEvent, WireItem, WireLine, WireLoose, WireTokenCount, WireTurnContext,
};
use super::{start_settings, usage};
use crate::formats::jsonl::Line;

/// The entries and facts of one line.
#[derive(Debug)]
pub(super) struct ParsedRecord {
    pub(super) key: EntryKey,
    pub(super) ordinal: Option<u64>,
    pub(super) entries: Vec<Entry>,
    pub(super) facts: Vec<Fact>,
    pub(super) rejected: Option<&'static str>,
}

impl ParsedRecord {
    pub(super) fn rejected_record(&self) -> Option<RejectedRecord> {
        self.rejected.map(|reason| RejectedRecord { key: self.key, reason })
    }
}

/// Whether a record of this kind was ever written by a client that we know.
pub(super) fn is_known_kind(line: &[u8]) -> bool {
    let peek = RecordPeek::from_line(line);
    match peek.kind {
        Some(kind) => RECORD_KINDS.contains(&kind),
        None => {
            WireMeta::parse(line).is_some() || serde_json::from_slice::<WireLoose<'_>>(line).is_ok_and(is_bare_record)
        }
    }
}

fn is_bare_record(loose: WireLoose<'_>) -> bool {
    loose.record_type.is_some() || loose.kind.is_some_and(|kind| BARE_ITEM_KINDS.contains(&&*kind))
}

const RECORD_KINDS: &[&str] = &[
    "session_meta",
    "response_item",
    "event_msg",
    "turn_context",
    "compacted",
    "world_state",
    "token_usage_record",
    "inter_agent_communication",
    "inter_agent_communication_metadata",
    "security_risk_score",
];

const BARE_ITEM_KINDS: &[&str] = &[
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "local_shell_call",
    "custom_tool_call",
    "custom_tool_call_output",
];

/// Events that only repeat, for a screen, what other records hold.
const DISPLAY_EVENTS: &[&str] = &[
    "agent_message",
    "agent_reasoning",
    "agent_reasoning_raw_content",
    "agent_reasoning_section_break",
    "context_compacted",
    "entered_review_mode",
    "error",
    "exec_command_end",
    "exited_review_mode",
    "item_completed",
    "mcp_tool_call_end",
    "patch_apply_end",
    "task_complete",
    "task_started",
    "thread_goal_updated",
    "thread_settings_applied",
    "user_message",
    "view_image_tool_call",
    "web_search_end",
];

/// Reads a line; `None` where it is the last one and still growing.
pub(super) fn parse(line: Line<'_>, file: u16, compressed: bool) -> Option<ParsedRecord> {
    let length = u32::try_from(line.length).unwrap_or(u32::MAX);
    let key = EntryKey { file, offset: line.offset, part: 0, length };
    let mut parsed = ParsedRecord { key, ordinal: None, entries: Vec::new(), facts: Vec::new(), rejected: None };
    if line.is_too_long() {
        parsed.rejected = Some("longer than we hold in memory");
        return Some(parsed);
    }
    if line.unterminated && serde_json::from_slice::<IgnoredAny>(line.bytes).is_err() {
        return None;
    }
    let ground = RecordBytes { file, offset: line.offset, bytes: line.bytes, compressed };
    let peek = RecordPeek::from_line(line.bytes);
    parsed.ordinal = peek.ordinal;
    if let Err(error) = parsed.read_record(&peek, &ground) {
        parsed.entries.clear();
        parsed.facts.clear();
        parsed.rejected = Some(if error.is_data() { "a shape that we do not know" } else { "not valid JSON" });
    }
    Some(parsed)
}

impl ParsedRecord {
    fn read_record(&mut self, peek: &RecordPeek<'_>, ground: &RecordBytes<'_>) -> serde_json::Result<()> {
        let at = peek.timestamp.and_then(Timestamp::parse);
        match peek.kind {
            Some("response_item") => self.read_item(ground),
            Some("event_msg") => match peek.payload_kind {
                Some("token_count") => self.read_token_count(at, ground),
                Some(inner) if !is_more_than_display(inner, ground.bytes) => {
                    self.push_noise(at, event_body(inner), ground)
                }
                _ => self.read_event(ground),
            },
            Some("session_meta") => self.read_meta(at, ground),
            Some("turn_context") => self.read_turn_context(ground),
            Some("compacted") => self.read_compaction(ground),
            Some(kind) => self.push_noise(at, opaque_body(kind), ground),
            None => self.read_loose(ground),
        }
    }

    fn push_body(&mut self, at: Option<Timestamp>, (origin, body): AttributedBody) {
        let part = u16::try_from(self.entries.len()).unwrap_or(u16::MAX);
        let key = EntryKey { part, ..self.key };
        self.entries.push(Entry { key, at, origin, side: false, node: None, body });
    }

    /// A record that is not looked into; only its end is, because a line that was cut off is no record.
    fn push_noise(&mut self, at: Option<Timestamp>, body: Body, ground: &RecordBytes<'_>) -> serde_json::Result<()> {
        if !ground.bytes.trim_ascii_end().ends_with(b"}") {
            serde_json::from_slice::<IgnoredAny>(ground.bytes)?;
        }
        self.push_body(at, (Origin::Harness, body));
        Ok(())
    }

    fn read_item(&mut self, ground: &RecordBytes<'_>) -> serde_json::Result<()> {
        let line: WireLine<'_, WireItem<'_>> = serde_json::from_slice(ground.bytes)?;
        let at = self.read_envelope(&line);
        if line.metadata.is_some_and(|metadata| metadata.compaction_output == Some(true)) {
            // The reply to the client's own request for a summary; the compaction that follows holds it.
            self.push_body(at, (Origin::Harness, Body::known("compaction_output")));
            return Ok(());
        }
        for said in item::read_bodies(&line.payload, ground) {
            self.push_body(at, said);
        }
        Ok(())
    }

    fn read_event(&mut self, ground: &RecordBytes<'_>) -> serde_json::Result<()> {
        let line: WireLine<'_, WireEvent<'_>> = serde_json::from_slice(ground.bytes)?;
        let at = self.read_envelope(&line);
        let event_of = &line.payload;
        let body = match &*event_of.kind {
            "thread_rolled_back" => Body::Rewound { turns: event_of.num_turns.unwrap_or(0) },
            "turn_aborted" => interruption_body(event_of),
            "error" => error_body(&WireError {
                message: event_of.message.clone(),
                codex_error_info: event_of.codex_error_info,
            }),
            "task_complete" => match &event_of.error {
                Some(error) => error_body(error),
                None => event_body("task_complete"),
            },
            kind => event_body(kind),
        };
        self.push_body(at, (Origin::Harness, body));
        Ok(())
    }

    /// One whose shape has changed is kept as it is.
    fn read_token_count(&mut self, at: Option<Timestamp>, ground: &RecordBytes<'_>) -> serde_json::Result<()> {
        let Ok(line) = serde_json::from_slice::<WireLine<'_, WireTokenCount<'_>>>(ground.bytes) else {
            return self.push_noise(at, Usage::default().into_body(), ground);
        };
        let at = self.read_envelope(&line);
        for body in usage::make_bodies(&line.payload, at) {
            self.push_body(at, (Origin::Harness, body));
        }
        Ok(())
    }

    fn read_meta(&mut self, at: Option<Timestamp>, ground: &RecordBytes<'_>) -> serde_json::Result<()> {
        serde_json::from_slice::<IgnoredAny>(ground.bytes)?;
        if let Some(meta) = WireMeta::parse(ground.bytes) {
            self.facts = meta_facts(meta);
        }
        self.push_body(at, (Origin::Harness, opaque_body("session_meta")));
        Ok(())
    }

    fn read_turn_context(&mut self, ground: &RecordBytes<'_>) -> serde_json::Result<()> {
        let line: WireLine<'_, WireTurnContext<'_>> = serde_json::from_slice(ground.bytes)?;
        let at = self.read_envelope(&line);
        let context = line.payload;
        self.facts.push(Fact::Permission(turn_permission(&context)));
        self.facts.extend(start_settings::from_turn(&context).into_iter().map(Fact::StartSetting));
        let sampling = start_settings::turn_sampling(&context);
        self.facts.extend(sampling.map(|sampling| Fact::Condition(Condition::Sampling(sampling))));
        self.facts.extend(context.cwd.map(|cwd| Fact::Project(PathBuf::from(&*cwd))));
        self.facts.extend(context.model.map(|model| Fact::Model(model.0.into_owned())));
        self.push_body(at, (Origin::Harness, Body::Note(Note::Mode)));
        Ok(())
    }

    fn read_compaction(&mut self, ground: &RecordBytes<'_>) -> serde_json::Result<()> {
        let line: WireLine<'_, WireCompacted<'_>> = serde_json::from_slice(ground.bytes)?;
        let at = self.read_envelope(&line);
        let message = line.payload.message.map(|message| message.0).filter(|message| !message.is_empty());
        let Some(items) = line.payload.replacement_history else {
            let compacted = Compaction { keeps_prompts: true, ..Compaction::default() };
            self.push_body(at, (Origin::Harness, Body::Compacted(Box::new(compacted))));
            if let Some(message) = message {
                self.push_body(at, (Origin::Agent, Body::Summary(vec![Part::Text(message.into_owned())])));
            }
            return Ok(());
        };
        let compacted = Compaction { repeats: true, ..Compaction::default() };
        self.push_body(at, (Origin::Harness, Body::Compacted(Box::new(compacted))));
        for item in &items {
            for said in item::read_bodies(item, ground) {
                self.push_body(at, as_summary(said, message.as_deref()));
            }
        }
        Ok(())
    }

    /// Records whose kind does not stand at the beginning, and the bare ones of the first versions.
    fn read_loose(&mut self, ground: &RecordBytes<'_>) -> serde_json::Result<()> {
        let loose: WireLoose<'_> = serde_json::from_slice(ground.bytes)?;
        let kind = loose.kind.as_deref();
        match (kind, loose.payload) {
            (Some("response_item"), Some(_)) => self.read_item(ground),
            (Some("event_msg"), Some(_)) => self.read_event(ground),
            (Some("session_meta"), Some(_)) => self.read_meta(None, ground),
            (Some("turn_context"), Some(_)) => self.read_turn_context(ground),
            (Some("compacted"), Some(_)) => self.read_compaction(ground),
            (Some(kind), None) if BARE_ITEM_KINDS.contains(&kind) => {
                let item: WireItem<'_> = serde_json::from_slice(ground.bytes)?;
                for said in item::read_bodies(&item, ground) {
                    self.push_body(None, said);
                }
                Ok(())
            }
            (Some(kind), _) => self.push_noise(None, opaque_body(kind), ground),
            (None, _) if loose.id.is_some() => self.read_meta(None, ground),
            (None, _) => {
                if loose.role.is_some() {
                    // Descriptions of the format on the web have it, and no client; what somebody wrote after them is not
                    // passed over.
                    self.rejected = Some("words in a shape that no version of the client writes");
                }
                let unnamed = Body::Opaque(Opaque::Unnamed("record.unknown"));
                self.push_noise(None, loose.record_type.as_deref().map_or(unnamed, opaque_body), ground)
            }
        }
    }

    /// Takes the envelope's fields in.
    fn read_envelope<P>(&mut self, line: &WireLine<'_, P>) -> Option<Timestamp> {
        self.ordinal = self.ordinal.or(line.ordinal);
        line.timestamp.as_ref().and_then(|at| Timestamp::parse(at))
    }
}

/// Whether an event is more than display; looked for in the bytes, because most are not.
fn is_more_than_display(kind: &str, bytes: &[u8]) -> bool {
    match kind {
        "thread_rolled_back" | "turn_aborted" | "error" => true,
        "task_complete" => memmem::find(bytes, br#""error""#).is_some(),
        _ => false,
    }
}

fn event_body(kind: &str) -> Body {
    match DISPLAY_EVENTS.iter().find(|known| **known == kind) {
        Some(known) => Body::known(*known),
        None => Body::unknown(format!("event.{kind}")),
    }
}

fn opaque_body(kind: &str) -> Body {
    match RECORD_KINDS.iter().find(|known| **known == kind) {
        Some(known) => Body::known(*known),
        None => Body::unknown(format!("record.{kind}")),
    }
}

/// A message of the user that is the compaction's own summary, in versions that do not label it.
fn as_summary((origin, body): AttributedBody, message: Option<&str>) -> AttributedBody {
    match (body, message) {
        (Body::Prompt(parts), Some(message)) if matches!(&parts[..], [Part::Text(text)] if text == message) => {
            (Origin::Agent, Body::Summary(parts))
        }
        (body, _) => (origin, body),
    }
}

fn meta_facts(meta: WireMeta) -> Vec<Fact> {
    let mut facts = Vec::new();
    facts.extend(meta.id.map(|id| Fact::Session(SessionId(id))));
    facts.extend(meta.cwd.map(|cwd| Fact::Project(PathBuf::from(cwd))));
    facts.extend(meta.branch.map(Fact::Branch));
    facts.extend(meta.cli_version.map(Fact::ClientVersion));
    facts.extend(meta.timestamp.as_deref().and_then(Timestamp::parse).map(Fact::StartedAt));
    facts.extend(meta.originator.map(|name| Fact::StartSetting(StartSetting::Entrypoint(name))));
    facts.extend(meta.parent.map(|id| Fact::Parent(SessionId(id))));
    let conditions = [
        meta.commit.map(Condition::Commit),
        meta.provider.map(Condition::Routing),
        meta.prompt.map(Condition::SystemPrompt),
    ];
    facts.extend(conditions.into_iter().flatten().map(Fact::Condition));
    facts
}

fn turn_permission(context: &WireTurnContext<'_>) -> Permission {
    let sandbox = context.sandbox_policy.as_ref().and_then(|policy| policy.kind.as_ref()).map(|text| &**text);
    let never_asks = context.approval_policy.is_some_and(|policy| policy.get() == r#""never""#);
    match sandbox {
        Some("danger-full-access") if never_asks => Permission::Everything,
        Some("workspace-write") if never_asks => Permission::AcceptEdits,
        Some("read-only") => Permission::Plan,
        _ => Permission::Ask,
    }
}

fn failure_body(kind: FailureKind, message: &str, resets_at: Option<Timestamp>) -> Body {
    Body::Failure(Box::new(Failure { kind, message: message.to_owned(), resets_at }))
}

fn interruption_body(event: &WireEvent<'_>) -> Body {
    failure_body(FailureKind::Interrupted, event.reason.as_deref().unwrap_or("interrupted"), None)
}

fn error_body(error: &WireError<'_>) -> Body {
    let info = error.codex_error_info.map_or("", |info| info.get());
    let message = error.message.as_deref().unwrap_or_default();
    let kind = if info.contains("usage_limit_exceeded") || info.contains("429") || mentions_limit(message) {
        FailureKind::RateLimit
    } else if info.contains("context_window_exceeded") {
        FailureKind::ContextTooLong
    } else if info.contains("unauthorized") || info.contains("401") || info.contains("403") {
        FailureKind::Authentication
    } else if info.contains("server") || info.contains("response_") || info.contains("http_") {
        FailureKind::Server
    } else {
        FailureKind::Other
    };
    failure_body(kind, message, None)
}

/// Former versions tell an error in words alone.
fn mentions_limit(message: &str) -> bool {
    ["hit your usage limit", "usage limit has been reached", "429 Too Many Requests", "Rate limit reached"]
        .iter()
        .any(|words| message.contains(words))
}
