//! A home with stores, projects and our own folder, made up for one test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use carryover_agents::formats::sqlite;
use carryover_agents::{Agent, Env, Os};
use carryover_core::time::Timestamp;

use super::fake::{ALPHA, BOTH};
use crate::carry::resume::{Options, Report, ResumeError, resume_among};
use crate::context::Context;
use crate::own::config::Config;
use crate::own::files;
use crate::sessions::list::ListedSession;
use crate::sessions::select::{Query, select_among};
use crate::write::disk::{Disk, RealDisk};
use crate::write::undo::{UndoError, UndoReport, undo_among};

pub(crate) struct World {
    folder: tempfile::TempDir,
    pub(crate) context: Context,
}

/// Takes back a resume between the made-up agents, or a brief that was left for a real one.
pub(super) fn undo_fake(context: &Context, id: Option<&str>, force: bool) -> Result<UndoReport, UndoError> {
    undo_among(BOTH, context, id, force)
}

/// Every path below a folder, with the bytes of files.
pub(crate) type FileTree = BTreeMap<PathBuf, Option<Vec<u8>>>;

impl World {
    pub(crate) fn new() -> Self {
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
        let context = Context::with_config(env, Config::default(), root.join("ours"), cwd, 1 << 96);
        Self { folder, context }
    }

    /// A world in which the clients of some agents are installed, with manifests that tell their versions: none of
    /// them is ever started.
    pub(crate) fn with_clients(agents: &[&dyn Agent]) -> Self {
        let mut world = Self::new();
        let mut folders = Vec::new();
        for agent in agents {
            let facts = agent.facts();
            // Without a package, it is an editor that nothing here asks for.
            let Some(package) = facts.packages.first() else { continue };
            let folder = format!("bin/{}", facts.id);
            let manifest = serde_json::json!({ "name": package, "version": facts.versions_seen.1 });
            world.write_file(&format!("{folder}/package.json"), &manifest.to_string());
            let program = world.write_file(&format!("{folder}/{}", facts.binaries[0]), "#!/bin/sh\nexit 1\n");
            #[cfg(unix)]
            fs_err::set_permissions(program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
            folders.push(world.path(&folder));
        }
        let path = std::env::join_paths(folders).unwrap().into_string().unwrap();
        world.context.env.vars.insert("PATH".to_owned(), path);
        world
    }

    /// Takes a client away.
    pub(super) fn uninstall(&self, agent: &dyn Agent) {
        fs_err::remove_dir_all(self.path(&format!("bin/{}", agent.facts().id))).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        fs_err::canonicalize(self.folder.path()).unwrap().join(name)
    }

    pub(crate) fn write_file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        files::write_private(&path, text.as_bytes()).unwrap();
        path
    }

