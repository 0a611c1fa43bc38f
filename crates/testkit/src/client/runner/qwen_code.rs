//! Qwen Code in its prompt mode.

use std::time::Duration;

use serde_json::json;

use super::{Ask, Look, Runner, Session, mcp_servers, words, write_json};
use crate::client::{ClientError, Sandbox, Setup};

pub(super) struct QwenCode;

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

    fn args(&self, sandbox: &Sandbox, ask: &Ask<'_>) -> Vec<String> {
        let mut args = words(&["--yolo"]);
        match ask.session {
            Session::New(id) => args.extend(words(&["--session-id", id])),
            Session::Named(id) => args.extend(words(&["--resume", id])),
            Session::Newest => args.push("--continue".to_owned()),
        }
        let image = ask.image.map(|image| image.strip_prefix(&sandbox.project).unwrap_or(image));
        let image = image.map(|image| format!(" @{}", image.display())).unwrap_or_default();
        args.push(format!("--prompt={}{image}", ask.prompt));
        args
    }

    fn opening(&self, session_id: &str) -> Vec<String> {
        words(&["--yolo", "--resume", session_id])
    }

    /// A bundle of this size takes its time on a busy machine.
    fn limit(&self) -> Duration {
        Duration::from_mins(3)
    }

    fn lists(&self, look: &Look<'_>) -> Result<Option<bool>, ClientError> {
        look.printed_by(&["sessions", "list", "--json"])
    }
}
