//! Makes a session in a client that is run once per prompt.

use std::path::Path;
use std::time::Duration;

use uuid::Uuid;

use super::project::PROMPT_IMAGE;
use super::{Prompt, make::Driver};
use crate::client::{Client, ClientError, Launch, PromptRequest, RunningProgram, Sandbox, SessionChoice, Setup};

/// How long a client may go on trying after it was refused.
const REFUSAL_WAIT: Duration = Duration::from_secs(20);

pub(crate) struct HeadlessDriver<'a> {
    pub(crate) client: &'a Client,
    pub(crate) sandbox: &'a Sandbox,
    pub(crate) setup: &'a Setup,
    pub(crate) port: u16,
    pub(crate) session_id: String,
    /// Whether the client knows the session by now.
    has_started: bool,
}

impl<'a> HeadlessDriver<'a> {
    pub(crate) fn new(client: &'a Client, sandbox: &'a Sandbox, setup: &'a Setup, port: u16) -> Self {
        Self { client, sandbox, setup, port, session_id: Uuid::new_v4().to_string(), has_started: false }
    }

    fn start_prompt(&mut self, prompt: &Prompt) -> Result<RunningProgram, ClientError> {
        let picture = self.sandbox.project.join(PROMPT_IMAGE);
        let session = if self.has_started {
            SessionChoice::Named(&self.session_id)
        } else {
            SessionChoice::New(&self.session_id)
        };
        let ask = PromptRequest { session, prompt: &prompt.text, image: prompt.image.then_some(picture.as_path()) };
        let running = self.client.prompt_launch(self.sandbox, self.setup, self.port, &ask)?.start()?;
        self.has_started = true;
        Ok(running)
    }

    /// The session in the client's own interface.
    pub(crate) fn interface_launch(&self) -> Result<Launch, ClientError> {
        self.client.interface_launch(self.sandbox, self.setup, self.port, &self.session_id)
    }
}

impl Driver for HeadlessDriver<'_> {
    fn run_turn(&mut self, prompt: &Prompt) -> Result<(), ClientError> {
        let limit = self.client.run_limit();
        self.start_prompt(prompt)?.finish(limit)?.ensure_success()?;
        Ok(())
    }

    fn run_refused_turn(&mut self, prompt: &Prompt) -> Result<(), ClientError> {
        match self.start_prompt(prompt)?.finish(REFUSAL_WAIT) {
            // It would try for minutes; whoever waits ends it.
            Err(ClientError::TimedOut { .. }) => Ok(()),
            finished => finished.map(drop),
        }
    }

    fn compact(&mut self) -> Result<(), ClientError> {
        Ok(())
    }

    fn rewind(&mut self) -> Result<(), ClientError> {
        Ok(())
    }

    fn interrupt(&mut self, prompt: &Prompt, runs: &Path) -> Result<(), ClientError> {
        let running = self.start_prompt(prompt)?;
        super::make::await_file(runs)?;
        running.interrupt();
        running.finish(self.client.run_limit())?;
        Ok(())
    }

    fn crash(&mut self, prompt: &Prompt, runs: &Path) -> Result<(), ClientError> {
        let running = self.start_prompt(prompt)?;
        super::make::await_file(runs)?;
        drop(running);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<String, ClientError> {
        Ok(self.session_id)
    }
}
