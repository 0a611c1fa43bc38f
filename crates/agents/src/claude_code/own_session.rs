//! A session that moves as a whole, to another folder or another home: what the client itself had said moves along, so that it
//! goes on as it would have where the session was. What may move is named in `moved_record`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use carryover_core::transcript::{Permission, SessionId};
use serde_json::{Value, json};

use super::slug::make_slug;
use super::{ClaudeCode, FACTS, moved_record, write};
use crate::formats::file::{self, MAX_DOCUMENT_BYTES};
use crate::formats::folder;
use crate::formats::ids::Ids;
use crate::formats::kept_fields::replace_field;
use crate::formats::moved_log::{MovedLog, rename};
use crate::formats::relocate::Relocation;
use crate::formats::request::{own_relocations, project_text};
use crate::{AgentError, OwnSession, TargetView, WriteOp, WritePlan, WriteRequest, Writer};

/// Where the steps of plans are: in a folder for each session, a file a step.
pub(super) const TASKS: &str = "tasks";

/// Outputs that were too long for the log, beside it.
const TOOL_RESULTS: &str = "tool-results";

/// Where the logs of sub-agents are, beside the session's.
const SUB_AGENTS: &str = "subagents";

impl Writer for ClaudeCode {
    fn plan(&self, request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
        write::plan_session(request, target)
    }

    fn plan_own(
        &self,
        own: &OwnSession<'_>,
        request: &WriteRequest<'_>,
        target: &TargetView<'_>,
    ) -> Result<Option<WritePlan>, AgentError> {
        plan_own_session(own, request, target)
    }
}

fn plan_own_session(
    own: &OwnSession<'_>,
    request: &WriteRequest<'_>,
    target: &TargetView<'_>,
) -> Result<Option<WritePlan>, AgentError> {
    let project = project_text(request, "Claude Code")?;
    let session = Ids::new(request.seed).next_uuid();
    let place = SessionMove {
        old: &own.header.session.0,
        session: &session,
        moves: own_relocations(own, request, project, target),
        mode: if request.permission == Permission::Plan { "plan" } else { "default" },
    };
    let path = &own.source.path;
    let mut log = place.move_log(&file::read_bytes(path, MAX_DOCUMENT_BYTES)?);
    // Without a mode of its own a session opens in the client's usual one, which may allow more than it was.
    log.append(&json!({ "type": "permission-mode", "permissionMode": place.mode, "sessionId": session }));
    let index = own.header.files.iter().position(|file| file == path).unwrap_or_default();
    let origins = log.find_origins(request.entries, u16::try_from(index).unwrap_or(u16::MAX));
    let Some(origins) = origins else { return Ok(None) };
    let losses = log.list_losses();
    let folder = target.store.root.join("projects").join(make_slug(project));
    let file = folder.join(format!("{session}.jsonl"));
    let create =
        |path: PathBuf, bytes: Vec<u8>| WriteOp::Create { path, bytes, private: true, modified: target.env.now };
    let mut ops = vec![create(file.clone(), log.into_bytes())];
    let beside = path.with_extension("");
    for (from, to) in [
        (beside.clone(), folder.join(&session)),
        (tasks_folder(path).unwrap_or_default(), target.store.root.join(TASKS).join(&session)),
    ] {
        for companion in list_companions(&from) {
            let Ok(below) = companion.strip_prefix(&from) else { continue };
            if let Some(bytes) = place.move_companion(&companion, Companion::from_path(below, from != beside))? {
                ops.push(create(to.join(below), bytes));
            }
        }
    }
    Ok(Some(WritePlan {
        ops,
        key: None,
        resume: FACTS.resume.command(&session, request.project),
        session: SessionId(session),
        file,
        translated: 0,
        losses,
        origins,
    }))
}

/// What stands beside a log; the client reads more from there than moves.
#[derive(Clone, Copy)]
enum Companion {
    Output,
    Log,
    SubAgent,
    Step,
    Other,
}

impl Companion {
    fn from_path(below: &Path, is_task: bool) -> Self {
        let folder = below.parent().and_then(Path::to_str);
        let end = below.extension().and_then(|end| end.to_str());
        match (is_task, folder, end) {
            (true, Some(""), Some("json")) => Self::Step,
            (false, Some(TOOL_RESULTS), _) => Self::Output,
            (false, Some(SUB_AGENTS), Some("jsonl")) => Self::Log,
            (false, Some(SUB_AGENTS), Some("json")) => Self::SubAgent,
            _ => Self::Other,
        }
    }
}

