//! By what a change of a database is noticed.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::AgentError;
use crate::formats::file;

/// The file that belongs to a database and has its name with an ending.
pub fn companion_path(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// A database's files as they are at a moment.
#[derive(PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) size: u64,
    modified: Option<SystemTime>,
    /// How long the log and the journal beside it are.
    pub(super) log: u64,
    pub(super) journal: u64,
}

impl Stamp {
    pub(super) fn from_path(path: &Path) -> Result<Self, AgentError> {
        file::check_regular(path)?;
        let metadata = fs_err::metadata(path)?;
        let length = |ending| {
            let companion = fs_err::metadata(companion_path(path, ending));
            companion.ok().filter(std::fs::Metadata::is_file).map_or(0, |metadata| metadata.len())
        };
        Ok(Self {
            size: metadata.len(),
            modified: metadata.modified().ok(),
            log: length("-wal"),
            journal: length("-journal"),
        })
    }

    /// How much there is to be read.
    pub(super) fn bytes(&self) -> u64 {
        self.size.saturating_add(self.log)
    }
}

/// Whether a database is of the kind that is changed in place, and its owner keeps what was there in a journal. One that has
/// a log is not opened otherwise than as it lies while the log is away: `SQLite` would make one.
pub(super) fn is_changed_in_place(path: &Path) -> bool {
    const READ_VERSION_OFFSET: usize = 19;
    let mut head = [0; READ_VERSION_OFFSET + 1];
    let read = file::open_regular(path).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head[READ_VERSION_OFFSET] == 1
}
