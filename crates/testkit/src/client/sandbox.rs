//! A throw-away home and project, and the environment that a client gets in them.

use std::env;
use std::path::{Path, PathBuf};

use fs_err as fs;
use rusqlite::Connection;

use super::{Client, ClientError, Launch};
use crate::agents::LABS;
use crate::lab::Lab;

/// Where a client runs.
#[derive(Clone, Debug)]
pub struct Sandbox {
    pub home: PathBuf,
    pub project: PathBuf,
}

/// Which model provider a client is told to use; both are the fake server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Provider {
    /// One of the user's own.
    #[default]
    Custom,
    /// The vendor's, at another address: some things are done by the vendor's service only with it.
    BuiltIn,
    /// One of the user's own that variables alone name, where the client knows such: these can be changed for one run.
    Variables,
}

/// The settings that a run needs besides the folders.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// The model to ask for; `None` leaves the choice to the client.
    pub model: Option<String>,
    pub provider: Provider,
    /// A script for a stdio MCP server that is registered as `lab`.
    pub mcp: Option<PathBuf>,
    /// The home holds sessions that this client made itself, in several runs.
    pub own_sessions: bool,
}

/// The workspace's target folder.
pub(crate) fn target_folder() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workspace = manifest.ancestors().nth(2).unwrap_or(manifest);
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), PathBuf::from)
}

impl Sandbox {
    /// The part of the environment that every program gets, with these clients on the PATH.
    pub fn base_env(&self, clients: &[&Client]) -> Vec<(String, String)> {
        let programs = clients.iter().map(|client| client.bin_folder());
        let newer_node = clients.iter().find_map(|client| client.node_folder()).map(Path::to_path_buf);
        let common = [node_folder(), PathBuf::from("/usr/bin"), PathBuf::from("/bin")];
        let path: Vec<String> =
            programs.chain(newer_node).chain(common).map(|folder| folder.display().to_string()).collect();
        let pairs = [
            ("PATH", path.join(":")),
            ("HOME", self.home.display().to_string()),
            ("TERM", "xterm-256color".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
        ];
        pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    /// A launch of the client in this sandbox, pointed at the fake model on `port`.
    pub fn launch(&self, client: &Client, setup: &Setup, port: u16) -> Result<Launch, ClientError> {
        self.configure(client.lab, setup, port)?;
        Ok(self.prepared_launch(client, setup, port))
    }

    /// The same where the client is configured already, and others may have added to that.
    pub fn prepared_launch(&self, client: &Client, setup: &Setup, port: u16) -> Launch {
        let own = client.lab.client.runner.env(self, setup, port);
        let own = own.into_iter().map(|(key, value)| (key.to_owned(), value));
        Launch::new(client.program(), &self.project).env(self.base_env(&[client])).env(own)
    }

    /// The part of the environment that the client alone needs in its own interface, which asks nothing about itself then.
    pub fn interface_env(
        &self,
        client: &Client,
        setup: &Setup,
        port: u16,
    ) -> Result<Vec<(String, String)>, ClientError> {
        self.configure(client.lab, setup, port)?;
        let runner = client.lab.client.runner;
        runner.settle_interface(self)?;
        Ok(runner.env(self, setup, port).into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// Writes the configuration that the client needs; also what tells others which model provider is used.
    pub fn configure(&self, lab: &Lab, setup: &Setup, port: u16) -> Result<(), ClientError> {
        lab.client.runner.configure(self, setup, port)
    }

    /// Copies what a client's sessions are in: the home, and the project for a client that keeps them there.
    pub fn copy_sessions(&self, lab: &Lab, to: &Path) -> Result<Self, ClientError> {
        let mut copied = self.copy_home(&to.join("home"))?;
        if lab.conformance.sessions.is_in_project() {
            copied.project = to.join("project");
            copy_folder(&self.project, &copied.project)?;
        }
        Ok(copied)
    }

    /// Copies the home to another place, in which the same clients find the same sessions.
    ///
    /// Indexes hold absolute paths of session files: left alone, a client in the copy would append to the original.
    pub fn copy_home(&self, to: &Path) -> Result<Self, ClientError> {
        copy_folder(&self.home, to)?;
        for folder in LABS.iter().filter_map(|lab| lab.client.path_index) {
            relocate_databases(&to.join(folder), &self.home, to)?;
        }
        Ok(Self { home: to.to_owned(), project: self.project.clone() })
    }
}

fn node_folder() -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).find(|folder| folder.join("node").exists()).unwrap_or_else(|| PathBuf::from("/usr/bin"))
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), ClientError> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
            let modified = entry.metadata()?.modified()?;
            // Clients sort by it, and delete what looks old.
            fs::File::options().write(true).open(&target)?.set_modified(modified)?;
        }
    }
    Ok(())
}

fn relocate_databases(folder: &Path, old: &Path, new: &Path) -> Result<(), ClientError> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "sqlite") {
            relocate_database(&path, &old.display().to_string(), &new.display().to_string())?;
        }
    }
    Ok(())
}

fn relocate_database(path: &Path, old: &str, new: &str) -> Result<(), ClientError> {
    let database = Connection::open(path)?;
    let columns = "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c
                   WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%' AND c.type LIKE '%TEXT%' AND c.name LIKE '%path%'";
    let mut statement = database.prepare(columns)?;
    let columns: Vec<(String, String)> =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    for (table, column) in columns {
        let update = format!(
            "UPDATE \"{table}\" SET \"{column}\" = replace(\"{column}\", ?1, ?2) WHERE instr(\"{column}\", ?1) > 0"
        );
        database.execute(&update, [old, new])?;
    }
    Ok(())
}