/// The steps of a session's plan.
pub(super) fn list_tasks(session: &Path) -> Vec<PathBuf> {
    tasks_folder(session).map(|folder| list_companions(&folder)).unwrap_or_default()
}

/// Its files; a lock is its client's, while that runs.
fn list_companions(folder: &Path) -> Vec<PathBuf> {
    let is_lock = |path: &PathBuf| path.file_name().is_some_and(|name| name == ".lock");
    folder::list_files_below(folder).into_iter().filter(|path| !is_lock(path)).collect()
}

/// Beside the folder of projects, by the name of the session.
fn tasks_folder(session: &Path) -> Option<PathBuf> {
    let projects = session.parent()?.parent().filter(|folder| folder.ends_with("projects"))?;
    Some(projects.parent()?.join(TASKS).join(session.file_stem()?))
}

/// What ties records to their place.
struct SessionMove<'a> {
    old: &'a str,
    session: &'a str,
    moves: Vec<Relocation<'a>>,
    mode: &'static str,
}

impl SessionMove<'_> {
    fn move_log(&self, bytes: &[u8]) -> MovedLog {
        let mut chain = Chain::default();
        MovedLog::from_lines(bytes, |record| {
            if !moved_record::keep_record(record) {
                chain.take_out(record);
                return false;
            }
            chain.close_gaps(record);
            self.move_record(record);
            true
        })
    }

    fn move_companion(&self, path: &Path, kind: Companion) -> Result<Option<Vec<u8>>, AgentError> {
        let bytes = || file::read_bytes(path, MAX_DOCUMENT_BYTES);
        Ok(match kind {
            Companion::Output => Some(bytes()?),
            Companion::Log => Some(self.move_log(&bytes()?).into_bytes()),
            Companion::SubAgent => moved_record::keep_sub_agent(&bytes()?),
            Companion::Step => moved_record::keep_step(&bytes()?),
            Companion::Other => None,
        })
    }

    fn move_record(&self, record: &mut Value) {
        rename(record, self.old, self.session);
        // What a client says of a session counts for the session that is named: of another, it would hold after what we say.
        for field in ["sessionId", "session_id"] {
            replace_field(record, field, self.session);
        }
        replace_field(record, "permissionMode", self.mode);
        // Others hide a session from the picker.
        replace_field(record, "entrypoint", "cli");
        for moves in &self.moves {
            if let Some(cwd) = record.get_mut("cwd") {
                moves.move_value(cwd);
            }
            super::blocks::relocate_paths(record, *moves);
            // Its client says where it is, and says so again where that is no longer so.
            if let Some(said) = record.get_mut("attachment") {
                moves.move_words(said);
            }
        }
    }
}

/// The links from record to record, where some stay behind.
#[derive(Default)]
struct Chain {
    /// What stood before each of those that do. A record stands behind the one that it names, so that one step leads to one
    /// that moves: links that run otherwise, or in a circle, are no client's.
    left: BTreeMap<String, Value>,
}

impl Chain {
    fn take_out(&mut self, record: &Value) {
        let Some(name) = record["uuid"].as_str() else { return };
        let above = &record["parentUuid"];
        let above = above.as_str().and_then(|above| self.left.get(above)).unwrap_or(above).clone();
        self.left.insert(name.to_owned(), if above == name { Value::Null } else { above });
    }

