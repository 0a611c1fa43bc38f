//! Codex: run in its exec mode, driven through its app server.

mod app_server;
mod driver;
mod tools;

use fs_err as fs;

use self::app_server::AppServer;
use crate::client::runner::{ListingQuery, PromptRequest, Runner, SessionChoice, UserScreen, to_args};
use crate::client::{ClientError, Deletion, Provider, Sandbox, Setup};
use crate::lab::{
    BenchPlace, ClientLab, Compaction, ConformanceLab, ExpectedReading, Format, Lab, LineFormat, LooseFile, Package,
    PinnedVersion, Sample, SessionPlace, Variant,
};
use crate::model::ModelServer;
use crate::scenario::Ability;

pub(super) static LAB: Lab = Lab {
    id: "codex",
    name: "Codex CLI",
    client: ClientLab {
        package: Package::npm("@openai/codex", "codex"),
        pins: &[
            PinnedVersion {
                version: "0.166.0",
                why: "newest; paginated files, code mode",
                variants: &[
                    Variant { model: Some("gpt-6-sol"), provider: Provider::Custom },
                    Variant { model: None, provider: Provider::BuiltIn },
                ],
            },
            PinnedVersion::new("0.130.0", "legacy files"),
        ],
        runner: &Codex,
        tools: &tools::CodexTools,
        start_driver: |client, sandbox, setup, port| {
            Ok(Box::new(driver::CodexDriver::start(client, sandbox, setup, port)?))
        },
        abilities: Ability::ALL,
        limit_code: "usage_limit_reached",
        compaction: Compaction::PLAIN,
        path_index: Some(".codex"),
    },
    conformance: ConformanceLab::lossless(SessionPlace::Folders(&[".codex/sessions", ".codex/archived_sessions"])),
    sample: SAMPLE,
    other_forms: &[],
    readings: &[
        ExpectedReading {
            fixture: "0.166.0-rich.jsonl",
            tokens: "50700 in (2000 from cache), 480 out (40 thought), gpt-5.5",
            start_settings: r#"{"entrypoint":"codex_exec","permission_mode":"default","approval_policy":"never","sandbox":"danger-full-access"}"#,
            messages: "6 messages in 2 prompts and 4 pieces of replies",
        },
        ExpectedReading {
            fixture: "0.166.0-compaction.jsonl",
            tokens: "16000 in (0 from cache), 230 out (0 thought), gpt-5.5",
            start_settings: r#"{"entrypoint":"codex-tui","permission_mode":"default","approval_policy":"never","sandbox":"danger-full-access"}"#,
            messages: "5 messages in 3 prompts and 3 pieces of replies",
        },
        ExpectedReading {
            fixture: "0.44.0-exec.jsonl",
            tokens: "2000 in (0 from cache), 100 out (0 thought), gpt-5-codex",
            start_settings: r#"{"entrypoint":"codex_exec","approval_policy":"never","sandbox":"danger-full-access"}"#,
            messages: "3 messages in 1 prompts and 2 pieces of replies",
        },
    ],
    loose_files: &[LooseFile::from_jsonl("0.166.0-rich.jsonl"), LooseFile::from_jsonl("0.166.0-sealed.jsonl")],
    bench: BenchPlace::Lines(".codex/sessions/2026/11/15/rollout-2026-11-15T00-00-00-{ID}.jsonl"),
};

