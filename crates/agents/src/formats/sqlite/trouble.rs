//! Why a database could not be read, as far as it makes a difference to whoever wants to.

use std::fmt;

use rusqlite::{ErrorCode, ffi};

/// What is the matter with a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseTrouble {
    /// Its client holds it for itself at this moment.
    InUse,
    /// Its client was killed in the middle of a change, which only who may write can take back.
    HalfChanged,
    Damaged,
    NoDatabase,
    /// A view stands where a table is expected.
    Refused,
    /// Reading it does not come to an end.
    Endless,
    Other,
}

impl DatabaseTrouble {
    pub(crate) fn from_error(error: &rusqlite::Error) -> Self {
        let Some(found) = error.sqlite_error() else { return Self::Other };
        match (found.code, found.extended_code) {
            (_, ffi::SQLITE_READONLY_ROLLBACK | ffi::SQLITE_READONLY_RECOVERY) => Self::HalfChanged,
            (ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _) => Self::InUse,
            (ErrorCode::DatabaseCorrupt, _) => Self::Damaged,
            (ErrorCode::NotADatabase, _) => Self::NoDatabase,
            (ErrorCode::AuthorizationForStatementDenied, _) => Self::Refused,
            (ErrorCode::OperationInterrupted, _) => Self::Endless,
            _ => Self::Other,
        }
    }
}

/// What follows the words that it could not be read.
impl fmt::Display for DatabaseTrouble {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::InUse => ": it is in use by its client",
            Self::HalfChanged => ": a client that was killed left a change half done",
            Self::Damaged => ": it is damaged",
            Self::NoDatabase => ": it is none",
            Self::Refused => ": it holds a view, and views of others are not looked into",
            Self::Endless => ": that takes more work than its size explains",
            Self::Other => "",
        })
    }
}