    /// A session of an agent; a head is put before the records.
    pub(crate) fn write_session(&self, agent: &dyn Agent, id: &str, head: &str, records: &[&str]) -> PathBuf {
        let name = agent.facts().id;
        let project = self.path("project");
        let head = format!(r#"{{"t":"head","agent":"{name}","id":"{id}","project":"{}"{head}}}"#, project.display());
        let mut text = head;
        for record in records {
            text.push('\n');
            text.push_str(record);
        }
        text.push('\n');
        self.write_file(&format!("home/.{name}/sessions/{id}.{name}.jsonl"), &text)
    }

    pub(crate) fn select_session(&self, words: &str) -> ListedSession {
        let query = Query { words: Some(words.to_owned()), ..Query::default() };
        select_among(BOTH, &self.context, &query).unwrap().session
    }

    pub(super) fn resume_options(target: &'static dyn Agent) -> Options {
        Options {
            target,
            project: None,
            tokens: None,
            dry_run: false,
            sub_agents: Vec::new(),
            opening: None,
            whole: None,
            into_editor: false,
        }
    }

    /// Resumes a session; every resume has a seed of its own.
    pub(super) fn resume(&mut self, words: &str, target: &'static dyn Agent) -> Report {
        self.try_resume(&mut RealDisk, words, &Self::resume_options(target)).unwrap()
    }

    pub(super) fn try_resume(
        &mut self,
        disk: &mut dyn Disk,
        words: &str,
        options: &Options,
    ) -> Result<Report, ResumeError> {
        let session = self.select_session(words);
        self.context.seed += (1 << 96) + 1;
        resume_among(BOTH, disk, &self.context, &session, options)
    }

    pub(super) fn read_lines(path: &Path) -> Vec<String> {
        fs_err::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
    }

    pub(crate) fn append_lines(path: &Path, lines: &[&str]) {
        let mut bytes = fs_err::read(path).unwrap();
        bytes.extend(lines.iter().flat_map(|line| format!("{line}\n").into_bytes()));
        files::write_private(path, &bytes).unwrap();
    }

    /// All that is outside of our own folder.
    pub(crate) fn read_tree(&self) -> FileTree {
        let mut tree = FileTree::new();
        collect_tree(&self.path("home"), &mut tree);
        collect_tree(&self.path("project"), &mut tree);
        collect_tree(&self.path("in"), &mut tree);
        tree
    }

    pub(super) fn write_sample(&self) -> PathBuf {
        self.write_session(&ALPHA, "aaaa1111", r#","title":"Fix the parser""#, SAMPLE_RECORDS)
    }
}

/// A session with everything in it.
pub(super) const SAMPLE_RECORDS: &[&str] = &[
    r#"{"t":"prompt","s":"look","image":"aW1hZ2U="}"#,
    r#"{"t":"think","s":"hm"}"#,
    r#"{"items":[{"t":"reply","s":"I will"},{"t":"call","id":"c1","tool":"sh","input":{"command":"ls"}}]}"#,
    r#"{"t":"out","id":"c1","s":"a.txt"}"#,
    r#"{"t":"call","id":"c2","tool":"write","input":{"path":"a"}}"#,
    r#"{"t":"out","id":"c2","s":"no","failed":true}"#,
    r#"{"t":"reply","s":"done"}"#,
];

fn collect_tree(folder: &Path, tree: &mut FileTree) {
    let Ok(files) = fs_err::read_dir(folder) else { return };
    for path in files.map(|file| file.unwrap().path()) {
        if path.is_dir() {
            tree.insert(path.clone(), None);
            collect_tree(&path, tree);
        } else {
            let bytes = fs_err::read(&path).unwrap();
            let rows = sqlite::is_database(&bytes).then(|| dump_rows(&path));
            tree.insert(path.clone(), Some(rows.unwrap_or(bytes)));
        }
    }
}

/// The rows of a database; how it lies on the disk is its own affair.
fn dump_rows(path: &Path) -> Vec<u8> {
    let told = sqlite::read_database(path, &mut |connection| {
        let mut tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")?;
        let tables: Vec<String> = tables.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let mut told = Vec::new();
        for table in tables {
            let mut query = connection.prepare(&format!("SELECT * FROM {table}"))?;
            let columns = query.column_count();
            let mut found = query.query([])?;
            while let Some(row) = found.next()? {
                let values: Vec<String> = (0..columns).map(|at| format!("{:?}", row.get_ref(at))).collect();
                told.push(format!("{table} {}", values.join(" ")));
            }
        }
        Ok(told.join("\n").into_bytes())
    });
    told.unwrap()
}

/// Writes a shell script that can be run at once: while another thread starts a process, that process holds our
/// handle for a moment, and a file that is open for writing cannot be run.
#[cfg(unix)]
pub(crate) fn write_program(path: &Path, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    let text = format!("#!/bin/sh\n[ \"$1\" = --ready ] && exit 0\n{script}\n");
    files::write_private(path, text.as_bytes()).unwrap();
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    while std::process::Command::new(path).arg("--ready").status().is_err() {
        std::thread::yield_now();
    }
}
