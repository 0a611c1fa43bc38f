//! Sessions that real clients wrote, read and written back. `branches` was made by hand.

mod reading;
mod writing;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use carryover_core::live::{self, LiveItem};
use carryover_core::transcript::{Body, Entry, Part, Transcript, TranscriptBuilder};
use rusqlite::{Connection, params};
use serde_json::Value;

use super::OpenClaw;
use crate::{Agent, Bookmark, Discovery, Reader, Source, fixtures};

/// Every fixture, as the client exports it.
const FIXTURES: &[&str] = &["branches", "crashed", "limit", "whole"];

/// The tables of 2026.9.6, as far as sessions are concerned.
const TABLES: &str = "
    PRAGMA synchronous = OFF;
    CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, current_session_id TEXT, label TEXT, display_name TEXT,
        spawned_by TEXT);
    CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT, model TEXT, created_at INTEGER,
        updated_at INTEGER);
    CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER,
        event_zstd BLOB, PRIMARY KEY (session_id, seq));";

fn fixture(name: &str) -> PathBuf {
    fixtures::fixture_path(&OpenClaw, &format!("{name}.json"))
}

/// The records of a fixture, the first line of a file among them.
fn records(name: &str) -> Vec<Value> {
    let export: Value = serde_json::from_str(&std::fs::read_to_string(fixture(name)).unwrap()).unwrap();
    let mut records = vec![export["header"].clone()];
    records.extend(export["entries"].as_array().unwrap().iter().cloned());
    records
}

/// A store with these sessions in its database.
struct Made {
    folder: tempfile::TempDir,
}

impl Made {
    fn of(sessions: &[&[Value]]) -> Self {
        let made = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(made.path().parent().unwrap()).unwrap();
        made.open().execute_batch(TABLES).unwrap();
        for records in sessions {
            made.add(records, 0);
        }
        made
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("agents/main/agent/openclaw-agent.sqlite")
    }

    fn open(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }

    /// Adds records from one on; long ones are packed, as the client packs them.
    fn add(&self, records: &[Value], from: usize) {
        let connection = self.open();
        connection.execute_batch("PRAGMA synchronous = OFF; BEGIN").unwrap();
        let id = records[0]["id"].as_str().unwrap();
        let key = format!("agent:main:explicit:{id}");
        let sql = "INSERT OR IGNORE INTO session_nodes VALUES (?1, ?2, NULL, NULL, NULL)";
        connection.execute(sql, params![key, id]).unwrap();
        let sql = "INSERT OR IGNORE INTO session_windows VALUES (?1, ?2, NULL, 1, 2)";
        connection.execute(sql, params![id, key]).unwrap();
        for (seq, record) in records.iter().enumerate().skip(from) {
            let text = record.to_string();
            let packed = (text.len() > 1024).then(|| zstd::encode_all(text.as_bytes(), 1).unwrap());
            let text = if packed.is_some() { None } else { Some(text) };
            let sql = "INSERT INTO transcript_events VALUES (?1, ?2, ?3, 1, ?4)";
            connection.execute(sql, params![id, seq, text, packed]).unwrap();
        }
        connection.execute_batch("COMMIT").unwrap();
    }
}

fn source(path: &Path) -> Source {
    Source::file(path)
}

fn read(source: &Source) -> Transcript {
    read_from(source, TranscriptBuilder::new("openclaw"), &Bookmark::Start).0
}

fn read_from(source: &Source, builder: TranscriptBuilder, from: &Bookmark) -> (Transcript, Bookmark) {
    fixtures::read_from(&OpenClaw, source, builder, from)
}

/// The context that the model would see, one line each; what a compaction kept is loaded again.
fn render_live(transcript: &Transcript) -> String {
    let whole = fixtures::reload_live(&OpenClaw, transcript, |body| matches!(body, Body::Opaque(_)));
    fixtures::render_live(&whole, &live::context_order(transcript), line_of, |text| format!("answered: {text}"))
}

fn line_of(entry: &Entry) -> String {
    let said = match &entry.body {
        Body::Prompt(parts) | Body::Reply(parts) | Body::Summary(parts) => parts_of(parts),
        Body::Reasoning(reasoning) => format!("{:?} sealed: {}", reasoning.text, reasoning.sealed),
        Body::Call(call) => format!("{} {} {}", call.id.0, call.tool, call.input.as_str()),
        Body::Outcome(outcome) => {
            format!("{} {:?} {:?} {}", outcome.call.0, outcome.status, outcome.exit_code, parts_of(&outcome.parts))
        }
        Body::Failure(failure) => format!("{:?} {:?}", failure.kind, failure.message),
        body => format!("{body:?}"),
    };
    format!("{:?} {}: {said}", entry.origin, entry.body.kind())
}

fn parts_of(parts: &[Part]) -> String {
    let part = |part: &Part| match part {
        Part::Text(text) => format!("{text:?}"),
        Part::Blob(blob) => format!("[{} {:?}]", blob.media_type, blob.location),
    };
    parts.iter().map(part).collect::<Vec<_>>().join(" ")
}
