//! Taking rows of ours out of a client's own index.
//!
//! The index is the client's: it is never created, never waited for long, and nothing is left beside it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, ffi};

use carryover_agents::AgentError;
use carryover_agents::formats::sqlite;
use rusqlite::types::ValueRef;

use crate::own::fingerprint::Fingerprint;
use crate::write::journal::{Member, Owner, Rows};
use crate::write::json_member::{MemberPlace, is_only_referrer};
use crate::write::stored_json::{BadValue, RowKey, StoredJson};

/// Its owner may be in a transaction of its own.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug, thiserror::Error)]
#[error("could not take our rows out of {}: {source}", database.display())]
pub(crate) struct RowsError {
    database: PathBuf,
    source: DeleteError,
}

#[derive(Debug, thiserror::Error)]
enum DeleteError {
    #[error(transparent)]
    Database(#[from] rusqlite::Error),
    #[error("`{key}` is not what it was: {reason}")]
    Value { key: String, reason: BadValue },
}

/// Deletes the rows, all of one database or none. What is not there is not missed.
pub(crate) fn delete(rows: &[Rows]) -> Result<(), RowsError> {
    let mut databases: BTreeMap<&Path, Vec<&Rows>> = BTreeMap::new();
    for row in rows {
        databases.entry(&row.database).or_default().push(row);
    }
    let failed = |database: &Path, source| RowsError { database: database.to_owned(), source };
    // One that cannot be changed leaves all as they were.
    let mut changed = Vec::new();
    for (database, rows) in databases.into_iter().filter(|(database, _)| database.is_file()) {
        let connection = begin_deletes(database, &rows).map_err(|source| failed(database, source))?;
        changed.push((database, connection));
    }
    for (database, connection) in changed {
        commit(connection).map_err(|source| failed(database, source.into()))?;
    }
    Ok(())
}

/// The rows in whose JSON nothing of ours can be found any more, and why.
pub(crate) fn find_broken(rows: &[Rows]) -> Vec<(&Rows, RowsError)> {
    let broken = |row: &Rows| {
        let member = row.member.as_ref().filter(|_| row.database.is_file())?;
        // What cannot be read at all is told when it is to be changed.
        let found = sqlite::read_database(&row.database, &mut |connection| {
            let is_there =
                has_column(connection, &row.table, &row.column)? && has_column(connection, &row.table, &member.column)?;
            if is_there { StoredJson::read(connection, &row.row_key(), &member.column) } else { Ok(None) }
        });
        let found = found.ok()??.and_then(|found| Ok(MemberPlace::from(member).find(&found.text).map(drop)?));
        let source = DeleteError::Value { key: row.value.clone(), reason: found.err()? };
        Some(RowsError { database: row.database.clone(), source })
    };
    rows.iter().filter_map(|row| Some((row, broken(row)?))).collect()
}

/// A digest of what the rows hold; `None` where there are none.
pub(crate) fn compute_digest(rows: &Rows) -> Result<Option<Fingerprint>, AgentError> {
    if !rows.database.is_file() {
        return Ok(None);
    }
    sqlite::read_database(&rows.database, &mut |connection| {
        if !has_column(connection, &rows.table, &rows.column)? {
            return Ok(None);
        }
        if let Some(member) = &rows.member {
            return digest_member(connection, rows, member);
        }
        let key = key_condition(&rows.column, rows.is_prefix);
        let query = format!("SELECT * FROM {} WHERE {key}", quote_name(&rows.table));
        let mut query = connection.prepare(&query)?;
        let columns = query.column_count();
        let mut found = query.query([&rows.value])?;
        let mut all = None;
        while let Some(row) = found.next()? {
            let mut one = Fingerprint::EMPTY;
            for column in 0..columns {
                one = match row.get_ref(column)? {
                    ValueRef::Null => one.extend_with(b"\0n"),
                    ValueRef::Integer(number) => one.extend_with(b"\0i").extend_with(&number.to_le_bytes()),
                    ValueRef::Real(number) => one.extend_with(b"\0r").extend_with(&number.to_le_bytes()),
                    ValueRef::Text(bytes) | ValueRef::Blob(bytes) => one.extend_with(b"\0t").extend_with(bytes),
                };
            }
            // Rows have no order of their own.
            all = Some(all.map_or(one, |all: Fingerprint| all.combine_unordered(one)));
        }
        Ok(all)
    })
}

/// Of what is no JSON any more, nothing is known to be ours.
fn digest_member(connection: &Connection, rows: &Rows, member: &Member) -> rusqlite::Result<Option<Fingerprint>> {
    if !has_column(connection, &rows.table, &member.column)? {
        return Ok(None);
    }
    let Some(Ok(found)) = StoredJson::read(connection, &rows.row_key(), &member.column)? else { return Ok(None) };
    let json = MemberPlace::from(member).find(&found.text).ok().flatten();
    Ok(json.map(|json| Fingerprint::from_bytes(json.as_bytes())))
}

/// All values of a column; none where there is no such database or table.
pub(crate) fn column_values(database: &Path, table: &str, column: &str) -> Result<Vec<String>, AgentError> {
    if !database.is_file() {
        return Ok(Vec::new());
    }
    sqlite::read_database(database, &mut |connection| {
        if !has_column(connection, table, column)? {
            return Ok(Vec::new());
        }
        let mut query = connection.prepare(&format!("SELECT {} FROM {}", quote_name(column), quote_name(table)))?;
        query.query_map([], |row| row.get(0))?.collect()
    })
}

/// The owners of our rows that came with them.
pub(crate) fn new_owner_values(rows: &Rows) -> Result<Vec<String>, AgentError> {
    if !rows.database.is_file() {
        return Ok(Vec::new());
    }
    sqlite::read_database(&rows.database, &mut |connection| {
        Ok(new_owners(connection, rows)?.into_iter().map(|(_, value)| value).collect())
    })
}

/// Opens a database that is there. Without the flag to create, one that vanishes meanwhile stays away.
pub(super) fn open_for_writing(database: &Path) -> rusqlite::Result<Connection> {
    sqlite::check_files(database).map_err(|error| cannot_open(&error))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(database, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    sqlite::protect(&connection)?;
    let bytes = fs_err::metadata(database).map_or(0, |metadata| metadata.len());
    sqlite::limit_work(&mut connection, bytes, None)?;
    Ok(connection)
}

fn cannot_open(error: &std::io::Error) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CANTOPEN), Some(error.to_string()))
}

