//! Makes a session in Copilot CLI: turns in its prompt mode, as a user would script them, and what needs a terminal
//! otherwise (taking a turn back, interrupting one) through the server that other programs use it by.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::model_config;
use crate::client::{Client, ClientError, Dialog, RUN_LIMIT, Sandbox, Setup};
use crate::scenario::Prompt;
use crate::scenario::headless::HeadlessDriver;
use crate::scenario::make::{Driver, await_file};

pub(super) struct CopilotDriver<'a> {
    prompts: HeadlessDriver<'a>,
}

impl<'a> CopilotDriver<'a> {
    pub(super) fn new(client: &'a Client, sandbox: &'a Sandbox, setup: &'a Setup, port: u16) -> Self {
        Self { prompts: HeadlessDriver::new(client, sandbox, setup, port) }
    }
}

impl Driver for CopilotDriver<'_> {
    fn run_turn(&mut self, prompt: &Prompt) -> Result<(), ClientError> {
        self.prompts.run_turn(prompt)
    }

    fn run_refused_turn(&mut self, prompt: &Prompt) -> Result<(), ClientError> {
        self.prompts.run_refused_turn(prompt)
    }

    fn compact(&mut self) -> Result<(), ClientError> {
        self.run_turn(&Prompt { text: "/compact".to_owned(), image: false })
    }

    fn rewind(&mut self) -> Result<(), ClientError> {
        let mut server = CopilotServer::resume_session(&self.prompts)?;
        server.rewind_turn()?;
        server.finish()
    }

    fn interrupt(&mut self, prompt: &Prompt, runs: &Path) -> Result<(), ClientError> {
        let mut server = CopilotServer::resume_session(&self.prompts)?;
        server.call_method("session.permissions.setApproveAll", json!({"enabled": true}))?;
        server.call_method("session.send", json!({"prompt": prompt.text}))?;
        await_file(runs)?;
        server.abort_turn()?;
        server.finish()
    }

    fn crash(&mut self, prompt: &Prompt, runs: &Path) -> Result<(), ClientError> {
        self.prompts.crash(prompt, runs)
    }

    fn finish(self: Box<Self>) -> Result<String, ClientError> {
        Box::new(self.prompts).finish()
    }
}

/// The client as a server, with the session open.
struct CopilotServer {
    dialog: Dialog,
    session_id: String,
    calls: u64,
}

impl CopilotServer {
    fn resume_session(of: &HeadlessDriver<'_>) -> Result<Self, ClientError> {
        let launch = of.sandbox.launch(of.client, of.setup, of.port)?;
        let launch = launch.args(["--headless", "--stdio", "--no-auto-update", "--no-auto-login"]);
        let dialog = Dialog::start_with_headers(&launch)?;
        let mut server = Self { dialog, session_id: of.session_id.clone(), calls: 0 };
        server.call_method("connect", json!({}))?;
        // It does not read the configuration for its model, so it is told.
        let mut session = model_config(of.port);
        session["workingDirectory"] = json!(of.sandbox.project);
        session["streaming"] = json!(true);
        server.call_method("session.resume", session)?;
        Ok(server)
    }

    /// Takes the latest turn back.
    fn rewind_turn(&mut self) -> Result<(), ClientError> {
        let deadline = Instant::now() + RUN_LIMIT;
        let mut listed = self.call_method("session.history.listRewindPoints", json!({}))?;
        while listed["unavailableReason"] == "session-busy" && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(200));
            listed = self.call_method("session.history.listRewindPoints", json!({}))?;
        }
        let latest = listed["points"].as_array().and_then(|points| points.last()).cloned().unwrap_or_default();
        let point = json!({"eventId": latest["eventId"], "mode": "conversation"});
        let rewound = self.call_method("session.history.rewind", point)?;
        if rewound["outcome"] == "success" {
            return Ok(());
        }
        Err(refused_error("session.history.rewind", &rewound["outcome"]))
    }

    /// Stops the turn, and waits until the session rests.
    fn abort_turn(&mut self) -> Result<(), ClientError> {
        let id = self.send_request("session.abort", json!({}))?;
        let (mut answered, mut rests) = (false, false);
        self.dialog.wait_for("the end of the turn", |message| {
            answered |= is_answer(message, id);
            rests |= message["params"]["event"]["type"] == "session.idle";
            answered && rests
        })?;
        Ok(())
    }

    fn finish(mut self) -> Result<(), ClientError> {
        self.call_method("session.shutdown", json!({}))?;
        self.dialog.finish()
    }

    fn send_request(&mut self, method: &str, mut params: Value) -> Result<u64, ClientError> {
        self.calls += 1;
        if method.starts_with("session.") {
            params["sessionId"] = json!(self.session_id);
        }
        self.dialog.send(&json!({"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params}))?;
        Ok(self.calls)
    }

    fn call_method(&mut self, method: &str, params: Value) -> Result<Value, ClientError> {
        let id = self.send_request(method, params)?;
        let mut answer = self.dialog.wait_for(method, |message| is_answer(message, id))?;
        match answer.get("error") {
            Some(error) => Err(refused_error(method, &error["message"])),
            None => Ok(answer["result"].take()),
        }
    }
}

fn is_answer(message: &Value, id: u64) -> bool {
    message["id"] == id && message.get("method").is_none()
}

fn refused_error(method: &str, message: &Value) -> ClientError {
    let message = message.as_str().unwrap_or_default().to_owned();
    ClientError::Refused { program: "copilot".to_owned(), method: method.to_owned(), message }
}