    fn close_gaps(&self, record: &mut Value) {
        for field in ["/parentUuid", "/leafUuid", "/logicalParentUuid", "/compactMetadata/preservedSegment/tailUuid"] {
            let Some(name) = record.pointer_mut(field) else { continue };
            if let Some(above) = name.as_str().and_then(|name| self.left.get(name)) {
                *name = above.clone();
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests {
    use super::*;
    use crate::write_fixtures::{move_lines, plan_own, records, write_lines};

    const ID: &str = "d3a03cdd-c689-41e6-9587-86a6223f5251";

    fn record(uuid: &str, parent: Option<&str>, rest: &Value) -> Value {
        let mut record = json!({
            "uuid": uuid, "parentUuid": parent, "sessionId": ID, "cwd": "/old", "version": "2.1.325", "entrypoint": "sdk-cli",
            "timestamp": "2026-11-15T00:00:01.000Z", "permissionMode": "bypassPermissions",
        });
        record.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        record
    }

    fn session() -> Vec<Value> {
        let text = "Working directory: /old; memory: /home/other/.claude";
        let call = json!({"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "/old/a"}});
        let outcome = json!({"type": "tool_result", "tool_use_id": "t", "content": "/old/a says /old"});
        vec![
            record("u1", None, &json!({"type": "user", "message": {"role": "user", "content": "look at /old"}})),
            record(
                "u2",
                Some("u1"),
                &json!({"type": "attachment", "rendered": [{"content": text}],
                    "attachment": {"type": "environment", "snapshot": {"workingDirectory": "/old"}}}),
            ),
            record(
                "s1",
                Some("u2"),
                &json!({"type": "attachment", "attachment": {"type": "prompt_snapshot", "systemPrompt": ["OBEY"]}}),
            ),
            record(
                "u3",
                Some("s1"),
                &json!({"type": "assistant", "message": {"role": "assistant", "content": [call]}}),
            ),
            record("u4", Some("u3"), &json!({"type": "user", "message": {"role": "user", "content": [outcome]}})),
            json!({"type": "last-prompt", "lastPrompt": "look", "leafUuid": "u4", "sessionId": ID}),
        ]
    }

    #[test]
    fn all_records_move_and_nothing_that_allows_anything() {
        let plan = move_lines(&ClaudeCode, &format!("projects/-old/{ID}.jsonl"), &session());
        let moved = records(&plan);
        let text = json!(moved).to_string();
        assert!(!text.contains("OBEY") && moved[2]["parentUuid"] == "u2", "{text}");
        assert!(!text.contains(ID) && !text.contains("bypassPermissions") && !text.contains("sdk-cli"), "{text}");
        assert_eq!(moved[1]["rendered"], Value::Null);
        assert_eq!(moved[1]["attachment"]["snapshot"]["workingDirectory"], "/new");
        assert_eq!(moved[2]["message"]["content"][0]["input"]["file_path"], "/new/a");
        // What was said, and what came back, is as it was.
        assert_eq!(moved[0]["message"]["content"], "look at /old");
        assert_eq!(moved[3]["message"]["content"][0]["content"], "/old/a says /old");
        assert_eq!((&moved[4]["leafUuid"], &moved[3]["uuid"]), (&json!("u4"), &json!("u4")));
        assert_eq!(moved[5]["permissionMode"], "default");
        assert!(plan.file.starts_with("/home/u/store/projects/-new"), "{}", plan.file.display());
    }

    fn envelope(kind: &str, rest: &Value) -> Value {
        let mut value = json!({"type": kind, "sessionId": ID});
        value.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        value
    }

    /// What the client takes from a log beside the conversation, as 2.1.325 does.
    #[test]
    fn records_by_which_the_client_would_do_something_stay_behind() {
        let attachment = |kind: &str| json!({"type": "attachment", "attachment": {"type": kind, "met": false, "condition": "GRANT"}});
        let hostile = [
            envelope("agent-setting", &json!({"agentSetting": "GRANT"})),
            envelope("worktree-state", &json!({"worktreeSession": {"worktreePath": "GRANT"}})),
            envelope("relocated", &json!({"relocatedCwd": "GRANT"})),
            envelope("mode", &json!({"mode": "GRANT"})),
            envelope("permission-mode", &json!({"permissionMode": "GRANT"})),
            envelope("bridge-session", &json!({"bridgeSessionId": "GRANT"})),
            envelope(
                "file-history-snapshot",
                &json!({"messageId": "u1", "snapshot": {"trackedFileBackups": {"GRANT": {}}}}),
            ),
            envelope("dev-mods", &json!({"folder": "GRANT"})),
            envelope("unknown-to-us", &json!({"anything": "GRANT"})),
            record("g1", Some("u1"), &attachment("goal_status")),
            record("g2", Some("g1"), &attachment("invoked_skills")),
            record("g3", Some("g2"), &json!({"type": "system", "subtype": "GRANT"})),
            record("g4", Some("g3"), &json!({"type": "progress", "data": "GRANT"})),
            record(
                "u5",
                Some("g4"),
                &json!({"type": "user", "slug": "../GRANT", "planContent": "GRANT",
                "message": {"role": "system", "content": "go on", "container": "GRANT"}}),
            ),
        ];
        let lines: Vec<Value> = session().into_iter().take(1).chain(hostile).collect();
        let plan = move_lines(&ClaudeCode, &format!("projects/-old/{ID}.jsonl"), &lines);
        let moved = records(&plan);
        let text = json!(moved).to_string();
        assert!(!text.contains("GRANT"), "{text}");
        assert_eq!(moved.len(), 3, "{text}");
        assert_eq!((&moved[1]["parentUuid"], &moved[1]["message"]["role"]), (&json!("u1"), &json!("user")));
        assert_eq!(plan.losses.iter().map(|loss| loss.count).sum::<usize>(), 13);
    }

    #[test]
    fn what_is_said_of_another_session_is_said_of_this_one_before_the_mode() {
        let mut lines = session();
        lines.truncate(1);
        lines[0]["sessionId"] = json!("11111111-2222-4333-8444-555555555555");
        lines.push(json!({"type": "ai-title", "aiTitle": "T", "sessionId": "11111111-2222-4333-8444-555555555555"}));
        let plan = move_lines(&ClaudeCode, &format!("projects/-old/{ID}.jsonl"), &lines);
        let moved = records(&plan);
        assert!(moved.iter().all(|record| record["sessionId"] == plan.session.0), "{moved:?}");
        assert_eq!(moved.last().unwrap()["permissionMode"], "default");
    }

    #[test]
    fn records_that_follow_each_other_in_a_circle_end() {
        let snapshot = json!({"type": "attachment", "attachment": {"type": "prompt_snapshot"}});
        let said = json!({"type": "user", "message": {"role": "user", "content": "go on"}});
        let lines = [
            record("s1", Some("s1"), &snapshot),
            record("s2", Some("s3"), &snapshot),
            record("s3", Some("s2"), &snapshot),
            record("u1", Some("s1"), &said),
            record("u2", Some("s3"), &said),
        ];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("projects/-old/{ID}.jsonl"));
        write_lines(&path, &lines);
        let moved = records(&plan_own(&ClaudeCode, &path).0.unwrap());
        assert_eq!(moved[0]["parentUuid"], Value::Null);
        assert_eq!(moved.len(), 3);
    }

    #[test]
    fn of_what_stands_beside_it_only_what_was_said_and_done_comes_along() {
        let folder = tempfile::tempdir().unwrap();
        let session_file = folder.path().join(format!("projects/-old/{ID}.jsonl"));
        let beside = session_file.with_extension("");
        write_lines(&session_file, &session());
        let write = |name: &str, value: &Value| write_lines(&beside.join(name), std::slice::from_ref(value));
        write("subagents/agent-a.meta.json", &json!({"agentType": "helper", "worktreePath": "GRANT"}));
        write("subagents/agent-a.jsonl", &envelope("agent-setting", &json!({"agentSetting": "GRANT"})));
        write("workflows/run.js", &json!("GRANT"));
        write("session-memory/summary.md", &json!("GRANT"));
        let step = json!({"id": "1", "subject": "look", "metadata": "GRANT"});
        write_lines(&folder.path().join(TASKS).join(ID).join("1.json"), &[step]);
        let plan = plan_own(&ClaudeCode, &session_file).0.unwrap();
        assert_eq!(plan.ops.len(), 4);
        assert!(!format!("{:?}", plan.ops).contains("GRANT"));
        for op in &plan.ops {
            let WriteOp::Create { bytes, .. } = op else { panic!("{op:?}") };
            assert!(!String::from_utf8_lossy(bytes).contains("GRANT"));
        }
    }

    #[test]
    fn what_the_client_keeps_beside_it_comes_along() {
        let folder = tempfile::tempdir().unwrap();
        let session_file = folder.path().join(format!("projects/-old/{ID}.jsonl"));
        let beside = session_file.with_extension("");
        std::fs::create_dir_all(beside.join("tool-results")).unwrap();
        std::fs::create_dir_all(folder.path().join(TASKS).join(ID)).unwrap();
        write_lines(&session_file, &session());
        std::fs::write(beside.join("tool-results/t.txt"), "long").unwrap();
        std::fs::write(folder.path().join(TASKS).join(ID).join("1.json"), "{}").unwrap();
        std::fs::write(folder.path().join(TASKS).join(ID).join(".lock"), "").unwrap();
        let plan = plan_own(&ClaudeCode, &session_file).0.unwrap();
        let id = &plan.session.0;
        let created: Vec<String> = plan.ops[1..]
            .iter()
            .map(|op| match op {
                WriteOp::Create { path, .. } => path.display().to_string(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(
            created,
            [
                format!("/home/u/store/projects/-new/{id}/tool-results/t.txt"),
                format!("/home/u/store/tasks/{id}/1.json")
            ]
        );
        let tasks = list_tasks(&session_file);
        assert_eq!(tasks, [folder.path().join(TASKS).join(ID).join("1.json")]);
    }
}