/// Deletes them in a transaction, which ends with nothing done unless it is committed.
fn begin_deletes(database: &Path, rows: &[&Rows]) -> Result<Connection, DeleteError> {
    let connection = open_for_writing(database)?;
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let mut owners = Vec::new();
    // Before anything that refers to it goes.
    let shared: Vec<&Rows> = rows.iter().copied().filter(|row| is_shared(&connection, row)).collect();
    for row in rows {
        if let Some(member) = &row.member {
            if !shared.contains(row) {
                delete_member(&connection, row, member)?;
            }
        } else if has_column(&connection, &row.table, &row.column)? {
            owners.extend(new_owners(&connection, row)?);
            let key = key_condition(&row.column, row.is_prefix);
            let statement = format!("DELETE FROM {} WHERE {key}", quote_name(&row.table));
            connection.execute(&statement, [&row.value])?;
        }
    }
    for (owner, value) in owners {
        delete_unused_owner(&connection, owner, &value)?;
    }
    Ok(connection)
}

/// Whether others refer to what a session shares with them; so it is, too, where the session does not refer to it any more.
fn is_shared(connection: &Connection, row: &Rows) -> bool {
    let Some((member, referrer)) = row.member.as_ref().and_then(|member| Some((member, member.referrer.as_ref()?)))
    else {
        return false;
    };
    let key = RowKey { value: &referrer.row, ..row.row_key() };
    let found = StoredJson::read(connection, &key, &member.column).ok().flatten().and_then(Result::ok);
    found.is_none_or(|found| !is_only_referrer(&found.text, &referrer.name, &member.name))
}

fn commit(connection: Connection) -> rusqlite::Result<()> {
    connection.execute_batch("COMMIT")?;
    // Closing is what takes the log away again, where nobody else has the database open.
    connection.close().map_err(|(_, error)| error)
}

