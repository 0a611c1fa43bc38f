//! Runs the built `carryover` as a user would: in the session's project, with the clients on the PATH.

use std::path::Path;

use carryover_testkit::client::{Client, ClientError, Launch, RUN_LIMIT, Sandbox};
use serde::Deserialize;

/// The part of `carryover resume --json` that the matrix needs.
#[derive(Debug, Deserialize)]
pub(super) struct ResumeOutput {
    pub(super) session_id: String,
    #[serde(default)]
    pub(super) command: Vec<String>,
    #[serde(default)]
    pub(super) lost: Vec<Loss>,
    pub(super) undo_id: serde_json::Value,
}

impl ResumeOutput {
    /// By what the target's client is told to resume: the file where it is told one, else the session's id.
    pub(super) fn resume_handle(&self) -> &str {
        find_handle(&self.command, &self.session_id)
    }
}

/// The part of `carryover import --json` that a walk needs.
#[derive(Debug, Deserialize)]
pub(super) struct ImportOutput {
    /// The agent was given its own records.
    pub(super) own_records: bool,
    pub(super) resume: ResumeOutput,
}

/// The part of `carryover capsule inspect --json` that a walk needs.
#[derive(Debug, Deserialize)]
struct InspectOutput {
    kind: String,
    lacks: Vec<String>,
}

/// The part of `carryover restore --json` that a walk needs.
#[derive(Debug, Deserialize)]
pub(super) struct RestoreOutput {
    session_id: String,
    pub(super) exact: bool,
    /// Only where the session was written anew.
    command: Option<Vec<String>>,
}

impl RestoreOutput {
    /// By what the client is told to resume.
    pub(super) fn resume_handle(&self) -> &str {
        find_handle(self.command.as_deref().unwrap_or_default(), &self.session_id)
    }
}

fn find_handle<'a>(command: &'a [String], session_id: &'a str) -> &'a str {
    let option = "--chat-history-file";
    let mut words = command.iter();
    while let Some(word) = words.next() {
        if word == option {
            return words.next().map_or("", String::as_str);
        }
        if let Some(file) = word.strip_prefix(option).and_then(|rest| rest.strip_prefix('=')) {
            return file;
        }
    }
    session_id
}

/// The part of `carryover list --json` that the matrix needs.
#[derive(Debug, Deserialize)]
struct Listing {
    sessions: Vec<ListOutput>,
}

#[derive(Debug, Deserialize)]
struct ListOutput {
    id: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Loss {
    pub(super) what: String,
    #[serde(default)]
    pub(super) count: u64,
}

/// `carryover` in one sandbox.
pub(super) struct Carryover<'a> {
    pub(super) program: &'a Path,
    pub(super) sandbox: &'a Sandbox,
}

impl Carryover<'_> {
    /// Carries a session from one client to another.
    pub(super) fn resume(
        &self,
        session_id: &str,
        source: &Client,
        target: &Client,
    ) -> Result<ResumeOutput, ClientError> {
        let project = self.sandbox.project.display().to_string();
        let args = [
            "resume",
            "--fork",
            session_id,
            "--source",
            source.lab.id,
            "--target",
            target.lab.id,
            "--project",
            &project,
            "--json",
            "--yes",
        ];
        let finished = self.launch_with(source, target).args(args).run_to_success(RUN_LIMIT)?;
        let resumed: ResumeOutput = serde_json::from_str(&finished.stdout)?;
        self.check_command(&resumed)?;
        Ok(resumed)
    }

    fn check_command(&self, resumed: &ResumeOutput) -> Result<(), ClientError> {
        let is_named = resumed.command.iter().any(|word| word.contains(resumed.resume_handle()));
        is_named
            .then_some(())
            .ok_or_else(|| self.unexpected_error("the command to go on does not name the new session"))
    }

    /// Packs a session with its files and its own records.
    pub(super) fn export(&self, session_id: &str, client: &Client, capsule: &Path) -> Result<(), ClientError> {
        let capsule = capsule.display().to_string();
        let args =
            ["capsule", "export", session_id, "--source", client.lab.id, "--raw", "--output", &capsule, "--json"];
        self.launch_with(client, client).args(args).run_to_success(RUN_LIMIT)?;
        Ok(())
    }

    /// What a capsule is called, with what it lacks to be called better.
    pub(super) fn name_capsule(&self, client: &Client, capsule: &Path) -> Result<String, ClientError> {
        let capsule = capsule.display().to_string();
        let args = ["capsule", "inspect", &capsule, "--json"];
        let finished = self.launch_with(client, client).args(args).run_to_success(RUN_LIMIT)?;
        let InspectOutput { kind, lacks } = serde_json::from_str(&finished.stdout)?;
        Ok([vec![kind], lacks].concat().join("; "))
    }

    /// Goes on with a capsule in this sandbox's project, in the agent that it comes from.
    pub(super) fn import(&self, client: &Client, capsule: &Path) -> Result<ImportOutput, ClientError> {
        let (capsule, project) = (capsule.display().to_string(), self.sandbox.project.display().to_string());
        let args = ["import", &capsule, "--project", &project, "--json", "--yes"];
        let finished = self.launch_with(client, client).args(args).run_to_success(RUN_LIMIT)?;
        let imported: ImportOutput = serde_json::from_str(&finished.stdout)?;
        self.check_command(&imported.resume)?;
        Ok(imported)
    }

    /// The source's session in a project in which it has only one.
    pub(super) fn only_session(&self, source: &Client, target: &Client) -> Result<String, ClientError> {
        let project = self.sandbox.project.display().to_string();
        let args = ["list", "--source", source.lab.id, "--project", &project, "--json"];
        let finished = self.launch_with(source, target).args(args).run_to_success(RUN_LIMIT)?;
        let listing: Listing = serde_json::from_str(&finished.stdout)?;
        let newest = listing.sessions.into_iter().next().map(|session| session.id);
        newest.ok_or_else(|| self.unexpected_error("the session is not listed"))
    }

    /// Has the ledger take in what is there.
    pub(super) fn take_in(&self, client: &Client) -> Result<(), ClientError> {
        self.launch_with(client, client).args(["search", "anything", "--json"]).run_to_success(RUN_LIMIT)?;
        Ok(())
    }

    /// Brings a session back that was deleted.
    pub(super) fn restore(&self, session_id: &str, client: &Client) -> Result<RestoreOutput, ClientError> {
        let args = ["restore", session_id, "--source", client.lab.id, "--json", "--yes"];
        let finished = self.launch_with(client, client).args(args).run_to_success(RUN_LIMIT)?;
        Ok(serde_json::from_str(&finished.stdout)?)
    }

    /// Takes back what a resume added.
    pub(super) fn undo(&self, resumed: &ResumeOutput, source: &Client, target: &Client) -> Result<(), ClientError> {
        let id = resumed.undo_id.as_str().map_or_else(|| resumed.undo_id.to_string(), str::to_owned);
        self.launch_with(source, target).args(["undo", &id, "--yes"]).run_to_success(RUN_LIMIT)?;
        Ok(())
    }

    /// The target comes first on the PATH: where both are versions of one agent, it is the installed one.
    fn launch_with(&self, source: &Client, target: &Client) -> Launch {
        Launch::new(self.program, &self.sandbox.project).env(self.sandbox.base_env(&[target, source]))
    }

    fn unexpected_error(&self, message: &str) -> ClientError {
        ClientError::Unexpected { path: self.program.to_owned(), message: message.to_owned() }
    }
}
