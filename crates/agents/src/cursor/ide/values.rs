//! Values of the editor's databases, which are tables of keys and values. They grow to gigabytes: keys are asked for one by
//! one or in ranges of their index, and never by a pattern.

use std::path::Path;

use rusqlite::{Connection, ErrorCode, OptionalExtension as _};

use crate::AgentError;
use crate::cursor::session::RawRecord;
use crate::formats::jsonl::MAX_RECORD_BYTES;
use crate::formats::sqlite;

/// Why a value cannot be read that stands in a damaged place.
pub(super) const DAMAGED: &str = "the database is damaged here";

pub(super) const TOO_LONG: &str = "the record is longer than 64 MiB";

const KEYS_IN_RANGE: &str = "SELECT key FROM cursorDiskKV WHERE key >= ?1 AND key < ?2";
const KEYS_AS_WRITTEN: &str = "SELECT key FROM cursorDiskKV WHERE key >= ?1 AND key < ?2 ORDER BY rowid";
const ANY_KEY_IN_RANGE: &str = "SELECT EXISTS (SELECT 1 FROM cursorDiskKV WHERE key >= ?1 AND key < ?2)";

/// One of the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cursor) enum Table {
    /// Settings and indexes of a window.
    Items,
    /// Conversations.
    Disk,
}

impl Table {
    pub(in crate::cursor) fn name(self) -> &'static str {
        match self {
            Self::Items => "ItemTable",
            Self::Disk => "cursorDiskKV",
        }
    }

    pub(in crate::cursor) fn is_in(self, connection: &Connection) -> rusqlite::Result<bool> {
        let columns = sqlite::table_columns(connection, self.name())?;
        Ok(["key", "value"].iter().all(|name| columns.iter().any(|column| column == name)))
    }
}

/// The value of a key; `None` where there is no such key, or no such table.
pub(super) fn read_value(connection: &Connection, table: Table, key: &str) -> rusqlite::Result<Option<RawRecord>> {
    if !table.is_in(connection)? {
        return Ok(None);
    }
    let query = format!(
        "SELECT octet_length(value) > ?2, CASE WHEN octet_length(value) <= ?2 THEN CAST(value AS BLOB) END
         FROM {} WHERE key = ?1",
        table.name()
    );
    let found = connection.prepare_cached(&query)?.query_row(rusqlite::params![key, MAX_RECORD_BYTES], |row| {
        Ok((row.get::<_, Option<bool>>(0)?, row.get::<_, Option<Vec<u8>>>(1)?))
    });
    let value = match found.optional() {
        Err(error) if is_damage(&error) => return Ok(Some(RawRecord::Unreadable(DAMAGED))),
        found => found?,
    };
    Ok(value.map(|value| match value {
        (Some(true), _) => RawRecord::Unreadable(TOO_LONG),
        (_, Some(bytes)) => RawRecord::from_bytes(bytes),
        (_, None) => RawRecord::Empty,
    }))
}

/// The text of a key's value, where it has one.
pub(in crate::cursor) fn read_text(
    connection: &Connection,
    table: Table,
    key: &str,
) -> rusqlite::Result<Option<String>> {
    Ok(read_value(connection, table, key)?.and_then(|value| match value {
        RawRecord::Text(text) => Some(text),
        RawRecord::Empty | RawRecord::Unreadable(_) => None,
    }))
}

/// The ends of all keys that begin with a prefix, from the index alone.
pub(super) fn list_keys(connection: &Connection, prefix: &str) -> rusqlite::Result<Vec<String>> {
    find_keys(connection, KEYS_IN_RANGE, prefix)
}

/// The same, in the order in which their rows were written.
pub(super) fn list_keys_as_written(connection: &Connection, prefix: &str) -> rusqlite::Result<Vec<String>> {
    find_keys(connection, KEYS_AS_WRITTEN, prefix)
}

fn find_keys(connection: &Connection, query: &str, prefix: &str) -> rusqlite::Result<Vec<String>> {
    if !Table::Disk.is_in(connection)? {
        return Ok(Vec::new());
    }
    let mut query = connection.prepare_cached(query)?;
    let mut rows = query.query([prefix, &range_end(prefix)])?;
    let mut keys = Vec::new();
    loop {
        match rows.next() {
            Ok(Some(row)) => keys.extend(row.get_ref(0)?.as_str().ok().map(|key| key[prefix.len()..].to_owned())),
            Ok(None) => return Ok(keys),
            // What was found up to there is what can be had.
            Err(error) if is_damage(&error) && !keys.is_empty() => return Ok(keys),
            Err(error) => return Err(error),
        }
    }
}

/// Whether any key begins with a prefix.
pub(super) fn has_keys(connection: &Connection, prefix: &str) -> rusqlite::Result<bool> {
    connection.prepare_cached(ANY_KEY_IN_RANGE)?.query_row([prefix, &range_end(prefix)], |row| row.get(0))
}

/// The first key after all that begin with a prefix, which ends with a colon.
fn range_end(prefix: &str) -> String {
    let stem = prefix.strip_suffix(':').unwrap_or(prefix);
    format!("{stem};")
}

/// The error for a database that is damaged somewhere.
pub(super) fn damage_error(database: &Path) -> AgentError {
    let error = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    AgentError::Database { path: database.to_owned(), source: rusqlite::Error::SqliteFailure(error, None) }
}

pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_row_is_read_to_find_keys() {
        let connection = Connection::open_in_memory().unwrap();
        let table = "CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)";
        connection.execute_batch(table).unwrap();
        for query in [KEYS_IN_RANGE, KEYS_AS_WRITTEN, ANY_KEY_IN_RANGE] {
            let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {query}")).unwrap();
            let steps = plan.query_map(["a:", "a;"], |row| row.get::<_, String>(3)).unwrap();
            let steps: Vec<String> = steps.map(Result::unwrap).collect();
            assert!(steps.iter().any(|step| step.contains("USING COVERING INDEX")), "{steps:?}");
            assert!(!steps.iter().any(|step| step.contains("SCAN cursorDiskKV")), "{steps:?}");
        }
    }

    #[test]
    fn a_range_ends_before_the_keys_of_another_conversation() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE cursorDiskKV (key, value)").unwrap();
        for key in ["bubbleId:a:1", "bubbleId:ab:2", "bubbleId:a", "bubbleId:a;:3"] {
            connection.execute("INSERT INTO cursorDiskKV VALUES (?1, 1)", [key]).unwrap();
        }
        assert_eq!(list_keys(&connection, "bubbleId:a:").unwrap(), ["1"]);
        assert!(!has_keys(&connection, "bubbleId:c:").unwrap());
    }
}
