//! An editor that has had a project open, and what a plan puts into its database.

use std::path::{Path, PathBuf};

use carryover_core::transcript::{Transcript, TranscriptBuilder};
use rusqlite::{Connection, params};
use serde_json::{Value, json};

use crate::cursor::Cursor;
use crate::fixtures::{self, ImageCounts};
use crate::write_fixtures::{full_session, sample_env, sample_request};
use crate::{
    Agent, AgentError, Bookmark, CarriedEntry, CellValue, JsonHolder, NewRow, RowContent, Source, Store, TargetView,
    WriteOp, WritePlan, WriteRequest,
};

pub(super) const TABLES: &str = "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
                      CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);";
pub(super) const INDEX: &str = "INSERT INTO ItemTable VALUES ('composer.composerHeaders', '{\"allComposers\":[]}');";
pub(super) const HEAD_TABLE: &str =
    "CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT, createdAt INTEGER,
         lastUpdatedAt INTEGER, isArchived INTEGER, isSubagent INTEGER, recency INTEGER, checkpointAt INTEGER, value TEXT);";

pub(super) const PROJECT: &str = "/home/u/my_repo";

/// An editor that has had a project open.
pub(super) struct Editor {
    pub(super) home: tempfile::TempDir,
}

impl Editor {
    /// One whose shared database is made by this.
    pub(super) fn new(sql: &str) -> Self {
        let editor = Self { home: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(editor.user().join("globalStorage")).unwrap();
        editor.open_project("w1", &format!("file://{PROJECT}"));
        editor.database().execute_batch(sql).unwrap();
        editor
    }

    pub(super) fn user(&self) -> PathBuf {
        self.home.path().join(".config/Cursor/User")
    }

    pub(super) fn file(&self) -> PathBuf {
        self.user().join("globalStorage/state.vscdb")
    }

    pub(super) fn database(&self) -> Connection {
        Connection::open(self.file()).unwrap()
    }

    pub(super) fn open_project(&self, name: &str, address: &str) {
        let folder = self.user().join("workspaceStorage").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("workspace.json"), json!({ "folder": address }).to_string()).unwrap();
        Connection::open(folder.join("state.vscdb")).unwrap().execute_batch("CREATE TABLE ItemTable (key)").unwrap();
    }

    pub(super) fn plan(&self, request: &WriteRequest<'_>) -> Result<WritePlan, AgentError> {
        let (store, env) = (Store { root: self.user() }, sample_env());
        let target = TargetView { env: &env, store: &store, program: None, version: None };
        Cursor.editor_writer().unwrap().plan(request, &target)
    }

    pub(super) fn plan_entries(&self, entries: &[CarriedEntry]) -> WritePlan {
        self.plan(&sample_request(Path::new(PROJECT), entries)).unwrap()
    }

    pub(super) fn refusal(&self) -> String {
        self.plan(&sample_request(Path::new(PROJECT), &full_session())).unwrap_err().to_string()
    }

    /// Does what a plan says.
    pub(super) fn write(&self, plan: &WritePlan) {
        for op in &plan.ops {
            match op {
                WriteOp::Create { path, bytes, .. } => {
                    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                    std::fs::write(path, bytes).unwrap();
                }
                WriteOp::AddRow(row) => self.add_row(row),
                op => panic!("{op:?}"),
            }
        }
    }

