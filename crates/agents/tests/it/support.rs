//! Reading made-up files.

use std::path::{Path, PathBuf};

use carryover_agents::{Agent, Bookmark, Source};
use carryover_core::transcript::{Transcript, TranscriptBuilder};

/// Where a session file of this agent would be, and its first line.
pub(crate) fn file_name(agent: &dyn Agent) -> (&'static str, &'static str) {
    match agent.facts().id {
        "aider" => (".aider.chat.history.md", "# aider chat started at 2026-11-15 00:00:00"),
        "codex" => (
            "sessions/2026/11/15/rollout-2026-11-15T00-00-00-00000000-0000-4000-8000-000000000001.jsonl",
            r#"{"timestamp":"2026-11-15T00:00:00.000Z","type":"session_meta","payload":{"id":"00000000-0000-4000-8000-000000000001","timestamp":"2026-11-15T00:00:00.000Z","cwd":"/p","originator":"x","cli_version":"0.166.0"}}"#,
        ),
        "copilot-cli" => (
            "session-state/00000000-0000-4000-8000-000000000001/events.jsonl",
            r#"{"type":"session.start","data":{"sessionId":"00000000-0000-4000-8000-000000000001","version":1,"producer":"copilot-agent","copilotVersion":"1.0.102","startTime":"2026-11-15T00:00:00.000Z"},"id":"a","timestamp":"2026-11-15T00:00:00.000Z","parentId":null}"#,
        ),
        "gemini-cli" => (
            "tmp/p/chats/session-2026-11-15T00-00-00000000.jsonl",
            r#"{"sessionId":"00000000-0000-4000-8000-000000000001","projectHash":"p","startTime":"2026-11-15T00:00:00.000Z","lastUpdated":"2026-11-15T00:00:00.000Z","kind":"main"}"#,
        ),
        "pi" => (
            "sessions/--p--/2026-11-15T00-00-00-000Z_00000000-0000-4000-8000-000000000001.jsonl",
            r#"{"type":"session","version":3,"id":"00000000-0000-4000-8000-000000000001","timestamp":"2026-11-15T00:00:00.000Z","cwd":"/p"}"#,
        ),
        "qwen-code" => (
            "projects/-p/chats/00000000-0000-4000-8000-000000000001.jsonl",
            r#"{"uuid":"t","parentUuid":null,"type":"system","subtype":"ui_telemetry","systemPayload":{}}"#,
        ),
        _ => (
            "projects/-p/00000000-0000-4000-8000-000000000001.jsonl",
            r#"{"type":"mode","mode":"normal","sessionId":"00000000-0000-4000-8000-000000000001"}"#,
        ),
    }
}

/// A store with one session of these lines.
pub(crate) struct Made {
    pub path: PathBuf,
    /// Removed with this.
    _folder: tempfile::TempDir,
}

pub(crate) fn store(agent: &dyn Agent, lines: &[&[u8]]) -> Made {
    let folder = tempfile::tempdir().unwrap();
    if agent.facts().id == "opencode" {
        let path = folder.path().join("opencode.db");
        let info = br#"{"role":"user","time":{"created":1}}"#;
        rows(&path, &lines.iter().map(|line| (&info[..], *line)).collect::<Vec<_>>());
        return Made { path, _folder: folder };
    }
    if agent.facts().id == "openclaw" {
        let path = folder.path().join(EVENTS);
        events(&path, lines);
        return Made { path, _folder: folder };
    }
    let (name, first) = file_name(agent);
    let path = folder.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut bytes = first.as_bytes().to_vec();
    for line in lines {
        bytes.push(b'\n');
        bytes.extend_from_slice(line);
    }
    bytes.push(b'\n');
    std::fs::write(&path, bytes).unwrap();
    Made { path, _folder: folder }
}

/// A store of a made-up future version.
pub(crate) fn future(agent: &dyn Agent, root: &Path) {
    let lines = [r#"{"v":9,"kind":"turn","body":{}}"#, r#"{"v":9,"kind":"reply","body":{}}"#];
    if agent.facts().id == "opencode" {
        return rows(&root.join("opencode.db"), &lines.map(|line| (line.as_bytes(), line.as_bytes())));
    }
    if agent.facts().id == "openclaw" {
        return events(&root.join(EVENTS), &lines.map(str::as_bytes));
    }
    let path = root.join(file_name(agent).0);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, format!("{}\n{}\n", lines[0], lines[1])).unwrap();
}

/// A database of one session, each message with one part.
fn rows(path: &Path, messages: &[(&[u8], &[u8])]) {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection
        .execute_batch(
            "PRAGMA synchronous = OFF;
             CREATE TABLE session (id, parent_id, directory, title, version, time_created, time_updated);
             CREATE TABLE message (id, session_id, time_created, time_updated, data);
             CREATE TABLE part (id, message_id, session_id, time_created, time_updated, data);
             INSERT INTO session VALUES ('ses_1', NULL, '/p', 't', '9', 1, 1);",
        )
        .unwrap();
    for (number, (message, part)) in messages.iter().enumerate() {
        let sql = "INSERT INTO message VALUES ('msg_' || ?1, 'ses_1', ?1, ?1, ?2)";
        connection.execute(sql, rusqlite::params![number, message]).unwrap();
        let sql = "INSERT INTO part VALUES ('prt_' || ?1, 'msg_' || ?1, 'ses_1', ?1, ?1, ?2)";
        connection.execute(sql, rusqlite::params![number, part]).unwrap();
    }
}

/// Where a database of events is.
const EVENTS: &str = "agents/main/agent/openclaw-agent.sqlite";

/// A database of one session, a row for each event.
fn events(path: &Path, lines: &[&[u8]]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let connection = rusqlite::Connection::open(path).unwrap();
    connection
        .execute_batch(
            "PRAGMA synchronous = OFF;
             CREATE TABLE session_windows (session_id, session_key, model, created_at, updated_at);
             CREATE TABLE session_nodes (session_key, current_session_id, label, display_name, spawned_by);
             CREATE TABLE transcript_events (session_id, seq, event_json, created_at, event_zstd);
             INSERT INTO session_windows VALUES ('s', 'agent:main:s', 'm', 1, 1);
             INSERT INTO session_nodes VALUES ('agent:main:s', 's', NULL, NULL, NULL);",
        )
        .unwrap();
    for (number, line) in lines.iter().enumerate() {
        let sql = "INSERT INTO transcript_events VALUES ('s', ?1, ?2, ?1, NULL)";
        connection.execute(sql, rusqlite::params![number, line]).unwrap();
    }
}

pub(crate) fn read(agent: &dyn Agent, path: &Path) -> Transcript {
    let mut builder = TranscriptBuilder::new(agent.facts().id);
    let source = Source { path: path.to_path_buf(), key: None };
    agent.read(&source, &Bookmark::Start, &mut builder).unwrap();
    builder.finish()
}
