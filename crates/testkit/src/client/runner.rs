//! How a client is run without a terminal: what it is given, and what it is asked.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Client, ClientError, Deletion, Provider, RUN_LIMIT, Sandbox, Setup};
use crate::model::ModelServer;

/// Which session a prompt is for.
#[derive(Clone, Copy, Debug)]
pub enum SessionChoice<'a> {
    /// A new one, with this id where the client lets others choose it.
    New(&'a str),
    Named(&'a str),
    /// The one that the client itself takes for the newest of the project.
    Newest,
}

/// One prompt.
#[derive(Clone, Copy, Debug)]
pub struct PromptRequest<'a> {
    pub session: SessionChoice<'a>,
    pub prompt: &'a str,
    pub image: Option<&'a Path>,
}

/// A question for the client's own listing.
pub(crate) struct ListingQuery<'a> {
    pub(crate) client: &'a Client,
    pub(crate) sandbox: &'a Sandbox,
    pub(crate) setup: &'a Setup,
    pub(crate) session_id: &'a str,
    /// A word that only this session holds.
    pub(crate) witness: &'a str,
}

/// A screen that a user answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UserScreen {
    pub(crate) shows: &'static str,
    pub(crate) keys: &'static [&'static str],
}

/// One client without a terminal.
pub(crate) trait Runner: Sync {
    fn env(&self, sandbox: &Sandbox, setup: &Setup, port: u16) -> Vec<(&'static str, String)>;

    /// Writes the configuration that the client needs.
    fn configure(&self, _sandbox: &Sandbox, _setup: &Setup, _port: u16) -> Result<(), ClientError> {
        Ok(())
    }

    fn prompt_args(&self, sandbox: &Sandbox, ask: &PromptRequest<'_>) -> Vec<String>;

    /// The arguments that open a session in the client's own interface.
    fn interface_args(&self, session_id: &str) -> Vec<String> {
        to_args(&["--resume", session_id])
    }

    /// The arguments that open a new session in the client's own interface.
    fn start_args(&self) -> Vec<String> {
        Vec::new()
    }

    /// Screens before the first prompt on which a user decides something once: what they show, and the keys that say yes.
    fn user_screens(&self) -> &'static [UserScreen] {
        &[]
    }

    /// The provider with which it can be led through a recording proxy, where that is another than usual.
    fn recorded_provider(&self) -> Option<Provider> {
        None
    }

    /// Whether it names files by the minute: started again in the same one, it writes a new beginning into the session that
    /// it is to go on with.
    fn names_files_by_minute(&self) -> bool {
        false
    }

    /// Whether it reads a handoff by itself once its user has told it to, as below.
    fn reads_opted_in_handoff(&self) -> bool {
        false
    }

    /// What a user writes down once so that a handoff is read, where nothing can be installed that does it.
    fn opt_in_handoff(&self, _sandbox: &Sandbox) -> Result<(), ClientError> {
        Ok(())
    }

    /// Whether a sub-agent starts in its interface without its user's word.
    fn delegates_in_interface(&self) -> bool {
        true
    }

    /// The command that compacts a session in its interface, where that was tried.
    fn compact_command(&self) -> Option<&'static str> {
        None
    }

    /// The text by which its own interface shows that it waits for a prompt; `None` where it was not tried.
    fn ready_text(&self) -> Option<&'static str> {
        None
    }

    /// Settles what its interface asks about itself before the first prompt: looks, keys, whether the folder is trusted.
    fn settle_interface(&self, _sandbox: &Sandbox) -> Result<(), ClientError> {
        Ok(())
    }

    /// How a session of this version's is deleted.
    fn deletion(&self, _version: &str) -> Deletion {
        Deletion::Files
    }

    /// Whether the client's own listing shows a session; `None` where it has none.
    fn lists_session(&self, look: &ListingQuery<'_>) -> Result<Option<bool>, ClientError>;

    /// How long one run may take.
    fn run_limit(&self) -> Duration {
        RUN_LIMIT
    }
}

impl ListingQuery<'_> {
    /// Whether a command of the client's prints the session's id.
    pub(crate) fn is_printed_by(&self, args: &[&str]) -> Result<Option<bool>, ClientError> {
        // One client has its model name sessions before it lists them.
        let server = ModelServer::start()?;
        let launch = self.sandbox.launch(self.client, self.setup, server.port())?.args(args.iter().copied());
        let finished = launch.run_to_success(self.client.run_limit())?;
        let shown = finished.stdout + &finished.stderr;
        Ok(Some(shown.contains(self.session_id)))
    }

    /// Whether the client takes the session for the newest: its picker needs a terminal, and what it continues unasked
    /// is the first of the same list.
    pub(crate) fn is_continued(&self) -> Result<Option<bool>, ClientError> {
        let captured = self.client.continue_newest(self.sandbox, self.setup, "Probe: which session is this?")?;
        Ok(Some(crate::request::flat_text(captured.first()).contains(self.witness)))
    }
}

/// Words as arguments.
pub(crate) fn to_args(args: &[&str]) -> Vec<String> {
    args.iter().map(|arg| (*arg).to_owned()).collect()
}

/// The MCP server of a setup, as most clients want to be told of it.
pub(crate) fn mcp_servers(setup: &Setup) -> Value {
    setup.mcp.as_ref().map_or_else(|| json!({}), |script| json!({"lab": {"command": "node", "args": [script]}}))
}

/// Writes a file of settings, and the folder that it is in.
pub(crate) fn write_json(path: &Path, value: &Value) -> Result<(), ClientError> {
    if let Some(folder) = path.parent() {
        fs_err::create_dir_all(folder)?;
    }
    fs_err::write(path, serde_json::to_vec_pretty(value)?)?;
    Ok(())
}
