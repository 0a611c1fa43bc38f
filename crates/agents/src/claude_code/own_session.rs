//! A session that moves as a whole, to another folder or another home: what the client itself had said moves along, so that it
//! goes on as it would have where the session was.

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
        MovedLog::from_lines(bytes, |record| {
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
