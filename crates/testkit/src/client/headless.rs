//! What is asked of a client without a terminal: resume a session, continue the newest, list.

use std::time::Duration;

use serde_json::Value;
use uuid::Uuid;

use super::runner::{Look, Runner};
use super::{Ask, Client, ClientError, Launch, Sandbox, Session, Setup};
use crate::model::{Kind, ModelServer, Turn};

/// The requests of the session's own loop that a run sent, oldest first.
#[derive(Clone, Debug)]
pub struct Captured {
    pub requests: Vec<Value>,
}

impl Captured {
    /// The first request: the history as the client loaded it, with the new prompt at its end.
    pub fn first(&self) -> &Value {
        &self.requests[0]
    }
}

impl Client {
    /// Resumes a session with one prompt and returns what the client sent to its model.
    pub fn resume(
        &self,
        sandbox: &Sandbox,
        setup: &Setup,
        session_id: &str,
        prompt: &str,
        turns: Vec<Turn>,
    ) -> Result<Captured, ClientError> {
        self.prompt(sandbox, setup, &Ask { session: Session::Named(session_id), prompt, image: None }, turns)
    }

    /// Continues the session that the client itself takes for the newest of the project.
    pub fn continue_newest(&self, sandbox: &Sandbox, setup: &Setup, prompt: &str) -> Result<Captured, ClientError> {
        self.prompt(sandbox, setup, &Ask { session: Session::Newest, prompt, image: None }, Vec::new())
    }

    /// Starts a session of its own: a store that was used before behaves otherwise than a fresh one.
    pub fn begin(&self, sandbox: &Sandbox, setup: &Setup, prompt: &str) -> Result<Captured, ClientError> {
        let id = Uuid::new_v4().to_string();
        self.prompt(sandbox, setup, &Ask { session: Session::New(&id), prompt, image: None }, Vec::new())
    }

    /// Whether the client's own listing shows a session, which alone holds the word `witness`; `None` where it has no
    /// listing. Asking may register the session: ask in a copy.
    pub fn lists(
        &self,
        sandbox: &Sandbox,
        setup: &Setup,
        session_id: &str,
        witness: &str,
    ) -> Result<Option<bool>, ClientError> {
        self.runner().lists(&Look { client: self, sandbox, setup, session_id, witness })
    }

    /// The command line of one prompt, with the model on `port`.
    pub fn asking(&self, sandbox: &Sandbox, setup: &Setup, port: u16, ask: &Ask<'_>) -> Result<Launch, ClientError> {
        let args = self.runner().args(sandbox, ask);
        Ok(sandbox.launch(self, setup, port)?.args(args))
    }

    /// The command line that opens a session in the client's own interface.
    pub fn opening(
        &self,
        sandbox: &Sandbox,
        setup: &Setup,
        port: u16,
        session_id: &str,
    ) -> Result<Launch, ClientError> {
        let args = self.runner().opening(session_id);
        Ok(sandbox.launch(self, setup, port)?.args(args))
    }

    /// How long one of its runs may take.
    pub fn limit(&self) -> Duration {
        self.runner().limit()
    }

    fn runner(&self) -> &'static dyn Runner {
        self.lab.client.runner
    }

    fn prompt(
        &self,
        sandbox: &Sandbox,
        setup: &Setup,
        ask: &Ask<'_>,
        turns: Vec<Turn>,
    ) -> Result<Captured, ClientError> {
        let server = ModelServer::start()?;
        server.script(Kind::Main, turns);
        self.asking(sandbox, setup, server.port(), ask)?.run_well(self.limit())?;
        let requests = server.requests(Kind::Main);
        if requests.is_empty() {
            return Err(ClientError::NoRequest { program: self.label() });
        }
        Ok(Captured { requests })
    }
}
