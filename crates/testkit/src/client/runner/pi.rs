//! pi in its print mode; its RPC mode does the rest.

use serde_json::{Value, json};

use super::{Ask, Look, Runner, Session, words, write_json};
use crate::client::{ClientError, Sandbox, Setup};
use crate::model::FLAT_MODEL;

pub(super) struct Pi;

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

    fn args(&self, _sandbox: &Sandbox, ask: &Ask<'_>) -> Vec<String> {
        let mut args = words(&["-p"]);
        match ask.session {
            Session::New(id) => args.extend(words(&["--session-id", id])),
            Session::Named(id) => args.extend(words(&["--session", id])),
            Session::Newest => args.push("--continue".to_owned()),
        }
        args.extend(ask.image.map(|image| format!("@{}", image.display())));
        args.push(ask.prompt.to_owned());
        args
    }

    fn lists(&self, look: &Look<'_>) -> Result<Option<bool>, ClientError> {
        look.continued()
    }
}
