//! The home that is recorded: the bundled sessions of the demo, in a folder whose name is the same on every machine.

use std::error::Error;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::scenario::NOW;
use crate::program_files::{link_program, make_executable};

/// Paths are shown, and their length counts in sizes: so it is always this one.
const FOLDER: &str = "/tmp/carryover-recording";

/// Where ids come from: any number will do, if it is big enough for them to look as they do in life.
const SEED: &str = "160938217361240913562743389461823755812";

/// The folder that the bundled sessions were made in.
const ORIGINAL_PROJECT: &str = "/home/you/calc";

/// The bundled sessions, and where their clients keep them: `{SLUG}` is the project's path with dashes.
const SESSIONS: &[(&str, &str)] = &[
    ("claude-code.jsonl", ".claude/projects/{SLUG}/d3a03cdd-c689-41e6-9587-86a6223f5251.jsonl"),
    (
        "codex.jsonl",
        ".codex/sessions/2026/11/15/rollout-2026-11-15T08-09-30-01a1dcb4-8ab4-7e10-b6d2-c8b20e08cdf8.jsonl",
    ),
];

/// Clients that are taken for installed. They tell a version and do nothing else: no client is played here.
const CLIENTS: &[(&str, &str)] = &[("claude", "2.1.325 (Claude Code)"), ("codex", "codex-cli 0.166.0")];

/// How long others may record before us.
const OTHERS_LIMIT: Duration = Duration::from_mins(1);

/// How often it is tried to remove the home.
const REMOVAL_TRIES: usize = 50;

/// A home, removed when dropped.
pub(super) struct Sandbox {
    folder: PathBuf,
}

impl Sandbox {
    pub(super) fn create(root: &Path, program: &Path) -> Result<Self, Box<dyn Error>> {
        let folder = PathBuf::from(FOLDER);
        create_alone(&folder)?;
        let sandbox = Self { folder };
        let project = sandbox.project();
        fs_err::create_dir_all(&project)?;
        for (name, place) in SESSIONS {
            let text = fs_err::read_to_string(root.join("crates/carryover/demo").join(name))?;
            let shown = project.display().to_string();
            let slug = shown.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
            let path = sandbox.home().join(place.replace("{SLUG}", &slug));
            write_file(&path, &text.replace(ORIGINAL_PROJECT, &shown))?;
        }
        // No client is played here, so none is started.
        write_file(&sandbox.home().join(".carryover/config.toml"), "[resume]\nlaunch = false\n")?;
        sandbox.add_programs(program)?;
        sandbox.use_once()?;
        Ok(sandbox)
    }

    /// Runs the program once, so that what it remembers of sessions is there and does not come while it is recorded.
    fn use_once(&self) -> Result<(), Box<dyn Error>> {
        let mut list = Command::new("env");
        list.arg("-i").args(self.env()).args(["carryover", "list"]).current_dir(self.project());
        if list.output()?.status.success() { Ok(()) } else { Err("`carryover list` failed".into()) }
    }

    fn add_programs(&self, program: &Path) -> Result<(), Box<dyn Error>> {
        for (name, version) in CLIENTS {
            let path = self.programs().join(name);
            write_file(&path, &format!("#!/bin/sh\necho '{version}'\n"))?;
            make_executable(&path)?;
        }
        Ok(link_program(program, &self.programs().join("carryover"))?)
    }

    fn home(&self) -> PathBuf {
        self.folder.join("you")
    }

    pub(super) fn project(&self) -> PathBuf {
        self.home().join("calc")
    }

    fn programs(&self) -> PathBuf {
        self.home().join(".local/bin")
    }

    /// Where tmux keeps what it needs, outside of the home.
    pub(super) fn scratch(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The whole environment of the shell.
    pub(super) fn env(&self) -> Vec<String> {
        [
            ("HOME", self.home().display().to_string()),
            ("PATH", format!("{}:/usr/bin:/bin", self.programs().display())),
            ("TERM", "screen-256color".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("TZ", "UTC".to_owned()),
            ("PAGER", "less".to_owned()),
            ("LESSHISTFILE", "-".to_owned()),
            ("HISTFILE", String::new()),
            ("PS1", r"\[\e[1;32m\]$\[\e[0m\] ".to_owned()),
            ("CARRYOVER_NOW", NOW.to_owned()),
            ("CARRYOVER_SEED", SEED.to_owned()),
        ]
        .into_iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect()
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // A program that was ended with its terminal may still be leaving something.
        for _ in 0..REMOVAL_TRIES {
            if fs_err::remove_dir_all(&self.folder).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Makes the folder, once nobody else on this machine is recording.
fn create_alone(folder: &Path) -> Result<(), Box<dyn Error>> {
    let deadline = Instant::now() + OTHERS_LIMIT;
    loop {
        match fs_err::create_dir(folder) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && Instant::now() < deadline => {
                thread::sleep(Duration::from_millis(100));
            }
            Err(error) => return Err(format!("{error}; remove it if nobody is recording").into()),
            Ok(()) => return Ok(()),
        }
    }
}

fn write_file(path: &Path, text: &str) -> Result<(), Box<dyn Error>> {
    if let Some(folder) = path.parent() {
        fs_err::create_dir_all(folder)?;
    }
    Ok(fs_err::write(path, text)?)
}
