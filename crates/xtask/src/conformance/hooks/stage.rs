//! The place of one row: a throw-away home with everything installed, a daemon, and a model for all clients.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use carryover_testkit::client::{Client, ClientError, Launch, RUN_LIMIT, RunningProgram, Sandbox};
use carryover_testkit::model::{Hold, ModelServer, RequestKind};
use carryover_testkit::request::flat_text;
use carryover_testkit::scenario::{FurtherTurn, Source};
use fs_err as fs;
use serde_json::Value;
use tempfile::TempDir;

use super::super::carryover::Carryover;
use super::super::plan::Options;
use super::super::walk::make_repository;
use super::{ConformanceError, HANDOFF_FILE};

/// What the client that dies was asked for; nobody else says it.
pub(super) const WORDS: &str = "More901Word";

/// A question mark is a key of its own in some interfaces.
pub(super) const NEXT_PROMPT: &str = "Tell me what is to be done here.";

/// How long a request, a handoff or the daemon is waited for.
const WAIT_LIMIT: Duration = Duration::from_mins(1);

const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Everything that a row runs in; what was started ends with it.
pub(super) struct Stage<'a> {
    options: &'a Options,
    pub(super) sandbox: Sandbox,
    pub(super) server: ModelServer,
    _daemon: RunningProgram,
    _scratch: TempDir,
}

pub(super) fn holds_words(request: &Value) -> bool {
    flat_text(request).contains(WORDS)
}

pub(super) fn holds_pointer(request: &Value) -> bool {
    flat_text(request).contains(HANDOFF_FILE)
}

/// Waits until something is so.
pub(super) fn wait_until(is_so: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + WAIT_LIMIT;
    while !is_so() {
        if Instant::now() > deadline {
            return false;
        }
        thread::sleep(POLL_INTERVAL);
    }
    true
}

impl<'a> Stage<'a> {
    /// Configures the clients, installs as a user does, and starts the daemon.
    pub(super) fn prepare(options: &'a Options, clients: &[(&Source, &Client)]) -> Result<Self, ConformanceError> {
        let runs = options.cache.join("runs");
        fs::create_dir_all(&runs)?;
        let mut scratch = tempfile::Builder::new().prefix("hooks-").tempdir_in(fs::canonicalize(runs)?)?;
        scratch.disable_cleanup(options.keep);
        let sandbox = Sandbox { home: scratch.path().join("home"), project: scratch.path().join("project") };
        fs::create_dir_all(&sandbox.home)?;
        make_repository(&sandbox)?;
        let server = ModelServer::start()?;
        let other = other_project(&sandbox);
        make_repository(&other)?;
        for (kind, client) in clients {
            client.prepare_interface(&[&sandbox, &other], &kind.setup(), server.port())?;
        }
        let programs: Vec<&Client> = clients.iter().map(|(_, client)| *client).collect();
        let carryover = Launch::new(&options.carryover, &sandbox.project).env(sandbox.base_env(&programs));
        let ids: Vec<&str> = programs.iter().map(|client| client.lab.id).collect();
        let install = ["install", "--yes", "--agents", &ids.join(","), "--no-service"];
        carryover.clone().args(install).run_to_success(RUN_LIMIT)?;
        for client in programs {
            client.opt_in_handoff(&sandbox)?;
        }
        let daemon = carryover.args(["daemon", "run"]).start()?;
        let sign = sandbox.home.join(".carryover/daemon.sock");
        if !wait_until(|| sign.exists()) {
            let ended = daemon.finish(Duration::ZERO).map(|ended| ended.stderr).unwrap_or_default();
            let message = format!("the daemon is not ready: {}", ended.trim());
            return Err(ClientError::Unexpected { path: sign, message }.into());
        }
        Ok(Self { options, sandbox, server, _daemon: daemon, _scratch: scratch })
    }

    pub(super) fn carryover(&self) -> Carryover<'_> {
        Carryover { program: &self.options.carryover, sandbox: &self.sandbox }
    }

    /// Another project, in the same home.
    pub(super) fn other_project(&self) -> Sandbox {
        other_project(&self.sandbox)
    }

    pub(super) fn handoff_path(&self) -> PathBuf {
        self.sandbox.project.join(HANDOFF_FILE)
    }

    /// Whether the handoff holds what was asked for, within a minute.
    pub(super) fn await_handoff(&self) -> bool {
        let path = self.handoff_path();
        wait_until(|| fs::read_to_string(&path).is_ok_and(|text| text.contains(WORDS)))
    }

    /// The client is asked for something, does the first part of it, and is killed while it waits for its model.
    pub(super) fn work_and_die(&self, kind: &Source, client: &Client) -> Result<(), ClientError> {
        let mut further = FurtherTurn::new(kind, &self.sandbox.project);
        let hold = Hold::default();
        let last = further.turns.pop().map(|turn| turn.held_by(&hold));
        let n_requests = self.server.requests(RequestKind::Main).len() + further.turns.len() + 1;
        self.server.script_replies(RequestKind::Main, further.turns.into_iter().chain(last));
        let launch = client.prepared_prompt(&self.sandbox, &kind.setup(), self.server.port(), &further.prompt);
        let running = launch.start()?;
        let deadline = Instant::now() + client.run_limit();
        while self.server.requests(RequestKind::Main).len() < n_requests && Instant::now() < deadline {
            thread::sleep(POLL_INTERVAL);
        }
        let has_asked = self.server.requests(RequestKind::Main).len() >= n_requests;
        drop(running);
        hold.release();
        if has_asked { Ok(()) } else { Err(ClientError::NoRequest { program: client.label() }) }
    }

    /// Opens the client in a terminal, in a new session or in one that is named, types a prompt, and returns the first
    /// request that holds it.
    pub(super) fn type_first_prompt(
        &self,
        kind: &Source,
        client: &Client,
        session_id: Option<&str>,
    ) -> Result<Value, ClientError> {
        self.type_prompt_in(&self.sandbox, kind, client, session_id)
    }

    pub(super) fn type_prompt_in(
        &self,
        sandbox: &Sandbox,
        kind: &Source,
        client: &Client,
        session_id: Option<&str>,
    ) -> Result<Value, ClientError> {
        let n_before = self.server.requests(RequestKind::Main).len();
        let mut terminal = client.open_interface(sandbox, &kind.setup(), self.server.port(), session_id)?;
        terminal.enter_line(NEXT_PROMPT)?;
        let request = self.await_request(n_before, client)?;
        // The answer is written down before the client ends.
        wait_until(|| self.server.count_unused() == 0);
        terminal.wait_until_quiet();
        Ok(request)
    }

    /// The first request after so many that holds the prompt; some clients ask something else before.
    fn await_request(&self, n_before: usize, client: &Client) -> Result<Value, ClientError> {
        let find = || {
            let later = self.server.requests(RequestKind::Main).into_iter().skip(n_before);
            later.into_iter().find(|request| flat_text(request).contains(NEXT_PROMPT))
        };
        wait_until(|| find().is_some());
        find().ok_or_else(|| ClientError::NoRequest { program: client.label() })
    }
}

fn other_project(sandbox: &Sandbox) -> Sandbox {
    Sandbox { project: sandbox.home.with_file_name("other"), ..sandbox.clone() }
}
