//! Gemini CLI: prompts in its prompt mode, and in a terminal what needs one.

use std::time::Duration;

use serde_json::json;

use crate::client::runner::{Ask, Look, Runner, Session, mcp_servers, words, write_json};
use crate::client::{ClientError, Sandbox, Setup};
use crate::lab::{
    BenchPlace, ClientLab, Compaction, ConformanceLab, Format, Lab, LineFormat, LooseFile, Package, Pin, Reading,
    Sample, SessionPlace,
};
use crate::scenario::terminal::{Screen, TerminalDriver};
use crate::scenario::tools::{Call, Tools, lookup_call, new_line, old_line, task, unknown_call};
use crate::scenario::{Ability, Action, Source, What};

pub(super) static LAB: Lab = Lab {
    id: "gemini-cli",
    name: "Gemini CLI",
    client: ClientLab {
        package: Package::npm("@google/gemini-cli", "gemini"),
        pins: &[Pin::new("0.61.0", "newest")],
        runner: &GeminiCli,
        tools: &GeminiCli,
        start_driver: |client, sandbox, setup, port| {
            Ok(Box::new(TerminalDriver::new(client, sandbox, setup, port, SCREEN)))
        },
        abilities: Ability::ALL,
        limit_code: "RESOURCE_EXHAUSTED",
        // It has its model look over the summary once more.
        compaction: Compaction { element: "state_snapshot", requests: 2 },
        path_index: None,
    },
    conformance: ConformanceLab::whole(SessionPlace::Folders(&[".gemini/tmp"])),
    sample: SAMPLE,
    readings: &[
        Reading {
            fixture: "0.61.0-tools-resumed.jsonl",
            tokens: "117137 in (0 from cache), 225 out (45 thought), gemini-2.5-pro",
            begun: "",
            messages: "7 messages in 2 prompts and 5 pieces of replies",
        },
        Reading {
            fixture: "0.20.0-document.json",
            tokens: "26115 in (0 from cache), 75 out (15 thought), gemini-2.5-pro",
            begun: "",
            messages: "5 messages in 2 prompts and 3 pieces of replies",
        },
    ],
    loose_files: &[LooseFile::lines("0.61.0-tools-resumed.jsonl")],
    bench: BenchPlace::Lines(".gemini/tmp/project/chats/session-2026-11-15T00-00-{HEX}.jsonl"),
};

