//! Sessions that real clients wrote, read and written back.

mod reading;
mod speaking;
mod writing;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use carryover_core::live::{self, Alive};
use carryover_core::transcript::{Body, Entry, Origin, Part, Transcript, TranscriptBuilder};
use rusqlite::{Connection, params};
use serde_json::Value;

use super::OpenCode;
use crate::{Agent, Bookmark, Source};

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
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/opencode/fixtures").join(format!("{name}.json"))
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
    Source { path: path.to_owned(), key: None }
}

fn read(source: &Source) -> Transcript {
    read_from(source, TranscriptBuilder::new("opencode"), &Bookmark::Start).0
}

fn read_from(source: &Source, mut builder: TranscriptBuilder, from: &Bookmark) -> (Transcript, Bookmark) {
    let bookmark = OpenCode.read(source, from, &mut builder).unwrap();
    (builder.finish(), bookmark)
}

/// What the model would see, one line each; what a compaction kept is loaded again.
fn render_live(transcript: &Transcript) -> String {
    let mut out = String::new();
    let mut transcript = transcript.clone();
    for index in live::order(&transcript) {
        let key = transcript.entries[index].key;
        if matches!(transcript.entries[index].body, Body::Opaque(_)) {
            let again = OpenCode.reload(&transcript.header, key).unwrap();
            transcript.entries[index] = again.into_iter().find(|entry| entry.key == key).unwrap();
        }
    }
    for alive in live::resolve(&transcript) {
        match alive {
            Alive::Entry(index) => writeln!(out, "{}", line_of(&transcript.entries[index])).unwrap(),
            Alive::Answer { text, .. } => writeln!(out, "answered: {text}").unwrap(),
        }
    }
    out
}

fn line_of(entry: &Entry) -> String {
    let said = match &entry.body {
        Body::Prompt(parts) | Body::Reply(parts) | Body::Summary(parts) => parts_of(parts),
        Body::Reasoning(reasoning) => format!("{:?}", reasoning.text),
        Body::Call(call) => format!("{} {} {}", call.id.0, call.tool, call.input.as_str()),
        Body::Outcome(outcome) => {
            format!("{} {:?} {:?} {}", outcome.call.0, outcome.status, outcome.exit_code, parts_of(&outcome.parts))
        }
        Body::Failure(failure) => {
            format!("{:?} {:?} {:?}", failure.kind, failure.message, failure.resets_at.map(|at| at.to_string()))
        }
        Body::Opaque(kind) => kind.to_string(),
        body => format!("{body:?}"),
    };
    let who = match entry.origin {
        Origin::User => "user",
        Origin::Agent => "agent",
        Origin::Harness => "harness",
        Origin::Hook => "hook",
    };
    let line = format!("{who} {} {said}", entry.body.kind());
    line.chars().take(140).collect()
}

fn parts_of(parts: &[Part]) -> String {
    let parts: Vec<String> = parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => format!("{text:?}"),
            Part::Blob(blob) => format!("<{} {:?} {:?}>", blob.media_type, blob.name, blob.place),
        })
        .collect();
    parts.join(" ")
}
