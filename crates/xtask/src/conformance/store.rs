//! Which sessions the stores of a run hold, and what is in them.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use carryover_testkit::client::{Agent, ClientError, Sandbox};
use fs_err as fs;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};

/// Where the clients keep sessions as files, below the home.
const FOLDERS: &[&str] = &[
    ".claude/projects",
    ".codex/sessions",
    ".codex/archived_sessions",
    ".gemini/tmp",
    ".pi/agent/sessions",
    ".qwen/projects",
    ".copilot/session-state",
];

/// Where they keep them as rows: the database, and the tables with how a row is named.
const DATABASES: &[(&str, &[(&str, &str)])] = &[
    (".local/share/opencode/opencode.db", &[("session", "id"), ("message", "id"), ("part", "id")]),
    (".openclaw/agents/main/agent/openclaw-agent.sqlite", &[("transcript_events", "session_id || '/' || seq")]),
];

/// How the files begin that one client keeps in the project.
const PROJECT_FILES: &str = ".aider.";

/// All session files and rows, with a digest of each.
#[derive(PartialEq, Eq)]
pub(super) struct SessionFiles(BTreeMap<PathBuf, u64>);

impl SessionFiles {
    /// Reads the stores of a run between these two agents.
    pub(super) fn read(sandbox: &Sandbox, agents: [Agent; 2]) -> Result<Self, ClientError> {
        let mut files = BTreeMap::new();
        for folder in FOLDERS {
            collect(&sandbox.home.join(folder), &sandbox.home, &mut files)?;
        }
        for (path, tables) in DATABASES {
            let path = sandbox.home.join(path);
            if path.is_file() {
                rows(&path, tables, &mut files)?;
            }
        }
        // The project is shared with runs between other agents, which leave these files alone.
        if agents.contains(&Agent::Aider) {
            for path in project_files(&sandbox.project)? {
                files.insert(path.clone(), digest(&fs::read(&path)?));
            }
        }
        Ok(Self(files))
    }

    /// Whether everything that was there before is still there, byte for byte.
    pub(super) fn keep(&self, before: &Self) -> bool {
        before.0.iter().all(|(path, digest)| self.0.get(path) == Some(digest))
    }
}

/// The files that a client keeps in the project itself.
pub(super) fn project_files(project: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(project)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(PROJECT_FILES) && entry.file_type()?.is_file() {
            found.push(entry.path());
        }
    }
    Ok(found)
}

fn collect(folder: &Path, home: &Path, files: &mut BTreeMap<PathBuf, u64>) -> io::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, home, files)?;
        } else if path.extension().is_none_or(|extension| extension != "lock") {
            files.insert(path.strip_prefix(home).unwrap_or(&path).to_owned(), digest(&fs::read(&path)?));
        }
    }
    Ok(())
}

fn rows(path: &Path, tables: &[(&str, &str)], files: &mut BTreeMap<PathBuf, u64>) -> Result<(), ClientError> {
    let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    for (table, name) in tables {
        let mut statement = database.prepare(&format!("SELECT {name}, * FROM \"{table}\""))?;
        let n_columns = statement.column_count();
        let mut found = statement.query([])?;
        while let Some(row) = found.next()? {
            let name: String = row.get(0)?;
            let values: Result<Vec<Value>, _> = (1..n_columns).map(|column| row.get(column)).collect();
            files.insert(Path::new(table).join(name), digest(format!("{:?}", values?).as_bytes()));
        }
    }
    Ok(())
}

fn digest(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}