const SAMPLE: Sample = Sample {
    root: ".gemini",
    moved_by: Some(("GEMINI_CLI_HOME", ".gemini")),
    file: "tmp/p/chats/session-2026-11-15T00-00-00000000.jsonl",
    format: Format::Lines(LineFormat {
        begin: &[
            r#"{"sessionId":"00000000-0000-4000-8000-000000000001","projectHash":"p","startTime":"2026-11-15T00:00:00.000Z","lastUpdated":"2026-11-15T00:00:00.000Z","kind":"main"}"#,
        ],
        talk: &[
            r#"{"id":"u","timestamp":"2026-11-15T00:00:01.000Z","type":"user","content":[{"text":"{FILL}"}]}"#,
            r#"{"id":"v","timestamp":"2026-11-15T00:00:02.000Z","type":"gemini","content":"Done.","model":"m"}"#,
        ],
        renames: &[(r#""type":"user""#, r#""type":"human""#), (r#""type":"gemini""#, r#""type":"model""#)],
        wordless: &[
            r#"{"id":"z","timestamp":"2026-11-15T00:00:09.000Z","type":"user","words":"NEVER"}"#,
            r#"{"id":"z","timestamp":"2026-11-15T00:00:09.000Z","type":"user","content":[{"words":"NEVER"}]}"#,
        ],
    }),
    read_beside: &[".gemini/projects.json"],
};

const SCREEN: Screen = Screen {
    ready: "Type your message",
    compacted: "Chat history compressed",
    interrupted: "Request cancelled",
    rewind: Some("/rewind"),
    choice: "Stay at current position",
    chosen: '●',
    confirmation: "Rewind conversation",
};

/// The model and the permission that every run has.
const BASE: &[&str] = &["-m", "gemini-2.5-pro", "--yolo"];

struct GeminiCli;

impl Runner for GeminiCli {
    fn env(&self, _sandbox: &Sandbox, _setup: &Setup, port: u16) -> Vec<(&'static str, String)> {
        vec![
            ("GEMINI_API_KEY", "fake".to_owned()),
            ("GOOGLE_GEMINI_BASE_URL", format!("http://127.0.0.1:{port}")),
            ("GEMINI_CLI_TRUST_WORKSPACE", "true".to_owned()),
            // It looks for a desktop to open a browser on otherwise.
            ("NO_BROWSER", "true".to_owned()),
            // It starts itself once more otherwise, to be given more memory.
            ("GEMINI_CLI_NO_RELAUNCH", "true".to_owned()),
        ]
    }

    fn configure(&self, sandbox: &Sandbox, setup: &Setup, _port: u16) -> Result<(), ClientError> {
        let settings = json!({
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "general": {
                "enableAutoUpdate": false, "enableAutoUpdateNotification": false,
                // Its clean-up deletes sessions of its own that were resumed once (see the agent's README); ours must stay.
                "sessionRetention": {"enabled": !setup.own_sessions},
            },
            "privacy": {"usageStatisticsEnabled": false},
            "telemetry": {"enabled": false},
            "mcpServers": mcp_servers(setup),
        });
        write_json(&sandbox.home.join(".gemini/settings.json"), &settings)
    }

    fn args(&self, sandbox: &Sandbox, ask: &Ask<'_>) -> Vec<String> {
        let mut args = words(BASE);
        match ask.session {
            Session::New(id) => args.extend(words(&["--session-id", id])),
            Session::Named(id) => args.extend(words(&["--resume", id])),
            Session::Newest => args.extend(words(&["--resume", "latest"])),
        }
        // A file that is named with an at sign is attached.
        let image = ask.image.map(|image| image.strip_prefix(&sandbox.project).unwrap_or(image));
        let image = image.map(|image| format!(" @{}", image.display())).unwrap_or_default();
        args.push(format!("--prompt={}{image}", ask.prompt));
        args
    }

    fn opening(&self, session_id: &str) -> Vec<String> {
        words(&[BASE, &["--resume", session_id]].concat())
    }

    /// A bundle of this size takes its time on a busy machine.
    fn limit(&self) -> Duration {
        Duration::from_mins(3)
    }

    fn lists(&self, look: &Look<'_>) -> Result<Option<bool>, ClientError> {
        look.printed_by(&["--list-sessions"])
    }
}

impl Tools for GeminiCli {
    fn shell_call(&self, command: &str) -> Option<Call> {
        Some(("run_shell_command", json!({"command": command, "description": "Run a command"})))
    }

    fn tool_call(&self, _source: &Source, action: &Action, path: &str) -> Option<Call> {
        let word = action.word(0);
        Some(match action.what {
            What::Read | What::ViewImage => ("read_file", json!({"file_path": path})),
            What::Edit => {
                let (old, new) = (old_line(action), new_line(action));
                ("replace", json!({"file_path": path, "instruction": "as said", "old_string": old, "new_string": new}))
            }
            What::Write => ("write_file", json!({"file_path": path, "content": format!("{word}\n")})),
            What::Search => ("grep_search", json!({"pattern": word, "dir_path": "data"})),
            What::Plan => ("write_todos", json!({"todos": [{"description": word, "status": "in_progress"}]})),
            What::Mcp => lookup_call("mcp_lab_lookup", action),
            What::Unknown => unknown_call(action),
            What::Delegate => ("invoke_agent", json!({"agent_name": "generalist", "prompt": task(action)})),
            _ => return None,
        })
    }

    fn report_call(&self, report: &str) -> Option<Call> {
        Some(("complete_task", json!({"result": {"response": report}})))
    }
}
