//! The database of one session: a table of blobs, each named by the digest of its bytes, and one of notes, in which a note in
//! hexadecimal JSON names the root.

use std::collections::BTreeMap;
use std::path::Path;

use carryover_core::plain::one_line;
use rusqlite::{Connection, OptionalExtension as _};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::folders;
use super::runs::{self, Run};
use super::sdk::{self, Checkpoint};
use super::state::State;
use crate::cursor::lenient::{self, Lenient};
use crate::cursor::session::{RawRecord, RecordForm, RecordHead, Session, StoredSession};
use crate::formats::jsonl::MAX_RECORD_BYTES;
use crate::formats::sqlite;

pub(in crate::cursor) const BLOB_TABLE_SQL: &str = "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)";
pub(in crate::cursor) const META_TABLE_SQL: &str = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)";

/// The key of the note.
pub(in crate::cursor) const META_KEY: &str = "0";

/// The name that a session has before it gets one.
pub(super) const DEFAULT_NAME: &str = "New Agent";

/// The name of the record that stands for a root which leads to nothing.
const ROOT_NAME: &str = "root";

const NO_ROOT: &str = "the store holds records, and does not say which is the first";
const NO_MESSAGES: &str = "the session names records, and none of them as a message";
pub(super) const DAMAGED: &str = "the database is damaged here";

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

pub(in crate::cursor) fn from_hex(text: &str) -> Option<Vec<u8>> {
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

/// The note of a store, where there is one.
pub(super) fn read_meta(connection: &Connection) -> rusqlite::Result<Option<WireMeta>> {
    let query = "SELECT value FROM meta WHERE key = ?1";
    let found = connection.query_row(query, [META_KEY], |row| Ok(row.get_ref(0)?.as_str().ok().map(str::to_owned)));
    let text = found.optional()?.flatten().unwrap_or_default();
    let bytes = from_hex(&text).unwrap_or_else(|| text.into_bytes());
    Ok(serde_json::from_slice(&bytes).ok())
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
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseCorrupt) => Err(DAMAGED),
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
    runs: BTreeMap<String, String>,
    /// Why the root leads to nothing, which is told in the place of what it would have led to.
    fault: Option<&'static str>,
}

impl StoredSession for BlobSession<'_> {
    fn session(&self) -> &Session {
        &self.session
    }

    fn heads(&self) -> &[RecordHead] {
        &self.heads
    }

    fn read_text(&self, head: &RecordHead) -> rusqlite::Result<RawRecord> {
        if let Some(run) = self.runs.get(&head.name) {
            return Ok(RawRecord::Text(run.clone()));
        }
        if let Some(reason) = self.fault {
            return Ok(RawRecord::Unreadable(reason));
        }
        // A message that was said twice is one blob.
        let blob = head.name.split('#').next().unwrap_or_default();
        Ok(match read_blob(self.connection, blob)? {
            Ok(bytes) => RawRecord::from_bytes(bytes),
            Err(reason) => RawRecord::Unreadable(reason),
        })
    }
}

/// The root of a session, as far as it is there.
pub(super) enum Root {
    /// Nothing was said yet.
    Unnamed,
    Read(Vec<u8>),
    /// There should be one.
    Lost(&'static str),
}

/// A store that was opened, and nothing but its root read.
pub(super) struct OpenedStore {
    pub session: Session,
    pub root: Root,
    /// Of an agent of the SDK's.
    runs: Vec<Run>,
}

impl OpenedStore {
    /// Opens a store; `None` where the database is none.
    pub(super) fn open(connection: &Connection, path: &Path) -> rusqlite::Result<Option<Self>> {
        if !is_store(connection)? {
            return Ok(None);
        }
        let meta = read_meta(connection)?;
        let (agent, runs) = sdk::find_agent(path).unzip();
        let checkpoint = agent.as_ref().map_or(Checkpoint::None, |agent| agent.checkpoint.clone());
        let named = match (checkpoint, meta.as_ref().and_then(|meta| meta.latest_root_blob_id.0.clone())) {
            (Checkpoint::Root(root), _) => Some(root),
            (_, Some(root)) if !root.is_empty() => Some(root),
            // A session that has just begun names none, and where it would.
            (Checkpoint::None, Some(_)) => Some(String::new()),
            (Checkpoint::None, None) if agent.is_some() => Some(String::new()),
            _ => None,
        };
        let root = find_root(connection, named.as_deref())?;
        let mut session = meta.unwrap_or_default().into_session();
        session.complete(agent.map(|agent| agent.session).unwrap_or_default());
        session.complete(folders::read_beside(path));
        if let Root::Read(root) = &root {
            session.complete(State(root).read_session());
        }
        Ok(Some(Self { session, root, runs: runs.unwrap_or_default() }))
    }
}

fn find_root(connection: &Connection, named: Option<&str>) -> rusqlite::Result<Root> {
    Ok(match named {
        Some("") => Root::Unnamed,
        Some(name) => match read_blob(connection, name)? {
            Ok(root) if State(&root).names_no_messages(connection)? => Root::Lost(NO_MESSAGES),
            Ok(root) => Root::Read(root),
            Err(reason) => Root::Lost(reason),
        },
        None if has_blobs(connection)? => Root::Lost(NO_ROOT),
        None => Root::Unnamed,
    })
}

fn has_blobs(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT EXISTS (SELECT 1 FROM blobs)", [], |row| row.get(0))
}

/// Opens the session of a store; `None` where the database is none.
pub(in crate::cursor) fn open_store<'c>(
    connection: &'c Connection,
    path: &Path,
) -> rusqlite::Result<Option<Box<dyn StoredSession + 'c>>> {
    let Some(OpenedStore { session, root, runs }) = OpenedStore::open(connection, path)? else { return Ok(None) };
    let (mut heads, fault) = match root {
        Root::Unnamed => (Vec::new(), None),
        Root::Read(root) => (State(&root).read_heads(connection)?, None),
        Root::Lost(reason) => (vec![RecordHead::new(ROOT_NAME, RecordForm::Message)], Some(reason)),
    };
    runs::place_runs(&mut heads, &runs);
    let runs = runs.into_iter().map(|run| (run.head.name, run.text)).collect();
    Ok(Some(Box::new(BlobSession { connection, session, heads, runs, fault })))
}
