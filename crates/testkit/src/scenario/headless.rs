//! Makes a session in a client that is run once per prompt.

use std::path::Path;
use std::time::Duration;

use uuid::Uuid;

use super::project::PROMPT_PICTURE;
use super::{Prompt, make::Driver};
use crate::client::{Ask, Client, ClientError, Launch, Running, Sandbox, Session, Setup};

/// How long a client may go on trying after it was refused.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct HeadlessDriver<'a> {
    pub(crate) client: &'a Client,
    pub(crate) sandbox: &'a Sandbox,
    pub(crate) setup: &'a Setup,
    pub(crate) port: u16,
    pub(crate) session_id: String,
    /// Whether the client knows the session by now.
    begun: bool,
}

impl<'a> HeadlessDriver<'a> {
    pub(crate) fn new(client: &'a Client, sandbox: &'a Sandbox, setup: &'a Setup, port: u16) -> Self {
        Self { client, sandbox, setup, port, session_id: Uuid::new_v4().to_string(), begun: false }
    }

    fn start(&mut self, prompt: &Prompt) -> Result<Running, ClientError> {
        let picture = self.sandbox.project.join(PROMPT_PICTURE);
        let session = if self.begun { Session::Named(&self.session_id) } else { Session::New(&self.session_id) };
        let ask = Ask { session, prompt: &prompt.text, image: prompt.image.then_some(picture.as_path()) };
        let running = self.client.asking(self.sandbox, self.setup, self.port, &ask)?.start()?;
        self.begun = true;
        Ok(running)
    }

    /// The session in the client's own interface.
    pub(crate) fn in_terminal(&self) -> Result<Launch, ClientError> {
        self.client.opening(self.sandbox, self.setup, self.port, &self.session_id)
    }
}

impl Driver for HeadlessDriver<'_> {
    fn turn(&mut self, prompt: &Prompt) -> Result<(), ClientError> {
        let limit = self.client.limit();
        self.start(prompt)?.finish(limit)?.well()?;
        Ok(())
    }

    fn refused(&mut self, prompt: &Prompt) -> Result<(), ClientError> {
        match self.start(prompt)?.finish(PATIENCE) {
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
        let running = self.start(prompt)?;
        super::make::await_file(runs)?;
        running.interrupt();
        running.finish(self.client.limit())?;
        Ok(())
    }

    fn crash(&mut self, prompt: &Prompt, runs: &Path) -> Result<(), ClientError> {
        let running = self.start(prompt)?;
        super::make::await_file(runs)?;
        drop(running);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<String, ClientError> {
        Ok(self.session_id)
    }
}
