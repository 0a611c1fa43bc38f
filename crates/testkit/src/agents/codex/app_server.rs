//! A running `codex app-server`: its own interface for listing, compaction, interruption and roll-back.

use std::path::Path;

use serde_json::{Value, json};

use crate::client::{Client, ClientError, Dialog, Sandbox, Setup};

/// The server, and what it says.
pub(super) struct AppServer {
    dialog: Dialog,
    calls: u64,
    /// Since paginated files the picker trusts the index; before, it scans the files.
    has_index: bool,
}

impl AppServer {
    pub(super) fn start(client: &Client, sandbox: &Sandbox, setup: &Setup, port: u16) -> Result<Self, ClientError> {
        let launch = sandbox.launch(client, setup, port)?.args(["app-server"]);
        let has_index = client.version != "0.130.0";
        let mut server = Self { dialog: Dialog::start(&launch)?, calls: 0, has_index };
        let info = json!({"name": "carryover-testkit", "version": "1"});
        server.call_method("initialize", &json!({"clientInfo": info, "capabilities": {"experimentalApi": true}}))?;
        server.dialog.send(&json!({"method": "initialized"}))?;
        Ok(server)
    }

    pub(super) fn call_method(&mut self, method: &str, params: &Value) -> Result<Value, ClientError> {
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
    pub(super) fn wait_notification(&self, method: &str) -> Result<Value, ClientError> {
        self.dialog.wait_for(method, |message| message["method"] == method)
    }

    /// The ids of the sessions that the client's own picker shows for a project.
    pub(super) fn list_sessions(&mut self, project: &Path) -> Result<Vec<String>, ClientError> {
        let only_index = self.has_index;
        let page =
            self.call_method("thread/list", &json!({"cwd": project, "limit": 50, "useStateDbOnly": only_index}))?;
        let threads = page["data"].as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(threads.iter().filter_map(|thread| thread["id"].as_str().map(str::to_owned)).collect())
    }

    pub(super) fn finish(self) -> Result<(), ClientError> {
        self.dialog.finish()
    }
}
