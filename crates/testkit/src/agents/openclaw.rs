//! `OpenClaw`: its agent in one process, without its gateway.

use std::time::Duration;

use rusqlite::{Connection, params};
use serde_json::json;

use super::pi;
use crate::client::runner::{ListingQuery, PromptRequest, Runner, SessionChoice, mcp_servers, to_args, write_json};
use crate::client::{ClientError, Deletion, Sandbox, Setup};
use crate::lab::{
    BenchPlace, ClientLab, Compaction, ConformanceLab, ExpectedReading, Format, Lab, LooseFile, Package, PinnedVersion,
    RowFormat, Sample, SessionPlace,
};
use crate::request::Loss;
use crate::scenario::headless::HeadlessDriver;
use crate::scenario::tools::{ToolCall, Tools, search_command};
use crate::scenario::{Action, ActionKind, Source};

pub(super) static LAB: Lab = Lab {
    id: "openclaw",
    name: "OpenClaw",
    client: ClientLab {
        package: Package::npm("openclaw", "openclaw").with_newer_node(),
        pins: &[PinnedVersion::new("2026.9.6", "newest; sessions in SQLite")],
        runner: &Openclaw,
        tools: &Openclaw,
        start_driver: |client, sandbox, setup, port| Ok(Box::new(HeadlessDriver::new(client, sandbox, setup, port))),
        abilities: &[],
        limit_code: "rate_limit_exceeded",
        compaction: Compaction::PLAIN,
        path_index: None,
    },
    conformance: ConformanceLab {
        is_slow: true,
        losses: &[Loss::OldImages],
        loss_reason: Some("it keeps older ones and sends none of its own, either"),
        ..ConformanceLab::lossless(SessionPlace::Database {
            path: ".openclaw/agents/main/agent/openclaw-agent.sqlite",
            tables: &[("transcript_events", "session_id || '/' || seq")],
        })
    },
    sample: SAMPLE,
    other_forms: &[],
    readings: &[ExpectedReading {
        fixture: "whole.json",
        tokens: "262014 in (0 from cache), 798 out (0 thought), fake-model",
        start_settings: "",
        messages: "16 messages in 7 prompts and 9 pieces of replies",
    }],
    loose_files: &[LooseFile::from_json("whole.json")],
    bench: BenchPlace::Events(".openclaw/agents/main/agent/openclaw-agent.sqlite"),
};

const SAMPLE: Sample = Sample {
    root: ".openclaw",
    root_variable: Some(("OPENCLAW_STATE_DIR", "")),
    file: "agents/main/agent/openclaw-agent.sqlite",
    format: Format::Rows(RowFormat {
        tables: "CREATE TABLE session_nodes (session_key, current_session_id, label, display_name, spawned_by);
                 CREATE TABLE session_windows (session_id, session_key, model, created_at, updated_at);
                 CREATE TABLE transcript_events (session_id, seq, event_json, created_at, event_zstd);
                 CREATE TABLE memory (path, body); INSERT INTO memory VALUES ('m', 'x');",
        start_sql: r#"INSERT INTO session_nodes VALUES ('k', 's1', NULL, NULL, NULL);
                  INSERT INTO session_windows VALUES ('s1', 'k', 'm', 1, 2);
                  INSERT INTO transcript_events VALUES ('s1', 0, '{"type":"session","version":4,"id":"s1","timestamp":"2026-11-15T00:00:00.000Z","cwd":"/p"}', 1, NULL);"#,
        exchange_sql: r#"INSERT INTO transcript_events VALUES ('s1', 1, '{"type":"message","id":"u","parentId":null,"message":{"role":"user","content":"Fix it."}}', 1, NULL);
                 INSERT INTO transcript_events VALUES ('s1', 2, '{"type":"message","id":"v","parentId":"u","message":{"role":"assistant","content":[{"type":"text","text":"Done."}],"stopReason":"stop"}}', 2, NULL);"#,
        damaged: r#"INSERT INTO transcript_events VALUES ('s1', 3, '{"type:"message","id":"w","parentId":"v"}', 3, NULL);"#,
        changes: &[
            (
                "kinds of records",
                r#"UPDATE transcript_events SET event_json = replace(event_json, '"type":"message"', '"type":"turn"');"#,
            ),
            ("roles", "UPDATE transcript_events SET event_json = replace(event_json, 'role', 'speaker');"),
            ("another form of events", "ALTER TABLE transcript_events RENAME COLUMN event_json TO event_cbor;"),
            ("columns", "ALTER TABLE transcript_events RENAME COLUMN session_id TO window_id;"),
            ("a table of events", "ALTER TABLE transcript_events RENAME TO transcript_items;"),
            (
                "all tables",
                "ALTER TABLE session_windows RENAME TO windows; ALTER TABLE transcript_events RENAME TO items;
                 ALTER TABLE session_nodes RENAME TO nodes;",
            ),
        ],
        add_record,
        prompt: r#"{"type":"message","id":"aaaa0001","parentId":null,"timestamp":"2026-11-15T00:00:01.000Z","message":{"role":"user","content":"{FILL}","timestamp":1}}"#,
    }),
    other_files: &[".openclaw/openclaw.json"],
    companions: &[],
};

