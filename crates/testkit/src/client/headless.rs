//! Requests to a client without a terminal: resume a session, continue the newest, list.

use std::time::Duration;

use serde_json::Value;
use uuid::Uuid;

use super::runner::{ListingQuery, Runner};
use super::{Client, ClientError, Launch, PromptRequest, Sandbox, SessionChoice, Setup};
use crate::model::{ModelServer, RequestKind, Turn};

/// The requests of the session's own loop that a run sent, oldest first.
#[derive(Clone, Debug)]
pub struct CapturedRequests {
    pub requests: Vec<Value>,
}

impl CapturedRequests {
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
    ) -> Result<CapturedRequests, ClientError> {
        self.capture_prompt(
            sandbox,
            setup,
            &PromptRequest { session: SessionChoice::Named(session_id), prompt, image: None },
            turns,
        )
    }

    /// Continues the session that the client itself takes for the newest of the project.
    pub fn continue_newest(
        &self,
        sandbox: &Sandbox,
        setup: &Setup,
        prompt: &str,
    ) -> Result<CapturedRequests, ClientError> {
        self.capture_prompt(
            sandbox,
            setup,
            &PromptRequest { session: SessionChoice::Newest, prompt, image: None },
            Vec::new(),
        )
    }

    /// Starts a session of its own: a store that was used before behaves otherwise than a fresh one.
    pub fn start_session(
        &self,
        sandbox: &Sandbox,
        setup: &Setup,
        prompt: &str,
    ) -> Result<CapturedRequests, ClientError> {
        let id = Uuid::new_v4().to_string();
        self.capture_prompt(
            sandbox,
            setup,
            &PromptRequest { session: SessionChoice::New(&id), prompt, image: None },
            Vec::new(),
        )
    }

    /// Whether the client's own listing shows a session, which alone holds the word `witness`; `None` where it has no
    /// listing. Asking may register the session: ask in a copy.
    pub fn lists_session(
        &self,
        sandbox: &Sandbox,
        setup: &Setup,
        session_id: &str,
        witness: &str,
    ) -> Result<Option<bool>, ClientError> {
        self.runner().lists_session(&ListingQuery { client: self, sandbox, setup, session_id, witness })
    }

    /// The command line of one prompt, with the model on `port`.
    pub fn prompt_launch(
        &self,
        sandbox: &Sandbox,
        setup: &Setup,
        port: u16,
        ask: &PromptRequest<'_>,
    ) -> Result<Launch, ClientError> {
        let args = self.runner().prompt_args(sandbox, ask);
        Ok(sandbox.launch(self, setup, port)?.args(args))
    }

    /// The first prompt of a new session, for a client that is configured already, and others may have added to that.
    pub fn prepared_prompt(&self, sandbox: &Sandbox, setup: &Setup, port: u16, prompt: &str) -> Launch {
        let id = Uuid::new_v4().to_string();
        let ask = PromptRequest { session: SessionChoice::New(&id), prompt, image: None };
        sandbox.prepared_launch(self, setup, port).args(self.runner().prompt_args(sandbox, &ask))
    }

    /// The command line that opens a session in the client's own interface.
    pub fn interface_launch(
        &self,
        sandbox: &Sandbox,
        setup: &Setup,
        port: u16,
        session_id: &str,
    ) -> Result<Launch, ClientError> {
        let args = self.runner().interface_args(session_id);
        Ok(sandbox.launch(self, setup, port)?.args(args))
    }

    /// How long one of its runs may take.
    pub fn run_limit(&self) -> Duration {
        self.runner().run_limit()
    }

    fn runner(&self) -> &'static dyn Runner {
        self.lab.client.runner
    }

    fn capture_prompt(
        &self,
        sandbox: &Sandbox,
        setup: &Setup,
        ask: &PromptRequest<'_>,
        turns: Vec<Turn>,
    ) -> Result<CapturedRequests, ClientError> {
        let server = ModelServer::start()?;
        server.script_replies(RequestKind::Main, turns);
        self.prompt_launch(sandbox, setup, server.port(), ask)?.run_to_success(self.run_limit())?;
        let requests = server.requests(RequestKind::Main);
        if requests.is_empty() {
            return Err(ClientError::NoRequest { program: self.label() });
        }
        Ok(CapturedRequests { requests })
    }
}
