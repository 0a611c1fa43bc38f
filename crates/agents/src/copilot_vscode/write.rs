//! Planning a session for the editor's own history: its file, and its entry in the list that the editor keeps of them.

use std::path::{Path, PathBuf};

use carryover_core::transcript::SessionId;
use serde_json::json;

use super::index::{self, INDEX_COLUMN, INDEX_KEY, INDEX_KEY_COLUMN, INDEX_TABLE};
use super::request_writer::RequestWriter;
use super::workspace::Workspace;
use super::{CopilotVscode, FACTS};
use crate::formats::ids::Ids;
use crate::formats::request::{project_relocation, project_text, title_or_prompt};
use crate::formats::session_lines::LineWriter;
use crate::{
    AgentError, EditorWriter, JsonHolder, JsonMember, LifeSign, NewRow, ResumeCommand, RowContent, SessionRows, Store,
    TargetView, WriteOp, WritePlan, WriteRequest, Writer,
};

/// What the list is begun with, where a workspace has none.
const EMPTY_INDEX: &str = r#"{"version":1,"entries":{}}"#;

/// How the last answer ended: whole.
const COMPLETE: u64 = 1;

/// The names of an editor's program and of its application, by the folder that it keeps its settings in.
const EDITORS: &[(&str, LifeSign, LifeSign)] = &[
    ("Code", LifeSign::Program(&["code", "code-oss"]), LifeSign::ProgramFolder("Visual Studio Code.app")),
    (
        "Code - Insiders",
        LifeSign::Program(&["code-insiders", "Code - Insiders"]),
        LifeSign::ProgramFolder("Visual Studio Code - Insiders.app"),
    ),
    ("Code - OSS", LifeSign::Program(&["code-oss", "code", "Code - OSS"]), LifeSign::ProgramFolder("Code - OSS.app")),
    ("VSCodium", LifeSign::Program(&["codium", "vscodium"]), LifeSign::ProgramFolder("VSCodium.app")),
];

impl Writer for CopilotVscode {
    fn plan(&self, request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
        let project = project_text(request, FACTS.name)?;
        let folder = workspace_folder(target.store, request.project).ok_or_else(|| unknown_project(request.project))?;
        let mut ids = Ids::new(request.seed);
        let session = ids.next_uuid();
        let title = title_or_prompt(request);
        let mut writer = RequestWriter::new(project, project_relocation(request, project), ids, request.started_at);
        writer.write_entries(request);
        let (requests, parts) = writer.finish();
        let times = (request.started_at.millis(), target.env.now.millis());
        let document = json!({
            "version": 3, "creationDate": times.0, "customTitle": title, "initialLocation": "panel",
            "responderUsername": "GitHub Copilot", "sessionId": session, "hasPendingEdits": false, "requests": requests,
            "pendingRequests": [],
        });
        let mut lines = LineWriter::default();
        lines.write_line(&json!({ "kind": 0, "v": document }));
        for (entries, number) in &parts.places {
            lines.note_entries(entries, *number);
        }
        let entry = json!({
            "sessionId": session, "title": title, "lastMessageDate": times.1,
            "timing": { "created": times.0, "lastRequestStarted": times.1, "lastRequestEnded": times.1 },
            "initialLocation": "panel", "hasPendingEdits": false, "isEmpty": false, "isExternal": false,
            "lastResponseState": COMPLETE,
        });
        let file = folder.join("chatSessions").join(format!("{session}.jsonl"));
        let row = index_row(&folder, &session, entry.to_string());
        let written = lines.finish(parts.losses, parts.translated);
        let mut plan = written.into_plan(target, SessionId(session), file, open_command(request.project));
        plan.ops.push(WriteOp::AddRow(row));
        Ok(plan)
    }
}

impl EditorWriter for CopilotVscode {
    fn knows_project(&self, store: &Store, project: &Path) -> bool {
        workspace_folder(store, project).is_some()
    }

    /// The editor notes its process beside its settings, and takes the note back when it ends.
    fn life_signs(&self, database: &Path) -> Vec<LifeSign> {
        let settings = database.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "User"));
        let Some(data) = settings.and_then(Path::parent) else { return every_editor() };
        let own = EDITORS.iter().find(|(name, _, _)| data.file_name().is_some_and(|known| known == *name));
        let mut signs = own.map_or_else(every_editor, |(_, program, folder)| vec![program.clone(), folder.clone()]);
        signs.push(LifeSign::PidFile(data.join("code.lock")));
        signs
    }

    fn opening_advice(&self) -> &'static str {
        "open the folder in the editor: the session is in the history of its chat, under its title"
    }
}

/// Of an editor that has another name, any may be meant.
fn every_editor() -> Vec<LifeSign> {
    EDITORS.iter().flat_map(|(_, program, folder)| [program.clone(), folder.clone()]).collect()
}

/// The folder of the workspace that is this project alone and has a database: the editor makes both when it opens a folder.
/// Of several, as after the folder was made anew, the one that was used last counts.
fn workspace_folder(store: &Store, project: &Path) -> Option<PathBuf> {
    let folders = fs_err::read_dir(store.root.join("workspaceStorage")).ok()?.filter_map(Result::ok);
    let is_meant = |folder: &PathBuf| {
        Workspace::single_folder(folder).is_some_and(|known| is_same_place(&known, project))
            && folder.join(index::DATABASE).is_file()
    };
    let used = |folder: &PathBuf| fs_err::metadata(folder.join(index::DATABASE)).and_then(|data| data.modified()).ok();
    folders.map(|entry| entry.path()).filter(is_meant).max_by_key(|folder| (used(folder), folder.clone()))
}

/// A workspace may name its folder by a link, or in other letters where that makes no difference.
fn is_same_place(known: &Path, project: &Path) -> bool {
    known == project || fs_err::canonicalize(known).is_ok_and(|known| known == project)
}

fn unknown_project(project: &Path) -> AgentError {
    let reason = format!("the editor has not had {} open yet: open it there once, and close it", project.display());
    AgentError::CannotHold { agent: FACTS.name, reason }
}

/// The session's entry in the list.
fn index_row(folder: &Path, session: &str, entry: String) -> NewRow {
    let member = JsonMember {
        column: INDEX_COLUMN,
        path: &["entries"],
        holder: JsonHolder::Object,
        name: session.to_owned(),
        empty: EMPTY_INDEX,
        referrer: None,
    };
    let rows = SessionRows {
        database: folder.join(index::DATABASE),
        table: INDEX_TABLE,
        column: INDEX_KEY_COLUMN,
        value: INDEX_KEY.to_owned(),
        is_prefix: false,
        is_session: false,
        owner: None,
        member: Some(member),
    };
    NewRow { rows, content: RowContent::Json(entry) }
}

/// A session is chosen in the editor: no argument of its names one.
fn open_command(project: &Path) -> ResumeCommand {
    let argv = vec!["code".to_owned(), ".".to_owned()];
    ResumeCommand { argv, cwd: project.to_path_buf(), needs_cwd: true }
}
