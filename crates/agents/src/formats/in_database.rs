//! Sessions inside a database, named by the database's path and a key.

use std::path::PathBuf;

use carryover_core::transcript::{EntryKey, Header};

use crate::{AgentError, Source};

/// Where a session that was read is kept.
pub fn header_source(header: &Header) -> Source {
    let path = header.files.first().cloned().unwrap_or_default();
    let key = (!header.session.0.is_empty()).then(|| header.session.0.clone());
    Source { path, key }
}

/// Splits the name of a session into database and key. That of a sub-agent is a path, as if the database were a folder.
pub fn split_source(source: &Source) -> (PathBuf, Option<String>) {
    let (path, key) = (source.path.clone(), source.key.clone());
    if key.is_some() || path.is_file() {
        return (path, key);
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    match path.parent().filter(|parent| parent.is_file()) {
        Some(parent) => (parent.to_owned(), name),
        None => (path, key),
    }
}

/// The error for a record that was there and is not: the session was replaced while it was read.
pub fn moved_error(error: AgentError, key: EntryKey) -> AgentError {
    match error {
        AgentError::NotASession { path, .. } => AgentError::Moved { path, offset: key.offset },
        error => error,
    }
}
