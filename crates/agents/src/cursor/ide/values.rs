//! Values of the editor's databases, which are tables of keys and values. They grow to gigabytes: keys are asked for one by
//! one or in ranges of their index, and never by a pattern.

use rusqlite::{Connection, ErrorCode, OptionalExtension as _};

use crate::cursor::session::RawRecord;
use crate::formats::jsonl::MAX_RECORD_BYTES;
use crate::formats::sqlite;

const KEYS_IN_RANGE: &str = "SELECT key FROM cursorDiskKV WHERE key >= ?1 AND key < ?2";
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
        Err(error) if is_damage(&error) => return Ok(Some(RawRecord::Unreadable("the database is damaged here"))),
        found => found?,
    };
    Ok(value.map(|value| match value {
        (Some(true), _) => RawRecord::Unreadable("the record is longer than 64 MiB"),
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
    if !Table::Disk.is_in(connection)? {
        return Ok(Vec::new());
    }
    let mut query = connection.prepare_cached(KEYS_IN_RANGE)?;
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
        for query in [KEYS_IN_RANGE, ANY_KEY_IN_RANGE] {
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
