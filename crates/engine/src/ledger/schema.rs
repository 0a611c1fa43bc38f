//! The tables, and how those of an earlier carryover become today's: forward only, one step a version.

use std::path::Path;

use rusqlite::Connection;

use super::LedgerError;

/// One step for each version; none of them is changed once it was released.
const MIGRATIONS: &[&str] = &[VERSION_1, VERSION_2];

/// Offsets are kept with their first bit turned, so that they are in order as signed numbers. The text of an entry is
/// plain where it is short and packed where it is a blob. A chunk counts from its revision on, and no longer from `until`
/// on, where it has one. The index holds words and no text.
const VERSION_1: &str = "
    CREATE TABLE session (
        id INTEGER PRIMARY KEY,
        agent TEXT NOT NULL,
        session TEXT NOT NULL,
        store TEXT NOT NULL,
        path TEXT NOT NULL,
        key TEXT,
        title TEXT,
        project TEXT,
        branch TEXT,
        model TEXT,
        started_at INTEGER,
        updated_at INTEGER,
        stamp TEXT,
        bookmark TEXT,
        revision INTEGER NOT NULL DEFAULT 0,
        ingested_at INTEGER NOT NULL,
        gone_at INTEGER,
        UNIQUE (agent, session)
    );
    CREATE TABLE entry (
        id INTEGER PRIMARY KEY,
        session INTEGER NOT NULL REFERENCES session (id) ON DELETE CASCADE,
        file INTEGER NOT NULL,
        offset INTEGER NOT NULL,
        part INTEGER NOT NULL,
        length INTEGER NOT NULL,
        revision INTEGER NOT NULL DEFAULT 0,
        kind TEXT NOT NULL,
        origin TEXT NOT NULL,
        at INTEGER,
        side INTEGER NOT NULL,
        retracted INTEGER NOT NULL DEFAULT 0,
        digest INTEGER,
        text,
        indexed INTEGER NOT NULL
    );
    CREATE UNIQUE INDEX entry_key ON entry (session, file, offset, part);
    CREATE INDEX entry_pending ON entry (id) WHERE indexed = 0;
    CREATE TABLE file (
        id INTEGER PRIMARY KEY,
        session INTEGER NOT NULL REFERENCES session (id) ON DELETE CASCADE,
        path TEXT NOT NULL,
        role TEXT NOT NULL,
        owner TEXT,
        revision INTEGER NOT NULL DEFAULT 0,
        size INTEGER NOT NULL,
        modified INTEGER NOT NULL,
        private INTEGER NOT NULL,
        UNIQUE (session, path)
    );
    CREATE TABLE chunk (
        id INTEGER PRIMARY KEY,
        file INTEGER NOT NULL REFERENCES file (id) ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        revision INTEGER NOT NULL,
        until INTEGER,
        size INTEGER NOT NULL,
        digest INTEGER NOT NULL,
        bytes BLOB NOT NULL
    );
    CREATE UNIQUE INDEX chunk_place ON chunk (file, seq, revision);
    CREATE TABLE tombstone (name BLOB PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
    CREATE VIRTUAL TABLE words USING fts5 (terms, content = '', contentless_delete = 1, tokenize = 'ascii');
";

/// What was published and what hooks told name sessions that may not be in the ledger yet, so nothing refers to `session`.
/// The index is made anew from the entries: without the places of words, which nobody asks for, and with the beginnings
/// of words, which are typed.
const VERSION_2: &str = "
    CREATE TABLE handoff (
        id INTEGER PRIMARY KEY,
        project TEXT NOT NULL,
        agent TEXT NOT NULL,
        session TEXT NOT NULL,
        at INTEGER NOT NULL,
        digest INTEGER NOT NULL,
        text
    );
    CREATE INDEX handoff_project ON handoff (project, id);
    CREATE TABLE hook_event (
        id INTEGER PRIMARY KEY,
        agent TEXT NOT NULL,
        kind TEXT NOT NULL,
        session TEXT,
        folder TEXT,
        at INTEGER NOT NULL
    );
    CREATE INDEX hook_event_time ON hook_event (at);
    CREATE TABLE lineage (
        source_agent TEXT NOT NULL,
        source TEXT NOT NULL,
        target_agent TEXT NOT NULL,
        target TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (target_agent, target, source_agent, source)
    ) WITHOUT ROWID;
    CREATE INDEX lineage_source ON lineage (source_agent, source);
    DROP TABLE words;
    CREATE VIRTUAL TABLE words USING fts5
        (terms, content = '', contentless_delete = 1, tokenize = 'ascii', detail = none, prefix = '1 2 3');
    UPDATE entry SET indexed = 0 WHERE text IS NOT NULL;
";

/// The newest schema, by number.
fn newest_version() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Whether the tables are of today; refuses a ledger that a newer carryover wrote.
pub(super) fn check_version(connection: &Connection, path: &Path) -> Result<bool, LedgerError> {
    let (found, known) = (read_version(connection)?, newest_version());
    if found > known { Err(LedgerError::Newer { path: path.to_owned(), found, known }) } else { Ok(found == known) }
}

/// Brings the tables up to date; each step is whole or not done at all.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), LedgerError> {
    migrate_to(connection, newest_version())
}