/// Adds a record after the session's first.
fn add_record(connection: &Connection, number: usize, record: &[u8]) -> rusqlite::Result<()> {
    let insert = "INSERT INTO transcript_events VALUES ('s1', ?1, ?2, ?1, NULL)";
    connection.execute(insert, params![number + 1, record])?;
    Ok(())
}

struct Openclaw;

impl Runner for Openclaw {
    fn env(&self, sandbox: &Sandbox, _setup: &Setup, _port: u16) -> Vec<(&'static str, String)> {
        vec![
            ("OPENCLAW_STATE_DIR", sandbox.home.join(".openclaw").display().to_string()),
            ("OPENCLAW_DISABLE_UPDATE_CHECK", "1".to_owned()),
        ]
    }

    fn configure(&self, sandbox: &Sandbox, setup: &Setup, port: u16) -> Result<(), ClientError> {
        let model = json!({
            "id": "fake-model", "name": "fake", "reasoning": true, "input": ["text", "image"],
            "contextWindow": 200_000, "maxTokens": 8_000,
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
        });
        let provider = json!({
            "baseUrl": format!("http://127.0.0.1:{port}/v1"), "apiKey": "sk-fake", "api": "openai-completions",
            "models": [model],
        });
        let defaults = json!({
            "model": {"primary": "fake/fake-model"}, "workspace": sandbox.project, "skipBootstrap": true,
        });
        let config = json!({
            "models": {"providers": {"fake": provider}}, "agents": {"defaults": defaults},
            "mcp": {"servers": mcp_servers(setup)},
        });
        write_json(&sandbox.home.join(".openclaw/openclaw.json"), &config)
    }

    fn prompt_args(&self, _sandbox: &Sandbox, ask: &PromptRequest<'_>) -> Vec<String> {
        let mut args = to_args(&["agent", "--local", "--agent", "main", "--json"]);
        if let SessionChoice::New(id) | SessionChoice::Named(id) = ask.session {
            args.extend(to_args(&["--session-id", id]));
        }
        args.extend(to_args(&["--message", ask.prompt]));
        args
    }

    /// Its own command wants its gateway to run.
    fn deletion(&self, _version: &str) -> Deletion {
        Deletion::Rows(&[
            "DELETE FROM session_nodes WHERE current_session_id = ?1",
            "DELETE FROM session_windows WHERE session_id = ?1",
        ])
    }

    fn lists_session(&self, look: &ListingQuery<'_>) -> Result<Option<bool>, ClientError> {
        look.is_printed_by(&["sessions", "--json", "--all-agents"])
    }

    /// It loads its whole gateway for every turn: half a minute on a machine at rest, and many times that on a busy one.
    fn run_limit(&self) -> Duration {
        Duration::from_mins(12)
    }
}

impl Tools for Openclaw {
    fn shell_call(&self, command: &str) -> Option<ToolCall> {
        Some(("exec", json!({"command": command})))
    }

    fn tool_call(&self, _source: &Source, action: &Action, path: &str) -> Option<ToolCall> {
        match action.what {
            // It keeps the outcome of a call to a tool that it does not have, and not the call.
            ActionKind::Unknown => None,
            // Without a tool for it, a model searches with a command.
            ActionKind::Search => self.shell_call(&search_command(action)),
            _ => pi::file_call(action, path),
        }
    }
}
