//! Vendors' own code that reads what is written for an agent, where none of its clients runs here.

use std::path::{Path, PathBuf};

use fs_err as fs;
use serde::Deserialize;

use super::install::npm_install;
use super::{ClientError, Launch, RUN_LIMIT, node};

/// A package that its vendor publishes, and a script that has it read a store.
pub struct StoreJudge {
    /// The agent whose stores it reads.
    pub agent: &'static str,
    pub(crate) package: &'static str,
    pub(crate) version: &'static str,
    /// Prints what is shown of a store as JSON. It is told the store, a folder of its own, and the project.
    pub(crate) script: &'static str,
    /// Stores among the agent's fixtures, which it reads as well as those that were written by us.
    pub fixtures: &'static [&'static str],
}

/// Something that the vendor's code shows of a session.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ShownItem {
    pub kind: ShownKind,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShownKind {
    Prompt,
    Reply,
    Command,
}

/// A judge that is installed.
pub struct InstalledJudge {
    node: PathBuf,
    folder: PathBuf,
}

const SCRIPT_NAME: &str = "judge.mjs";

impl StoreJudge {
    /// The package and its version.
    pub fn label(&self) -> String {
        format!("{} {}", self.package, self.version)
    }

    /// Finds the package in the cache, or installs it.
    pub fn find_or_install(&self, cache: &Path) -> Result<InstalledJudge, ClientError> {
        fs::create_dir_all(cache)?;
        let cache = fs::canonicalize(cache)?;
        let node = node::find_or_install(&cache)?;
        let folder = cache.join(format!("{}-judge-{}", self.agent, self.version));
        let is_there = || folder.join("node_modules").join(self.package).is_dir();
        if !is_there() {
            let staging = tempfile::Builder::new().prefix(".installing-").tempdir_in(&cache)?;
            let unavailable = |reason| ClientError::Unavailable { client: self.label(), reason };
            npm_install(staging.path(), &format!("{}@{}", self.package, self.version)).map_err(unavailable)?;
            match fs::rename(staging.path(), &folder) {
                // Somebody else was faster; theirs is as good.
                Err(_) if is_there() => {}
                renamed => renamed?,
            }
        }
        // Beside the package, where its imports are looked for.
        fs::write(folder.join(SCRIPT_NAME), self.script)?;
        Ok(InstalledJudge { node, folder })
    }
}

impl InstalledJudge {
    /// Has a store read, with a throw-away home.
    pub fn read_store(&self, store: &Path, project: &Path) -> Result<Vec<ShownItem>, ClientError> {
        let home = tempfile::tempdir()?;
        let state = home.path().join("state");
        let args = [&self.folder.join(SCRIPT_NAME), store, &state, project].map(|path| path.display().to_string());
        let env = [("HOME", home.path().display().to_string()), ("PATH", self.node.display().to_string())];
        let env = env.into_iter().map(|(name, value)| (name.to_owned(), value));
        let launch = Launch::new(self.node.join("node"), &self.folder).args(args).env(env);
        let finished = launch.run_to_success(RUN_LIMIT)?;
        Ok(serde_json::from_str(&finished.stdout)?)
    }
}
