//! Copilot CLI in its prompt mode, with a model provider of the user's own.
//!
//! A provider that is named in the environment has a model that the client takes for blind, to which it sends no images
//! of outcomes. One in its configuration can be said to see.

use serde_json::{Value, json};

use super::{Ask, Look, Runner, Session, mcp_servers, words, write_json};
use crate::client::{ClientError, Sandbox, Setup, cache_folder};

pub(super) struct CopilotCli;

/// The model and its provider, as the client's configuration and its server want to be told of them.
pub(crate) fn model(port: u16) -> Value {
    let seeing = json!({
        "supports": {"vision": true},
        "limits": {"vision": {
            "supported_media_types": ["image/png"], "max_prompt_images": 20, "max_prompt_image_size": 5_000_000,
        }},
    });
    json!({
        "model": MODEL,
        "providers": [{
            "name": "fake", "type": "openai", "wireApi": "completions", "apiKey": "sk-fake",
            "baseUrl": format!("http://127.0.0.1:{port}/v1"),
        }],
        "models": [{"id": "gpt-4.1", "provider": "fake", "capabilities": seeing}],
    })
}

const MODEL: &str = "fake/gpt-4.1";

impl Runner for CopilotCli {
    fn env(&self, _sandbox: &Sandbox, _setup: &Setup, _port: u16) -> Vec<(&'static str, String)> {
        vec![
            // No account, no telemetry, no web tools, no update.
            ("COPILOT_OFFLINE", "true".to_owned()),
            ("COPILOT_AUTO_UPDATE", "false".to_owned()),
            ("COPILOT_MODEL", MODEL.to_owned()),
            // It unpacks itself on its first start, 235 MB; once for all homes is enough.
            ("XDG_CACHE_HOME", cache_folder().join("copilot-cli-unpacked").display().to_string()),
        ]
    }

    fn configure(&self, sandbox: &Sandbox, setup: &Setup, port: u16) -> Result<(), ClientError> {
        let folder = sandbox.home.join(".copilot");
        let mut providers = model(port);
        providers.as_object_mut().map(|fields| fields.remove("model"));
        write_json(&folder.join("providers.json"), &providers)?;
        let mut servers = mcp_servers(setup);
        for (_, server) in servers.as_object_mut().into_iter().flatten() {
            server["type"] = json!("local");
            server["tools"] = json!(["*"]);
        }
        write_json(&folder.join("mcp-config.json"), &json!({"mcpServers": servers}))
    }

    fn args(&self, _sandbox: &Sandbox, ask: &Ask<'_>) -> Vec<String> {
        let mut args = words(&["--allow-all-tools", "--allow-all-paths"]);
        match ask.session {
            Session::New(id) => args.push(format!("--session-id={id}")),
            Session::Named(id) => args.push(format!("--resume={id}")),
            Session::Newest => args.push("--continue".to_owned()),
        }
        args.extend(ask.image.map(|image| format!("--attachment={}", image.display())));
        args.extend(words(&["-p", ask.prompt]));
        args
    }

    fn lists(&self, look: &Look<'_>) -> Result<Option<bool>, ClientError> {
        look.continued()
    }
}
