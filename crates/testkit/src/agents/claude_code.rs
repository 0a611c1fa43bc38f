//! Claude Code: driven in its print mode with streamed input and output.

mod driver;

use std::path::Path;

use fs_err as fs;
use serde_json::{Value, json};

use crate::client::runner::{ListingQuery, PromptRequest, Runner, SessionChoice, to_args, write_json};
use crate::client::{ClientError, Sandbox, Setup};
use crate::lab::{
    BenchPlace, ClientLab, Compaction, ConformanceLab, ExpectedReading, Format, Lab, LineFormat, LooseFile, Package,
    PinnedVersion, Sample, SessionPlace,
};
use crate::scenario::tools::{ToolCall, Tools, lookup_call, new_line, old_line, search_command, sub_agent_task};
use crate::scenario::{Ability, Action, ActionKind, Source};

pub(super) static LAB: Lab = Lab {
    id: "claude-code",
    name: "Claude Code",
    client: ClientLab {
        package: Package::npm("@anthropic-ai/claude-code", "claude").with_install_step("install.cjs"),
        pins: &[
            PinnedVersion::new("2.1.325", "newest"),
            PinnedVersion::new(
                "2.0.77",
                "before sub-agent folders, offloaded outputs and Task records; last with Grep, Glob and TodoWrite",
            ),
        ],
        runner: &ClaudeCode,
        tools: &ClaudeCode,
        start_driver: |client, sandbox, setup, port| {
            Ok(Box::new(driver::ClaudeCodeDriver::start(client, sandbox, setup, port)?))
        },
        abilities: Ability::ALL,
        limit_code: "rate_limit_error",
        compaction: Compaction::PLAIN,
        path_index: None,
    },
    conformance: ConformanceLab::lossless(SessionPlace::Folders(&[".claude/projects"])),
    sample: SAMPLE,
    other_forms: &[],
    readings: &[
        ExpectedReading {
            fixture: "2.1.325-tools.jsonl",
            tokens: "199913 in (0 from cache), 630 out (0 thought), claude-opus-5-5",
            start_settings: r#"{"entrypoint":"sdk-cli","permission_mode":"bypassPermissions"}"#,
            messages: "9 messages in 3 prompts and 6 pieces of replies",
        },
        ExpectedReading {
            fixture: "1.0.128-compact.jsonl",
            tokens: "77474 in (0 from cache), 210 out (0 thought), claude-sonnet-4-20250514",
            start_settings: "",
            messages: "7 messages in 3 prompts and 4 pieces of replies",
        },
    ],
    loose_files: &[LooseFile::from_jsonl("2.1.325-tools.jsonl"), LooseFile::from_jsonl("2.1.325-compact-hooks.jsonl")],
    bench: BenchPlace::Lines(".claude/projects/-home-dev-project/{ID}.jsonl"),
};

