//! Errors of an agent's store.

use std::io;
use std::path::PathBuf;

use crate::formats::sqlite::DatabaseTrouble;

/// A store or a session as a whole could not be read, or a session could not be planned.
///
/// A single bad record is not an error: it is a `Rejected`. No variant holds transcript text.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The message names the path already (`fs_err`).
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{} is not a session of {agent}: {reason}", path.display())]
    NotASession { agent: &'static str, path: PathBuf, reason: &'static str },
    #[error("{} holds a captured session (UASF) that cannot be read: {reason}", path.display())]
    Captured { path: PathBuf, reason: String },
    #[error("{} is of a saved conversation and cannot be read: {reason}", path.display())]
    Saved { path: PathBuf, reason: String },
    #[error("{} refers to session {missing}, which is not in the store", path.display())]
    MissingBase { path: PathBuf, missing: String },
    #[error("{}: no record at byte {offset}; the file was replaced while it was read", path.display())]
    Moved { path: PathBuf, offset: u64 },
    #[error("{} could not be read as a database{}", path.display(), DatabaseTrouble::from_error(source))]
    Database {
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
    /// Some files of a store could not be looked at; the rest of it was.
    #[error("{first}, and {more} more could not be opened")]
    Several {
        #[source]
        first: Box<Self>,
        more: usize,
    },
    #[error("{agent} cannot hold this session: {reason}")]
    CannotHold { agent: &'static str, reason: String },
}

impl AgentError {
    /// What is the matter with a database, where that is the reason.
    pub fn database_trouble(&self) -> Option<DatabaseTrouble> {
        match self {
            Self::Database { source, .. } => Some(DatabaseTrouble::from_error(source)),
            Self::Several { first, .. } => first.database_trouble(),
            _ => None,
        }
    }
}
