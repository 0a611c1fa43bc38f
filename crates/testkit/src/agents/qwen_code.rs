//! Qwen Code: prompts in its prompt mode, and in a terminal what needs one.

use std::time::Duration;

use serde_json::json;

use crate::client::runner::{ListingQuery, PromptRequest, Runner, SessionChoice, mcp_servers, to_args, write_json};
use crate::client::{ClientError, Sandbox, Setup};
use crate::lab::{
    BenchPlace, ClientLab, Compaction, ConformanceLab, ExpectedReading, Format, Lab, LineFormat, LooseFile, Package,
    PinnedVersion, Sample, SessionPlace,
};
use crate::scenario::terminal::{ScreenTexts, TerminalDriver};
use crate::scenario::tools::{ToolCall, Tools, lookup_call, new_line, old_line, sub_agent_task, unknown_call};
use crate::scenario::{Ability, Action, ActionKind, Source};

pub(super) static LAB: Lab = Lab {
    id: "qwen-code",
    name: "Qwen Code",
    client: ClientLab {
        package: Package::npm("@qwen-code/qwen-code", "qwen").with_newer_node(),
        pins: &[PinnedVersion::new("0.24.4", "newest")],
        runner: &QwenCode,
        tools: &QwenCode,
        start_driver: |client, sandbox, setup, port| {
            Ok(Box::new(TerminalDriver::new(client, sandbox, setup, port, SCREEN_TEXTS)))
        },
        abilities: Ability::ALL,
        limit_code: "rate_limit_exceeded",
        compaction: Compaction { element: "state_snapshot", requests: 1 },
        path_index: None,
    },
    conformance: ConformanceLab::lossless(SessionPlace::Folders(&[".qwen/projects"])),
    sample: SAMPLE,
    other_forms: &[],
    readings: &[
        ExpectedReading {
            fixture: "0.24.4-tools.jsonl",
            tokens: "141029 in (0 from cache), 140 out (12 thought), fake-model",
            start_settings: "",
            messages: "4 messages in 1 prompts and 3 pieces of replies",
        },
        ExpectedReading {
            fixture: "0.24.4-compact.jsonl",
            tokens: "140448 in (0 from cache), 140 out (7 thought), fake-model",
            start_settings: "",
            messages: "8 messages in 3 prompts and 6 pieces of replies",
        },
    ],
    loose_files: &[LooseFile::from_jsonl("0.24.4-images.jsonl")],
    bench: BenchPlace::Lines(".qwen/projects/-home-dev-project/chats/{ID}.jsonl"),
};