/// Takes a member out of the JSON that its client keeps; a row that was begun for it goes with it, if nothing else came.
fn delete_member(connection: &Connection, row: &Rows, member: &Member) -> Result<(), DeleteError> {
    if !has_column(connection, &row.table, &row.column)? || !has_column(connection, &row.table, &member.column)? {
        return Ok(());
    }
    let bad_value = |reason| DeleteError::Value { key: row.value.clone(), reason };
    let Some(found) = StoredJson::read(connection, &row.row_key(), &member.column)? else { return Ok(()) };
    let found = found.map_err(bad_value)?;
    let left = MemberPlace::from(member).remove(&found.text);
    let Some(left) = left.map_err(|reason| bad_value(reason.into()))? else { return Ok(()) };
    let [table, column, json] = [&row.table, &row.column, &member.column].map(|name| quote_name(name));
    if member.is_row_new && left == member.empty {
        connection.execute(&format!("DELETE FROM {table} WHERE {column} = ?1"), [&row.value])?;
    } else {
        let statement = format!("UPDATE {table} SET {json} = ?2 WHERE {column} = ?1");
        connection.execute(&statement, rusqlite::params![row.value, found.replace(left)])?;
    }
    Ok(())
}

/// The owners of the rows that were not there before them.
fn new_owners<'a>(connection: &Connection, row: &'a Rows) -> rusqlite::Result<Vec<(&'a Owner, String)>> {
    let Some(owner) = &row.owner else { return Ok(Vec::new()) };
    let is_there = has_column(connection, &row.table, &row.column)?;
    if !is_there
        || !has_column(connection, &row.table, &owner.by)?
        || !has_column(connection, &owner.table, &owner.column)?
    {
        return Ok(Vec::new());
    }
    let by = quote_name(&owner.by);
    let query = format!(
        "SELECT DISTINCT {by} FROM {} WHERE {} = ?1 AND {by} IS NOT NULL",
        quote_name(&row.table),
        quote_name(&row.column)
    );
    let mut query = connection.prepare(&query)?;
    let found: Vec<String> = query.query_map([&row.value], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(found.into_iter().filter(|value| !owner.before.contains(value)).map(|value| (owner, value)).collect())
}

/// Deletes a row that nothing belongs to any more.
fn delete_unused_owner(connection: &Connection, owner: &Owner, value: &str) -> rusqlite::Result<()> {
    let query = "SELECT DISTINCT s.name FROM sqlite_schema AS s, pragma_table_info(s.name) AS c
                 WHERE s.type = 'table' AND c.name = ?1";
    let mut query = connection.prepare(query)?;
    let tables: Vec<String> = query.query_map([&owner.by], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for table in tables {
        let query =
            format!("SELECT EXISTS (SELECT 1 FROM {} WHERE {} = ?1)", quote_name(&table), quote_name(&owner.by));
        if connection.query_row(&query, [value], |row| row.get(0))? {
            return Ok(());
        }
    }
    let statement = format!("DELETE FROM {} WHERE {} = ?1", quote_name(&owner.table), quote_name(&owner.column));
    connection.execute(&statement, [value])?;
    Ok(())
}

impl Rows {
    fn row_key(&self) -> RowKey<'_> {
        RowKey { table: &self.table, column: &self.column, value: &self.value }
    }
}

/// Clients drop and rename tables; a table or column that is not there holds no row of ours.
pub(super) fn has_column(connection: &Connection, table: &str, column: &str) -> rusqlite::Result<bool> {
    let query = "SELECT EXISTS (SELECT 1 FROM sqlite_schema AS s, pragma_table_info(s.name) AS c
                 WHERE s.type = 'table' AND s.name = ?1 AND c.name = ?2)";
    connection.query_row(query, [table, column], |row| row.get(0))
}

/// The condition that a column is the parameter, or begins with it.
pub(super) fn key_condition(column: &str, is_prefix: bool) -> String {
    let column = quote_name(column);
    // A range, for which an index is used: databases grow to gigabytes.
    if is_prefix { format!("{column} >= ?1 AND {column} < ?1 || char(1114111)") } else { format!("{column} = ?1") }
}

