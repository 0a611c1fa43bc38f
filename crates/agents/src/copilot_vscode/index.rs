//! The editor's own list of sessions: one value in a database, by workspace.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::OptionalExtension as _;
use serde::Deserialize;

use super::wire::{or_none, parse_leniently};
use crate::AgentError;
use crate::formats::file::MAX_INDEX_BYTES;
use crate::formats::sqlite;

/// The database beside a workspace's sessions.
pub(super) const DATABASE: &str = "state.vscdb";

pub(super) const INDEX_TABLE: &str = "ItemTable";
pub(super) const INDEX_KEY_COLUMN: &str = "key";
pub(super) const INDEX_COLUMN: &str = "value";
pub(super) const INDEX_KEY: &str = "chat.ChatSessionStore.index";

const QUERY: &str = "SELECT CAST(value AS TEXT) FROM ItemTable WHERE key = ?2 AND length(value) <= ?1";

/// The list, by the session's name.
pub(super) type SessionIndex = BTreeMap<String, IndexEntry>;

#[derive(Deserialize)]
struct WireIndex {
    entries: BTreeMap<String, Box<serde_json::value::RawValue>>,
}

/// What the list tells of a session.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct IndexEntry {
    #[serde(deserialize_with = "or_none")]
    pub title: Option<String>,
    #[serde(deserialize_with = "or_none")]
    pub last_message_date: Option<f64>,
    #[serde(deserialize_with = "or_none")]
    pub timing: Option<IndexTiming>,
    /// Nothing was said in it.
    #[serde(deserialize_with = "or_none")]
    pub is_empty: Option<bool>,
    /// It is another agent's, in its own store.
    #[serde(deserialize_with = "or_none")]
    pub is_external: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct IndexTiming {
    #[serde(deserialize_with = "or_none")]
    pub created: Option<f64>,
    #[serde(deserialize_with = "or_none")]
    pub last_request_ended: Option<f64>,
}

/// Reads the list of a folder; an editor that never kept one has none.
pub(super) fn read_index(folder: &Path) -> Result<SessionIndex, AgentError> {
    let limit = MAX_INDEX_BYTES.cast_signed();
    let text = sqlite::read_database(&folder.join(DATABASE), &mut |connection| {
        if sqlite::table_columns(connection, INDEX_TABLE)?.is_empty() {
            return Ok(None);
        }
        connection.query_row(QUERY, rusqlite::params![limit, INDEX_KEY], |row| row.get::<_, String>(0)).optional()
    })?;
    let index: Option<WireIndex> = text.as_deref().and_then(parse_leniently);
    let entries = index.map(|index| index.entries).unwrap_or_default().into_iter();
    Ok(entries.filter_map(|(id, entry)| Some((id, parse_leniently(entry.get())?))).collect())
}
