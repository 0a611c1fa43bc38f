//! Installs pinned clients into a cache folder.
//!
//! A version is installed beside its final place and renamed when it starts, so that a half-installed
//! client is never seen and two runs may install the same one at the same time.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use fs_err as fs;

use super::launch::{Launch, kill_group, own_group, wait_for_exit};
use super::{ClientError, Sandbox, node};
use crate::lab::{Lab, Package, Registry};

const INSTALL_LIMIT: Duration = Duration::from_mins(10);

/// How long a client may take to say its version: the biggest unpacks itself first.
const START_LIMIT: Duration = Duration::from_secs(90);

/// An installed client.
#[derive(Clone, Debug)]
pub struct Client {
    pub lab: &'static Lab,
    pub version: &'static str,
    folder: PathBuf,
    /// The folder of the Node that it needs, where the machine's is too old for it.
    node: Option<PathBuf>,
}

/// `$CARRYOVER_CLIENTS`, or `target/clients` of this workspace.
pub fn cache_folder() -> PathBuf {
    env::var_os("CARRYOVER_CLIENTS").map_or_else(|| super::sandbox::target_folder().join("clients"), PathBuf::from)
}

impl Client {
    /// Finds the client in the cache, or installs it.
    pub fn find_or_install(lab: &'static Lab, version: &'static str, cache: &Path) -> Result<Self, ClientError> {
        fs::create_dir_all(cache)?;
        let cache = fs::canonicalize(cache)?;
        let node = if lab.client.package.newer_node { Some(node::find_or_install(&cache)?) } else { None };
        let client = Self { lab, version, folder: cache.join(client_label(lab, version)), node };
        if client.program().exists() {
            return Ok(client);
        }
        if client.package().registry == Registry::PyPi {
            // A virtual environment holds its own path, so it is made where it stays, and a mark says that it is whole.
            return client.install_in_place();
        }
        let staging = tempfile::Builder::new().prefix(".installing-").tempdir_in(&cache)?;
        let staged = Self { folder: staging.path().to_owned(), ..client.clone() };
        npm_install(&staged.folder, &client.package_spec()).map_err(|reason| client.unavailable_error(reason))?;
        staged.finish_install()?;
        match fs::rename(staging.path(), &client.folder) {
            // Somebody else was faster; theirs is as good.
            Err(_) if client.program().exists() => Ok(client),
            renamed => renamed.map(|()| client).map_err(Into::into),
        }
    }

    /// The agent and its version.
    pub fn label(&self) -> String {
        client_label(self.lab, self.version)
    }

    fn package(&self) -> Package {
        self.lab.client.package
    }

    fn package_spec(&self) -> String {
        let Package { registry, name, .. } = self.package();
        let separator = if registry == Registry::Npm { "@" } else { "==" };
        format!("{name}{separator}{}", self.version)
    }

    fn finish_install(&self) -> Result<(), ClientError> {
        if !self.can_start() {
            self.run_install_step()?;
        }
        if self.can_start() { Ok(()) } else { Err(self.unavailable_error("it was installed, but does not start")) }
    }