pub(super) fn quote_name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file_names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs_err::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn sample_rows(database: &Path, table: &str, column: &str) -> Rows {
        Rows {
            database: database.into(),
            table: table.into(),
            column: column.into(),
            value: "ours".into(),
            is_prefix: false,
            left: None,
            is_session: true,
            owner: None,
            member: None,
        }
    }

    fn create_database(database: &Path) -> Connection {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let connection = Connection::open_with_flags(database, flags).unwrap();
        let sql = "PRAGMA journal_mode = WAL; CREATE TABLE t (\"i\"\"d\" TEXT);
                   INSERT INTO t VALUES ('ours'), ('theirs');";
        connection.execute_batch(sql).unwrap();
        connection
    }

    fn count_rows(connection: &Connection) -> i64 {
        connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn what_the_rows_hold_is_told_from_what_they_held() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("index.sqlite");
        let owner = create_database(&database);
        let ours = sample_rows(&database, "t", "i\"d");
        let before = compute_digest(&ours).unwrap();
        owner.execute_batch("INSERT INTO t VALUES ('theirs')").unwrap();
        assert_eq!(compute_digest(&ours).unwrap(), before);
        owner.execute_batch("INSERT INTO t VALUES ('ours')").unwrap();
        assert!(before.is_some() && compute_digest(&ours).unwrap() != before);
        assert_eq!(compute_digest(&sample_rows(&database, "gone", "x")).unwrap(), None);
    }

    #[test]
    fn only_our_rows_go_and_nothing_is_left_beside() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("index.sqlite");
        create_database(&database).close().unwrap();
        assert_eq!(file_names(folder.path()), ["index.sqlite"]);
        delete(&[
            sample_rows(&database, "t", "i\"d"),
            sample_rows(&database, "gone", "x"),
            sample_rows(&database, "t", "gone"),
        ])
        .unwrap();
        assert_eq!(file_names(folder.path()), ["index.sqlite"]);
        let connection = Connection::open_with_flags(&database, OpenFlags::default()).unwrap();
        assert_eq!(count_rows(&connection), 1);
    }

    #[test]
    fn a_trigger_without_an_end_is_stopped_and_takes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("index.sqlite");
        let owner = create_database(&database);
        let sql = "CREATE TRIGGER g AFTER DELETE ON t BEGIN
                       SELECT count(x) FROM (WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n);
                   END;";
        owner.execute_batch(sql).unwrap();
        assert!(delete(&[sample_rows(&database, "t", "i\"d")]).is_err());
        assert_eq!(count_rows(&owner), 2);
    }

    #[test]
    fn what_was_made_for_our_rows_goes_with_the_last_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("index.sqlite");
        let owner = create_database(&database);
        let sql = "CREATE TABLE project (id TEXT); INSERT INTO project VALUES ('old'), ('new');
                   CREATE TABLE session (id TEXT, project_id TEXT);
                   INSERT INTO session VALUES ('ours', 'new'), ('ours', 'old'), ('theirs', 'new');";
        owner.execute_batch(sql).unwrap();
        let names = || column_values(&database, "project", "id").unwrap();
        let kept =
            Owner { table: "project".into(), column: "id".into(), by: "project_id".into(), before: vec!["old".into()] };
        let ours = Rows { owner: Some(kept), ..sample_rows(&database, "session", "id") };
        delete(std::slice::from_ref(&ours)).unwrap();
        assert_eq!(names(), ["old", "new"], "somebody else's session is in it");
        owner
            .execute_batch("DELETE FROM session; INSERT INTO session VALUES ('ours', 'new'), ('ours', 'old')")
            .unwrap();
        delete(&[ours]).unwrap();
        assert_eq!(names(), ["old"]);
    }

    #[test]
    fn an_index_in_use_is_changed_and_one_that_is_locked_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("index.sqlite");
        let owner = create_database(&database);
        delete(&[sample_rows(&database, "t", "i\"d")]).unwrap();
        assert_eq!(count_rows(&owner), 1);
        owner.execute_batch("BEGIN IMMEDIATE").unwrap();
        assert!(delete(&[sample_rows(&database, "t", "i\"d")]).is_err());
    }

    #[test]
    fn no_database_is_made_and_a_broken_one_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("index.sqlite");
        delete(&[sample_rows(&database, "t", "id")]).unwrap();
        assert!(file_names(folder.path()).is_empty());
        crate::own::files::write_private(&database, b"not a database, but long enough to be looked at").unwrap();
        assert!(delete(&[sample_rows(&database, "t", "id")]).is_err());
        assert!(fs_err::read(&database).unwrap().starts_with(b"not a database"));
    }
}
