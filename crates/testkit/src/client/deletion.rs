//! Deletes a session as its client, its clean-up or a user does.

use std::path::Path;

use fs_err as fs;
use rusqlite::Connection;

use super::{Client, ClientError, Sandbox, Setup};
use crate::lab::SessionPlace;

/// How a session is deleted; its home holds no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// Its files are removed, by the client's own clean-up or by hand.
    Files,
    /// The client has a command for it, whose last word is the session's id.
    Command(&'static [&'static str]),
    /// The client has a command for it, which names the session by its place in the listing.
    FirstListed(&'static [&'static str]),
    /// Its rows are removed by hand; what hangs on them goes with them.
    Rows(&'static [&'static str]),
}

impl Deletion {
    /// How a page names it.
    pub fn describe(self, binary: &str) -> String {
        match self {
            Self::Files => "its files were removed".to_owned(),
            Self::Command(args) | Self::FirstListed(args) => format!("`{binary} {}`", args.join(" ")),
            Self::Rows(_) => "its rows were removed".to_owned(),
        }
    }
}

impl Client {
    /// How its sessions are deleted.
    pub fn deletion(&self) -> Deletion {
        self.lab.client.runner.deletion(self.version)
    }

    /// The name of its program.
    pub fn binary(&self) -> &'static str {
        self.lab.client.package.binary
    }

    /// Deletes the only session of a home.
    pub fn delete_session(&self, sandbox: &Sandbox, setup: &Setup, session_id: &str) -> Result<(), ClientError> {
        match self.deletion() {
            Deletion::Files => remove_files(sandbox, self.lab.conformance.sessions),
            Deletion::Command(args) => self.run_deletion(sandbox, setup, args, Some(session_id)),
            Deletion::FirstListed(args) => self.run_deletion(sandbox, setup, args, None),
            Deletion::Rows(statements) => remove_rows(sandbox, self.lab.conformance.sessions, statements, session_id),
        }
    }

    fn run_deletion(
        &self,
        sandbox: &Sandbox,
        setup: &Setup,
        args: &[&str],
        session_id: Option<&str>,
    ) -> Result<(), ClientError> {
        // No model is asked when something is deleted.
        let launch = sandbox.launch(self, setup, 9)?;
        launch.args(args.iter().copied().chain(session_id)).run_to_success(self.run_limit())?;
        Ok(())
    }
}

fn remove_files(sandbox: &Sandbox, sessions: SessionPlace) -> Result<(), ClientError> {
    match sessions {
        SessionPlace::Folders(folders) => {
            for folder in folders.iter().map(|folder| sandbox.home.join(folder)).filter(|folder| folder.is_dir()) {
                fs::remove_dir_all(folder)?;
            }
        }
        SessionPlace::Database { path, .. } => fs::remove_file(sandbox.home.join(path))?,
        SessionPlace::Project { prefix } => remove_prefixed(&sandbox.project, prefix)?,
    }
    Ok(())
}

fn remove_prefixed(project: &Path, prefix: &str) -> Result<(), ClientError> {
    for entry in fs::read_dir(project)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(prefix) && entry.file_type()?.is_file() {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn remove_rows(
    sandbox: &Sandbox,
    sessions: SessionPlace,
    statements: &[&str],
    session_id: &str,
) -> Result<(), ClientError> {
    let SessionPlace::Database { path, .. } = sessions else { return Ok(()) };
    let database = Connection::open(sandbox.home.join(path))?;
    database.pragma_update(None, "foreign_keys", true)?;
    for statement in statements {
        database.execute(statement, [session_id])?;
    }
    Ok(())
}
