//! The home in which the day is spent, and the program in it.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::Result;

pub(super) struct Home {
    pub(super) folder: TempDir,
    program: PathBuf,
}

impl Home {
    pub(super) fn create(program: &Path, projects: u64) -> Result<Self> {
        let home = Self { folder: tempfile::tempdir()?, program: program.to_owned() };
        for number in 0..projects {
            fs_err::create_dir_all(home.project(number))?;
        }
        fs_err::create_dir_all(home.own())?;
        #[cfg(unix)]
        fs_err::set_permissions(home.own(), std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
        // No port: several may spend their day at once.
        fs_err::write(home.own().join("config.toml"), "[daemon]\nport = 0\n")?;
        Ok(home)
    }

    pub(super) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(super) fn own(&self) -> PathBuf {
        self.home().join(".carryover")
    }

    pub(super) fn project(&self, number: u64) -> PathBuf {
        self.home().join(format!("project-{number}"))
    }

    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(self.home()).env_clear().env("HOME", self.home()).env("TZ", "UTC");
        command
    }

    pub(super) fn start_daemon(&self) -> Result<Daemon> {
        let mut command = self.command(&["daemon", "run"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let stream = child.stderr.take().ok_or("no stream")?;
        let mut lines = BufReader::new(stream).lines();
        for line in lines.by_ref() {
            if line?.contains("started, process") {
                break;
            }
        }
        // Whatever else it says is in its log; nobody may make it wait.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(Daemon { child })
    }

    pub(super) fn read_status(&self) -> Result<Value> {
        Ok(serde_json::from_slice(&self.command(&["status", "--json"]).output()?.stdout)?)
    }

    /// The words that a hook answers.
    pub(super) fn call_hook(&self, agent: &str, event: &str, payload: &str) -> Result<String> {
        let mut command = self.command(&["hook", agent, event]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        child.stdin.take().ok_or("no stream")?.write_all(payload.as_bytes())?;
        let output = child.wait_with_output()?;
        if !output.status.success() || !output.stderr.is_empty() {
            return Err(format!("the hook of {agent} failed at {event}").into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }
}

/// The daemon at work; killed at the latest when this is dropped.
pub(super) struct Daemon {
    child: Child,
}

impl Daemon {
    pub(super) fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Asks it to end.
    pub(super) fn end(mut self) -> Result<()> {
        Command::new("kill").arg(self.child.id().to_string()).status()?;
        if self.child.wait()?.success() { Ok(()) } else { Err("the daemon did not end well".into()) }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It may have ended before.
        self.kill().ok();
    }
}
