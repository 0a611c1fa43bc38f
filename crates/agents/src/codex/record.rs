//! One line of a rollout, read: its entries, and what it tells of the session as a whole.
//!
//! Every line makes at least one entry, and one line is read without looking at any other: that is what makes
//! reading in steps, and reading one record again, give the same.

use std::borrow::Cow;
use std::path::PathBuf;

use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Begin, Body, Compacted, Entry, EntryKey, Fact, Failure, FailureKind, Note, Origin, Part, Permission, Rejected,
    SessionId, Usage,
};
use memchr::memmem;
use serde::de::IgnoredAny;

use super::item::{self, Ground, Said};
use super::meta::WireMeta;
use super::peek::Peek;
use super::wire::{
    WireCompacted, WireError, WireEvent, WireItem, WireLine, WireLoose, WireTokenCount, WireTurnContext,
};
use super::{begun, usage};
use crate::formats::jsonl::Line;

/// What one line holds.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) key: EntryKey,
    pub(super) ordinal: Option<u64>,
    pub(super) entries: Vec<Entry>,
    pub(super) facts: Vec<Fact>,
    pub(super) rejected: Option<&'static str>,
}

impl Parsed {
    pub(super) fn rejection(&self) -> Option<Rejected> {
        self.rejected.map(|reason| Rejected { key: self.key, reason })
    }
}

/// Whether a record of this kind was ever written by a client that we know.
pub(super) fn is_known_kind(line: &[u8]) -> bool {
    let peek = Peek::at(line);
    match peek.kind {
        Some(kind) => KINDS.contains(&kind),
        None => WireMeta::parse(line).is_some() || serde_json::from_slice::<WireLoose<'_>>(line).is_ok_and(is_bare),
    }
}

fn is_bare(loose: WireLoose<'_>) -> bool {
    loose.record_type.is_some() || loose.kind.is_some_and(|kind| BARE_ITEMS.contains(&&*kind))
}

