//! Copilot CLI: run in its prompt mode, with a model provider of the user's own.
//!
//! A provider that is named in the environment has a model that the client takes for blind, to which it sends no images
//! of outcomes. One in its configuration can be said to see.

mod driver;

use serde_json::{Value, json};

use crate::client::runner::{ListingQuery, PromptRequest, Runner, SessionChoice, mcp_servers, to_args, write_json};
use crate::client::{ClientError, Provider, Sandbox, Setup, cache_folder};
use crate::lab::{
    BenchPlace, ClientLab, Compaction, ConformanceLab, ExpectedReading, Format, Lab, LineFormat, LooseFile, Package,
    PinnedVersion, Sample, SessionPlace,
};
use crate::scenario::tools::{ToolCall, Tools, lookup_call, new_line, old_line, sub_agent_task, unknown_call};
use crate::scenario::{Ability, Action, ActionKind, Source};

pub(super) static LAB: Lab = Lab {
    id: "copilot-cli",
    name: "Copilot CLI",
    client: ClientLab {
        package: Package::npm("@github/copilot", "copilot"),
        pins: &[PinnedVersion::new("1.0.102", "newest; imports sessions")],
        runner: &CopilotCli,
        tools: &CopilotCli,
        start_driver: |client, sandbox, setup, port| {
            Ok(Box::new(driver::CopilotDriver::new(client, sandbox, setup, port)))
        },
        abilities: Ability::ALL,
        limit_code: "rate_limit_exceeded",
        compaction: Compaction::PLAIN,
        path_index: None,
    },
    conformance: ConformanceLab::lossless(SessionPlace::Folders(&[".copilot/session-state"])),
    sample: SAMPLE,
    other_forms: &[],
    readings: &[
        ExpectedReading {
            fixture: "1.0.102-hooks.jsonl",
            tokens: "200 in (0 from cache), 20 out (0 thought), gpt-4.1",
            start_settings: r#"{"permission_mode":"allow all: on"}"#,
            messages: "2 messages in 1 prompts and 1 pieces of replies",
        },
        ExpectedReading {
            fixture: "1.0.102-compact.jsonl",
            tokens: "600 in (0 from cache), 60 out (0 thought), gpt-4.1",
            start_settings: "",
            messages: "11 messages in 5 prompts and 6 pieces of replies",
        },
    ],
    loose_files: &[LooseFile::from_jsonl("1.0.102-tools.jsonl")],
    bench: BenchPlace::Lines(".copilot/session-state/{ID}/events.jsonl"),
};

const SAMPLE: Sample = Sample {
    root: ".copilot",
    root_variable: Some(("COPILOT_HOME", "")),
    file: "session-state/00000000-0000-4000-8000-000000000001/events.jsonl",
    format: Format::Lines(LineFormat {
        start_lines: &[
            r#"{"type":"session.start","data":{"sessionId":"00000000-0000-4000-8000-000000000001","version":1,"producer":"copilot-agent","copilotVersion":"1.0.102","startTime":"2026-11-15T00:00:00.000Z"},"id":"a","timestamp":"2026-11-15T00:00:00.000Z","parentId":null}"#,
        ],
        exchange: &[
            r#"{"type":"user.message","data":{"content":"{FILL}"},"id":"u","timestamp":"2026-11-15T00:00:01.000Z","parentId":"a"}"#,
            r#"{"type":"assistant.message","data":{"messageId":"m","content":"Done.","toolRequests":[]},"id":"v","timestamp":"2026-11-15T00:00:02.000Z","parentId":"u"}"#,
        ],
        renames: &[("user.message", "user.turn"), ("assistant.message", "assistant.turn")],
        without_words: &[
            r#"{"type":"user.message","data":{"words":"NEVER"},"id":"z","timestamp":"2026-11-15T00:00:09.000Z","parentId":null}"#,
        ],
    }),
    other_files: &[],
    companions: &["workspace.yaml", "files/plan.md"],
};

struct CopilotCli;

/// The model and its provider, as the client's configuration and its server want to be told of them.
fn model_config(port: u16) -> Value {
    let seeing = json!({
        "supports": {"vision": true},
        "limits": {"vision": {
            "supported_media_types": ["image/png"], "max_prompt_images": 20, "max_prompt_image_size": 5_000_000,
        }},
    });
    json!({
        "model": MODEL_NAME,
        "providers": [{
            "name": "fake", "type": "openai", "wireApi": "completions", "apiKey": "sk-fake",
            "baseUrl": format!("http://127.0.0.1:{port}/v1"),
        }],
        "models": [{"id": "gpt-4.1", "provider": "fake", "capabilities": seeing}],
    })
}

const MODEL_NAME: &str = "fake/gpt-4.1";

