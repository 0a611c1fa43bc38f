//! `OpenCode`: run in its run mode, driven through its HTTP server.

mod driver;

use rusqlite::{Connection, params};
use serde_json::json;

use crate::client::runner::{ListingQuery, PromptRequest, Runner, SessionChoice, to_args, write_json};
use crate::client::{ClientError, Deletion, Sandbox, Setup};
use crate::lab::{
    BenchPlace, ClientLab, Compaction, ConformanceLab, ExpectedReading, Format, Lab, LooseFile, Package, PinnedVersion,
    RowFormat, Sample, SessionPlace,
};
use crate::model::SIDE_MODEL;
use crate::scenario::tools::{
    ToolCall, Tools, lookup_call, new_line, old_line, search_command, sub_agent_task, unknown_call,
};
use crate::scenario::{Ability, Action, ActionKind, Source};

pub(super) static LAB: Lab = Lab {
    id: "opencode",
    name: "OpenCode",
    client: ClientLab {
        package: Package::npm("opencode-ai", "opencode").with_install_step("postinstall.mjs"),
        pins: &[PinnedVersion::new("1.18.33", "newest")],
        runner: &Opencode,
        tools: &Opencode,
        start_driver: |client, sandbox, setup, port| {
            Ok(Box::new(driver::OpencodeDriver::start(client, sandbox, setup, port)?))
        },
        abilities: Ability::ALL,
        limit_code: "rate_limit_exceeded",
        compaction: Compaction::PLAIN,
        path_index: None,
    },
    conformance: ConformanceLab::lossless(SessionPlace::Database {
        path: ".local/share/opencode/opencode.db",
        tables: &[("session", "id"), ("message", "id"), ("part", "id")],
    }),
    sample: SAMPLE,
    other_forms: &[],
    readings: &[
        ExpectedReading {
            fixture: "rich.json",
            tokens: "32834 in (0 from cache), 80 out (0 thought), fake-model",
            start_settings: r#"{"permission_mode":"build"}"#,
            messages: "4 messages in 1 prompts and 3 pieces of replies",
        },
        ExpectedReading {
            fixture: "compaction.json",
            tokens: "42100 in (0 from cache), 80 out (0 thought), fake-model",
            start_settings: r#"{"permission_mode":"build"}"#,
            messages: "19 messages in 9 prompts and 10 pieces of replies",
        },
    ],
    loose_files: &[LooseFile::from_json("rich.json"), LooseFile::from_json("compaction.json")],
    bench: BenchPlace::Rows(".local/share/opencode/opencode.db"),
};

const SAMPLE: Sample = Sample {
    root: ".local/share/opencode",
    root_variable: Some(("XDG_DATA_HOME", "opencode")),
    file: "opencode.db",
    format: Format::Rows(RowFormat {
        tables: "CREATE TABLE session (id, parent_id, directory, title, version, time_created, time_updated);
                 CREATE TABLE message (id, session_id, time_created, time_updated, data);
                 CREATE TABLE part (id, message_id, session_id, time_created, time_updated, data);",
        start_sql: "INSERT INTO session VALUES ('ses_1', NULL, '/p', 't', '1', 1, 1);",
        exchange_sql: r#"INSERT INTO message VALUES ('msg_1', 'ses_1', 1, 1, '{"role":"user","time":{"created":1}}');
                 INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', 1, 1, '{"type":"text","text":"Fix it."}');
                 INSERT INTO message VALUES ('msg_2', 'ses_1', 2, 2, '{"role":"assistant","time":{"created":2}}');
                 INSERT INTO part VALUES ('prt_2', 'msg_2', 'ses_1', 2, 2, '{"type":"text","text":"Done."}');"#,
        damaged: r#"INSERT INTO part VALUES ('prt_3', 'msg_2', 'ses_1', 3, 3, '{"type:"text","text":"And more."}');"#,
        changes: &[
            ("roles", "UPDATE message SET data = replace(data, 'role', 'speaker');"),
            ("kinds of parts", "UPDATE part SET data = replace(data, '\"type\":\"text\"', '\"type\":\"words\"');"),
            (
                "columns",
                "ALTER TABLE message RENAME COLUMN data TO body; ALTER TABLE session RENAME COLUMN time_updated TO at;",
            ),
            ("a table of messages", "ALTER TABLE message RENAME TO turn;"),
            (
                "all tables",
                "ALTER TABLE session RENAME TO conversation; ALTER TABLE message RENAME TO turn; DROP TABLE part;",
            ),
        ],
        add_record,
        prompt: r#"{"type":"text","text":"{FILL}"}"#,
    }),
    other_files: &[".config/opencode/opencode.json"],
    companions: &[],
};

