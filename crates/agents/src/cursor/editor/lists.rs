//! The lists by which the editor finds a conversation. Every generation has its own: a list in the shared database since 3.0,
//! a table beside it since 3.12, and since then the projects of its sidebar, into which a conversation has to be put.

use std::path::Path;

use md5::{Digest as _, Md5};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::composer::ComposerWriter;
use super::window::Window;
use super::{DISK_TABLE, KEY_COLUMN, VALUE_COLUMN, refuse, rows_of};
use crate::cursor::ide::{INDEX_TABLE, SHARED_INDEX_KEY, Table, read_text};
use crate::formats::sqlite;
use crate::{AgentError, CellValue, JsonHolder, JsonMember, JsonReferrer, NewRow, RowContent, SessionRows};

/// The projects of the sidebar, and which conversation is in which.
const PROJECTS_KEY: &str = "glass.localAgentProjects.v1";
const MEMBERSHIP_KEY: &str = "glass.localAgentProjectMembership.v1";

/// The columns of the table besides the one that names the conversation.
const TABLE_COLUMNS: &[&str] =
    &["workspaceId", "createdAt", "lastUpdatedAt", "isArchived", "isSubagent", "recency", "checkpointAt", VALUE_COLUMN];

/// The lists that are in a database.
pub(super) struct SessionLists {
    has_table: bool,
    has_index: bool,
    project: Option<SidebarProject>,
}

/// The project of the sidebar that a conversation goes into.
struct SidebarProject {
    id: String,
    /// It is made for us, now or with an earlier session.
    is_ours: bool,
}

impl SessionLists {
    /// Looks for them; nothing is guessed where none of a kind that is known is there.
    pub(super) fn read(database: &Path, window: &Window) -> Result<Self, AgentError> {
        if !database.is_file() {
            return Err(refuse(format!("its database {} is not there", database.display())));
        }
        let found = sqlite::read_database(database, &mut |connection| {
            if !Table::Disk.is_in(connection)? || !Table::Items.is_in(connection)? {
                return Ok(Err(format!("its database has no table `{DISK_TABLE}` of the kind that is known")));
            }
            let columns = sqlite::table_columns(connection, INDEX_TABLE)?;
            let lacks = |name: &&&str| !columns.iter().any(|column| column == **name);
            let missing = TABLE_COLUMNS.iter().find(lacks).filter(|_| !columns.is_empty());
            if let Some(missing) = missing {
                return Ok(Err(format!("its table `{INDEX_TABLE}` has no column `{missing}` any more")));
            }
            let has_table = !columns.is_empty();
            let has_index = read_text(connection, Table::Items, SHARED_INDEX_KEY)?.is_some();
            let project = find_project(connection, window, has_table)?;
            Ok(Ok(Self { has_table, has_index, project }))
        })?;
        let lists = found.map_err(refuse)?;
        if lists.has_table || lists.has_index {
            return Ok(lists);
        }
        let reason = "it keeps no list of conversations as versions from 3.0 on do: update it, or begin a conversation \
                      there, and close it";
        Err(refuse(reason.to_owned()))
    }

    /// What is put into them.
    pub(super) fn make_ops(
        &self,
        database: &Path,
        session: &str,
        head: &Value,
        composer: &ComposerWriter<'_>,
    ) -> Vec<NewRow> {
        let item = |key: &str, member: JsonMember| SessionRows {
            member: Some(member),
            ..rows_of(database, Table::Items.name(), KEY_COLUMN, key.to_owned())
        };
        let mut ops = Vec::new();
        if self.has_table {
            let rows = rows_of(database, INDEX_TABLE, "composerId", session.to_owned());
            ops.push(NewRow { rows, content: RowContent::Cells(table_cells(head, composer)) });
        }
        if self.has_index {
            let member =
                JsonMember { path: &["allComposers"], holder: JsonHolder::Objects("composerId"), ..member_of(session) };
            ops.push(NewRow { rows: item(SHARED_INDEX_KEY, member), content: RowContent::Json(head.to_string()) });
        }
        if let Some(project) = &self.project {
            if project.is_ours {
                let referrer = JsonReferrer { row: MEMBERSHIP_KEY, name: session.to_owned() };
                let member = JsonMember {
                    holder: JsonHolder::Objects("id"),
                    empty: "[]",
                    referrer: Some(referrer),
                    ..member_of(&project.id)
                };
                let content = RowContent::Json(project_entry(&project.id, composer).to_string());
                ops.push(NewRow { rows: item(PROJECTS_KEY, member), content });
            }
            let content = RowContent::Json(json!(project.id).to_string());
            ops.push(NewRow { rows: item(MEMBERSHIP_KEY, member_of(session)), content });
        }
        ops
    }
}

fn member_of(name: &str) -> JsonMember {
    JsonMember {
        column: VALUE_COLUMN,
        path: &[],
        holder: JsonHolder::Object,
        name: name.to_owned(),
        empty: "{}",
        referrer: None,
    }
}

fn table_cells(head: &Value, composer: &ComposerWriter<'_>) -> Vec<(&'static str, CellValue)> {
    let (created, updated) = (composer.request.started_at.millis(), composer.now.millis());
    let values = [
        CellValue::Text(composer.window.id.clone()),
        CellValue::Integer(created),
        CellValue::Integer(updated),
        CellValue::Integer(0),
        CellValue::Integer(0),
        CellValue::Integer(updated),
        CellValue::Integer(updated),
        CellValue::Text(head.to_string()),
    ];
    TABLE_COLUMNS.iter().copied().zip(values).collect()
}

fn project_entry(id: &str, composer: &ComposerWriter<'_>) -> Value {
    let now = composer.now.millis();
    json!({
        "id": id, "name": composer.window.folder_name(), "workspace": composer.window.identifier(),
        "createdAt": now, "lastUpdatedAt": now, "isArchived": false,
    })
}

/// The window's project; where it has none, one is made. Editors without a table have no such sidebar, unless its lists say
/// otherwise.
fn find_project(connection: &Connection, window: &Window, has_table: bool) -> rusqlite::Result<Option<SidebarProject>> {
    let projects = read_text(connection, Table::Items, PROJECTS_KEY)?;
    let is_used = has_table || projects.is_some() || read_text(connection, Table::Items, MEMBERSHIP_KEY)?.is_some();
    if !is_used {
        return Ok(None);
    }
    let projects: Vec<Value> = projects.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let ours = made_id(window);
    let of_window = |project: &&Value| {
        let folder = project.pointer("/workspace/uri/fsPath").and_then(Value::as_str);
        project["isArchived"] != true
            && (project["workspace"]["id"] == window.id.as_str() || folder.is_some_and(|path| window.is_folder(path)))
    };
    let known = projects.iter().find(of_window).and_then(|project| project["id"].as_str());
    let id = known.unwrap_or(&ours).to_owned();
    Ok(Some(SidebarProject { is_ours: id == ours, id }))
}

/// The name of a project that is made: always the same for a window, so that it is known again.
fn made_id(window: &Window) -> String {
    let digest: [u8; 16] = Md5::digest(format!("carryover project of {}", window.id)).into();
    uuid::Builder::from_md5_bytes(digest).into_uuid().to_string()
}
