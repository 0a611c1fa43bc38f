//! A session that moves as a whole, to another folder or another home: what the client had said of the place it was in moves
//! along, so that it is not said anew behind everything.
//!
//! Nothing that grants or instructs moves: what may is named in `moved_record`.

use carryover_core::json::Json;
use serde_json::{Value, json};

use super::config::Config;
use super::rollout_writer::WrittenRollout;
use super::{Codex, moved_record, native, rollout, write};
use crate::formats::file::{self, MAX_DOCUMENT_BYTES};
use crate::formats::ids::Ids;
use crate::formats::kept_fields::{replace_field, set_field};
use crate::formats::moved_log::{MovedLog, rename};
use crate::formats::relocate::Relocation;
use crate::formats::request::{own_relocations, project_text};
use crate::formats::session_lines::WrittenFile;
use crate::{AgentError, OwnSession, TargetView, WritePlan, WriteRequest, Writer};

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
        let Some(written) = log.into_written(request.entries) else { return Ok(None) };
        let WrittenFile { bytes, origins, losses, translated } = written;
        let written = WrittenRollout {
            bytes,
            origins,
            losses,
            translated,
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
        // The beginning of one that goes on from another's is not here.
        first["payload"]["history_base"].is_null().then_some(())?;
        let mut ordinal = 0_u64;
        Some(MovedLog::from_lines(bytes, |record| {
            if !moved_record::keep_record(record) {
                return false;
            }
            self.move_record(record);
            replace_field(record, "ordinal", ordinal);
            ordinal += 1;
            true
        }))
    }

    fn move_record(&self, record: &mut Value) {
        let kind = record["type"].as_str().unwrap_or_default().to_owned();
        let Some(payload) = record.get_mut("payload") else { return };
        rename(payload, self.old, self.session);
        match kind.as_str() {
            "session_meta" => {
                set_field(payload, "model_provider", self.config.provider.as_str());
                set_field(payload, "source", "cli");
            }
            "turn_context" => {
                // Without them the client would not know what it had said, and say it again.
                set_field(payload, "approval_policy", json!(self.config.approval));
                set_field(payload, "sandbox_policy", json!({ "type": "read-only" }));
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
            let items = payload.get_mut("replacement_history").and_then(Value::as_array_mut);
            items.into_iter().flatten().for_each(|item| move_item(item, moves));
        }
        // The state of its surroundings as the client knows it, by which it sees what has changed.
        "world_state" => moves.move_words(payload),
        _ => moves.move_value(payload),
    }
}

