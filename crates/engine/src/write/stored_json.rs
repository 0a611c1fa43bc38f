//! JSON that an editor keeps in a row of its database, as text.

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OptionalExtension as _};

use crate::write::json_member::MemberError;
use crate::write::rows::quote_name;

/// A longer value is nobody's list.
const MAX_VALUE_BYTES: usize = 64 << 20;

/// What is wrong with a value that holds the members of others.
#[derive(Debug, thiserror::Error)]
pub enum BadValue {
    #[error("it is no text")]
    NotText,
    #[error("it is too long")]
    TooLong,
    #[error("{0}")]
    Member(String),
}

impl From<MemberError> for BadValue {
    fn from(error: MemberError) -> Self {
        Self::Member(error.to_string())
    }
}

/// By what a row is known.
pub(super) struct RowKey<'a> {
    pub(super) table: &'a str,
    pub(super) column: &'a str,
    pub(super) value: &'a str,
}

/// The text of a value, and whether it is kept as bytes.
pub(super) struct StoredJson {
    pub(super) text: String,
    is_blob: bool,
}

impl StoredJson {
    /// The text in a column of a row; `None` where there is no such row.
    pub(super) fn read(
        connection: &Connection,
        row: &RowKey<'_>,
        column: &str,
    ) -> rusqlite::Result<Option<Result<Self, BadValue>>> {
        let [table, key, column] = [row.table, row.column, column].map(quote_name);
        let query = format!("SELECT {column} FROM {table} WHERE {key} = ?1");
        connection.query_row(&query, [row.value], |row| Ok(Self::from_cell(row.get_ref(0)?))).optional()
    }

    fn from_cell(cell: ValueRef<'_>) -> Result<Self, BadValue> {
        let (bytes, is_blob) = match cell {
            ValueRef::Text(bytes) => (bytes, false),
            ValueRef::Blob(bytes) => (bytes, true),
            _ => return Err(BadValue::NotText),
        };
        if bytes.len() > MAX_VALUE_BYTES {
            return Err(BadValue::TooLong);
        }
        let text = std::str::from_utf8(bytes).map_err(|_| BadValue::NotText)?.to_owned();
        Ok(Self { text, is_blob })
    }

    /// Another text, kept as this one is.
    pub(super) fn replace(&self, text: String) -> Value {
        if self.is_blob { Value::Blob(text.into_bytes()) } else { Value::Text(text) }
    }
}
