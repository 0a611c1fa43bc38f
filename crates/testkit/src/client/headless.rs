//! What is asked of a client without a terminal: resume a session, continue the newest, list.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use uuid::Uuid;

use super::runner::{Look, runner};
use super::{Ask, Client, ClientError, Dialog, Launch, Sandbox, Session, Setup};
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
        runner(self.pin.agent).lists(&Look { client: self, sandbox, setup, session_id, witness })
    }

    /// The command line of one prompt, with the model on `port`.
    pub fn asking(&self, sandbox: &Sandbox, setup: &Setup, port: u16, ask: &Ask<'_>) -> Result<Launch, ClientError> {
        let args = runner(self.pin.agent).args(sandbox, ask);
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
        let args = runner(self.pin.agent).opening(session_id);
        Ok(sandbox.launch(self, setup, port)?.args(args))
    }

    /// How long one of its runs may take.
    pub fn limit(&self) -> Duration {
        runner(self.pin.agent).limit()
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
            return Err(ClientError::NoRequest { program: self.pin.label() });
        }
        Ok(Captured { requests })
    }
}

/// A running `codex app-server`: its own interface for listing, compaction, interruption and roll-back.
pub struct AppServer {
    dialog: Dialog,
    calls: u64,
    /// Since paginated files the picker trusts the index; before, it scans the files.
    has_index: bool,
}

impl AppServer {
    pub fn start(client: &Client, sandbox: &Sandbox, setup: &Setup, port: u16) -> Result<Self, ClientError> {
        let launch = sandbox.launch(client, setup, port)?.args(["app-server"]);
        let has_index = client.pin.version != "0.130.0";
        let mut server = Self { dialog: Dialog::start(&launch)?, calls: 0, has_index };
        let info = json!({"name": "carryover-testkit", "version": "1"});
        server.call("initialize", &json!({"clientInfo": info, "capabilities": {"experimentalApi": true}}))?;
        server.dialog.send(&json!({"method": "initialized"}))?;
        Ok(server)
    }

    pub fn call(&mut self, method: &str, params: &Value) -> Result<Value, ClientError> {
        self.calls += 1;
        let id = self.calls;
        self.dialog.send(&json!({"id": id, "method": method, "params": params}))?;
        let mut answer =
            self.dialog.wait_for(method, |message| message["id"] == id && message.get("method").is_none())?;
        if let Some(error) = answer.get("error") {
            let message = error["message"].as_str().unwrap_or_default().to_owned();
            return Err(ClientError::Refused {
                program: "codex app-server".to_owned(),
                method: method.to_owned(),
                message,
            });
        }
        Ok(answer["result"].take())
    }

    /// Waits for a notification of one kind.
    pub fn notified(&self, method: &str) -> Result<Value, ClientError> {
        self.dialog.wait_for(method, |message| message["method"] == method)
    }

    /// The ids of the sessions that the client's own picker shows for a project.
    pub fn list(&mut self, project: &Path) -> Result<Vec<String>, ClientError> {
        let only_index = self.has_index;
        let page = self.call("thread/list", &json!({"cwd": project, "limit": 50, "useStateDbOnly": only_index}))?;
        let threads = page["data"].as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(threads.iter().filter_map(|thread| thread["id"].as_str().map(str::to_owned)).collect())
    }

    pub fn finish(self) -> Result<(), ClientError> {
        self.dialog.finish()
    }
}
