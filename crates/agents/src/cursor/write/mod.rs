//! Planning a session that the command line client's own resume loads: a store with the messages that the model is sent and
//! the turns that are shown, and the note by which the client lists it.

mod messages;
mod outcome;
mod parts;
mod store;
#[cfg(test)]
mod tests;
mod turns;

use carryover_core::transcript::{Permission, SessionId};
use serde_json::json;

pub(super) use outcome::{strip_exit_code, with_exit_code};

use self::messages::MessageLines;
use self::store::StoreWriter;
use super::FACTS;
use super::places::chats_folder;
use crate::formats::ids::Ids;
use crate::formats::messages::MessageWriter as _;
use crate::formats::request::{project_text, title_or_prompt};
use crate::{AgentError, TargetView, WriteOp, WritePlan, WriteRequest};

/// Plans the two files.
pub(super) fn plan_session(request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
    let project = project_text(request, "Cursor")?;
    let mut ids = Ids::new(request.seed);
    let session = ids.next_uuid();
    let key = [ids.next_uuid(), ids.next_uuid()].concat().replace('-', "");
    let mut lines = MessageLines::new(request, project, ids);
    lines.write_session();
    let title = title_or_prompt(request);
    let mode = if request.permission == Permission::Plan { "plan" } else { "default" };
    let mut store = StoreWriter::new();
    let root = store.write_root(request, project, &lines);
    let meta = json!({
        "agentId": session, "latestRootBlobId": root, "name": title, "mode": mode, "isRunEverything": false,
        "createdAt": request.started_at.millis(), "blobEncryptionKey": key,
    });
    let written = store.finish(&meta, lines).map_err(|error| AgentError::CannotHold {
        agent: "Cursor",
        reason: format!("its database could not be made: {error}"),
    })?;
    let folder = chats_folder(&target.env.home.join(".cursor"), project).join(&session);
    let note = json!({
        "schemaVersion": 1, "createdAtMs": request.started_at.millis(), "updatedAtMs": target.env.now.millis(),
        "hasConversation": true, "cwd": project, "title": title,
    });
    let resume = FACTS.resume.command(&session, request.project);
    // Its records have names, and no places in the file.
    let key = Some(session.clone());
    let mut plan = WritePlan { key, ..written.into_plan(target, SessionId(session), folder.join("store.db"), resume) };
    let (path, bytes) = (folder.join("meta.json"), note.to_string().into_bytes());
    plan.ops.push(WriteOp::Create { path, bytes, private: true, modified: target.env.now });
    Ok(plan)
}
