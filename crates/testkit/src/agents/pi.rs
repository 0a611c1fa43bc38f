//! pi: run in its print mode, driven through its RPC mode.

mod driver;

use serde_json::{Value, json};

use crate::client::runner::{ListingQuery, PromptRequest, Runner, SessionChoice, to_args, write_json};
use crate::client::{ClientError, Sandbox, Setup};
use crate::lab::{
    BenchPlace, ClientLab, Compaction, ConformanceLab, ExpectedReading, Format, Lab, LineFormat, LooseFile, Package,
    PinnedVersion, Sample, SessionPlace,
};
use crate::model::FLAT_MODEL;
use crate::scenario::tools::{ToolCall, Tools, new_line, old_line, search_command, unknown_call};
use crate::scenario::{Ability, Action, ActionKind, Source};

pub(super) static LAB: Lab = Lab {
    id: "pi",
    name: "pi",
    client: ClientLab {
        package: Package::npm("@earendil-works/pi-coding-agent", "pi").with_newer_node(),
        pins: &[PinnedVersion::new("0.87.1", "newest whose dependencies are all published")],
        runner: &Pi,
        tools: &Pi,
        start_driver: |client, sandbox, setup, port| {
            Ok(Box::new(driver::PiDriver::start(client, sandbox, setup, port)?))
        },
        abilities: Ability::ALL,
        limit_code: "rate_limit_exceeded",
        compaction: Compaction::PLAIN,
        path_index: None,
    },
    conformance: ConformanceLab::lossless(SessionPlace::Folders(&[".pi/agent/sessions"])),
    sample: SAMPLE,
    other_forms: &[],
    readings: &[
        ExpectedReading {
            fixture: "0.87.1-tools.jsonl",
            tokens: "8442 in (0 from cache), 100 out (0 thought), fake-model",
            start_settings: "",
            messages: "4 messages in 1 prompts and 3 pieces of replies",
        },
        ExpectedReading {
            fixture: "0.27.9-compact.jsonl",
            tokens: "nothing",
            start_settings: "",
            messages: "10 messages in 4 prompts and 6 pieces of replies",
        },
    ],
    loose_files: &[LooseFile::from_jsonl("0.87.1-tools.jsonl")],
    bench: BenchPlace::Lines(".pi/agent/sessions/--home-dev-project--/2026-11-15T00-00-00-000Z_{ID}.jsonl"),
};

const SAMPLE: Sample = Sample {
    root: ".pi/agent",
    root_variable: Some(("PI_CODING_AGENT_DIR", "")),
    file: "sessions/--p--/2026-11-15T00-00-00-000Z_00000000-0000-4000-8000-000000000001.jsonl",
    format: Format::Lines(LineFormat {
        start_lines: &[
            r#"{"type":"session","version":3,"id":"00000000-0000-4000-8000-000000000001","timestamp":"2026-11-15T00:00:00.000Z","cwd":"/p"}"#,
        ],
        exchange: &[
            r#"{"type":"message","id":"aaaa0001","parentId":null,"timestamp":"2026-11-15T00:00:01.000Z","message":{"role":"user","content":"{FILL}","timestamp":1}}"#,
            r#"{"type":"message","id":"aaaa0002","parentId":"aaaa0001","timestamp":"2026-11-15T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Done."}],"stopReason":"stop","timestamp":2}}"#,
        ],
        renames: &[(r#""type":"message""#, r#""type":"turn""#)],
        without_words: &[
            r#"{"type":"message","id":"aaaa0009","parentId":null,"timestamp":"2026-11-15T00:00:09.000Z","words":"NEVER"}"#,
            r#"{"type":"message","id":"aaaa0009","parentId":null,"timestamp":"2026-11-15T00:00:09.000Z","message":{"role":"user","words":"NEVER"}}"#,
        ],
    }),
    other_files: &[".pi/agent/settings.json"],
    companions: &[],
};

struct Pi;

impl Runner for Pi {
    fn env(&self, _sandbox: &Sandbox, _setup: &Setup, _port: u16) -> Vec<(&'static str, String)> {
        vec![("PI_OFFLINE", "1".to_owned()), ("PI_SKIP_VERSION_CHECK", "1".to_owned())]
    }

    fn configure(&self, sandbox: &Sandbox, _setup: &Setup, port: u16) -> Result<(), ClientError> {
        let folder = sandbox.home.join(".pi/agent");
        let model = json!({
            "id": FLAT_MODEL, "reasoning": true, "input": ["text", "image"], "contextWindow": 200_000,
            "maxTokens": 8_000, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
        });
        let provider = json!({
            "baseUrl": format!("http://127.0.0.1:{port}/v1"), "apiKey": "sk-fake", "api": "openai-completions",
            "models": [model],
        });
        write_json(&folder.join("models.json"), &json!({"providers": {"fake": provider}}))?;
        let settings: Value = json!({
            "defaultProvider": "fake", "defaultModel": FLAT_MODEL,
            "retry": {"enabled": false},
            // A compaction is to leave only its summary, however short the session is.
            "compaction": {"enabled": false, "keepRecentTokens": 1},
        });
        write_json(&folder.join("settings.json"), &settings)
    }

    fn prompt_args(&self, _sandbox: &Sandbox, ask: &PromptRequest<'_>) -> Vec<String> {
        let mut args = to_args(&["-p"]);
        match ask.session {
            SessionChoice::New(id) => args.extend(to_args(&["--session-id", id])),
            SessionChoice::Named(id) => args.extend(to_args(&["--session", id])),
            SessionChoice::Newest => args.push("--continue".to_owned()),
        }
        args.extend(ask.image.map(|image| format!("@{}", image.display())));
        args.push(ask.prompt.to_owned());
        args
    }

    fn interface_args(&self, session_id: &str) -> Vec<String> {
        to_args(&["--session", session_id])
    }

    fn ready_text(&self) -> Option<&'static str> {
        Some("/ commands")
    }

    fn lists_session(&self, look: &ListingQuery<'_>) -> Result<Option<bool>, ClientError> {
        look.is_continued()
    }
}

impl Tools for Pi {
    fn shell_call(&self, command: &str) -> Option<ToolCall> {
        Some(("bash", json!({"command": command})))
    }

    fn tool_call(&self, _source: &Source, action: &Action, path: &str) -> Option<ToolCall> {
        match action.what {
            ActionKind::Unknown => Some(unknown_call(action)),
            // Without a tool for it, a model searches with a command.
            ActionKind::Search => self.shell_call(&search_command(action)),
            _ => file_call(action, path),
        }
    }
}

/// The tools for files, which another agent has taken over.
pub(super) fn file_call(action: &Action, path: &str) -> Option<ToolCall> {
    let word = action.word(0);
    Some(match action.what {
        ActionKind::Read | ActionKind::ViewImage => ("read", json!({"path": path})),
        ActionKind::Edit => {
            let edit = json!({"oldText": old_line(action), "newText": new_line(action)});
            ("edit", json!({"path": path, "edits": [edit]}))
        }
        ActionKind::Write => ("write", json!({"path": path, "content": format!("{word}\n")})),
        _ => return None,
    })
}