    pub(super) fn add_row(&self, NewRow { rows, content }: &NewRow) {
        let database = self.database();
        let insert = |value: &str, cells: &[(&str, CellValue)]| {
            let columns: Vec<&str> = std::iter::once(rows.column).chain(cells.iter().map(|(name, _)| *name)).collect();
            let mut values: Vec<rusqlite::types::Value> = vec![value.to_owned().into()];
            values.extend(cells.iter().map(|(_, cell)| match cell {
                CellValue::Null => rusqlite::types::Value::Null,
                CellValue::Integer(number) => (*number).into(),
                CellValue::Text(text) => text.clone().into(),
            }));
            let places = vec!["?"; columns.len()].join(",");
            let sql = format!("INSERT INTO {} ({}) VALUES ({places})", rows.table, columns.join(","));
            database.execute(&sql, rusqlite::params_from_iter(values)).unwrap();
        };
        match content {
            RowContent::Cells(cells) => insert(&rows.value, cells),
            RowContent::Parts(parts) => {
                for (end, cells) in parts {
                    insert(&format!("{}{end}", rows.value), cells);
                }
            }
            RowContent::Json(json) => {
                let member = rows.member.as_ref().unwrap();
                let mut value = self.item(&rows.value).unwrap_or_else(|| serde_json::from_str(member.empty).unwrap());
                let place = member.path.iter().fold(&mut value, |value, name| &mut value[*name]);
                let json: Value = serde_json::from_str(json).unwrap();
                match member.holder {
                    JsonHolder::Object => drop(place.as_object_mut().unwrap().insert(member.name.clone(), json)),
                    _ => place.as_array_mut().unwrap().push(json),
                }
                let sql = "INSERT INTO ItemTable VALUES (?1, ?2)";
                database.execute(sql, params![rows.value, value.to_string()]).unwrap();
            }
        }
    }

    pub(super) fn item(&self, key: &str) -> Option<Value> {
        let query = "SELECT value FROM ItemTable WHERE key = ?1";
        let text: Option<String> = self.database().query_row(query, [key], |row| row.get(0)).ok();
        text.map(|text| serde_json::from_str(&text).unwrap())
    }

    pub(super) fn read(plan: &WritePlan) -> Transcript {
        let source = Source { path: plan.file.clone(), key: plan.key.clone() };
        fixtures::read_from(&Cursor, &source, TranscriptBuilder::new("cursor"), &Bookmark::Start).0
    }

    pub(super) fn live(&self, plan: &WritePlan) -> String {
        self.write(plan);
        let transcript = Self::read(plan);
        assert!(transcript.rejected.is_empty());
        fixtures::live_context(&Cursor, &transcript, ImageCounts::Everywhere)
    }
}

pub(super) fn newest() -> Editor {
    Editor::new(&[TABLES, INDEX, HEAD_TABLE].concat())
}

/// Where a plan adds what.
pub(super) fn places(plan: &WritePlan) -> Vec<String> {
    let rows = plan.ops.iter().filter_map(|op| if let WriteOp::AddRow(row) = op { Some(row) } else { None });
    let place = |NewRow { rows, content }: &NewRow| {
        let value = rows.value.replace(&plan.session.0, "ID");
        let what = match (content, &rows.member) {
            (RowContent::Parts(parts), _) => format!("{} rows", parts.len()),
            (_, Some(member)) => {
                format!("{:?} {} by {:?}", member.path, member.name.replace(&plan.session.0, "ID"), member.holder)
            }
            _ => "a row".to_owned(),
        };
        format!("{}.{} {value}: {what}", rows.table, rows.column)
    };
    rows.map(place).collect()
}

/// The documents that a plan writes, by the beginning of their keys.
pub(super) fn documents(plan: &WritePlan, beginning: &str) -> Vec<Value> {
    let texts = |cells: &[(&str, CellValue)]| match &cells[0].1 {
        CellValue::Text(text) => serde_json::from_str(text).unwrap(),
        cell => panic!("{cell:?}"),
    };
    let mut found = Vec::new();
    for op in &plan.ops {
        match op {
            WriteOp::AddRow(NewRow { rows, content }) if rows.value.starts_with(beginning) => match content {
                RowContent::Cells(cells) => found.push(texts(cells)),
                RowContent::Parts(parts) => found.extend(parts.iter().map(|(_, cells)| texts(cells))),
                RowContent::Json(json) => found.push(serde_json::from_str(json).unwrap()),
            },
            _ => {}
        }
    }
    found
}
