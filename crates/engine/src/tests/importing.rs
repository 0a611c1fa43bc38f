//! A client that takes sessions in by a command of its own, as far as the engine is concerned: it is handed a file, and
//! rows are there afterwards.

use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::VendorCommand;
use rusqlite::{Connection, OpenFlags, params};
use serde_json::Value;

use crate::context::Context;
use crate::write::disk::{Disk, NewFile, RealDisk};
use crate::write::journal::{Lines, Rows};
use crate::write::lines::LinesError;
use crate::write::rows::RowsError;
use crate::write::run::RunError;

/// The real disk, with commands that put a session there done by ourselves.
pub(super) struct ImportingDisk {
    /// Commands fail after they have done half of their work.
    pub(super) is_broken: bool,
}

pub(super) const MESSAGE_TABLES: &str = "
    CREATE TABLE IF NOT EXISTS session (id PRIMARY KEY, parent_id, directory, title, version, time_created, time_updated);
    CREATE TABLE IF NOT EXISTS message (id PRIMARY KEY, session_id, time_created, time_updated, data);
    CREATE TABLE IF NOT EXISTS part (id PRIMARY KEY, message_id, session_id, time_created, time_updated, data);";

/// The tables of a client that keeps a session as a list of events.
const EVENT_TABLES: &str = "
    CREATE TABLE IF NOT EXISTS session_nodes (session_key PRIMARY KEY, current_session_id, display_name);
    CREATE TABLE IF NOT EXISTS session_windows (session_id PRIMARY KEY, session_key, created_at, updated_at);
    CREATE TABLE IF NOT EXISTS transcript_events (session_id, seq, event_json, created_at, PRIMARY KEY (session_id, seq));";

pub(super) fn open_database(database: &Path, tables: &str) -> Connection {
    fs_err::create_dir_all(database.parent().unwrap()).unwrap();
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let connection = Connection::open_with_flags(database, flags).unwrap();
    connection.execute_batch("PRAGMA synchronous = OFF").unwrap();
    connection.execute_batch(tables).unwrap();
    connection
}

/// Whether a database is one of events.
fn holds_events(rows: &[Rows]) -> bool {
    rows.iter().any(|rows| rows.table == "transcript_events")
}

/// Goes on in a session, as its user would.
pub(super) fn append_message(rows: &[Rows], session: &str) {
    let events = holds_events(rows);
    let owner = open_database(&rows[0].database, if events { EVENT_TABLES } else { MESSAGE_TABLES });
    let sql = if events {
        "INSERT INTO transcript_events VALUES (?1, 9999, '{\"type\":\"custom\",\"id\":\"later\"}', 1)"
    } else {
        "INSERT INTO message VALUES ('msg_later', ?1, 9999999999999, 1, '{\"role\":\"user\"}')"
    };
    owner.execute(sql, [session]).unwrap();
}

/// Changes the last text of a session.
pub(super) fn change_last_text(rows: &[Rows], session: &str) {
    let events = holds_events(rows);
    let owner = open_database(&rows[0].database, if events { EVENT_TABLES } else { MESSAGE_TABLES });
    let sql = if events {
        "UPDATE transcript_events SET event_json = json_set(event_json, '$.message.content[0].text', 'SOMETHING ELSE')
         WHERE session_id = ?1 AND seq = (SELECT max(seq) FROM transcript_events WHERE session_id = ?1
         AND json_extract(event_json, '$.message.content[0].type') = 'text')"
    } else {
        "UPDATE part SET data = json_set(data, '$.text', 'SOMETHING ELSE') WHERE session_id = ?1
         AND id = (SELECT max(id) FROM part WHERE session_id = ?1 AND json_extract(data, '$.type') = 'text')"
    };
    assert_eq!(owner.execute(sql, [session]).unwrap(), 1);
}

