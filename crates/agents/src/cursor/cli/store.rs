//! The database of one session: a table of blobs, each named by the digest of its bytes, and one of notes, in which a note in
//! hexadecimal JSON names the root.

use std::path::Path;

use carryover_core::plain::one_line;
use rusqlite::{Connection, OptionalExtension as _};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::state::State;
use super::{folders, sdk};
use crate::cursor::lenient::{self, Lenient};
use crate::cursor::session::{RawRecord, RecordHead, Session, StoredSession};
use crate::formats::jsonl::MAX_RECORD_BYTES;
use crate::formats::sqlite;

pub(in crate::cursor) const BLOB_TABLE_SQL: &str = "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)";
pub(in crate::cursor) const META_TABLE_SQL: &str = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)";

/// The key of the note.
pub(in crate::cursor) const META_KEY: &str = "0";

/// The name that a session has before it gets one.
pub(super) const DEFAULT_NAME: &str = "New Agent";

/// The note.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct WireMeta {
    pub agent_id: Lenient<String>,
    pub latest_root_blob_id: Lenient<String>,
    pub name: Lenient<String>,
    pub mode: Lenient<String>,
    pub created_at: Lenient<f64>,
    pub last_used_model: Lenient<String>,
    pub subagent_info: Lenient<WireSubagent>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireSubagent {
    parent_agent_id: Option<String>,
}

impl WireMeta {
    fn into_session(self) -> Session {
        Session {
            id: self.agent_id.0.unwrap_or_default(),
            title: self.name.0.as_deref().and_then(read_name),
            model: self.last_used_model.0.filter(|model| !model.is_empty() && model != "default"),
            mode: self.mode.0,
            started: self.created_at.0.and_then(lenient::time),
            parent: self.subagent_info.0.and_then(|info| info.parent_agent_id),
            ..Session::default()
        }
    }
}

/// A title that the session got.
pub(super) fn read_name(name: &str) -> Option<String> {
    Some(one_line(name, 200)).filter(|name| !name.is_empty() && name != DEFAULT_NAME)
}

/// The name of a blob.
pub(in crate::cursor) fn blob_name(data: &[u8]) -> String {
    to_hex(&Sha256::digest(data))
}

pub(in crate::cursor) fn to_hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

pub(super) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = text.trim().chars().map(|digit| digit.to_digit(16)).collect::<Option<_>>()?;
    digits.chunks(2).map(|pair| u8::try_from(pair[0] << 4 | pair.get(1)?).ok()).collect()
}

/// Whether a database is such a store.
fn is_store(connection: &Connection) -> rusqlite::Result<bool> {
    let has = |table, column: &str| {
        let columns = sqlite::table_columns(connection, table)?;
        Ok::<_, rusqlite::Error>(columns.iter().any(|name| name == column))
    };
    Ok(has("blobs", "data")? && has("meta", "value")?)
}

/// The note of a store; an empty one where it cannot be read.
pub(super) fn read_meta(connection: &Connection) -> rusqlite::Result<WireMeta> {
    let query = "SELECT value FROM meta WHERE key = ?1";
    let found = connection.query_row(query, [META_KEY], |row| Ok(row.get_ref(0)?.as_str().ok().map(str::to_owned)));
    let text = found.optional()?.flatten().unwrap_or_default();
    let bytes = from_hex(&text).unwrap_or_else(|| text.into_bytes());
    Ok(serde_json::from_slice(&bytes).unwrap_or_default())
}

/// The bytes of a blob.
pub(super) fn read_blob(connection: &Connection, name: &str) -> rusqlite::Result<BlobRecord> {
    let query = "SELECT octet_length(data) > ?2, CASE WHEN octet_length(data) <= ?2 THEN CAST(data AS BLOB) END
                 FROM blobs WHERE id = ?1";
    let found = connection
        .prepare_cached(query)?
        .query_row(rusqlite::params![name, MAX_RECORD_BYTES], |row| {
            Ok((row.get::<_, Option<bool>>(0)?, row.get::<_, Option<Vec<u8>>>(1)?))
        })
        .optional();
    Ok(match found {
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseCorrupt) => {
            Err("the database is damaged here")
        }
        Err(error) => return Err(error),
        Ok(Some((_, Some(bytes)))) => Ok(bytes),
        Ok(Some((Some(true), _))) => Err("the record is longer than 64 MiB"),
        Ok(_) => Err("the store names it, and does not hold it"),
    })
}

/// The bytes of a blob, or why there are none.
pub(super) type BlobRecord = Result<Vec<u8>, &'static str>;

/// A session in its store.
struct BlobSession<'c> {
    connection: &'c Connection,
    session: Session,
    heads: Vec<RecordHead>,
}

impl StoredSession for BlobSession<'_> {
    fn session(&self) -> &Session {
        &self.session
    }

    fn heads(&self) -> &[RecordHead] {
        &self.heads
    }

    fn read_text(&self, head: &RecordHead) -> rusqlite::Result<RawRecord> {
        // A message that was said twice is one blob.
        let blob = head.name.split('#').next().unwrap_or_default();
        Ok(match read_blob(self.connection, blob)? {
            Ok(bytes) => RawRecord::from_bytes(bytes),
            Err(reason) => RawRecord::Unreadable(reason),
        })
    }
}

/// Opens the session of a store; `None` where the database is none.
pub(in crate::cursor) fn open_store<'c>(
    connection: &'c Connection,
    path: &Path,
) -> rusqlite::Result<Option<Box<dyn StoredSession + 'c>>> {
    if !is_store(connection)? {
        return Ok(None);
    }
    let meta = read_meta(connection)?;
    let agent = sdk::find_agent(path);
    let named = meta.latest_root_blob_id.0.clone().filter(|root| !root.is_empty());
    let root = agent.as_ref().and_then(|agent| agent.root.clone()).or(named).unwrap_or_default();
    let state = match read_blob(connection, &root)? {
        Ok(bytes) => State::read(connection, &bytes)?,
        Err(_) => State::default(),
    };
    let mut session = meta.into_session();
    session.complete(agent.map(|agent| agent.session).unwrap_or_default());
    session.complete(folders::read_beside(path));
    session.complete(state.session);
    Ok(Some(Box::new(BlobSession { connection, session, heads: state.heads })))
}
