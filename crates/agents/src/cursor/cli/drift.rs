//! Whether the form of a store is one that we know: its root is looked at, and the last messages that it names.

use std::path::Path;

use carryover_core::transcript::{Body, Opaque, Origin};
use rusqlite::Connection;
use rusqlite::ffi::{Error, SQLITE_CORRUPT};

use super::message::read_message;
use super::state::State;
use super::store::{DAMAGED, OpenedStore, Root, read_blob};
use crate::AgentError;
use crate::cursor::session::{RecordForm, RecordHead};
use crate::formats::{drift, sqlite};

/// How many of the last messages are looked at.
const MESSAGES_CHECKED: usize = 8;

/// What a look into a store shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// It is understood, or nothing was said in it yet.
    Known,
    /// Records are there, and none that we know.
    Drifted,
}

/// Whether records are in a store, and none that we know. One that is damaged is an error.
pub(in crate::cursor) fn has_drifted(store: &Path) -> Result<bool, AgentError> {
    let looked = sqlite::read_database(store, &mut |connection| look(connection, store))?;
    Ok(looked == Look::Drifted)
}

pub(super) fn look(connection: &Connection, path: &Path) -> rusqlite::Result<Look> {
    let Some(opened) = OpenedStore::open(connection, path)? else {
        return Ok(if has_tables(connection)? { Look::Drifted } else { Look::Known });
    };
    match opened.root {
        Root::Unnamed => Ok(Look::Known),
        Root::Lost(DAMAGED) => Err(rusqlite::Error::SqliteFailure(Error::new(SQLITE_CORRUPT), None)),
        Root::Lost(_) => Ok(Look::Drifted),
        Root::Read(root) => look_at_messages(connection, State(&root)),
    }
}

/// Whether a database has tables: its owner makes them after the file.
pub(super) fn has_tables(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table')", [], |row| row.get(0))
}

fn look_at_messages(connection: &Connection, state: State<'_>) -> rusqlite::Result<Look> {
    let (mut known, mut unknown, mut spoken) = (0, 0, false);
    for name in state.list_messages().rev().take(MESSAGES_CHECKED) {
        let bodies = match read_blob(connection, &name)? {
            Ok(bytes) => read_bodies(&bytes),
            // That one record cannot be read is told when the session is.
            Err(DAMAGED) => continue,
            Err(_) => Vec::new(),
        };
        if bodies.iter().any(|(_, body)| says_something(body)) {
            known += 1;
        } else {
            unknown += 1;
        }
        spoken |= bodies.iter().any(|(_, body)| matches!(body, Body::Prompt(_) | Body::Reply(_) | Body::Summary(_)));
    }
    Ok(if drift::has_drifted(known, unknown, spoken) { Look::Drifted } else { Look::Known })
}

fn read_bodies(bytes: &[u8]) -> Vec<(Origin, Body)> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Vec::new() };
    read_message(text, &RecordHead::new("", RecordForm::Message), &mut Vec::new()).unwrap_or_default()
}

/// Whether anything is understood of a message; what the client itself had said is told by its role alone.
fn says_something(body: &Body) -> bool {
    match body {
        Body::Opaque(Opaque::Wordless) => false,
        Body::Opaque(_) => *body == Body::known("message/system"),
        _ => true,
    }
}
