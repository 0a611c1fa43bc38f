//! Codex in its exec mode; its app server does the rest.

use fs_err as fs;

use super::{Ask, Look, Runner, Session, words};
use crate::client::{AppServer, ClientError, Provider, Sandbox, Setup};
use crate::model::ModelServer;

pub(super) struct Codex;

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
        fs::write(folder.join("config.toml"), config(setup, port))?;
        Ok(())
    }

    fn args(&self, _sandbox: &Sandbox, ask: &Ask<'_>) -> Vec<String> {
        let mut args =
            words(&["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--json"]);
        match ask.session {
            Session::New(_) => {}
            Session::Named(id) => args.extend(words(&["resume", id])),
            Session::Newest => args.extend(words(&["resume", "--last"])),
        }
        args.push(ask.prompt.to_owned());
        args
    }

    fn lists(&self, look: &Look<'_>) -> Result<Option<bool>, ClientError> {
        let server = ModelServer::start()?;
        let mut codex = AppServer::start(look.client, look.sandbox, look.setup, server.port())?;
        let listed = codex.list(&look.sandbox.project)?;
        codex.finish()?;
        Ok(Some(listed.iter().any(|id| id == look.session_id)))
    }
}

fn config(setup: &Setup, port: u16) -> String {
    let model = setup.model.as_deref().unwrap_or("gpt-5.5");
    let address = format!("http://127.0.0.1:{port}/v1");
    let provider = match setup.provider {
        Provider::Custom => "model_provider = \"fake\"".to_owned(),
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