const KINDS: &[&str] = &[
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

const BARE_ITEMS: &[&str] = &[
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "local_shell_call",
    "custom_tool_call",
    "custom_tool_call_output",
];

/// Events that only repeat, for a screen, what other records hold.
const EVENTS: &[&str] = &[
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
pub(super) fn parse(line: Line<'_>, file: u16, compressed: bool) -> Option<Parsed> {
    let length = u32::try_from(line.length).unwrap_or(u32::MAX);
    let key = EntryKey { file, offset: line.offset, part: 0, length };
    let mut parsed = Parsed { key, ordinal: None, entries: Vec::new(), facts: Vec::new(), rejected: None };
    if line.is_too_long() {
        parsed.rejected = Some("longer than we hold in memory");
        return Some(parsed);
    }
    if line.unterminated && serde_json::from_slice::<IgnoredAny>(line.bytes).is_err() {
        return None;
    }
    let ground = Ground { file, offset: line.offset, bytes: line.bytes, compressed };
    let peek = Peek::at(line.bytes);
    parsed.ordinal = peek.ordinal;
    if let Err(error) = parsed.fill(&peek, &ground) {
        parsed.entries.clear();
        parsed.facts.clear();
        parsed.rejected = Some(if error.is_data() { "a shape that we do not know" } else { "not valid JSON" });
    }
    Some(parsed)
}

impl Parsed {
    fn fill(&mut self, peek: &Peek<'_>, ground: &Ground<'_>) -> serde_json::Result<()> {
        let at = peek.timestamp.and_then(Timestamp::parse);
        match peek.kind {
            Some("response_item") => self.item(ground),
            Some("event_msg") => match peek.inner {
                Some("token_count") => self.token_count(at, ground),
                Some(inner) if !tells_more(inner, ground.bytes) => self.noise(at, event(inner), ground),
                _ => self.event(ground),
            },
            Some("session_meta") => self.meta(at, ground),
            Some("turn_context") => self.turn_context(ground),
            Some("compacted") => self.compacted(ground),
            Some(kind) => self.noise(at, opaque(kind), ground),
            None => self.loose(ground),
        }
    }

    fn put(&mut self, at: Option<Timestamp>, (origin, body): Said) {
        let part = u16::try_from(self.entries.len()).unwrap_or(u16::MAX);
        let key = EntryKey { part, ..self.key };
        self.entries.push(Entry { key, at, origin, side: false, node: None, body });
    }

    /// A record that is not looked into; only its end is, because a line that was cut off is no record.
    fn noise(&mut self, at: Option<Timestamp>, body: Body, ground: &Ground<'_>) -> serde_json::Result<()> {
        if !ground.bytes.trim_ascii_end().ends_with(b"}") {
            serde_json::from_slice::<IgnoredAny>(ground.bytes)?;
        }
        self.put(at, (Origin::Harness, body));
        Ok(())
    }

    fn item(&mut self, ground: &Ground<'_>) -> serde_json::Result<()> {
        let line: WireLine<'_, WireItem<'_>> = serde_json::from_slice(ground.bytes)?;
        let at = self.open(&line);
        if line.metadata.is_some_and(|metadata| metadata.compaction_output == Some(true)) {
            // The reply to the client's own request for a summary; the compaction that follows holds it.
            self.put(at, (Origin::Harness, Body::Opaque(Cow::Borrowed("compaction_output"))));
            return Ok(());
        }
        for said in item::read(&line.payload, ground) {
            self.put(at, said);
        }
        Ok(())
    }

    fn event(&mut self, ground: &Ground<'_>) -> serde_json::Result<()> {
        let line: WireLine<'_, WireEvent<'_>> = serde_json::from_slice(ground.bytes)?;
        let at = self.open(&line);
        let event_of = &line.payload;
        let body = match &*event_of.kind {
            "thread_rolled_back" => Body::Rewound { turns: event_of.num_turns.unwrap_or(0) },
            "turn_aborted" => interrupted(event_of),
            "error" => {
                failed(&WireError { message: event_of.message.clone(), codex_error_info: event_of.codex_error_info })
            }
            "task_complete" => match &event_of.error {
                Some(error) => failed(error),
                None => event("task_complete"),
            },
            kind => event(kind),
        };
        self.put(at, (Origin::Harness, body));
        Ok(())
    }

    /// One whose shape has changed is kept as it is.
    fn token_count(&mut self, at: Option<Timestamp>, ground: &Ground<'_>) -> serde_json::Result<()> {
        let Ok(line) = serde_json::from_slice::<WireLine<'_, WireTokenCount<'_>>>(ground.bytes) else {
            return self.noise(at, Usage::default().into_body(), ground);
        };
        let at = self.open(&line);
        for body in usage::bodies(&line.payload, at) {
            self.put(at, (Origin::Harness, body));
        }
        Ok(())
    }

    fn meta(&mut self, at: Option<Timestamp>, ground: &Ground<'_>) -> serde_json::Result<()> {
        serde_json::from_slice::<IgnoredAny>(ground.bytes)?;
        if let Some(meta) = WireMeta::parse(ground.bytes) {
            self.facts = facts_of(meta);
        }
        self.put(at, (Origin::Harness, opaque("session_meta")));
        Ok(())
    }

    fn turn_context(&mut self, ground: &Ground<'_>) -> serde_json::Result<()> {
        let line: WireLine<'_, WireTurnContext<'_>> = serde_json::from_slice(ground.bytes)?;
        let at = self.open(&line);
        let context = line.payload;
        self.facts.push(Fact::Permission(permission(&context)));
        self.facts.extend(begun::of_turn(&context).into_iter().map(Fact::Begun));
        self.facts.extend(context.cwd.map(|cwd| Fact::Project(PathBuf::from(&*cwd))));
        self.facts.extend(context.model.map(|model| Fact::Model(model.0.into_owned())));
        self.put(at, (Origin::Harness, Body::Note(Note::Mode)));
        Ok(())
    }

    fn compacted(&mut self, ground: &Ground<'_>) -> serde_json::Result<()> {
        let line: WireLine<'_, WireCompacted<'_>> = serde_json::from_slice(ground.bytes)?;
        let at = self.open(&line);
        let message = line.payload.message.map(|message| message.0).filter(|message| !message.is_empty());
        let Some(items) = line.payload.replacement_history else {
            let compacted = Compacted { keeps_prompts: true, ..Compacted::default() };
            self.put(at, (Origin::Harness, Body::Compacted(Box::new(compacted))));
            if let Some(message) = message {
                self.put(at, (Origin::Agent, Body::Summary(vec![Part::Text(message.into_owned())])));
            }
            return Ok(());
        };
        let compacted = Compacted { repeats: true, ..Compacted::default() };
        self.put(at, (Origin::Harness, Body::Compacted(Box::new(compacted))));
        for item in &items {
            for said in item::read(item, ground) {
                self.put(at, as_summary(said, message.as_deref()));
            }
        }
        Ok(())
    }

    /// Records whose kind does not stand at the beginning, and the bare ones of the first versions.
    fn loose(&mut self, ground: &Ground<'_>) -> serde_json::Result<()> {
        let loose: WireLoose<'_> = serde_json::from_slice(ground.bytes)?;
        let kind = loose.kind.as_deref();
        match (kind, loose.payload) {
            (Some("response_item"), Some(_)) => self.item(ground),
            (Some("event_msg"), Some(_)) => self.event(ground),
            (Some("session_meta"), Some(_)) => self.meta(None, ground),
            (Some("turn_context"), Some(_)) => self.turn_context(ground),
            (Some("compacted"), Some(_)) => self.compacted(ground),
            (Some(kind), None) if BARE_ITEMS.contains(&kind) => {
                let item: WireItem<'_> = serde_json::from_slice(ground.bytes)?;
                for said in item::read(&item, ground) {
                    self.put(None, said);
                }
                Ok(())
            }
            (Some(kind), _) => self.noise(None, opaque(kind), ground),
            (None, _) if loose.id.is_some() => self.meta(None, ground),
            (None, _) => {
                if loose.role.is_some() {
                    // Descriptions of the format on the web have it, and no client; what somebody wrote after them is not
                    // passed over.
                    self.rejected = Some("words in a shape that no version of the client writes");
                }
                let kind = loose.record_type.as_deref().unwrap_or("unknown");
                self.noise(None, opaque(kind), ground)
            }
        }
    }

    /// Takes the envelope's fields in.
    fn open<P>(&mut self, line: &WireLine<'_, P>) -> Option<Timestamp> {
        self.ordinal = self.ordinal.or(line.ordinal);
        line.timestamp.as_ref().and_then(|at| Timestamp::parse(at))
    }
}

/// Whether an event is more than display; looked for in the bytes, because most are not.
fn tells_more(kind: &str, bytes: &[u8]) -> bool {
    match kind {
        "thread_rolled_back" | "turn_aborted" | "error" => true,
        "task_complete" => memmem::find(bytes, br#""error""#).is_some(),
        _ => false,
    }
}

fn event(kind: &str) -> Body {
    match EVENTS.iter().find(|known| **known == kind) {
        Some(known) => Body::Opaque(Cow::Borrowed(known)),
        None => Body::Opaque(Cow::Owned(format!("event.{kind}"))),
    }
}

fn opaque(kind: &str) -> Body {
    match KINDS.iter().find(|known| **known == kind) {
        Some(known) => Body::Opaque(Cow::Borrowed(known)),
        None => Body::Opaque(Cow::Owned(format!("record.{kind}"))),
    }
}

/// A message of the user that is the compaction's own summary, in versions that do not label it.
fn as_summary((origin, body): Said, message: Option<&str>) -> Said {
    match (body, message) {
        (Body::Prompt(parts), Some(message)) if matches!(&parts[..], [Part::Text(text)] if text == message) => {
            (Origin::Agent, Body::Summary(parts))
        }
        (body, _) => (origin, body),
    }
}

fn facts_of(meta: WireMeta) -> Vec<Fact> {
    let mut facts = Vec::new();
    facts.extend(meta.id.map(|id| Fact::Session(SessionId(id))));
    facts.extend(meta.cwd.map(|cwd| Fact::Project(PathBuf::from(cwd))));
    facts.extend(meta.branch.map(Fact::Branch));
    facts.extend(meta.cli_version.map(Fact::ClientVersion));
    facts.extend(meta.timestamp.as_deref().and_then(Timestamp::parse).map(Fact::StartedAt));
    facts.extend(meta.originator.map(|name| Fact::Begun(Begin::Entrypoint(name))));
    facts.extend(meta.parent.map(|id| Fact::Parent(SessionId(id))));
    facts
}

fn permission(context: &WireTurnContext<'_>) -> Permission {
    let sandbox = context.sandbox_policy.as_ref().and_then(|policy| policy.kind.as_ref()).map(|text| &**text);
    let never_asks = context.approval_policy.is_some_and(|policy| policy.get() == r#""never""#);
    match sandbox {
        Some("danger-full-access") if never_asks => Permission::Everything,
        Some("workspace-write") if never_asks => Permission::AcceptEdits,
        Some("read-only") => Permission::Plan,
        _ => Permission::Ask,
    }
}

fn failure(kind: FailureKind, message: &str, resets_at: Option<Timestamp>) -> Body {
    Body::Failure(Box::new(Failure { kind, message: message.to_owned(), resets_at }))
}

fn interrupted(event: &WireEvent<'_>) -> Body {
    failure(FailureKind::Interrupted, event.reason.as_deref().unwrap_or("interrupted"), None)
}

fn failed(error: &WireError<'_>) -> Body {
    let info = error.codex_error_info.map_or("", |info| info.get());
    let message = error.message.as_deref().unwrap_or_default();
    let kind = if info.contains("usage_limit_exceeded") || info.contains("429") || tells_a_limit(message) {
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
    failure(kind, message, None)
}

/// Former versions tell an error in words alone.
fn tells_a_limit(message: &str) -> bool {
    ["hit your usage limit", "usage limit has been reached", "429 Too Many Requests", "Rate limit reached"]
        .iter()
        .any(|words| message.contains(words))
}