fn migrate_to(connection: &mut Connection, version: i64) -> Result<(), LedgerError> {
    let done = usize::try_from(read_version(connection)?).unwrap_or(0);
    let wanted = usize::try_from(version).unwrap_or(0);
    for (index, step) in MIGRATIONS.iter().enumerate().take(wanted).skip(done) {
        let transaction = connection.transaction()?;
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "user_version", i64::try_from(index + 1).unwrap_or(i64::MAX))?;
        transaction.commit()?;
    }
    Ok(())
}

fn read_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One row of everything that a version brought. A new one adds its own here.
    fn sample_rows(version: i64) -> &'static str {
        match version {
            1 => {
                "INSERT INTO session (id, agent, session, store, path, ingested_at) VALUES (1, 'a', 's', '/st', '/p', 1);
                 INSERT INTO entry (session, file, offset, part, length, kind, origin, side, text, indexed)
                     VALUES (1, 0, 7, 0, 9, 'prompt', 'user', 0, 'kept words', 0);
                 INSERT INTO file (id, session, path, role, size, modified, private) VALUES (1, 1, '/p', 'own', 3, 1, 1);
                 INSERT INTO chunk (file, seq, revision, size, digest, bytes) VALUES (1, 0, 0, 3, 1, x'010203');
                 INSERT INTO tombstone VALUES (x'00', 1);
                 INSERT INTO words (rowid, terms) VALUES (1, 'kept words');"
            }
            2 => {
                "INSERT INTO handoff (project, agent, session, at, digest, text) VALUES ('/p', 'a', 's', 1, 1, 'told');
                 INSERT INTO hook_event (agent, kind, session, folder, at) VALUES ('a', 'prompt', 's', '/p', 1);
                 INSERT INTO lineage VALUES ('a', 's', 'b', 't', 1);"
            }
            _ => "",
        }
    }

    /// The tables that a version brought.
    const TABLES: &[(i64, &[&str])] =
        &[(1, &["session", "entry", "file", "chunk", "tombstone"]), (2, &["handoff", "hook_event", "lineage"])];

    #[test]
    fn a_ledger_of_every_earlier_schema_is_brought_up_to_date_with_what_it_holds() {
        for version in 0..=newest_version() {
            let mut connection = Connection::open_in_memory().unwrap();
            migrate_to(&mut connection, version).unwrap();
            for earlier in 1..=version {
                connection.execute_batch(sample_rows(earlier)).unwrap();
            }
            migrate(&mut connection).unwrap();
            assert_eq!(read_version(&connection).unwrap(), newest_version());
            let tables = TABLES.iter().flat_map(|(since, names)| names.iter().map(|name| (*since, *name)));
            for (since, table) in tables {
                let query = format!("SELECT count(*) FROM {table}");
                let count: i64 = connection.query_row(&query, [], |row| row.get(0)).unwrap();
                assert_eq!(count, i64::from(version >= since), "{table} from version {version}");
            }
            // An index of an earlier shape is made anew.
            let query = "SELECT count(*) FROM entry WHERE NOT indexed";
            let pending: i64 = connection.query_row(query, [], |row| row.get(0)).unwrap();
            assert_eq!(pending, i64::from(version > 0));
        }
    }

    #[test]
    fn a_step_that_fails_leaves_the_tables_as_they_were() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE chunk (mine)").unwrap();
        assert!(migrate(&mut connection).is_err());
        assert_eq!(read_version(&connection).unwrap(), 0);
        let tables = "SELECT count(*) FROM sqlite_schema WHERE type = 'table'";
        assert_eq!(connection.query_row(tables, [], |row| row.get::<_, i64>(0)).unwrap(), 1);
    }

    #[test]
    fn a_newer_ledger_is_refused() {
        let connection = Connection::open_in_memory().unwrap();
        connection.pragma_update(None, "user_version", newest_version() + 1).unwrap();
        let error = check_version(&connection, Path::new("/l")).unwrap_err();
        assert!(matches!(error, LedgerError::Newer { .. }) && !error.is_corrupt());
    }
}