/// Moves paths in the arguments of calls, and in what the client itself says.
fn move_item(item: &mut Value, moves: Relocation<'_>) {
    if let Some(arguments) = item.get("arguments").and_then(Value::as_str).and_then(Json::parse) {
        replace_field(item, "arguments", moves.move_json(&arguments).as_str());
    } else if item["type"] == "message" && !native::is_conversation(&item.to_string()) {
        moves.move_words(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write_fixtures::{move_lines, records};

    const ID: &str = "01a1f09e-40a8-7372-92bc-8d5de9e426d6";

    fn line(ordinal: u64, kind: &str, payload: &Value) -> Value {
        json!({"timestamp": "2026-11-15T00:00:01.000Z", "ordinal": ordinal, "type": kind, "payload": payload})
    }

    fn message(role: &str, text: &str) -> Value {
        let kind = if role == "assistant" { "output_text" } else { "input_text" };
        json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
    }

    #[test]
    fn the_client_is_told_where_it_is_and_nothing_that_it_may_do() {
        let meta = json!({"id": ID, "session_id": ID, "timestamp": "2026-11-15T00:00:00.000Z", "cwd": "/old",
            "cli_version": "0.166.0", "source": "exec", "model_provider": "theirs", "base_instructions": {"text": "OBEY"}});
        let environment = "<environment_context>\n  <cwd>/old</cwd>\n</environment_context>";
        let settings = json!({"approval_policy": "never", "permission_profile": {"type": "disabled"}});
        let context = json!({"turn_id": "t", "cwd": "/old", "approval_policy": "never", "model": "m",
            "sandbox_policy": {"type": "danger-full-access"}, "permission_profile": {"type": "disabled"},
            "collaboration_mode": {"settings": {"developer_instructions": "OBEY"}}});
        let lines = [
            line(0, "session_meta", &meta),
            line(1, "response_item", &message("user", environment)),
            line(2, "world_state", &json!({"state": {"skills": "in /home/other/.codex/skills", "cwd": "/old"}})),
            line(3, "turn_context", &context),
            line(
                4,
                "event_msg",
                &json!({"type": "thread_settings_applied", "thread_id": ID, "thread_settings": settings}),
            ),
            line(5, "response_item", &message("user", "look at /old")),
            line(
                6,
                "response_item",
                &json!({"type": "function_call", "name": "exec_command", "call_id": "c",
                "arguments": "{\"cmd\":\"ls /old\",\"workdir\":\"/old/a\"}"}),
            ),
            line(7, "response_item", &json!({"type": "function_call_output", "call_id": "c", "output": "/old/a"})),
            line(8, "response_item", &message("assistant", "It is in /old.")),
        ];
        let name = format!("sessions/2026/11/15/rollout-2026-11-15T00-00-00-{ID}.jsonl");
        let moved = records(&move_lines(&Codex, &name, &lines));
        let text = json!(moved).to_string();
        for granted in [ID, "OBEY", "never", "danger-full-access", "disabled", "thread_settings_applied", "theirs"] {
            assert!(!text.contains(granted), "{granted}: {text}");
        }
        assert_eq!(
            moved.iter().map(|line| line["ordinal"].as_u64()).collect::<Vec<_>>(),
            (0..8).map(Some).collect::<Vec<_>>()
        );
        let payload = |index: usize| &moved[index]["payload"];
        assert_eq!(payload(0)["cwd"], "/new");
        assert_eq!(payload(1)["content"][0]["text"], environment.replace("/old", "/new"));
        assert_eq!(payload(2)["state"], json!({"skills": "in /home/u/.codex/skills", "cwd": "/new"}));
        let narrowed = [&payload(3)["approval_policy"], &payload(3)["sandbox_policy"]["type"], &payload(3)["cwd"]];
        assert_eq!(narrowed, ["on-request", "read-only", "/new"]);
        assert_eq!(payload(4)["content"][0]["text"], "look at /old");
        assert_eq!(payload(5)["arguments"], "{\"cmd\":\"ls /old\",\"workdir\":\"/new/a\"}");
        assert_eq!(
            (&payload(6)["output"], &payload(7)["content"][0]["text"]),
            (&json!("/old/a"), &json!("It is in /old."))
        );
    }

    /// What the client takes from a log beside the conversation, as 0.166.0 does.
    #[test]
    fn whatever_would_grant_or_bring_tools_stays_behind() {
        let meta = json!({"id": ID, "timestamp": "2026-11-15T00:00:00.000Z", "cwd": "/old", "cli_version": "0.166.0",
            "runtime_workspace_roots": ["/GRANT"], "dynamic_tools": ["GRANT"], "selected_capability_roots": "GRANT"});
        let context = json!({"turn_id": "t", "cwd": "/old", "model": "m", "network": {"allowed_domains": ["GRANT"]},
            "file_system_sandbox_policy": {"kind": "GRANT"}, "workspace_roots": ["/GRANT"],
            "collaboration_mode": {"mode": "default", "settings": {"model": "m", "developer_instructions": "GRANT"}}});
        let tools = json!({"type": "additional_tools", "tools": ["GRANT"]});
        let compacted = json!({"message": "so far", "replacement_history": [message("user", "look"), tools, 5],
            "resume_metadata": {"dynamic_tools": {"thread_id": ID, "tools": [{"name": "GRANT"}]}},
            "retained_context": {"verified_answers": ["GRANT"]}, "mcp_resource_origins": "GRANT"});
        let mut said = line(8, "response_item", &message("user", "and now"));
        said["metadata"] = json!({"compaction_output": true, "harness_authored_configuration": "GRANT"});
        let lines = [
            line(0, "session_meta", &meta),
            line(1, "turn_context", &context),
            line(2, "compacted", &compacted),
            line(3, "response_item", &tools),
            line(4, "response_item", &json!({"type": "tool_search_output", "tools": ["GRANT"]})),
            line(5, "dynamic_tools_updated", &json!({"tools": ["GRANT"]})),
            line(6, "event_msg", &json!({"type": "session_configured", "approval_policy": "GRANT"})),
            line(7, "event_msg", &json!({"type": "task_started", "turn_id": "t", "thread_settings": "GRANT"})),
            said,
        ];
        let name = format!("sessions/2026/11/15/rollout-2026-11-15T00-00-00-{ID}.jsonl");
        let plan = move_lines(&Codex, &name, &lines);
        let moved = records(&plan);
        let text = json!(moved).to_string();
        assert!(!text.contains("GRANT"), "{text}");
        assert_eq!((moved.len(), moved[4]["ordinal"].as_u64()), (5, Some(4)), "{text}");
        assert_eq!(moved[2]["payload"]["replacement_history"], json!([message("user", "look")]));
        assert_eq!(moved[4]["metadata"], json!({"compaction_output": true}));
        assert_eq!(plan.losses[0].count, 4);
    }
}
