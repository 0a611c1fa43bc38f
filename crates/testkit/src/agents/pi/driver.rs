//! Makes a session in pi through its RPC mode, the interface that other programs use.

use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use fs_err as fs;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::client::{Client, ClientError, Dialog, Sandbox, Setup};
use crate::scenario::Prompt;
use crate::scenario::make::{Driver, await_file};
use crate::scenario::project::PROMPT_IMAGE;

/// Going back in the tree needs a terminal or an extension; this is the latter.
const BACK_EXTENSION: &str = r#"export default function (pi) {
  pi.registerCommand("back", {
    description: "Takes the latest turn back",
    handler: async (_args, ctx) => {
      const isPrompt = (entry) => entry.type === "message" && entry.message.role === "user";
      await ctx.navigateTree(ctx.sessionManager.getBranch().findLast(isPrompt).id, { summarize: false });
    },
  });
}
"#;

pub(super) struct PiDriver<'a> {
    sandbox: &'a Sandbox,
    /// Gone after a crash.
    dialog: Option<Dialog>,
    session_id: String,
    commands: u64,
}

impl<'a> PiDriver<'a> {
    pub(super) fn start(client: &Client, sandbox: &'a Sandbox, setup: &Setup, port: u16) -> Result<Self, ClientError> {
        let session_id = Uuid::now_v7().to_string();
        let extension = sandbox.project.join("lab/back.js");
        fs::write(&extension, BACK_EXTENSION)?;
        let extension = extension.display().to_string();
        let launch = sandbox.launch(client, setup, port)?;
        let launch = launch.args(["--mode", "rpc", "--session-id", &session_id, "--extension", &extension]);
        Ok(Self { sandbox, dialog: Some(Dialog::start(&launch)?), session_id, commands: 0 })
    }

    fn running_dialog(&mut self) -> Result<&mut Dialog, ClientError> {
        let ended = || ClientError::Ended { program: "pi".to_owned(), awaited: "a running session".to_owned() };
        self.dialog.as_mut().ok_or_else(ended)
    }

    /// Sends a command and waits until it is accepted.
    fn send_command(&mut self, mut command: Value) -> Result<(), ClientError> {
        self.commands += 1;
        let id = format!("c{}", self.commands);
        command["id"] = json!(id);
        let dialog = self.running_dialog()?;
        dialog.send(&command)?;
        let answer = dialog.wait_for("an answer", |message| message["id"] == id.as_str())?;
        if answer["success"] == true {
            return Ok(());
        }
        let method = command["type"].as_str().unwrap_or_default().to_owned();
        let message = answer["error"].as_str().unwrap_or_default().to_owned();
        Err(ClientError::Refused { program: "pi".to_owned(), method, message })
    }

    fn send_prompt(&mut self, prompt: &Prompt) -> Result<(), ClientError> {
        let mut command = json!({"type": "prompt", "message": prompt.text});
        if prompt.image {
            let data = BASE64_STANDARD.encode(fs::read(self.sandbox.project.join(PROMPT_IMAGE))?);
            command["images"] = json!([{"type": "image", "data": data, "mimeType": "image/png"}]);
        }
        self.send_command(command)
    }

    fn wait_turn_end(&mut self) -> Result<(), ClientError> {
        self.running_dialog()?.wait_for("the end of the turn", |message| message["type"] == "agent_settled").map(drop)
    }
}

impl Driver for PiDriver<'_> {
    fn run_turn(&mut self, prompt: &Prompt) -> Result<(), ClientError> {
        self.send_prompt(prompt)?;
        self.wait_turn_end()
    }

    fn compact(&mut self) -> Result<(), ClientError> {
        self.send_command(json!({"type": "compact"}))
    }

    fn rewind(&mut self) -> Result<(), ClientError> {
        self.send_command(json!({"type": "prompt", "message": "/back"}))
    }

    fn interrupt(&mut self, prompt: &Prompt, runs: &Path) -> Result<(), ClientError> {
        self.send_prompt(prompt)?;
        await_file(runs)?;
        self.send_command(json!({"type": "abort"}))?;
        Ok(())
    }

    fn crash(&mut self, prompt: &Prompt, runs: &Path) -> Result<(), ClientError> {
        self.send_prompt(prompt)?;
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
