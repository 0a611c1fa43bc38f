//! Makes a session in Codex through its app server, the interface that its own editors use.

use std::path::Path;

use serde_json::{Value, json};

use super::app_server::AppServer;
use crate::client::{Client, ClientError, Sandbox, Setup};
use crate::scenario::Prompt;
use crate::scenario::make::{Driver, await_file};
use crate::scenario::project::PROMPT_IMAGE;

pub(super) struct CodexDriver {
    /// Gone after a crash.
    server: Option<AppServer>,
    session_id: String,
    image_path: String,
    /// The turns that still stand.
    turns: Vec<String>,
}

impl CodexDriver {
    pub(super) fn start(client: &Client, sandbox: &Sandbox, setup: &Setup, port: u16) -> Result<Self, ClientError> {
        let mut server = AppServer::start(client, sandbox, setup, port)?;
        let started = server.call_method("thread/start", &json!({"cwd": sandbox.project}))?;
        let session_id = string_value(&started["thread"]["id"]);
        let picture = sandbox.project.join(PROMPT_IMAGE).display().to_string();
        Ok(Self { server: Some(server), session_id, image_path: picture, turns: Vec::new() })
    }

    fn running_server(&mut self) -> Result<&mut AppServer, ClientError> {
        let ended = || ClientError::Ended { program: "codex".to_owned(), awaited: "a running session".to_owned() };
        self.server.as_mut().ok_or_else(ended)
    }

    fn start_turn(&mut self, prompt: &Prompt) -> Result<String, ClientError> {
        let mut input = vec![json!({"type": "text", "text": prompt.text})];
        if prompt.image {
            input.push(json!({"type": "localImage", "path": self.image_path}));
        }
        let params = json!({"threadId": self.session_id, "input": input});
        let started = self.running_server()?.call_method("turn/start", &params)?;
        let turn = string_value(&started["turn"]["id"]);
        self.turns.push(turn.clone());
        Ok(turn)
    }

    /// Waits for this session's turn: those of its sub-agents end as well.
    fn wait_turn_end(&mut self) -> Result<(), ClientError> {
        loop {
            let ended = self.running_server()?.wait_notification("turn/completed")?;
            if ended["params"]["threadId"] == self.session_id.as_str() {
                return Ok(());
            }
        }
    }
}

impl Driver for CodexDriver {
    fn run_turn(&mut self, prompt: &Prompt) -> Result<(), ClientError> {
        self.start_turn(prompt)?;
        self.wait_turn_end()
    }

    fn compact(&mut self) -> Result<(), ClientError> {
        let params = json!({"threadId": self.session_id});
        self.running_server()?.call_method("thread/compact/start", &params)?;
        self.wait_turn_end()
    }

    fn rewind(&mut self) -> Result<(), ClientError> {
        let Some(turn) = self.turns.pop() else { return Ok(()) };
        let revert = json!({"threadId": self.session_id, "beforeTurnId": turn});
        let roll_back = json!({"threadId": self.session_id, "numTurns": 1});
        let server = self.running_server()?;
        match server.call_method("thread/revert", &revert) {
            // Versions with legacy files roll back by a number of turns.
            Err(ClientError::Refused { .. }) => {
                server.call_method("thread/rollback", &roll_back)?;
                Ok(())
            }
            reverted => reverted.map(drop),
        }
    }

    fn interrupt(&mut self, prompt: &Prompt, runs: &Path) -> Result<(), ClientError> {
        let turn = self.start_turn(prompt)?;
        await_file(runs)?;
        let params = json!({"threadId": self.session_id, "turnId": turn});
        self.running_server()?.call_method("turn/interrupt", &params)?;
        self.wait_turn_end()
    }

    fn crash(&mut self, prompt: &Prompt, runs: &Path) -> Result<(), ClientError> {
        self.start_turn(prompt)?;
        await_file(runs)?;
        drop(self.server.take());
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<String, ClientError> {
        if let Some(server) = self.server {
            server.finish()?;
        }
        Ok(self.session_id)
    }
}

fn string_value(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