const SAMPLE: Sample = Sample {
    root: ".claude",
    root_variable: Some(("CLAUDE_CONFIG_DIR", "")),
    file: "projects/-home-you-calc/00000000-0000-4000-8000-000000000001.jsonl",
    format: Format::Lines(LineFormat {
        start_lines: &[r#"{"type":"mode","mode":"normal","sessionId":"00000000-0000-4000-8000-000000000001"}"#],
        exchange: &[
            r#"{"parentUuid":null,"type":"user","message":{"role":"user","content":"{FILL}"},"uuid":"u","timestamp":"2026-11-15T00:00:01.000Z","sessionId":"s"}"#,
            r#"{"parentUuid":"u","type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Done."}]},"uuid":"v","timestamp":"2026-11-15T00:00:02.000Z","sessionId":"s"}"#,
        ],
        renames: &[(r#""type":"user""#, r#""type":"human-turn""#), (r#""type":"assistant""#, r#""type":"model-turn""#)],
        without_words: &[
            r#"{"type":"user","uuid":"z","parentUuid":null,"timestamp":"2026-11-15T00:00:09.000Z","sessionId":"s","note":"NEVER"}"#,
            r#"{"type":"user","uuid":"z","parentUuid":null,"timestamp":"2026-11-15T00:00:09.000Z","sessionId":"s","message":{"role":"user","words":"NEVER"}}"#,
        ],
    }),
    other_files: &[".claude/CLAUDE.md", ".claude/settings.json", ".claude/sessions/1.json", "calc/CLAUDE.md"],
    companions: &["{ID}/subagents/agent-1.jsonl", "{ID}/tool-results/out.txt"],
};

/// The end of a key is how its approval is kept; this one is short enough to be its own end.
const FAKE_KEY: &str = "sk-ant-fake";

struct ClaudeCode;

impl Runner for ClaudeCode {
    fn env(&self, sandbox: &Sandbox, _setup: &Setup, port: u16) -> Vec<(&'static str, String)> {
        vec![
            ("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{port}")),
            ("ANTHROPIC_API_KEY", FAKE_KEY.to_owned()),
            ("DISABLE_TELEMETRY", "1".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            // A scripted failure is meant: retries would use up the script and the time.
            ("CLAUDE_CODE_MAX_RETRIES", "0".to_owned()),
            // Since 2.1 the plan's tools are off in print mode unless asked for.
            ("CLAUDE_CODE_ENABLE_TASKS", "1".to_owned()),
            ("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1".to_owned()),
            // It keeps images and background output in a shared temporary folder otherwise.
            ("CLAUDE_CODE_TMPDIR", sandbox.home.join("tmp").display().to_string()),
            // Allows the bypass flag for root, as in a container.
            ("IS_SANDBOX", "1".to_owned()),
        ]
    }

    fn prompt_args(&self, _sandbox: &Sandbox, ask: &PromptRequest<'_>) -> Vec<String> {
        let mut args = to_args(&["-p", "--output-format", "json", "--dangerously-skip-permissions"]);
        match ask.session {
            SessionChoice::New(_) => {}
            SessionChoice::Named(id) => args.extend(to_args(&["--resume", id])),
            SessionChoice::Newest => args.push("--continue".to_owned()),
        }
        args.push(ask.prompt.to_owned());
        args
    }

    /// Scripted, it was not seen to start there.
    fn delegates_in_interface(&self) -> bool {
        false
    }

    fn compact_command(&self) -> Option<&'static str> {
        Some("/compact")
    }

    fn ready_text(&self) -> Option<&'static str> {
        Some("for agents")
    }

    fn settle_interface(&self, sandbox: &Sandbox) -> Result<(), ClientError> {
        let path = sandbox.home.join(".claude.json");
        let mut settings: Value = match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)?,
            Err(_) => json!({}),
        };
        settings["hasCompletedOnboarding"] = json!(true);
        settings["theme"] = json!("dark");
        settings["customApiKeyResponses"] = json!({"approved": [FAKE_KEY], "rejected": []});
        settings["projects"][sandbox.project.display().to_string()]["hasTrustDialogAccepted"] = json!(true);
        write_json(&path, &settings)
    }

    fn lists_session(&self, look: &ListingQuery<'_>) -> Result<Option<bool>, ClientError> {
        if look.client.version.starts_with("2.0.") {
            // It goes by the times inside the files, and those are the source's; so the list is made short.
            remove_other_sessions(&look.sandbox.home.join(".claude/projects"), look.session_id)?;
        }
        // Its picker needs a terminal; but what it continues unasked is the first of the same list.
        let captured = look.client.continue_newest(look.sandbox, look.setup, "Probe: which session is this?")?;
        let user = captured.first()["metadata"]["user_id"].as_str().unwrap_or_default();
        Ok(Some(user.contains(look.session_id)))
    }
}

/// Removes all other sessions from a store.
fn remove_other_sessions(folder: &Path, session_id: &str) -> Result<(), ClientError> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_other_sessions(&path, session_id)?;
        } else if !path.display().to_string().contains(session_id) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

impl Tools for ClaudeCode {
    fn call_id(&self, key: &str) -> String {
        format!("toolu_01{key}")
    }

    fn shell_call(&self, command: &str) -> Option<ToolCall> {
        Some(("Bash", json!({"command": command, "description": "Run a command"})))
    }

    fn tool_call(&self, source: &Source, action: &Action, path: &str) -> Option<ToolCall> {
        let is_old = source.version.starts_with("2.0.");
        let word = action.word(0);
        Some(match action.what {
            ActionKind::Edit => {
                let (old, new) = (old_line(action), new_line(action));
                ("Edit", json!({"file_path": path, "old_string": old, "new_string": new}))
            }
            ActionKind::Write => ("Write", json!({"file_path": path, "content": format!("{word}\n")})),
            ActionKind::Search if is_old => {
                ("Grep", json!({"pattern": word, "path": "data", "output_mode": "content"}))
            }
            ActionKind::Search => return self.shell_call(&search_command(action)),
            ActionKind::Plan if is_old => {
                ("TodoWrite", json!({"todos": [{"content": word, "status": "in_progress", "activeForm": "Doing it"}]}))
            }
            ActionKind::Plan => {
                ("TaskCreate", json!({"subject": word, "description": "as said", "activeForm": "Doing it"}))
            }
            ActionKind::Mcp => lookup_call("mcp__lab__lookup", action),
            ActionKind::Delegate => {
                let name = if is_old { "Task" } else { "Agent" };
                let mut input = json!({"description": "Find out", "prompt": sub_agent_task(action), "subagent_type": "general-purpose"});
                if !is_old {
                    // In the background the report would come as a notification, at a time of its own.
                    input["run_in_background"] = json!(false);
                }
                (name, input)
            }
            ActionKind::Unknown => ("TimeMachine", json!({"destination": word})),
            _ => ("Read", json!({"file_path": path})),
        })
    }
}
