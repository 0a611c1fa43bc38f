//! Copilot CLI in its prompt mode, with a model provider of the user's own.

use serde_json::json;

use super::{Ask, Look, Runner, Session, mcp_servers, words, write_json};
use crate::client::{ClientError, Sandbox, Setup};

pub(super) struct CopilotCli;

impl Runner for CopilotCli {
    fn env(&self, sandbox: &Sandbox, _setup: &Setup, port: u16) -> Vec<(&'static str, String)> {
        vec![
            ("COPILOT_OFFLINE", "true".to_owned()),
            ("COPILOT_PROVIDER_BASE_URL", format!("http://127.0.0.1:{port}/v1")),
            ("COPILOT_PROVIDER_API_KEY", "sk-fake".to_owned()),
            ("COPILOT_MODEL", "gpt-4.1".to_owned()),
            ("COPILOT_AUTO_UPDATE", "false".to_owned()),
            // It unpacks itself on its first start; once for all homes is enough.
            ("XDG_CACHE_HOME", sandbox.home.join(".cache").display().to_string()),
        ]
    }

    fn configure(&self, sandbox: &Sandbox, setup: &Setup, _port: u16) -> Result<(), ClientError> {
        let mut servers = mcp_servers(setup);
        for (_, server) in servers.as_object_mut().into_iter().flatten() {
            server["type"] = json!("local");
            server["tools"] = json!(["*"]);
        }
        write_json(&sandbox.home.join(".copilot/mcp-config.json"), &json!({"mcpServers": servers}))
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
