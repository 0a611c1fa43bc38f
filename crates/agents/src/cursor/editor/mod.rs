//! Planning a session for the editor's own history: rows of its shared database, and entries in the lists by which it finds
//! them. The form is known from what others have read and written, and not from its vendor: `README.md` beside this folder
//! tells from whom.

mod bubbles;
mod composer;
mod image_files;
mod lists;
mod skeleton;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests;
mod tool_data;
mod window;

use std::path::{Path, PathBuf};

use carryover_core::transcript::SessionId;
use serde_json::Value;

use self::bubbles::BubbleWriter;
use self::composer::ComposerWriter;
use self::lists::SessionLists;
use self::window::Window;
use super::FACTS;
use super::places::global_database;
use crate::formats::ids::{self, Ids};
use crate::formats::request::{project_text, title_or_prompt};
use crate::formats::session_lines::LineWriter;
use crate::{
    AgentError, CellValue, EditorWriter, LifeSign, NewRow, ResumeCommand, RowContent, SessionRows, Store, TargetView,
    WriteOp, WritePlan, WriteRequest, Writer,
};

/// The editor, as opposed to its command line client.
pub(super) struct CursorEditor;

/// The table of conversations, and its columns.
const DISK_TABLE: &str = "cursorDiskKV";
const KEY_COLUMN: &str = "key";
const VALUE_COLUMN: &str = "value";

impl Writer for CursorEditor {
    fn plan(&self, request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
        let project = project_text(request, FACTS.name)?;
        let editor = &target.store.root;
        let window = Window::find(editor, request.project).ok_or_else(|| unknown_project(request.project))?;
        let database = global_database(editor);
        let lists = SessionLists::read(&database, &window)?;
        let mut ids = Ids::new(request.seed);
        let session = ids.next_uuid();
        let title = title_or_prompt(request);
        // A folder of its own, which is named by it.
        let images = database.with_file_name(&session);
        let mut writer = BubbleWriter::new(request, project, ids, images);
        writer.write_session();
        let (lines, parts) = writer.finish();
        let composer =
            ComposerWriter { request, session: &session, title: &title, window: &window, now: target.env.now };
        let document = composer.make_document(&lines);
        let head = composer.make_head();
        let mut places = LineWriter::default();
        for line in &lines {
            places.note_entries(&line.entries, ids::digest_name(line.value["bubbleId"].as_str().unwrap_or_default()));
        }
        let written = places.finish(parts.losses, parts.translated);
        let mut ops: Vec<WriteOp> = parts.images.into_iter().map(|image| image.into_op(target.env.now)).collect();
        let bubbles = lines.iter().map(|line| bubble_part(&line.value)).collect();
        ops.push(add_row(&database, format!("composerData:{session}"), RowContent::Cells(value_cells(&document))));
        ops.push(add_bubbles(&database, &session, bubbles));
        ops.extend(lists.make_ops(&database, &session, &head, &composer).into_iter().map(WriteOp::AddRow));
        let key = Some(session.clone());
        let plan = written.into_plan(target, SessionId(session), database, open_command(request.project));
        Ok(WritePlan { key, ops, ..plan })
    }
}

impl EditorWriter for CursorEditor {
    fn knows_project(&self, store: &Store, project: &Path) -> bool {
        Window::find(&store.root, project).is_some()
    }

    /// On every system, its program has one name, also in an `AppImage`; the command line client has another. As in the editor
    /// that it was made from, it notes its process beside its settings, and takes the note back when it ends.
    fn life_signs(&self, database: &Path) -> Vec<LifeSign> {
        let settings = database.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "User"));
        let note = settings.and_then(Path::parent).map(|data| LifeSign::PidFile(data.join("code.lock")));
        let programs = [LifeSign::Program(&["cursor"]), LifeSign::ProgramFolder("Cursor.app")];
        programs.into_iter().chain(note).collect()
    }

    fn opening_advice(&self) -> &'static str {
        "open the folder in the editor: the session is in the history of its agent, under its title"
    }
}

fn unknown_project(project: &Path) -> AgentError {
    refuse(format!("the editor has not had {} open yet: open it there once, and close it", project.display()))
}

fn refuse(reason: String) -> AgentError {
    AgentError::CannotHold { agent: FACTS.name, reason }
}

/// A session is chosen in the editor: no argument of its names one.
fn open_command(project: &Path) -> ResumeCommand {
    let argv = vec!["cursor".to_owned(), ".".to_owned()];
    ResumeCommand { argv, cwd: project.to_path_buf(), needs_cwd: true }
}

fn add_row(database: &Path, key: String, content: RowContent) -> WriteOp {
    WriteOp::AddRow(NewRow { rows: disk_rows(database, key), content })
}

/// The words: whoever goes on adds to them, and whoever only looks changes no more than what is around them.
fn add_bubbles(database: &Path, session: &str, bubbles: Vec<(String, Vec<(&'static str, CellValue)>)>) -> WriteOp {
    let all = disk_rows(database, format!("bubbleId:{session}:"));
    let rows = SessionRows { is_prefix: true, is_session: true, ..all };
    WriteOp::AddRow(NewRow { rows, content: RowContent::Parts(bubbles) })
}

fn bubble_part(bubble: &Value) -> (String, Vec<(&'static str, CellValue)>) {
    (bubble["bubbleId"].as_str().unwrap_or_default().to_owned(), value_cells(bubble))
}

fn value_cells(value: &Value) -> Vec<(&'static str, CellValue)> {
    vec![(VALUE_COLUMN, CellValue::Text(value.to_string()))]
}

fn disk_rows(database: &Path, value: String) -> SessionRows {
    rows_of(database, DISK_TABLE, KEY_COLUMN, value)
}

fn rows_of(database: &Path, table: &'static str, column: &'static str, value: String) -> SessionRows {
    SessionRows {
        database: PathBuf::from(database),
        table,
        column,
        value,
        is_prefix: false,
        is_session: false,
        owner: None,
        member: None,
    }
}
