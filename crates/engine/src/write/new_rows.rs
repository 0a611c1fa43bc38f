//! Putting rows of ours into an editor's own database, or members into the JSON that its rows hold.
//!
//! The database is the editor's: it is never created, all of a write is one transaction, and nothing is changed where
//! anything is not as it was expected.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use carryover_agents::{CellValue, JsonMember, NewRow, RowCells, RowContent, SessionRows};
use rusqlite::types::Value;
use rusqlite::{Connection, Transaction, params_from_iter};

use crate::own::fingerprint::Fingerprint;
use crate::write::json_member::{MemberError, MemberPlace};
use crate::write::rows::{has_column, key_condition, open_for_writing, quote_name};
use crate::write::stored_json::{BadValue, RowKey, StoredJson};

/// Why nothing was put into a database.
#[derive(Debug, thiserror::Error)]
pub enum AddRowsError {
    #[error("{} is not there", .0.display())]
    NoDatabase(PathBuf),
    #[error("another program holds {}", .0.display())]
    Locked(PathBuf),
    #[error("{} has no table `{table}` with a column `{column}`", database.display())]
    Drifted { database: PathBuf, table: String, column: String },
    #[error("{} has `{key}` already", database.display())]
    Taken { database: PathBuf, key: String },
    #[error("`{key}` in {} is not what it was", database.display())]
    BadValue {
        database: PathBuf,
        key: String,
        #[source]
        reason: BadValue,
    },
    #[error("{} changed at this moment", .0.display())]
    Changed(PathBuf),
    #[error("{} could not be changed", database.display())]
    Database {
        database: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
}

/// The JSON that members of ours go into, for a copy of it: `None` for a row of its own, and where there is no row yet.
pub(super) fn read_value(new: &NewRow) -> Result<Option<String>, AddRowsError> {
    let Some(member) = &new.rows.member else { return Ok(None) };
    let database = &new.rows.database;
    let connection = open(database)?;
    let found = Place { connection: &connection, rows: &new.rows }.read_member_text(member)?;
    connection.close().map_err(|(_, source)| database_error(database, source))?;
    Ok(found.map(|found| found.text))
}

/// Puts all of it into one database, or nothing. `before` are digests of the values as they were copied.
pub(super) fn insert(database: &Path, rows: &[(&NewRow, Option<Fingerprint>)]) -> Result<(), AddRowsError> {
    let failed = |source| database_error(database, source);
    let mut connection = open(database)?;
    let behavior = rusqlite::TransactionBehavior::Immediate;
    let transaction = connection.transaction_with_behavior(behavior).map_err(failed)?;
    // Before the first: several may go into one value.
    for (new, before) in rows {
        Place { connection: &transaction, rows: &new.rows }.check_unchanged(*before)?;
    }
    for (new, _) in rows {
        insert_one(&transaction, new)?;
    }
    transaction.commit().map_err(failed)?;
    // Closing is what takes the log away again, where nobody else has the database open.
    connection.close().map_err(|(_, source)| failed(source))
}

fn insert_one(transaction: &Transaction<'_>, new: &NewRow) -> Result<(), AddRowsError> {
    let place = Place { connection: transaction, rows: &new.rows };
    match (&new.content, &new.rows.member) {
        (RowContent::Cells(cells), _) => place.insert_rows(&[(String::new(), cells)]),
        (RowContent::Parts(parts), _) => {
            let parts: Vec<_> = parts.iter().map(|(name, cells)| (name.clone(), cells)).collect();
            place.insert_rows(&parts)
        }
        (RowContent::Json(json), Some(member)) => place.insert_member(member, json),
        (RowContent::Json(_), None) => Err(place.bad_value(BadValue::NotText)),
    }
}

/// Where something goes in a database.
struct Place<'a> {
    connection: &'a Connection,
    rows: &'a SessionRows,
}

