//! A home with stores, projects and our own folder, made up for one test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use carryover_agents::{Agent, Env, Os};
use carryover_core::time::Timestamp;

use super::fake::{ALPHA, BOTH};
use crate::config::Config;
use crate::context::Context;
use crate::disk::{Disk, RealDisk};
use crate::file;
use crate::resume::{Options, Report, ResumeError, resume_among};
use crate::select::{Query, select_among};
use crate::session::Listed;

pub(super) struct World {
    folder: tempfile::TempDir,
    pub(super) context: Context,
}

/// Every path below a folder, with the bytes of files.
pub(super) type Tree = BTreeMap<PathBuf, Option<Vec<u8>>>;

impl World {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = fs_err::canonicalize(folder.path()).unwrap();
        let env = Env {
            home: root.join("home"),
            vars: BTreeMap::from([("PATH".to_owned(), root.join("bin").display().to_string())]),
            os: Os::Linux,
            now: Timestamp::from_millis(1_700_000_000_000),
            zone: jiff::tz::TimeZone::UTC,
            stores: BTreeMap::new(),
            projects: Vec::new(),
        };
        let cwd = root.join("project");
        fs_err::create_dir_all(&cwd).unwrap();
        let context = Context::with(env, Config::default(), root.join("ours"), cwd, 1 << 96);
        Self { folder, context }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        fs_err::canonicalize(self.folder.path()).unwrap().join(name)
    }

    pub(super) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        file::write_private(&path, text.as_bytes()).unwrap();
        path
    }

    /// A session of an agent; a head is put before the records.
    pub(super) fn session(&self, agent: &dyn Agent, id: &str, head: &str, records: &[&str]) -> PathBuf {
        let name = agent.facts().id;
        let project = self.path("project");
        let head = format!(r#"{{"t":"head","agent":"{name}","id":"{id}","project":"{}"{head}}}"#, project.display());
        let mut text = head;
        for record in records {
            text.push('\n');
            text.push_str(record);
        }
        text.push('\n');
        self.write(&format!("home/.{name}/sessions/{id}.{name}.jsonl"), &text)
    }

    pub(super) fn select(&self, words: &str) -> Listed {
        let query = Query { words: Some(words.to_owned()), ..Query::default() };
        select_among(BOTH, &self.context, &query).unwrap().session
    }

    pub(super) fn options(target: &'static dyn Agent) -> Options {
        Options { target, project: None, tokens: None, dry_run: false }
    }

    /// Resumes a session; every resume has a seed of its own.
    pub(super) fn resume(&mut self, words: &str, target: &'static dyn Agent) -> Report {
        self.try_resume(&mut RealDisk, words, &Self::options(target)).unwrap()
    }

    pub(super) fn try_resume(
        &mut self,
        disk: &mut dyn Disk,
        words: &str,
        options: &Options,
    ) -> Result<Report, ResumeError> {
        let session = self.select(words);
        self.context.seed += (1 << 96) + 1;
        resume_among(BOTH, disk, &self.context, &session, options)
    }

    pub(super) fn lines(path: &Path) -> Vec<String> {
        fs_err::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
    }

    pub(super) fn append(path: &Path, lines: &[&str]) {
        let mut text = fs_err::read_to_string(path).unwrap();
        text.extend(lines.iter().map(|line| format!("{line}\n")));
        file::write_private(path, text.as_bytes()).unwrap();
    }

    /// All that is outside of our own folder.
    pub(super) fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        walk(&self.path("home"), &mut tree);
        walk(&self.path("project"), &mut tree);
        walk(&self.path("in"), &mut tree);
        tree
    }

    pub(super) fn story(&self) -> PathBuf {
        self.session(&ALPHA, "aaaa1111", r#","title":"Fix the parser""#, STORY)
    }
}

/// A session with everything in it.
pub(super) const STORY: &[&str] = &[
    r#"{"t":"prompt","s":"look","image":"aW1hZ2U="}"#,
    r#"{"t":"think","s":"hm"}"#,
    r#"{"items":[{"t":"reply","s":"I will"},{"t":"call","id":"c1","tool":"sh","input":{"command":"ls"}}]}"#,
    r#"{"t":"out","id":"c1","s":"a.txt"}"#,
    r#"{"t":"call","id":"c2","tool":"write","input":{"path":"a"}}"#,
    r#"{"t":"out","id":"c2","s":"no","failed":true}"#,
    r#"{"t":"reply","s":"done"}"#,
];

fn walk(folder: &Path, tree: &mut Tree) {
    let Ok(files) = fs_err::read_dir(folder) else { return };
    for path in files.map(|file| file.unwrap().path()) {
        if path.is_dir() {
            tree.insert(path.clone(), None);
            walk(&path, tree);
        } else {
            tree.insert(path.clone(), Some(fs_err::read(&path).unwrap()));
        }
    }
}

/// Writes a shell script that can be run at once: while another thread starts a process, that process holds our
/// handle for a moment, and a file that is open for writing cannot be run.
#[cfg(unix)]
pub(crate) fn program(path: &Path, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    let text = format!("#!/bin/sh\n[ \"$1\" = --ready ] && exit 0\n{script}\n");
    file::write_private(path, text.as_bytes()).unwrap();
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    while std::process::Command::new(path).arg("--ready").status().is_err() {
        std::thread::yield_now();
    }
}