/// Takes in the files of an older client: an index, and one file of lines for each session.
fn import_events(run: &VendorCommand, half: bool) {
    let file = |end: &str| &run.files.iter().find(|(name, _)| name.ends_with(end)).unwrap().1;
    let index: Value = serde_json::from_slice(file("sessions.json")).unwrap();
    let (key, entry) = index.as_object().unwrap().iter().next().unwrap();
    let id = entry["sessionId"].as_str().unwrap();
    let mut connection = open_database(&run.inverse.rows[0].database, EVENT_TABLES);
    let transaction = connection.transaction().unwrap();
    let sql = "INSERT INTO session_nodes VALUES (?1, ?2, ?3)";
    transaction.execute(sql, params![key, id, entry["displayName"].as_str()]).unwrap();
    let sql = "INSERT INTO session_windows VALUES (?1, ?2, ?3, ?3)";
    transaction.execute(sql, params![id, key, entry["updatedAt"].as_i64()]).unwrap();
    let lines: Vec<&str> = std::str::from_utf8(file(".jsonl")).unwrap().lines().collect();
    let count = if half { lines.len() / 2 } else { lines.len() };
    for (seq, line) in lines[..count].iter().enumerate() {
        let sql = "INSERT INTO transcript_events VALUES (?1, ?2, ?3, 1)";
        transaction.execute(sql, params![id, seq, line]).unwrap();
    }
    transaction.commit().unwrap();
}

fn import_session(run: &VendorCommand, half: bool) {
    if run.files.iter().any(|(name, _)| name.ends_with("sessions.json")) {
        return import_events(run, half);
    }
    let export: Value = serde_json::from_slice(&run.files[0].1).unwrap();
    let mut connection = open_database(&run.inverse.rows[0].database, MESSAGE_TABLES);
    let transaction = connection.transaction().unwrap();
    let info = &export["info"];
    let id = info["id"].as_str().unwrap();
    let directory = run.cwd.as_ref().unwrap().display().to_string();
    let (title, at) = (info["title"].as_str(), info["time"]["updated"].as_i64());
    let parent = info["parentID"].as_str();
    let sql = "INSERT INTO session VALUES (?1, ?5, ?2, ?3, '1', ?4, ?4)";
    transaction.execute(sql, params![id, directory, title, at, parent]).unwrap();
    let messages = export["messages"].as_array().unwrap();
    let count = if half { messages.len() / 2 } else { messages.len() };
    for message in &messages[..count] {
        let at = message["info"]["time"]["created"].as_i64();
        let sql = "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)";
        transaction.execute(sql, params![message["info"]["id"].as_str(), id, at, row_data(&message["info"])]).unwrap();
        for part in message["parts"].as_array().unwrap() {
            let sql = "INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)";
            let of = part["messageID"].as_str();
            transaction.execute(sql, params![part["id"].as_str(), of, id, at, row_data(part)]).unwrap();
        }
    }
    transaction.commit().unwrap();
}

fn row_data(value: &Value) -> String {
    let mut data = value.as_object().unwrap().clone();
    for name in ["id", "sessionID", "messageID"] {
        data.remove(name);
    }
    Value::Object(data).to_string()
}

impl Disk for ImportingDisk {
    fn run(&mut self, run: &VendorCommand, context: &Context) -> Result<(), RunError> {
        if !run.required {
            return RealDisk.run(run, context);
        }
        import_session(run, self.is_broken);
        if self.is_broken { Err(RunError::Failed { code: Some(1), said: Vec::new() }) } else { Ok(()) }
    }

    fn write_own(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        RealDisk.write_own(path, bytes)
    }

    fn replace_shared(&mut self, path: &Path, bytes: &[u8], project: &Path) -> io::Result<()> {
        RealDisk.replace_shared(path, bytes, project)
    }

    fn create_folder(&mut self, path: &Path, private: bool) -> io::Result<()> {
        RealDisk.create_folder(path, private)
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

    fn append_line(&mut self, lines: &Lines, line: &str) -> io::Result<()> {
        RealDisk.append_line(lines, line)
    }

    fn remove_lines(&mut self, lines: &[Lines]) -> Result<(), LinesError> {
        RealDisk.remove_lines(lines)
    }
}
