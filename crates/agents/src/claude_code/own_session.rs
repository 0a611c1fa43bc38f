//! A session that moves as a whole, to another folder or another home: what the client itself had said moves along, so that it
//! goes on as it would have where the session was.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use carryover_core::transcript::{Permission, SessionId};
use serde_json::{Value, json};

use super::slug::make_slug;
use super::{ClaudeCode, FACTS, write};
use crate::formats::file::{self, MAX_DOCUMENT_BYTES};
use crate::formats::folder;
use crate::formats::ids::Ids;
use crate::formats::moved_log::{MovedLog, rename};
use crate::formats::relocate::Relocation;
use crate::formats::request::{own_relocations, project_text};
use crate::{AgentError, OwnSession, TargetView, WriteOp, WritePlan, WriteRequest, Writer};

/// Where the steps of plans are: in a folder for each session, a file a step.
pub(super) const TASKS: &str = "tasks";

/// The client's system prompt as it was. The client takes it from there when it resumes, whoever wrote it and whatever home it
/// speaks of: it stays behind, and the client makes its own.
const PROMPT_SNAPSHOT: &str = "prompt_snapshot";

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
        plan_own_session(own, request, target).map(Some)
    }
}

fn plan_own_session(
    own: &OwnSession<'_>,
    request: &WriteRequest<'_>,
    target: &TargetView<'_>,
) -> Result<WritePlan, AgentError> {
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
            let below = companion.strip_prefix(&from).map_or_else(|_| companion.clone(), Path::to_path_buf);
            ops.push(create(to.join(below), place.move_companion(&companion)?));
        }
    }
    Ok(WritePlan {
        ops,
        key: None,
        resume: FACTS.resume.command(&session, request.project),
        session: SessionId(session),
        file,
        translated: 0,
        losses: Vec::new(),
        origins,
    })
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
        let mut left: BTreeMap<String, Value> = BTreeMap::new();
        MovedLog::from_lines(bytes, |record| {
            if record["attachment"]["type"] == PROMPT_SNAPSHOT {
                let name = record["uuid"].as_str().unwrap_or_default().to_owned();
                left.insert(name, record["parentUuid"].clone());
                return false;
            }
            for field in ["parentUuid", "leafUuid"] {
                while let Some(above) = record[field].as_str().and_then(|name| left.get(name)) {
                    record[field] = above.clone();
                }
            }
            self.move_record(record);
            true
        })
    }

    fn move_companion(&self, path: &Path) -> Result<Vec<u8>, AgentError> {
        let bytes = file::read_bytes(path, MAX_DOCUMENT_BYTES)?;
        let is_log = path.extension().is_some_and(|end| end == "jsonl");
        Ok(if is_log { self.move_log(&bytes).into_bytes() } else { bytes })
    }

    fn move_record(&self, record: &mut Value) {
        rename(record, self.old, self.session);
        if record.get("permissionMode").is_some() {
            record["permissionMode"] = json!(self.mode);
        }
        if record.get("entrypoint").is_some() {
            // Others hide a session from the picker.
            record["entrypoint"] = json!("cli");
        }
        for moves in &self.moves {
            if let Some(cwd) = record.get_mut("cwd") {
                moves.move_value(cwd);
            }
            super::blocks::relocate_paths(record, *moves);
            // Its client says where it is, and says so again where that is no longer so.
            for field in ["attachment", "rendered"] {
                if let Some(said) = record.get_mut(field) {
                    moves.move_words(said);
                }
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
        assert_eq!(moved[1]["rendered"][0]["content"], "Working directory: /new; memory: /home/u/.claude");
        assert_eq!(moved[1]["attachment"]["snapshot"]["workingDirectory"], "/new");
        assert_eq!(moved[2]["message"]["content"][0]["input"]["file_path"], "/new/a");
        // What was said, and what came back, is as it was.
        assert_eq!(moved[0]["message"]["content"], "look at /old");
        assert_eq!(moved[3]["message"]["content"][0]["content"], "/old/a says /old");
        assert_eq!((&moved[4]["leafUuid"], &moved[3]["uuid"]), (&json!("u4"), &json!("u4")));
        assert_eq!(moved[5]["permissionMode"], "default");
        assert!(plan.file.starts_with("/home/u/store/projects/-new"), "{}", plan.file.display());
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
