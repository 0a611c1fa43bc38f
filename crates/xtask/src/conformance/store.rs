//! Which session files the stores in a home hold, and what is in them.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;

/// Where the clients keep sessions, below the home.
const SESSION_FOLDERS: &[&str] = &[".claude/projects", ".codex/sessions", ".codex/archived_sessions"];

/// All session files, relative to the home, with a digest of each.
#[derive(PartialEq, Eq)]
pub(super) struct SessionFiles(BTreeMap<PathBuf, u64>);

impl SessionFiles {
    pub(super) fn read(home: &Path) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        for folder in SESSION_FOLDERS {
            collect(&home.join(folder), home, &mut files)?;
        }
        Ok(Self(files))
    }

    /// Whether everything that was there before is still there, byte for byte.
    pub(super) fn keep(&self, before: &Self) -> bool {
        before.0.iter().all(|(path, digest)| self.0.get(path) == Some(digest))
    }
}

fn collect(folder: &Path, home: &Path, files: &mut BTreeMap<PathBuf, u64>) -> io::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, home, files)?;
        } else {
            let mut hasher = DefaultHasher::new();
            fs::read(&path)?.hash(&mut hasher);
            files.insert(path.strip_prefix(home).unwrap_or(&path).to_owned(), hasher.finish());
        }
    }
    Ok(())
}
