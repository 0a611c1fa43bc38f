//! A session that moves as a whole, to another folder or another home: what the client had said of the place it was in moves
//! along, so that it is not said anew behind everything.
//!
//! Nothing that grants or instructs moves: the client takes approvals, sandbox and its own instructions from a session's
//! records where they stand there, whatever its settings say.

use carryover_core::json::Json;
use serde_json::{Value, json};

use super::config::Config;
use super::rollout_writer::WrittenRollout;
use super::{Codex, native, rollout, write};
use crate::formats::file::{self, MAX_DOCUMENT_BYTES};
use crate::formats::ids::Ids;
use crate::formats::moved_log::{MovedLog, rename};
use crate::formats::relocate::Relocation;
use crate::formats::request::{own_relocations, project_text};
use crate::{AgentError, OwnSession, TargetView, WritePlan, WriteRequest, Writer};

/// What the first record and the settings of a turn may hold that grants or instructs.
const GRANTS: &[&str] = &[
    "base_instructions",
    "dynamic_tools",
    "approval_policy",
    "approvals_reviewer",
    "sandbox_policy",
    "permission_profile",
    "user_instructions",
    "developer_instructions",
];

impl Writer for Codex {
    fn plan(&self, request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
        write::plan_session(request, target)
    }

    fn plan_own(
        &self,
        own: &OwnSession<'_>,
        request: &WriteRequest<'_>,
        target: &TargetView<'_>,
    ) -> Result<Option<WritePlan>, AgentError> {
        // One that goes on from another's file has its beginning there.
        if own.header.files.len() != 1 || crate::formats::jsonl::is_compressed(&own.source.path) {
            return Ok(None);
        }
        let project = project_text(request, "Codex CLI")?;
        let root = &target.store.root;
        let session = Ids::new(request.seed).next_timed_uuid(request.started_at);
        let moved = SessionMove {
            old: &own.header.session.0,
            session: &session,
            moves: own_relocations(own, request, project, target),
            config: Config::from_store(root),
        };
        let bytes = file::read_bytes(&own.source.path, MAX_DOCUMENT_BYTES)?;
        let Some(log) = moved.move_log(&bytes) else { return Ok(None) };
        let written = WrittenRollout {
            origins: log.find_origins(request.entries, 0),
            bytes: log.into_bytes(),
            losses: Vec::new(),
            translated: 0,
            ended_at: request.entries.iter().filter_map(|carried| carried.entry.at).max(),
        };
        let file = rollout::path_for(root, request.started_at, &target.env.zone, &session);
        Ok(Some(write::plan_file(request, target, session, file, written)))
    }
}

/// What ties records to their place.
struct SessionMove<'a> {
    old: &'a str,
    session: &'a str,
    moves: Vec<Relocation<'a>>,
    /// The client hides and refuses sessions of other providers than the one in use, and asks as a session says.
    config: Config,
}

impl SessionMove<'_> {
    /// The whole log; none where it is in the form of the first versions.
    fn move_log(&self, bytes: &[u8]) -> Option<MovedLog> {
        let first = bytes.split(|byte| *byte == b'\n').next()?;
        let first: Value = serde_json::from_slice(first).ok()?;
        (first["type"] == "session_meta" && first["payload"].is_object()).then_some(())?;
        let mut ordinal = 0;
        Some(MovedLog::from_lines(bytes, |record| {
            if is_grant(record) {
                return false;
            }
            self.move_record(record);
            if record.get("ordinal").is_some() {
                record["ordinal"] = json!(ordinal);
            }
            ordinal += 1;
            true
        }))
    }

    fn move_record(&self, record: &mut Value) {
        let payload = &mut record["payload"];
        rename(payload, self.old, self.session);
        let kind = record["type"].as_str().unwrap_or_default().to_owned();
        let payload = &mut record["payload"];
        match kind.as_str() {
            "session_meta" => {
                payload["model_provider"] = json!(self.config.provider);
                payload["source"] = json!("cli");
                remove_grants(payload);
            }
            "turn_context" => {
                remove_grants(payload);
                // Without them the client would not know what it had said, and say it again.
                payload["approval_policy"] = json!(self.config.approval);
                payload["sandbox_policy"] = json!({ "type": "read-only" });
            }
            _ => {}
        }
        for moves in &self.moves {
            move_payload(&kind, payload, *moves);
        }
    }
}

fn move_payload(kind: &str, payload: &mut Value, moves: Relocation<'_>) {
    match kind {
        "response_item" => move_item(payload, moves),
        "compacted" => {
            for item in payload["replacement_history"].as_array_mut().into_iter().flatten() {
                move_item(item, moves);
            }
        }
        // The state of its surroundings as the client knows it, by which it sees what has changed.
        "world_state" => moves.move_words(payload),
        _ => moves.move_value(payload),
    }
}

/// Whether a record is there only to grant: what holds from here on, whatever the settings say.
fn is_grant(record: &Value) -> bool {
    record["type"] == "event_msg" && record["payload"]["type"] == "thread_settings_applied"
}

fn remove_grants(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !GRANTS.contains(&name.as_str()));
            fields.values_mut().for_each(remove_grants);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_grants),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Moves paths in the arguments of calls, and in what the client itself says.
fn move_item(item: &mut Value, moves: Relocation<'_>) {
    if let Some(arguments) = item.get("arguments").and_then(Value::as_str).and_then(Json::parse) {
        item["arguments"] = json!(moves.move_json(&arguments).as_str());
    } else if item["type"] == "message" && !native::is_conversation(&item.to_string()) {
        moves.move_words(item);
    }
}
