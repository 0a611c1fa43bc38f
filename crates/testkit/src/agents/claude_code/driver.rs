//! Makes a session in Claude Code through its print mode with streamed input and output.
//!
//! Interruption is a control request, compaction is its own command as a prompt, and a rewind is a
//! resume at an earlier message: the client writes the same branches as its terminal interface does.

use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use fs_err as fs;
use serde_json::{Value, json};

use crate::client::{Client, ClientError, Dialog, Sandbox, Setup};
use crate::scenario::Prompt;
use crate::scenario::make::{Driver, await_file};
use crate::scenario::project::{MCP_SCRIPT, PROMPT_IMAGE};

pub(super) struct ClaudeCodeDriver<'a> {
    client: &'a Client,
    sandbox: &'a Sandbox,
    setup: &'a Setup,
    port: u16,
    dialog: Option<Dialog>,
    session_id: String,
    /// The last message of each turn that still stands.
    turn_ends: Vec<String>,
}

impl<'a> ClaudeCodeDriver<'a> {
    pub(super) fn start(
        client: &'a Client,
        sandbox: &'a Sandbox,
        setup: &'a Setup,
        port: u16,
    ) -> Result<Self, ClientError> {
        let session_id = String::new();
        let mut driver = Self { client, sandbox, setup, port, dialog: None, session_id, turn_ends: Vec::new() };
        driver.start_dialog(&[])?;
        Ok(driver)
    }

    fn start_dialog(&mut self, more: &[&str]) -> Result<(), ClientError> {
        let server = json!({"command": "node", "args": [self.sandbox.project.join(MCP_SCRIPT)]});
        let servers = json!({"mcpServers": {"lab": server}}).to_string();
        let base = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
        let launch = self.sandbox.launch(self.client, self.setup, self.port)?;
        let launch = launch.args(base).args(["--dangerously-skip-permissions", "--mcp-config", &servers]);
        self.dialog = Some(Dialog::start(&launch.args(more.iter().copied()))?);
        Ok(())
    }

    fn running_dialog(&mut self) -> Result<&mut Dialog, ClientError> {
        let ended = || ClientError::Ended { program: "claude".to_owned(), awaited: "a running session".to_owned() };
        self.dialog.as_mut().ok_or_else(ended)
    }

    fn send_content(&mut self, content: &Value) -> Result<(), ClientError> {
        self.running_dialog()?.send(&json!({"type": "user", "message": {"role": "user", "content": content}}))
    }

    /// Waits for the end of a turn and returns the id of its last assistant message.
    fn wait_turn_end(&mut self) -> Result<Option<String>, ClientError> {
        let mut last = None;
        let result = self.running_dialog()?.wait_for("result", |message| {
            let is_own = message["parent_tool_use_id"].is_null();
            if message["type"] == "assistant" && is_own {
                last = message["uuid"].as_str().map(str::to_owned);
            }
            message["type"] == "result"
        })?;
        if let Some(id) = result["session_id"].as_str() {
            id.clone_into(&mut self.session_id);
        }
        Ok(last)
    }

    fn prompt_content(&self, prompt: &Prompt) -> Result<Value, ClientError> {
        let mut blocks = vec![json!({"type": "text", "text": prompt.text})];
        if prompt.image {
            let data = BASE64_STANDARD.encode(fs::read(self.sandbox.project.join(PROMPT_IMAGE))?);
            blocks
                .push(json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}));
        }
        Ok(json!(blocks))
    }
}

impl Driver for ClaudeCodeDriver<'_> {
    fn run_turn(&mut self, prompt: &Prompt) -> Result<(), ClientError> {
        let content = self.prompt_content(prompt)?;
        self.send_content(&content)?;
        let last = self.wait_turn_end()?;
        self.turn_ends.extend(last);
        Ok(())
    }

    fn compact(&mut self) -> Result<(), ClientError> {
        self.send_content(&json!("/compact"))?;
        self.wait_turn_end()?;
        Ok(())
    }

    fn rewind(&mut self) -> Result<(), ClientError> {
        self.turn_ends.pop();
        let Some(at) = self.turn_ends.last().cloned() else { return Ok(()) };
        if let Some(dialog) = self.dialog.take() {
            dialog.finish()?;
        }
        let session_id = self.session_id.clone();
        self.start_dialog(&["--resume", &session_id, "--resume-session-at", &at])
    }

    fn interrupt(&mut self, prompt: &Prompt, runs: &Path) -> Result<(), ClientError> {
        let content = self.prompt_content(prompt)?;
        self.send_content(&content)?;
        await_file(runs)?;
        let request = json!({"type": "control_request", "request_id": "stop", "request": {"subtype": "interrupt"}});
        self.running_dialog()?.send(&request)?;
        let last = self.wait_turn_end()?;
        self.turn_ends.extend(last);
        Ok(())
    }

    fn crash(&mut self, prompt: &Prompt, runs: &Path) -> Result<(), ClientError> {
        let content = self.prompt_content(prompt)?;
        self.send_content(&content)?;
        await_file(runs)?;
        drop(self.dialog.take());
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<String, ClientError> {
        if let Some(dialog) = self.dialog.take() {
            dialog.finish()?;
        }
        Ok(self.session_id)
    }
}
