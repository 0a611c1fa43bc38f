//! Conversations that were saved in a repository: `.session/messages.jsonl`, and `session.json` beside it.

use std::path::Path;

use carryover_core::render::saved::{SavedMessage, SavedSession};

use crate::AgentError;
use crate::captured::{MAX_EVENTS, TOO_MANY_EVENTS, describe_cause};
use crate::formats::file::{self, MAX_DOCUMENT_BYTES};

/// The folder of a saved conversation that is for programs.
pub const SESSION_FOLDER: &str = ".session";
pub const SESSION_FILE: &str = "session.json";
pub const MESSAGES_FILE: &str = "messages.jsonl";
/// The messages in the format of age, where they are sealed.
pub const SEALED_FILE: &str = "messages.jsonl.age";

const MAX_SESSION_BYTES: u64 = 4 << 20;

/// A saved conversation as it is read: what is known of it, and its lines with their places.
pub struct SavedFile {
    pub session: SavedSession,
    pub lines: Vec<SavedLine>,
}

/// A line; none where it cannot be read.
pub struct SavedLine {
    pub offset: u64,
    pub length: u32,
    pub message: Option<SavedMessage>,
}

/// Whether a file is the messages of a saved conversation.
pub fn is_saved(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    path.file_name().is_some_and(|name| name == MESSAGES_FILE) && folder.is_some_and(|name| name == SESSION_FOLDER)
}

/// Reads the messages of a saved conversation: the one place where that is done.
pub fn read_saved(path: &Path) -> Result<SavedFile, AgentError> {
    let broken = |reason: String| AgentError::Saved { path: path.to_owned(), reason };
    let session = read_session_file(&path.with_file_name(SESSION_FILE))?.unwrap_or_default();
    let bytes = file::read_bytes(path, MAX_DOCUMENT_BYTES)?;
    let mut lines = Vec::new();
    let mut offset = 0_u64;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let text = line.trim_ascii();
        if !text.is_empty() {
            if lines.len() == MAX_EVENTS {
                return Err(broken(TOO_MANY_EVENTS.to_owned()));
            }
            let message = std::str::from_utf8(text).ok().and_then(SavedMessage::parse);
            lines.push(SavedLine { offset, length: u32::try_from(text.len()).unwrap_or(u32::MAX), message });
        }
        offset += line.len() as u64;
    }
    Ok(SavedFile { session, lines })
}

/// What is known of a saved conversation; none where the file is not there.
pub fn read_session_file(path: &Path) -> Result<Option<SavedSession>, AgentError> {
    let broken = |reason: String| AgentError::Saved { path: path.to_owned(), reason };
    let bytes = match file::read_bytes(path, MAX_SESSION_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let session: SavedSession = serde_json::from_slice(&bytes).map_err(|error| broken(describe_cause(&error)))?;
    match session.version.split('.').next() {
        Some("" | "1") | None => Ok(Some(session)),
        Some(_) => Err(broken("it is of a later version, and this carryover reads 1.0".to_owned())),
    }
}

/// The project that a conversation is kept in: `<project>/conversations/<date>/<id>/.session/messages.jsonl`.
pub(crate) fn project_folder(path: &Path) -> Option<&Path> {
    path.ancestors().nth(5)
}
