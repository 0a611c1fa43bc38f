//! A database of events, as one agent keeps its sessions: short ones as text, longer ones packed.

use std::hint::black_box;
use std::path::Path;

use rusqlite::{Connection, OpenFlags, params};

use super::Result;
use super::fixture_corpus::SessionGrower;

const TABLES: &str = "
    CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, current_session_id TEXT, label TEXT, display_name TEXT,
        spawned_by TEXT);
    CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT, model TEXT, created_at INTEGER,
        updated_at INTEGER);
    CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER,
        event_zstd BLOB, PRIMARY KEY (session_id, seq));";

/// From this length on, the client packs an event.
const PACK_FROM_BYTES: usize = 1 << 10;

/// Puts a session into the database; the first one makes it.
pub(super) fn write_session(path: &Path, session: &str, is_first: bool, grower: SessionGrower<'_>) -> Result<()> {
    if is_first && path.exists() {
        fs_err::remove_file(path)?;
    }
    let mut connection = Connection::open(path)?;
    if is_first {
        connection.execute_batch(TABLES)?;
    }
    let transaction = connection.transaction()?;
    let mut seq = 0;
    grower.for_each_event(&mut |event| {
        let text = event.to_string();
        let packed = if text.len() < PACK_FROM_BYTES { None } else { Some(zstd::encode_all(text.as_bytes(), 3)?) };
        let text = Some(text).filter(|_| packed.is_none());
        let insert = "INSERT INTO transcript_events VALUES (?1, ?2, ?3, ?2, ?4)";
        transaction.execute(insert, params![session, seq, text, packed])?;
        seq += 1;
        Ok(())
    })?;
    transaction.execute("INSERT INTO session_nodes VALUES (?1, ?1, NULL, 't', NULL)", [session])?;
    transaction.execute("INSERT INTO session_windows VALUES (?1, ?1, 'm', 1, ?2)", params![session, seq])?;
    Ok(transaction.commit()?)
}

/// The floor: every event selected and unpacked, nothing kept.
pub(super) fn select_events(path: &Path, session: &str) -> Result<u64> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let query = "SELECT event_json, event_zstd FROM transcript_events WHERE session_id = ?1 ORDER BY seq";
    let mut query = connection.prepare(query)?;
    let mut rows = query.query([session])?;
    // No event of the corpus is longer.
    let (mut unpacker, longest) = (zstd::bulk::Decompressor::new()?, 1 << 20);
    let mut seen = 0;
    while let Some(row) = rows.next()? {
        seen += match row.get_ref(1)?.as_blob_or_null()? {
            Some(packed) => black_box(unpacker.decompress(packed, longest)?).len(),
            None => black_box(row.get_ref(0)?.as_str()?).len(),
        } as u64;
    }
    Ok(seen)
}
