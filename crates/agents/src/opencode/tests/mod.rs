//! Sessions that real clients wrote, read and written back.

mod reading;
mod speaking;
mod writing;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use carryover_core::live;
use carryover_core::transcript::{Body, Entry, Part, Transcript, TranscriptBuilder};
use rusqlite::{Connection, params};
use serde_json::Value;

use super::OpenCode;
use crate::{Agent, Bookmark, Discovery, Reader, Source, fixtures};

/// Every fixture, as the client exports it.
const FIXTURES: &[&str] = &["driven", "compaction", "limit", "rich", "reverted", "stopped", "killed", "subagent"];

/// The tables of 1.18.33, as far as sessions are concerned.
const TABLES: &str = "
    PRAGMA synchronous = OFF;
    CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL,
        directory text NOT NULL, title text NOT NULL, version text NOT NULL, revert text, model text,
        time_created integer NOT NULL, time_updated integer NOT NULL);
    CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
        time_updated integer NOT NULL, data text NOT NULL);
    CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
        time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);";

fn fixture(name: &str) -> PathBuf {
    fixtures::fixture_path(&OpenCode, &format!("{name}.json"))
}

fn export(name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(fixture(name)).unwrap()).unwrap()
}

/// A database with these sessions, as the client's own import would fill it.
struct Made {
    folder: tempfile::TempDir,
}

impl Made {
    fn of(exports: &[Value]) -> Self {
        let made = Self { folder: tempfile::tempdir().unwrap() };
        let connection = Connection::open(made.path()).unwrap();
        connection.execute_batch(TABLES).unwrap();
        for export in exports {
            add(&connection, export, usize::MAX);
        }
        made
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("opencode.db")
    }
}

/// Adds the first messages of a session.
fn add(connection: &Connection, export: &Value, count: usize) {
    connection.execute_batch("PRAGMA synchronous = OFF; BEGIN").unwrap();
    fill(connection, export, count);
    connection.execute_batch("COMMIT").unwrap();
}

fn fill(connection: &Connection, export: &Value, count: usize) {
    let info = &export["info"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let json = |value: &Value| (!value.is_null()).then(|| value.to_string());
    connection
        .execute(
            "INSERT OR IGNORE INTO session VALUES (?1, 'global', ?2, 's', ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                text(&info["id"]),
                text(&info["parentID"]),
                text(&info["directory"]),
                text(&info["title"]),
                text(&info["version"]),
                json(&info["revert"]),
                json(&info["model"]),
                info["time"]["created"].as_i64(),
                info["time"]["updated"].as_i64()
            ],
        )
        .unwrap();
    for message in export["messages"].as_array().unwrap().iter().take(count) {
        let row = |value: &Value| {
            let mut data = value.as_object().unwrap().clone();
            let id = data.remove("id").and_then(|id| text(&id));
            data.remove("sessionID");
            let of = data.remove("messageID").and_then(|id| text(&id));
            (id, of, Value::Object(data).to_string())
        };
        let (id, _, data) = row(&message["info"]);
        let at = message["info"]["time"]["created"].as_i64();
        let sql = "INSERT OR IGNORE INTO message VALUES (?1, ?2, ?3, ?3, ?4)";
        connection.execute(sql, params![id, text(&info["id"]), at, data]).unwrap();
        for part in message["parts"].as_array().unwrap() {
            let (id, of, data) = row(part);
            let sql = "INSERT OR IGNORE INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)";
            connection.execute(sql, params![id, of, text(&info["id"]), at, data]).unwrap();
        }
    }
}

fn source(path: &Path) -> Source {
    Source::file(path)
}

fn read(source: &Source) -> Transcript {
    read_from(source, TranscriptBuilder::new("opencode"), &Bookmark::Start).0
}

fn read_from(source: &Source, builder: TranscriptBuilder, from: &Bookmark) -> (Transcript, Bookmark) {
    fixtures::read_from(&OpenCode, source, builder, from)
}

/// The context that the model would see, one line each; what a compaction kept is loaded again.
fn render_live(transcript: &Transcript) -> String {
    let whole = fixtures::reload_live(&OpenCode, transcript, |body| matches!(body, Body::Opaque(_)));
    fixtures::render_live(&whole, &live::context_order(transcript), line_of, |text| format!("answered: {text}"))
}

fn line_of(entry: &Entry) -> String {
    let said = match &entry.body {
        Body::Reasoning(reasoning) => Some(format!("{:?}", reasoning.text)),
        Body::Call(call) => Some(format!("{} {} {}", call.id.0, call.tool, call.input.as_str())),
        _ => None,
    };
    fixtures::long_line(entry, said, 140)
}