impl Runner for CopilotCli {
    fn env(&self, _sandbox: &Sandbox, setup: &Setup, port: u16) -> Vec<(&'static str, String)> {
        let mut env = vec![
            // No account, no telemetry, no web tools, no update.
            ("COPILOT_OFFLINE", "true".to_owned()),
            ("COPILOT_AUTO_UPDATE", "false".to_owned()),
            // It unpacks itself on its first start, 235 MB; once for all homes is enough.
            ("XDG_CACHE_HOME", cache_folder().join("copilot-cli-unpacked").display().to_string()),
        ];
        if setup.provider == Provider::Variables {
            env.extend([
                ("COPILOT_PROVIDER_BASE_URL", format!("http://127.0.0.1:{port}/v1")),
                ("COPILOT_PROVIDER_API_KEY", "sk-fake".to_owned()),
                ("COPILOT_MODEL", "gpt-4.1".to_owned()),
            ]);
        } else {
            env.push(("COPILOT_MODEL", MODEL_NAME.to_owned()));
        }
        env
    }

    fn configure(&self, sandbox: &Sandbox, setup: &Setup, port: u16) -> Result<(), ClientError> {
        let folder = sandbox.home.join(".copilot");
        if setup.provider != Provider::Variables {
            let mut providers = model_config(port);
            providers.as_object_mut().map(|fields| fields.remove("model"));
            write_json(&folder.join("providers.json"), &providers)?;
        }
        let mut servers = mcp_servers(setup);
        for (_, server) in servers.as_object_mut().into_iter().flatten() {
            server["type"] = json!("local");
            server["tools"] = json!(["*"]);
        }
        write_json(&folder.join("mcp-config.json"), &json!({"mcpServers": servers}))
    }

    fn prompt_args(&self, _sandbox: &Sandbox, ask: &PromptRequest<'_>) -> Vec<String> {
        let mut args = to_args(&["--allow-all-tools", "--allow-all-paths"]);
        match ask.session {
            SessionChoice::New(id) => args.push(format!("--session-id={id}")),
            SessionChoice::Named(id) => args.push(format!("--resume={id}")),
            SessionChoice::Newest => args.push("--continue".to_owned()),
        }
        args.extend(ask.image.map(|image| format!("--attachment={}", image.display())));
        args.extend(to_args(&["-p", ask.prompt]));
        args
    }

    fn interface_args(&self, session_id: &str) -> Vec<String> {
        vec![format!("--resume={session_id}")]
    }

    fn start_args(&self) -> Vec<String> {
        to_args(&["--allow-all-tools", "--allow-all-paths"])
    }

    /// Over a provider that stands in a file no variable counts.
    fn recorded_provider(&self) -> Option<Provider> {
        Some(Provider::Variables)
    }

    fn ready_text(&self) -> Option<&'static str> {
        Some("/ commands")
    }

    fn settle_interface(&self, sandbox: &Sandbox) -> Result<(), ClientError> {
        let folder = sandbox.home.join(".copilot");
        // Its banner is drawn for seconds, and its first start asks for trust.
        write_json(&folder.join("settings.json"), &json!({"banner": "never"}))?;
        let path = folder.join("config.json");
        let known: Option<Value> = fs_err::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let known = known.and_then(|mut known| known["trustedFolders"].as_array_mut().map(std::mem::take));
        let folders: Vec<Value> = known.into_iter().flatten().chain([json!(sandbox.project)]).collect();
        write_json(&path, &json!({"appTipShown": true, "trustedFolders": folders}))
    }

    fn lists_session(&self, look: &ListingQuery<'_>) -> Result<Option<bool>, ClientError> {
        look.is_continued()
    }
}

impl Tools for CopilotCli {
    fn shell_call(&self, command: &str) -> Option<ToolCall> {
        let about = "Run a command";
        Some(("bash", json!({"command": command, "description": about, "mode": "sync", "initial_wait": 30})))
    }

    fn tool_call(&self, _source: &Source, action: &Action, path: &str) -> Option<ToolCall> {
        let word = action.word(0);
        Some(match action.what {
            ActionKind::Read | ActionKind::ViewImage => ("view", json!({"path": path})),
            ActionKind::Edit => {
                ("edit", json!({"path": path, "old_str": old_line(action), "new_str": new_line(action)}))
            }
            ActionKind::Write => ("create", json!({"path": path, "file_text": format!("{word}\n")})),
            ActionKind::Search => ("grep", json!({"pattern": word, "paths": "data", "output_mode": "content"})),
            ActionKind::Mcp => lookup_call("lab-lookup", action),
            ActionKind::Unknown => unknown_call(action),
            ActionKind::Delegate => {
                let input = json!({
                    "description": "Find out", "prompt": sub_agent_task(action), "agent_type": "general-purpose",
                    "name": "finder", "mode": "sync",
                });
                ("task", input)
            }
            _ => return None,
        })
    }
}
