//! Which sessions the stores of a run hold, and what is in them.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use carryover_testkit::agents::LABS;
use carryover_testkit::client::{ClientError, Sandbox};
use carryover_testkit::lab::{Lab, SessionPlace};
use fs_err as fs;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};

/// All session files and rows, with a digest of each.
#[derive(PartialEq, Eq)]
pub(super) struct SessionFiles(BTreeMap<PathBuf, u64>);

impl SessionFiles {
    /// Reads the stores of a run between these two agents.
    pub(super) fn read(sandbox: &Sandbox, agents: [&Lab; 2]) -> Result<Self, ClientError> {
        let mut files = BTreeMap::new();
        for lab in LABS {
            match lab.conformance.sessions {
                SessionPlace::Folders(folders) => {
                    for folder in folders {
                        collect_files(&sandbox.home.join(folder), &sandbox.home, &mut files)?;
                    }
                }
                SessionPlace::Database { path, tables } => {
                    let path = sandbox.home.join(path);
                    if path.is_file() {
                        collect_rows(&path, tables, &mut files)?;
                    }
                }
                // The project is shared with runs between other agents, which leave these files alone.
                SessionPlace::Project { prefix } if agents.contains(lab) => {
                    for path in project_files(&sandbox.project, prefix)? {
                        files.insert(path.clone(), hash_bytes(&fs::read(&path)?));
                    }
                }
                SessionPlace::Project { .. } => {}
            }
        }
        Ok(Self(files))
    }

    /// Whether everything that was there before is still there, byte for byte.
    pub(super) fn contains_all(&self, before: &Self) -> bool {
        before.0.iter().all(|(path, digest)| self.0.get(path) == Some(digest))
    }
}

/// The files that a client keeps in the project itself, whose names begin so.
pub(super) fn project_files(project: &Path, prefix: &str) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(project)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(prefix) && entry.file_type()?.is_file() {
            found.push(entry.path());
        }
    }
    Ok(found)
}

fn collect_files(folder: &Path, home: &Path, files: &mut BTreeMap<PathBuf, u64>) -> io::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect_files(&path, home, files)?;
        } else if path.extension().is_none_or(|extension| extension != "lock") {
            files.insert(path.strip_prefix(home).unwrap_or(&path).to_owned(), hash_bytes(&fs::read(&path)?));
        }
    }
    Ok(())
}

fn collect_rows(path: &Path, tables: &[(&str, &str)], files: &mut BTreeMap<PathBuf, u64>) -> Result<(), ClientError> {
    let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    for (table, name) in tables {
        let mut statement = database.prepare(&format!("SELECT {name}, * FROM \"{table}\""))?;
        let n_columns = statement.column_count();
        let mut found = statement.query([])?;
        while let Some(row) = found.next()? {
            let name: String = row.get(0)?;
            let values: Result<Vec<Value>, _> = (1..n_columns).map(|column| row.get(column)).collect();
            files.insert(Path::new(table).join(name), hash_bytes(format!("{:?}", values?).as_bytes()));
        }
    }
    Ok(())
}

fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}
