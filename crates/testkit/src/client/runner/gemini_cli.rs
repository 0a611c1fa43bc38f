//! Gemini CLI in its prompt mode.

use std::time::Duration;

use serde_json::json;

use super::{Ask, Look, Runner, Session, mcp_servers, words, write_json};
use crate::client::{ClientError, Sandbox, Setup};

/// The model and the permission that every run has.
const BASE: &[&str] = &["-m", "gemini-2.5-pro", "--yolo"];

pub(super) struct GeminiCli;

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
