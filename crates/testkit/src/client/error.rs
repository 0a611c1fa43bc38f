//! Errors of installing or running a real client.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The machine cannot provide the client (no npm, no network): a reason to skip, not to fail.
    #[error("{client} is not available here: {reason}")]
    Unavailable { client: String, reason: String },
    /// It is one of those that cannot be had as a package.
    #[error("no client of this agent is run")]
    NotRun,
    #[error("{program} did not finish within {limit:?}")]
    TimedOut { program: String, limit: Duration },
    #[error("{program} failed with {status}: {stderr}")]
    Failed { program: String, status: String, stderr: String },
    #[error("{program} could not be started")]
    NotStarted { program: String, source: io::Error },
    #[error("{program} ended while {awaited} was awaited")]
    Ended { program: String, awaited: String },
    #[error("{program} refused {method}: {message}")]
    Refused { program: String, method: String, message: String },
    #[error("{program} sent no model request")]
    NoRequest { program: String },
    #[error("{path}: {message}")]
    Unexpected { path: PathBuf, message: String },
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
}