const SAMPLE: Sample = Sample {
    root: ".qwen",
    root_variable: Some(("QWEN_HOME", "")),
    file: "projects/-p/chats/00000000-0000-4000-8000-000000000001.jsonl",
    format: Format::Lines(LineFormat {
        start_lines: &[r#"{"uuid":"t","parentUuid":null,"type":"system","subtype":"ui_telemetry","systemPayload":{}}"#],
        exchange: &[
            r#"{"uuid":"u","parentUuid":null,"sessionId":"s","timestamp":"2026-11-15T00:00:01.000Z","type":"user","message":{"role":"user","parts":[{"text":"{FILL}"}]}}"#,
            r#"{"uuid":"v","parentUuid":"u","sessionId":"s","timestamp":"2026-11-15T00:00:02.000Z","type":"assistant","message":{"role":"model","parts":[{"text":"Done."}]}}"#,
        ],
        renames: &[(r#""type":"user""#, r#""type":"human""#), (r#""type":"assistant""#, r#""type":"model""#)],
        without_words: &[
            r#"{"uuid":"z","parentUuid":null,"sessionId":"s","timestamp":"2026-11-15T00:00:09.000Z","type":"user","words":"NEVER"}"#,
            r#"{"uuid":"z","parentUuid":null,"sessionId":"s","timestamp":"2026-11-15T00:00:09.000Z","type":"user","message":{"role":"user","parts":[{"words":"NEVER"}]}}"#,
        ],
    }),
    other_files: &[],
    companions: &[],
};

const SCREEN_TEXTS: ScreenTexts = ScreenTexts {
    ready: "Type your message",
    compacted: "Chat history compressed",
    interrupted: "Request cancelled",
    // It has the command, which shows nothing.
    rewind: None,
    choice: "Enter to select",
    chosen: '›',
    confirmation: "Restore conversation only",
};

struct QwenCode;

impl Runner for QwenCode {
    fn env(&self, _sandbox: &Sandbox, _setup: &Setup, port: u16) -> Vec<(&'static str, String)> {
        vec![
            ("OPENAI_BASE_URL", format!("http://127.0.0.1:{port}/v1")),
            ("OPENAI_API_KEY", "fake".to_owned()),
            ("OPENAI_MODEL", "fake-model".to_owned()),
            // It starts itself once more otherwise, to be given more memory.
            ("QWEN_CODE_NO_RELAUNCH", "true".to_owned()),
        ]
    }

    fn configure(&self, sandbox: &Sandbox, setup: &Setup, _port: u16) -> Result<(), ClientError> {
        let settings = json!({
            "$version": 3,
            "security": {"auth": {"selectedType": "openai"}},
            "general": {"enableAutoUpdate": false, "disableAutoUpdate": true},
            "privacy": {"usageStatisticsEnabled": false},
            "telemetry": {"enabled": false},
            "memory": {"enableManagedAutoMemory": false, "enableManagedAutoDream": false},
            // In a terminal, a return would send off what it suggests.
            "ui": {"enableFollowupSuggestions": false},
            "model": {"generationConfig": {"modalities": {"image": true}}},
            "mcpServers": mcp_servers(setup),
        });
        write_json(&sandbox.home.join(".qwen/settings.json"), &settings)
    }

    fn prompt_args(&self, sandbox: &Sandbox, ask: &PromptRequest<'_>) -> Vec<String> {
        let mut args = to_args(&["--yolo"]);
        match ask.session {
            SessionChoice::New(id) => args.extend(to_args(&["--session-id", id])),
            SessionChoice::Named(id) => args.extend(to_args(&["--resume", id])),
            SessionChoice::Newest => args.push("--continue".to_owned()),
        }
        let image = ask.image.map(|image| image.strip_prefix(&sandbox.project).unwrap_or(image));
        let image = image.map(|image| format!(" @{}", image.display())).unwrap_or_default();
        args.push(format!("--prompt={}{image}", ask.prompt));
        args
    }

    fn interface_args(&self, session_id: &str) -> Vec<String> {
        to_args(&["--yolo", "--resume", session_id])
    }

    /// A bundle of this size takes its time on a busy machine.
    fn run_limit(&self) -> Duration {
        Duration::from_mins(3)
    }

    fn ready_text(&self) -> Option<&'static str> {
        Some(SCREEN_TEXTS.ready)
    }

    fn start_args(&self) -> Vec<String> {
        to_args(&["--yolo"])
    }

    fn lists_session(&self, look: &ListingQuery<'_>) -> Result<Option<bool>, ClientError> {
        look.is_printed_by(&["sessions", "list", "--json"])
    }
}

impl Tools for QwenCode {
    fn shell_call(&self, command: &str) -> Option<ToolCall> {
        let about = "Run a command";
        Some(("run_shell_command", json!({"command": command, "description": about, "is_background": false})))
    }

    fn tool_call(&self, _source: &Source, action: &Action, path: &str) -> Option<ToolCall> {
        let word = action.word(0);
        Some(match action.what {
            ActionKind::Read | ActionKind::ViewImage => ("read_file", json!({"file_path": path})),
            ActionKind::Edit => {
                let (old, new) = (old_line(action), new_line(action));
                ("edit", json!({"file_path": path, "old_string": old, "new_string": new}))
            }
            ActionKind::Write => ("write_file", json!({"file_path": path, "content": format!("{word}\n")})),
            ActionKind::Search => ("grep_search", json!({"pattern": word, "path": "data"})),
            ActionKind::Plan => {
                ("todo_write", json!({"todos": [{"id": "1", "content": word, "status": "in_progress"}]}))
            }
            ActionKind::Mcp => lookup_call("mcp__lab__lookup", action),
            ActionKind::Unknown => unknown_call(action),
            ActionKind::Delegate => {
                let input = json!({
                    "description": "Find out", "prompt": sub_agent_task(action), "subagent_type": "general-purpose",
                    "run_in_background": false,
                });
                ("agent", input)
            }
            _ => return None,
        })
    }
}
