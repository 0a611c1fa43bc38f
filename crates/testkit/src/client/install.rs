//! Installs pinned clients from npm into a cache folder.
//!
//! A version is installed beside its final place and renamed when it starts, so that a half-installed
//! client is never seen and two runs may install the same one at the same time.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use fs_err as fs;

use super::launch::{Launch, kill_group, wait};
use super::{ClientError, Pin, Sandbox};

const INSTALL_LIMIT: Duration = Duration::from_mins(10);

/// An installed client.
#[derive(Clone, Debug)]
pub struct Client {
    pub pin: &'static Pin,
    folder: PathBuf,
}

/// `$CARRYOVER_CLIENTS`, or `target/clients` of this workspace.
pub fn cache_folder() -> PathBuf {
    env::var_os("CARRYOVER_CLIENTS").map_or_else(|| super::sandbox::target_folder().join("clients"), PathBuf::from)
}

impl Client {
    /// Finds the client in the cache, or installs it.
    pub fn install(pin: &'static Pin, cache: &Path) -> Result<Self, ClientError> {
        let client = Self { pin, folder: cache.join(pin.label()) };
        if client.program().exists() {
            return Ok(client);
        }
        fs::create_dir_all(cache)?;
        let staging = tempfile::Builder::new().prefix(".installing-").tempdir_in(cache)?;
        let staged = Self { pin, folder: staging.path().to_owned() };
        staged.fetch()?;
        if !staged.starts() {
            staged.run_install_step()?;
        }
        if !staged.starts() {
            return Err(client.unavailable("it was installed, but does not start"));
        }
        match fs::rename(staging.path(), &client.folder) {
            // Somebody else was faster; theirs is as good.
            Err(_) if client.program().exists() => Ok(client),
            renamed => renamed.map(|()| client).map_err(Into::into),
        }
    }

    /// The folder to put on the PATH.
    pub fn bin_folder(&self) -> PathBuf {
        self.folder.join("node_modules/.bin")
    }

    pub fn program(&self) -> PathBuf {
        self.bin_folder().join(self.pin.agent.binary())
    }

    fn unavailable(&self, reason: impl Into<String>) -> ClientError {
        ClientError::Unavailable { client: self.pin.label(), reason: reason.into() }
    }

    fn fetch(&self) -> Result<(), ClientError> {
        let package = format!("{}@{}", self.pin.agent.package(), self.pin.version);
        let mut npm = Command::new("npm");
        npm.args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--loglevel=error"]);
        npm.arg("--prefix").arg(&self.folder).arg(package).current_dir(&self.folder);
        // npm keeps the caller's environment: where packages come from is the machine's business.
        npm.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = npm.spawn().map_err(|_| self.unavailable("npm is not installed"))?;
        match wait(&mut child, INSTALL_LIMIT)? {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(self.unavailable(format!("npm install failed with {status}"))),
            None => {
                kill_group(&mut child);
                Err(self.unavailable("npm install took too long"))
            }
        }
    }

    fn starts(&self) -> bool {
        let Ok(home) = tempfile::tempdir() else {
            return false;
        };
        let sandbox = Sandbox { home: home.path().to_owned(), project: home.path().to_owned() };
        let launch = Launch::new(self.program(), home.path()).args(["--version"]).env(sandbox.bare_env(self));
        let finished = launch.run(Duration::from_secs(30));
        finished.is_ok_and(|finished| finished.status.success() && finished.stdout.contains(self.pin.version))
    }

    fn run_install_step(&self) -> Result<(), ClientError> {
        let Some(script) = self.pin.agent.install_step() else {
            return Ok(());
        };
        let package = self.folder.join("node_modules").join(self.pin.agent.package());
        let sandbox = Sandbox { home: self.folder.clone(), project: package.clone() };
        let step = Launch::new("node", &package).args([script]).env(sandbox.bare_env(self));
        step.run_well(INSTALL_LIMIT)?;
        Ok(())
    }
}
