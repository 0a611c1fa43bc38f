//! `OpenClaw`'s agent in one process, without its gateway.

use std::time::Duration;

use serde_json::json;

use super::{Ask, Look, Runner, Session, mcp_servers, words, write_json};
use crate::client::{ClientError, Sandbox, Setup};

pub(super) struct Openclaw;

impl Runner for Openclaw {
    fn env(&self, sandbox: &Sandbox, _setup: &Setup, _port: u16) -> Vec<(&'static str, String)> {
        vec![
            ("OPENCLAW_STATE_DIR", sandbox.home.join(".openclaw").display().to_string()),
            ("OPENCLAW_DISABLE_UPDATE_CHECK", "1".to_owned()),
        ]
    }

    fn configure(&self, sandbox: &Sandbox, setup: &Setup, port: u16) -> Result<(), ClientError> {
        let model = json!({
            "id": "fake-model", "name": "fake", "reasoning": true, "input": ["text", "image"],
            "contextWindow": 200_000, "maxTokens": 8_000,
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
        });
        let provider = json!({
            "baseUrl": format!("http://127.0.0.1:{port}/v1"), "apiKey": "sk-fake", "api": "openai-completions",
            "models": [model],
        });
        let defaults = json!({
            "model": {"primary": "fake/fake-model"}, "workspace": sandbox.project, "skipBootstrap": true,
        });
        let config = json!({
            "models": {"providers": {"fake": provider}}, "agents": {"defaults": defaults},
            "mcp": {"servers": mcp_servers(setup)},
        });
        write_json(&sandbox.home.join(".openclaw/openclaw.json"), &config)
    }

    fn args(&self, _sandbox: &Sandbox, ask: &Ask<'_>) -> Vec<String> {
        let mut args = words(&["agent", "--local", "--agent", "main", "--json"]);
        if let Session::New(id) | Session::Named(id) = ask.session {
            args.extend(words(&["--session-id", id]));
        }
        args.extend(words(&["--message", ask.prompt]));
        args
    }

    fn lists(&self, look: &Look<'_>) -> Result<Option<bool>, ClientError> {
        look.printed_by(&["sessions", "--json", "--all-agents"])
    }

    /// It loads its whole gateway for every turn: half a minute on a machine at rest, and many times that on a busy one.
    fn limit(&self) -> Duration {
        Duration::from_mins(12)
    }
}
