//! Gemini CLI: prompts in its prompt mode, and in a terminal what needs one.

use std::time::Duration;

use serde_json::json;

use crate::client::runner::{ListingQuery, PromptRequest, Runner, SessionChoice, mcp_servers, to_args, write_json};
use crate::client::{ClientError, Deletion, Sandbox, Setup};
use crate::lab::{
    BenchPlace, ClientLab, Compaction, ConformanceLab, ExpectedReading, Format, Lab, LineFormat, LooseFile, Package,
    PinnedVersion, Sample, SessionPlace,
};
use crate::scenario::terminal::{ScreenTexts, TerminalDriver};
use crate::scenario::tools::{ToolCall, Tools, lookup_call, new_line, old_line, sub_agent_task, unknown_call};
use crate::scenario::{Ability, Action, ActionKind, Source};

pub(super) static LAB: Lab = Lab {
    id: "gemini-cli",
    name: "Gemini CLI",
    client: ClientLab {
        package: Package::npm("@google/gemini-cli", "gemini"),
        pins: &[PinnedVersion::new("0.61.0", "newest")],
        runner: &GeminiCli,
        tools: &GeminiCli,
        start_driver: |client, sandbox, setup, port| {
            Ok(Box::new(TerminalDriver::new(client, sandbox, setup, port, SCREEN_TEXTS)))
        },
        abilities: Ability::ALL,
        limit_code: "RESOURCE_EXHAUSTED",
        // It has its model look over the summary once more.
        compaction: Compaction { element: "state_snapshot", requests: 2 },
        path_index: None,
    },
    conformance: ConformanceLab::lossless(SessionPlace::Folders(&[".gemini/tmp"])),
    sample: SAMPLE,
    other_forms: &[],
    readings: &[
        ExpectedReading {
            fixture: "0.61.0-tools-resumed.jsonl",
            tokens: "117137 in (0 from cache), 225 out (45 thought), gemini-2.5-pro",
            start_settings: "",
            messages: "7 messages in 2 prompts and 5 pieces of replies",
        },
        ExpectedReading {
            fixture: "0.20.0-document.json",
            tokens: "26115 in (0 from cache), 75 out (15 thought), gemini-2.5-pro",
            start_settings: "",
            messages: "5 messages in 2 prompts and 3 pieces of replies",
        },
    ],
    loose_files: &[LooseFile::from_jsonl("0.61.0-tools-resumed.jsonl")],
    bench: BenchPlace::Lines(".gemini/tmp/project/chats/session-2026-11-15T00-00-{HEX}.jsonl"),
};

const SAMPLE: Sample = Sample {
    root: ".gemini",
    root_variable: Some(("GEMINI_CLI_HOME", ".gemini")),
    file: "tmp/p/chats/session-2026-11-15T00-00-00000000.jsonl",
    format: Format::Lines(LineFormat {
        start_lines: &[
            r#"{"sessionId":"00000000-0000-4000-8000-000000000001","projectHash":"p","startTime":"2026-11-15T00:00:00.000Z","lastUpdated":"2026-11-15T00:00:00.000Z","kind":"main"}"#,
        ],
        exchange: &[
            r#"{"id":"u","timestamp":"2026-11-15T00:00:01.000Z","type":"user","content":[{"text":"{FILL}"}]}"#,
            r#"{"id":"v","timestamp":"2026-11-15T00:00:02.000Z","type":"gemini","content":"Done.","model":"m"}"#,
        ],
        renames: &[(r#""type":"user""#, r#""type":"human""#), (r#""type":"gemini""#, r#""type":"model""#)],
        without_words: &[
            r#"{"id":"z","timestamp":"2026-11-15T00:00:09.000Z","type":"user","words":"NEVER"}"#,
            r#"{"id":"z","timestamp":"2026-11-15T00:00:09.000Z","type":"user","content":[{"words":"NEVER"}]}"#,
        ],
    }),
    other_files: &[".gemini/projects.json"],
    companions: &[],
};

const SCREEN_TEXTS: ScreenTexts = ScreenTexts {
    ready: "Type your message",
    compacted: "Chat history compressed",
    interrupted: "Request cancelled",
    rewind: Some("/rewind"),
    choice: "Stay at current position",
    chosen: '●',
    confirmation: "Rewind conversation",
};

/// The model and the permission that every run has.
const BASE_ARGS: &[&str] = &["-m", "gemini-2.5-pro", "--yolo"];

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

    fn prompt_args(&self, sandbox: &Sandbox, ask: &PromptRequest<'_>) -> Vec<String> {
        let mut args = to_args(BASE_ARGS);
        match ask.session {
            SessionChoice::New(id) => args.extend(to_args(&["--session-id", id])),
            SessionChoice::Named(id) => args.extend(to_args(&["--resume", id])),
            SessionChoice::Newest => args.extend(to_args(&["--resume", "latest"])),
        }
        // A file that is named with an at sign is attached.
        let image = ask.image.map(|image| image.strip_prefix(&sandbox.project).unwrap_or(image));
        let image = image.map(|image| format!(" @{}", image.display())).unwrap_or_default();
        args.push(format!("--prompt={}{image}", ask.prompt));
        args
    }

    fn interface_args(&self, session_id: &str) -> Vec<String> {
        to_args(&[BASE_ARGS, &["--resume", session_id]].concat())
    }

    /// A bundle of this size takes its time on a busy machine.
    fn run_limit(&self) -> Duration {
        Duration::from_mins(3)
    }

    fn names_files_by_minute(&self) -> bool {
        true
    }

    fn ready_text(&self) -> Option<&'static str> {
        Some(SCREEN_TEXTS.ready)
    }

    fn deletion(&self, _version: &str) -> Deletion {
        Deletion::FirstListed(&["--delete-session", "1"])
    }

    fn start_args(&self) -> Vec<String> {
        to_args(BASE_ARGS)
    }

    fn lists_session(&self, look: &ListingQuery<'_>) -> Result<Option<bool>, ClientError> {
        look.is_printed_by(&["--list-sessions"])
    }
}

impl Tools for GeminiCli {
    fn shell_call(&self, command: &str) -> Option<ToolCall> {
        Some(("run_shell_command", json!({"command": command, "description": "Run a command"})))
    }

    fn tool_call(&self, _source: &Source, action: &Action, path: &str) -> Option<ToolCall> {
        let word = action.word(0);
        Some(match action.what {
            ActionKind::Read | ActionKind::ViewImage => ("read_file", json!({"file_path": path})),
            ActionKind::Edit => {
                let (old, new) = (old_line(action), new_line(action));
                ("replace", json!({"file_path": path, "instruction": "as said", "old_string": old, "new_string": new}))
            }
            ActionKind::Write => ("write_file", json!({"file_path": path, "content": format!("{word}\n")})),
            ActionKind::Search => ("grep_search", json!({"pattern": word, "dir_path": "data"})),
            ActionKind::Plan => ("write_todos", json!({"todos": [{"description": word, "status": "in_progress"}]})),
            ActionKind::Mcp => lookup_call("mcp_lab_lookup", action),
            ActionKind::Unknown => unknown_call(action),
            ActionKind::Delegate => {
                ("invoke_agent", json!({"agent_name": "generalist", "prompt": sub_agent_task(action)}))
            }
            _ => return None,
        })
    }

    fn report_call(&self, report: &str) -> Option<ToolCall> {
        Some(("complete_task", json!({"result": {"response": report}})))
    }
}
