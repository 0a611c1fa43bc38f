//! `OpenCode` in its run mode; its HTTP server does the rest.

use serde_json::json;

use super::{Ask, Look, Runner, Session, words, write_json};
use crate::client::{ClientError, Sandbox, Setup};
use crate::model::SIDE_MODEL;

pub(super) struct Opencode;

/// At every start, and whatever it is told, the client fetches its plugin package into its configuration folder, unless
/// the package seems to be there.
const INSTALLED: &str = r#"{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"*"}}}}"#;

impl Runner for Opencode {
    fn env(&self, _sandbox: &Sandbox, _setup: &Setup, _port: u16) -> Vec<(&'static str, String)> {
        let switches = [
            "OPENCODE_DISABLE_AUTOUPDATE",
            "OPENCODE_DISABLE_MODELS_FETCH",
            "OPENCODE_DISABLE_LSP_DOWNLOAD",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS",
        ];
        let switches = switches.into_iter().map(|switch| (switch, "1".to_owned()));
        // For whatever folder it may find besides its own.
        switches.chain([("npm_config_offline", "true".to_owned())]).collect()
    }

    fn configure(&self, sandbox: &Sandbox, setup: &Setup, port: u16) -> Result<(), ClientError> {
        let takes_images = json!({"input": ["text", "image"], "output": ["text"]});
        let model = json!({
            "name": "fake", "tool_call": true, "reasoning": true, "attachment": true, "modalities": takes_images,
            "limit": {"context": 400_000, "output": 8_000},
        });
        let provider = json!({
            "npm": "@ai-sdk/openai-compatible", "name": "fake",
            "options": {"baseURL": format!("http://127.0.0.1:{port}/v1"), "apiKey": "sk-fake"},
            "models": {"fake-model": model, SIDE_MODEL: {"name": "side"}},
        });
        let mcp = setup.mcp.as_ref().map_or_else(
            || json!({}),
            |script| json!({"lab": {"type": "local", "command": ["node", script], "enabled": true}}),
        );
        let config = json!({
            "provider": {"fake": provider}, "model": "fake/fake-model", "small_model": format!("fake/{SIDE_MODEL}"),
            "permission": {"*": "allow"}, "autoupdate": false, "share": "disabled", "mcp": mcp,
            "compaction": {"auto": false, "prune": false},
        });
        let folder = sandbox.home.join(".config/opencode");
        write_json(&folder.join("opencode.json"), &config)?;
        fs_err::create_dir_all(folder.join("node_modules"))?;
        fs_err::write(folder.join("package-lock.json"), INSTALLED)?;
        Ok(())
    }

    fn args(&self, _sandbox: &Sandbox, ask: &Ask<'_>) -> Vec<String> {
        let mut args = words(&["run"]);
        match ask.session {
            Session::New(_) => {}
            Session::Named(id) => args.extend(words(&["--session", id])),
            Session::Newest => args.push("--continue".to_owned()),
        }
        args.extend(ask.image.map(|image| format!("--file={}", image.display())));
        args.extend(words(&["--", ask.prompt]));
        args
    }

    fn lists(&self, look: &Look<'_>) -> Result<Option<bool>, ClientError> {
        look.printed_by(&["session", "list"])
    }
}