    fn install_in_place(self) -> Result<Self, ClientError> {
        let lock = fs::File::create(self.folder.with_extension("lock"))?;
        lock.file().lock()?;
        if self.program().exists() {
            return Ok(self);
        }
        let environment = self.folder.join("venv");
        let pip = environment.join("bin/pip");
        let spec = self.package_spec();
        let made = run_quietly(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment))
            .and_then(|()| run_quietly(Command::new(pip).args(["install", "--quiet", &spec])));
        made.map_err(|reason| self.unavailable_error(reason))?;
        fs::create_dir_all(self.bin_folder())?;
        let binary = self.package().binary;
        // Only what is linked is seen, and it is linked when all is there.
        link(&environment.join("bin").join(binary), &self.program())?;
        self.finish_install()?;
        Ok(self)
    }

    /// The folder to put on the PATH.
    pub fn bin_folder(&self) -> PathBuf {
        match self.package().registry {
            Registry::Npm => self.folder.join("node_modules/.bin"),
            Registry::PyPi => self.folder.join("bin"),
        }
    }

    /// The folder of the Node that it needs, if the machine's is too old.
    pub fn node_folder(&self) -> Option<&Path> {
        self.node.as_deref()
    }

    pub fn program(&self) -> PathBuf {
        self.bin_folder().join(self.package().binary)
    }

    fn unavailable_error(&self, reason: impl Into<String>) -> ClientError {
        ClientError::Unavailable { client: self.label(), reason: reason.into() }
    }

    fn can_start(&self) -> bool {
        let Ok(home) = tempfile::tempdir() else {
            return false;
        };
        let sandbox = Sandbox { home: home.path().to_owned(), project: home.path().to_owned() };
        let launch = Launch::new(self.program(), home.path()).args(["--version"]).env(sandbox.base_env(&[self]));
        let finished = launch.run(START_LIMIT);
        finished.is_ok_and(|finished| finished.status.success() && finished.stdout.contains(self.version))
    }

    fn run_install_step(&self) -> Result<(), ClientError> {
        let Some(script) = self.package().install_step else {
            return Ok(());
        };
        let package = self.folder.join("node_modules").join(self.package().name);
        let sandbox = Sandbox { home: self.folder.clone(), project: package.clone() };
        let step = Launch::new("node", &package).args([script]).env(sandbox.base_env(&[self]));
        step.run_to_success(INSTALL_LIMIT)?;
        Ok(())
    }
}

fn client_label(lab: &Lab, version: &str) -> String {
    format!("{}-{version}", lab.id)
}

/// Installs a package into a folder, without running its scripts.
pub(super) fn npm_install(folder: &Path, package: &str) -> Result<(), String> {
    npm_install_all(folder, &[package])
}

/// Finds packages that are no client's in the cache, or installs them beside each other; answers their folder.
pub fn find_or_install_packages(name: &str, packages: &[&str]) -> Result<PathBuf, String> {
    let cache = cache_folder();
    let folder = cache.join(name);
    if folder.is_dir() {
        return Ok(folder);
    }
    let staging =
        fs::create_dir_all(&cache).and_then(|()| tempfile::Builder::new().prefix(".installing-").tempdir_in(&cache));
    let staging = staging.map_err(|error| error.to_string())?;
    npm_install_all(staging.path(), packages)?;
    match fs::rename(staging.path(), &folder) {
        Err(error) if !folder.is_dir() => Err(error.to_string()),
        // Else somebody else was faster; theirs is as good.
        _ => Ok(folder),
    }
}

fn npm_install_all(folder: &Path, packages: &[&str]) -> Result<(), String> {
    let mut npm = Command::new("npm");
    npm.args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--loglevel=error"]);
    npm.arg("--prefix").arg(folder).args(packages).current_dir(folder);
    run_quietly(&mut npm)
}

/// Runs an installer. It keeps the caller's environment: where packages come from is the machine's business.
fn run_quietly(command: &mut Command) -> Result<(), String> {
    let program = Path::new(command.get_program()).file_name().unwrap_or(OsStr::new("installer"));
    let program = program.to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    own_group(command);
    let mut child = command.spawn().map_err(|_| format!("{program} is not installed"))?;
    match wait_for_exit(&mut child, INSTALL_LIMIT) {
        Ok(Some(status)) if status.success() => Ok(()),
        Ok(Some(status)) => Err(format!("{program} failed with {status}")),
        Ok(None) => {
            kill_group(&mut child);
            Err(format!("{program} took too long"))
        }
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(unix)]
fn link(original: &Path, to: &Path) -> Result<(), ClientError> {
    if fs::symlink_metadata(to).is_ok() {
        fs::remove_file(to)?;
    }
    Ok(fs_err::os::unix::fs::symlink(original, to)?)
}

#[cfg(not(unix))]
fn link(original: &Path, to: &Path) -> Result<(), ClientError> {
    fs::copy(original, to)?;
    Ok(())
}
