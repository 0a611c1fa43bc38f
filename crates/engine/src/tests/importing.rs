//! A client that takes sessions in by a command of its own, as far as the engine is concerned: it is handed a file, and
//! rows are there afterwards.

use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::{Env, Run};
use rusqlite::{Connection, OpenFlags, params};
use serde_json::Value;

use crate::disk::{Disk, NewFile, RealDisk};
use crate::journal::{Lines, Rows};
use crate::lines::LinesError;
use crate::rows::RowsError;
use crate::run::RunError;

/// The real disk, with commands that put a session there done by ourselves.
pub(super) struct Importing {
    /// Commands fail after they have done half of their work.
    pub(super) is_broken: bool,
}

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS session (id PRIMARY KEY, parent_id, directory, title, version, time_created, time_updated);
    CREATE TABLE IF NOT EXISTS message (id PRIMARY KEY, session_id, time_created, time_updated, data);
    CREATE TABLE IF NOT EXISTS part (id PRIMARY KEY, message_id, session_id, time_created, time_updated, data);";

pub(super) fn open(database: &Path) -> Connection {
    fs_err::create_dir_all(database.parent().unwrap()).unwrap();
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let connection = Connection::open_with_flags(database, flags).unwrap();
    connection.execute_batch("PRAGMA synchronous = OFF").unwrap();
    connection.execute_batch(TABLES).unwrap();
    connection
}

fn import(run: &Run, half: bool) {
    let export: Value = serde_json::from_slice(&run.files[0].1).unwrap();
    let mut connection = open(&run.inverse.rows[0].database);
    let transaction = connection.transaction().unwrap();
    let info = &export["info"];
    let id = info["id"].as_str().unwrap();
    let directory = run.cwd.as_ref().unwrap().display().to_string();
    let (title, at) = (info["title"].as_str(), info["time"]["updated"].as_i64());
    let sql = "INSERT INTO session VALUES (?1, NULL, ?2, ?3, '1', ?4, ?4)";
    transaction.execute(sql, params![id, directory, title, at]).unwrap();
    let messages = export["messages"].as_array().unwrap();
    let count = if half { messages.len() / 2 } else { messages.len() };
    for message in &messages[..count] {
        let at = message["info"]["time"]["created"].as_i64();
        let sql = "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)";
        transaction.execute(sql, params![message["info"]["id"].as_str(), id, at, data(&message["info"])]).unwrap();
        for part in message["parts"].as_array().unwrap() {
            let sql = "INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)";
            let of = part["messageID"].as_str();
            transaction.execute(sql, params![part["id"].as_str(), of, id, at, data(part)]).unwrap();
        }
    }
    transaction.commit().unwrap();
}

fn data(value: &Value) -> String {
    let mut data = value.as_object().unwrap().clone();
    for name in ["id", "sessionID", "messageID"] {
        data.remove(name);
    }
    Value::Object(data).to_string()
}

impl Disk for Importing {
    fn run(&mut self, run: &Run, env: &Env) -> Result<(), RunError> {
        if !run.required {
            return RealDisk.run(run, env);
        }
        import(run, self.is_broken);
        if self.is_broken { Err(RunError::Failed) } else { Ok(()) }
    }

    fn write_own(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        RealDisk.write_own(path, bytes)
    }

    fn rewrite(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        RealDisk.rewrite(path, bytes)
    }

    fn create_folder(&mut self, path: &Path) -> io::Result<()> {
        RealDisk.create_folder(path)
    }

    fn stage(&mut self, folder: &Path, mark: &str, new: &NewFile<'_>) -> io::Result<PathBuf> {
        RealDisk.stage(folder, mark, new)
    }

    fn publish(&mut self, staged: &Path, path: &Path) -> io::Result<()> {
        RealDisk.publish(staged, path)
    }

    fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        RealDisk.remove_file(path)
    }

    fn remove_folder(&mut self, path: &Path) -> io::Result<()> {
        RealDisk.remove_folder(path)
    }

    fn delete_rows(&mut self, rows: &[Rows]) -> Result<(), RowsError> {
        RealDisk.delete_rows(rows)
    }

    fn take_out_lines(&mut self, lines: &[Lines]) -> Result<(), LinesError> {
        RealDisk.take_out_lines(lines)
    }
}
