//! The bytes of a store: a database with a blob for each message and for each piece of a turn.

use std::collections::BTreeMap;

use carryover_core::transcript::Body;
use rusqlite::{Connection, MAIN_DB};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::messages::MessageLines;
use super::turns::{ShownMessage, write_time, write_turns};
use crate::WriteRequest;
use crate::cursor::cli::{BLOB_TABLE_SQL, FieldWriter, META_KEY, META_TABLE_SQL, MessageNames, blob_name, to_hex};
use crate::formats::ids;
use crate::formats::session_lines::{LineWriter, WrittenFile};

/// Blobs in the making, by their names.
pub(super) struct StoreWriter {
    blobs: BTreeMap<String, Vec<u8>>,
}

impl StoreWriter {
    pub(super) fn new() -> Self {
        Self { blobs: BTreeMap::new() }
    }

    /// Adds a blob, and tells its digest.
    pub(super) fn add_blob(&mut self, data: &[u8]) -> Vec<u8> {
        self.blobs.insert(blob_name(data), data.to_vec());
        Sha256::digest(data).to_vec()
    }

    /// Writes messages, turns and the root, whose name it tells.
    pub(super) fn write_root(&mut self, request: &WriteRequest<'_>, project: &str, lines: &MessageLines<'_>) -> String {
        let mut root = FieldWriter::default();
        for line in &lines.draft.chain.lines {
            root.write_bytes(1, &self.add_blob(line.value.to_string().as_bytes()));
        }
        let mut at = request.started_at;
        let mut shown = Vec::new();
        for line in &lines.draft.chain.lines {
            let entries = || line.entries.iter().map(|index| &request.entries[*index].entry);
            at = entries().find_map(|entry| entry.at).map_or(at, |time| time.max(at));
            let exit_code = entries().find_map(|entry| match &entry.body {
                Body::Outcome(outcome) => outcome.exit_code,
                _ => None,
            });
            shown.push(ShownMessage { message: &line.value, at, exit_code });
        }
        for turn in write_turns(self, &shown) {
            root.write_bytes(8, &turn);
        }
        let mut tokens = FieldWriter::default();
        tokens.write_number(1, request.tokens);
        root.write_bytes(5, &tokens.bytes);
        root.write_bytes(9, format!("file://{project}").as_bytes());
        root.write_number(10, 1);
        write_time(&mut root, 26, request.started_at);
        self.add_blob(&root.bytes);
        blob_name(&root.bytes)
    }

    /// The database, with the places of entries in it.
    pub(super) fn finish(self, meta: &Value, lines: MessageLines<'_>) -> rusqlite::Result<WrittenFile> {
        let mut connection = Connection::open_in_memory()?;
        connection.execute_batch(&format!("PRAGMA user_version = 1; {BLOB_TABLE_SQL}; {META_TABLE_SQL}"))?;
        for (name, data) in &self.blobs {
            connection.execute("INSERT INTO blobs VALUES (?1, ?2)", (name, data))?;
        }
        let note = to_hex(meta.to_string().as_bytes());
        connection.execute("INSERT INTO meta VALUES (?1, ?2)", (META_KEY, note))?;
        let mut names = MessageNames::default();
        let mut places = LineWriter::default();
        for line in &lines.draft.chain.lines {
            let name = names.make_name(&blob_name(line.value.to_string().as_bytes()));
            places.note_entries(&line.entries, ids::digest_name(&name));
        }
        let written = places.finish(lines.draft.losses, lines.parts.calls.translated);
        Ok(WrittenFile { bytes: connection.serialize(MAIN_DB)?.to_vec(), ..written })
    }
}