const SAMPLE: Sample = Sample {
    root: ".codex",
    root_variable: Some(("CODEX_HOME", "")),
    file: "sessions/2026/11/15/rollout-2026-11-15T00-00-00-00000000-0000-4000-8000-000000000001.jsonl",
    format: Format::Lines(LineFormat {
        start_lines: &[
            r#"{"timestamp":"2026-11-15T00:00:00.000Z","type":"session_meta","payload":{"id":"00000000-0000-4000-8000-000000000001","timestamp":"2026-11-15T00:00:00.000Z","cwd":"/p","originator":"x","cli_version":"0.166.0"}}"#,
        ],
        exchange: &[
            r#"{"timestamp":"2026-11-15T00:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"{FILL}"}]}}"#,
            r#"{"timestamp":"2026-11-15T00:00:02.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}"#,
        ],
        renames: &[(r#""type":"response_item""#, r#""type":"thread_entry""#)],
        without_words: &[
            r#"{"timestamp":"2026-11-15T00:00:09.000Z","type":"response_item","payload":{"type":"message","role":"user","words":"NEVER"}}"#,
            r#"{"timestamp":"2026-11-15T00:00:09.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","words":"NEVER"}]}}"#,
        ],
    }),
    other_files: &[".codex/config.toml", ".codex/session_index.jsonl"],
    companions: &[],
};

struct Codex;

impl Runner for Codex {
    fn env(&self, sandbox: &Sandbox, _setup: &Setup, _port: u16) -> Vec<(&'static str, String)> {
        vec![
            ("CODEX_HOME", sandbox.home.join(".codex").display().to_string()),
            ("OPENAI_API_KEY", "sk-fake".to_owned()),
        ]
    }

    fn configure(&self, sandbox: &Sandbox, setup: &Setup, port: u16) -> Result<(), ClientError> {
        let folder = sandbox.home.join(".codex");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("config.toml"), config_text(setup, port))?;
        Ok(())
    }

    fn prompt_args(&self, _sandbox: &Sandbox, ask: &PromptRequest<'_>) -> Vec<String> {
        let mut args =
            to_args(&["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--json"]);
        match ask.session {
            SessionChoice::New(_) => {}
            SessionChoice::Named(id) => args.extend(to_args(&["resume", id])),
            SessionChoice::Newest => args.extend(to_args(&["resume", "--last"])),
        }
        args.push(ask.prompt.to_owned());
        args
    }

    fn compact_command(&self) -> Option<&'static str> {
        Some("/compact")
    }

    fn ready_text(&self) -> Option<&'static str> {
        Some("for shortcuts")
    }

    fn settle_interface(&self, sandbox: &Sandbox) -> Result<(), ClientError> {
        let path = sandbox.home.join(".codex/config.toml");
        let project = sandbox.project.display().to_string();
        let trust = format!("\n[projects.{project:?}]\ntrust_level = \"trusted\"\n");
        let mut config = fs::read_to_string(&path)? + &trust;
        if !config.contains("[notice.model_migrations]") {
            // It offers a newer model otherwise.
            config.push_str("\n[notice.model_migrations]\n\"gpt-5.5\" = \"gpt-6-sol\"\n");
        }
        fs::write(&path, config)?;
        Ok(())
    }

    fn deletion(&self, version: &str) -> Deletion {
        // The older one has no command for it.
        if version == "0.130.0" { Deletion::Files } else { Deletion::Command(&["delete", "--force"]) }
    }

    fn interface_args(&self, session_id: &str) -> Vec<String> {
        to_args(&["resume", session_id])
    }

    /// Hooks are run once the user has said that they may.
    fn user_screens(&self) -> &'static [UserScreen] {
        &[UserScreen { shows: "Trust all and continue", keys: &["2", "\r"] }]
    }

    fn lists_session(&self, look: &ListingQuery<'_>) -> Result<Option<bool>, ClientError> {
        let server = ModelServer::start()?;
        let mut codex = AppServer::start(look.client, look.sandbox, look.setup, server.port())?;
        let listed = codex.list_sessions(&look.sandbox.project)?;
        codex.finish()?;
        Ok(Some(listed.iter().any(|id| id == look.session_id)))
    }
}

fn config_text(setup: &Setup, port: u16) -> String {
    let model = setup.model.as_deref().unwrap_or("gpt-5.5");
    let address = format!("http://127.0.0.1:{port}/v1");
    let provider = match setup.provider {
        Provider::Custom | Provider::Variables => "model_provider = \"fake\"".to_owned(),
        Provider::BuiltIn => format!("openai_base_url = \"{address}\""),
    };
    let mcp = setup.mcp.as_ref().map(|script| {
        let script = script.display().to_string();
        format!("\n[mcp_servers.lab]\ncommand = \"node\"\nargs = [{script:?}]\n")
    });
    let mcp = mcp.unwrap_or_default();
    format!(
        r#"model = "{model}"
{provider}
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[model_providers.fake]
name = "fake"
base_url = "{address}"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
supports_websockets = false
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false
{mcp}"#
    )
}