/// Adds a record as the only part of a prompt.
fn add_record(connection: &Connection, number: usize, record: &[u8]) -> rusqlite::Result<()> {
    let prompt = r#"{"role":"user","time":{"created":1}}"#;
    let message = "INSERT INTO message VALUES ('msg_' || ?1, 'ses_1', ?1, ?1, CAST(?2 AS BLOB))";
    connection.execute(message, params![number, prompt])?;
    let part = "INSERT INTO part VALUES ('prt_' || ?1, 'msg_' || ?1, 'ses_1', ?1, ?1, ?2)";
    connection.execute(part, params![number, record])?;
    Ok(())
}

struct Opencode;

/// At every start, and whatever it is told, the client fetches its plugin package into its configuration folder, unless
/// the package seems to be there.
const PLUGIN_LOCK: &str = r#"{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"*"}}}}"#;

impl Runner for Opencode {
    fn env(&self, _sandbox: &Sandbox, _setup: &Setup, _port: u16) -> Vec<(&'static str, String)> {
        let switches = [
            "OPENCODE_DISABLE_AUTOUPDATE",
            "OPENCODE_DISABLE_MODELS_FETCH",
            "OPENCODE_DISABLE_LSP_DOWNLOAD",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS",
        ];
        let switches = switches.into_iter().map(|switch| (switch, "1".to_owned()));
        // For whatever folder it may find besides its own.
        switches.chain([("npm_config_offline", "true".to_owned())]).collect()
    }

    fn configure(&self, sandbox: &Sandbox, setup: &Setup, port: u16) -> Result<(), ClientError> {
        let takes_images = json!({"input": ["text", "image"], "output": ["text"]});
        let model = json!({
            "name": "fake", "tool_call": true, "reasoning": true, "attachment": true, "modalities": takes_images,
            "limit": {"context": 400_000, "output": 8_000},
        });
        let provider = json!({
            "npm": "@ai-sdk/openai-compatible", "name": "fake",
            "options": {"baseURL": format!("http://127.0.0.1:{port}/v1"), "apiKey": "sk-fake"},
            "models": {"fake-model": model, SIDE_MODEL: {"name": "side"}},
        });
        let mcp = setup.mcp.as_ref().map_or_else(
            || json!({}),
            |script| json!({"lab": {"type": "local", "command": ["node", script], "enabled": true}}),
        );
        let config = json!({
            "provider": {"fake": provider}, "model": "fake/fake-model", "small_model": format!("fake/{SIDE_MODEL}"),
            "permission": {"*": "allow"}, "autoupdate": false, "share": "disabled", "mcp": mcp,
            "compaction": {"auto": false, "prune": false},
        });
        let folder = sandbox.home.join(".config/opencode");
        write_json(&folder.join("opencode.json"), &config)?;
        fs_err::create_dir_all(folder.join("node_modules"))?;
        fs_err::write(folder.join("package-lock.json"), PLUGIN_LOCK)?;
        Ok(())
    }

    fn prompt_args(&self, _sandbox: &Sandbox, ask: &PromptRequest<'_>) -> Vec<String> {
        let mut args = to_args(&["run"]);
        match ask.session {
            SessionChoice::New(_) => {}
            SessionChoice::Named(id) => args.extend(to_args(&["--session", id])),
            SessionChoice::Newest => args.push("--continue".to_owned()),
        }
        args.extend(ask.image.map(|image| format!("--file={}", image.display())));
        args.extend(to_args(&["--", ask.prompt]));
        args
    }

    fn deletion(&self, _version: &str) -> Deletion {
        Deletion::Command(&["session", "delete"])
    }

    fn interface_args(&self, session_id: &str) -> Vec<String> {
        to_args(&["--session", session_id])
    }

    fn ready_text(&self) -> Option<&'static str> {
        Some("ctrl+p commands")
    }

    fn lists_session(&self, look: &ListingQuery<'_>) -> Result<Option<bool>, ClientError> {
        look.is_printed_by(&["session", "list"])
    }
}

impl Tools for Opencode {
    fn shell_call(&self, command: &str) -> Option<ToolCall> {
        Some(("bash", json!({"command": command})))
    }

    fn tool_call(&self, _source: &Source, action: &Action, path: &str) -> Option<ToolCall> {
        let word = action.word(0);
        Some(match action.what {
            ActionKind::Read | ActionKind::ViewImage => ("read", json!({"filePath": path})),
            ActionKind::Edit => {
                let (old, new) = (old_line(action), new_line(action));
                ("edit", json!({"filePath": path, "oldString": old, "newString": new}))
            }
            ActionKind::Write => ("write", json!({"filePath": path, "content": format!("{word}\n")})),
            // Its own tool for it fetches a program from the network first.
            ActionKind::Search => return self.shell_call(&search_command(action)),
            ActionKind::Plan => {
                let todo = json!({"id": "1", "content": word, "status": "in_progress", "priority": "high"});
                ("todowrite", json!({"todos": [todo]}))
            }
            ActionKind::Mcp => lookup_call("lab_lookup", action),
            ActionKind::Unknown => unknown_call(action),
            ActionKind::Delegate => (
                "task",
                json!({"description": "Find out", "prompt": sub_agent_task(action), "subagent_type": "general"}),
            ),
            _ => return None,
        })
    }
}