impl Place<'_> {
    /// Rows by what follows the value by which they are known.
    fn insert_rows(&self, rows: &[(String, &RowCells)]) -> Result<(), AddRowsError> {
        let columns: BTreeSet<&str> =
            rows.iter().flat_map(|(_, cells)| cells.iter().map(|(column, _)| *column)).collect();
        for column in columns.into_iter().chain([self.rows.column]) {
            self.check_column(column)?;
        }
        let key = key_condition(self.rows.column, self.rows.is_prefix);
        let query = format!("SELECT EXISTS (SELECT 1 FROM {} WHERE {key})", self.table());
        let is_there = self.connection.query_row(&query, [&self.rows.value], |row| row.get(0));
        if is_there.map_err(|source| self.failed(source))? {
            return Err(self.taken());
        }
        for (end, cells) in rows {
            let mut names = vec![self.column()];
            let mut values = vec![Value::Text(format!("{}{end}", self.rows.value))];
            for (column, cell) in *cells {
                names.push(quote_name(column));
                values.push(to_value(cell));
            }
            self.insert_cells(&names, values)?;
        }
        Ok(())
    }

    /// Never over another row: the table may say of itself that the newer one replaces the older.
    fn insert_cells(&self, names: &[String], values: Vec<Value>) -> Result<(), AddRowsError> {
        let places = vec!["?"; names.len()].join(", ");
        let statement = format!("INSERT OR ABORT INTO {} ({}) VALUES ({places})", self.table(), names.join(", "));
        let added = self.connection.execute(&statement, params_from_iter(values));
        added.map(drop).map_err(|source| self.failed(source))
    }

    /// Makes sure that the value is still what was copied.
    fn check_unchanged(&self, before: Option<Fingerprint>) -> Result<(), AddRowsError> {
        let Some(member) = &self.rows.member else { return Ok(()) };
        let found = self.read_member_text(member)?;
        let now = found.map(|found| Fingerprint::from_bytes(found.text.as_bytes()));
        if now == before { Ok(()) } else { Err(AddRowsError::Changed(self.rows.database.clone())) }
    }

    fn insert_member(&self, member: &JsonMember, json: &str) -> Result<(), AddRowsError> {
        let found = self.read_member_text(member)?;
        let old = found.as_ref().map_or(member.empty, |found| found.text.as_str());
        let new = match MemberPlace::from(member).insert(old, json) {
            Ok(new) => new,
            // Another session has brought it.
            Err(MemberError::Taken(_)) if member.referrer.is_some() => return Ok(()),
            Err(MemberError::Taken(key)) => {
                return Err(AddRowsError::Taken { database: self.rows.database.clone(), key });
            }
            Err(reason) => return Err(self.bad_value(reason.into())),
        };
        let column = quote_name(member.column);
        let Some(found) = found else {
            let values = vec![Value::Text(self.rows.value.clone()), Value::Text(new)];
            return self.insert_cells(&[self.column(), column], values);
        };
        let statement = format!("UPDATE {} SET {column} = ?2 WHERE {} = ?1", self.table(), self.column());
        let parameters = [Value::Text(self.rows.value.clone()), found.replace(new)];
        match self.connection.execute(&statement, params_from_iter(parameters)) {
            Ok(1) => Ok(()),
            Ok(_) => Err(AddRowsError::Changed(self.rows.database.clone())),
            Err(source) => Err(self.failed(source)),
        }
    }

    fn read_member_text(&self, member: &JsonMember) -> Result<Option<StoredJson>, AddRowsError> {
        self.check_column(self.rows.column)?;
        self.check_column(member.column)?;
        let row = RowKey { table: self.rows.table, column: self.rows.column, value: &self.rows.value };
        let found = StoredJson::read(self.connection, &row, member.column);
        found.map_err(|source| self.failed(source))?.transpose().map_err(|reason| self.bad_value(reason))
    }

    fn check_column(&self, column: &str) -> Result<(), AddRowsError> {
        match has_column(self.connection, self.rows.table, column) {
            Ok(true) => Ok(()),
            Ok(false) => Err(AddRowsError::Drifted {
                database: self.rows.database.clone(),
                table: self.rows.table.to_owned(),
                column: column.to_owned(),
            }),
            Err(source) => Err(self.failed(source)),
        }
    }

    fn table(&self) -> String {
        quote_name(self.rows.table)
    }

    fn column(&self) -> String {
        quote_name(self.rows.column)
    }

    fn failed(&self, source: rusqlite::Error) -> AddRowsError {
        database_error(&self.rows.database, source)
    }

    fn taken(&self) -> AddRowsError {
        AddRowsError::Taken { database: self.rows.database.clone(), key: self.rows.value.clone() }
    }

    fn bad_value(&self, reason: BadValue) -> AddRowsError {
        AddRowsError::BadValue { database: self.rows.database.clone(), key: self.rows.value.clone(), reason }
    }
}

fn to_value(cell: &CellValue) -> Value {
    match cell {
        CellValue::Null => Value::Null,
        CellValue::Integer(number) => Value::Integer(*number),
        CellValue::Text(text) => Value::Text(text.clone()),
    }
}

fn open(database: &Path) -> Result<Connection, AddRowsError> {
    if !database.is_file() {
        return Err(AddRowsError::NoDatabase(database.to_owned()));
    }
    open_for_writing(database).map_err(|source| database_error(database, source))
}

fn database_error(database: &Path, source: rusqlite::Error) -> AddRowsError {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    match source.sqlite_error_code() {
        Some(DatabaseBusy | DatabaseLocked) => AddRowsError::Locked(database.to_owned()),
        _ => AddRowsError::Database { database: database.to_owned(), source },
    }
}

#[cfg(test)]
mod tests;
