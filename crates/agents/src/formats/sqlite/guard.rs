//! Databases of others are not trusted: what their tables say of themselves may cost their own reader no more than an error.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use carryover_core::plain::one_line;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, ffi};

use super::stamp::companion_path;
use crate::formats::file;

/// How many steps of `SQLite`'s machine looking into a database may take: some whatever its size is, and some for each byte,
/// of which every row that is read takes several. A look at all rows takes a fraction of it.
const FREE_STEPS: u64 = 50_000_000;
const STEPS_PER_BYTE: u64 = 8;
/// A file may say of itself that it is as big as the disk, and bigger.
const MAX_STEPS: u64 = 4_000_000_000;

/// So often is looked whether a bound is reached.
const STEPS_BETWEEN: u16 = 10_000;

/// Whether a bound was reached. Who reads may take that for a row that cannot be read.
#[derive(Clone, Default)]
pub struct Bounds(Arc<AtomicBool>);

impl Bounds {
    pub fn is_reached(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Opening anything but files would wait for a pipe's other end, beside the database as in its place.
pub fn check_files(path: &Path) -> std::io::Result<()> {
    file::check_regular(path)?;
    ["-wal", "-journal"].iter().try_for_each(|ending| match file::check_regular(&companion_path(path, ending)) {
        // They come and go while its owner is at work.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        looked => looked,
    })
}

/// Turns off what a table could bring along to be run, for a connection that only reads.
pub(super) fn protect_reading(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    protect(connection)
}

/// The same for one that writes: triggers are how some owners keep their own tables of words.
pub fn protect(connection: &Connection) -> rusqlite::Result<()> {
    // Where a table is expected, a view may hold a query without an end.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.execute_batch("PRAGMA cell_size_check = ON")
}

/// What is said of a view that is not looked into is about its query; that it is one says more.
pub(super) fn explain_refusal(connection: &Connection, error: rusqlite::Error) -> rusqlite::Error {
    if error.sqlite_error_code() != Some(ErrorCode::Unknown) {
        return error;
    }
    let query = "SELECT name FROM sqlite_schema WHERE type = 'view' LIMIT 1";
    match connection.query_row(query, [], |row| row.get::<_, String>(0)) {
        Ok(name) => {
            let message = format!("`{}` is a view", one_line(&name, 80));
            rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_AUTH), Some(message))
        }
        Err(_) => error,
    }
}

/// Ends what takes more work than a database of this size can ask for: pages may lead to each other in circles. `lasting`
/// bounds the time besides, for who keeps the owner waiting.
pub fn limit_work(connection: &mut Connection, bytes: u64, lasting: Option<Duration>) -> rusqlite::Result<Bounds> {
    let bounds = Bounds::default();
    let reached = bounds.clone();
    let mut left = FREE_STEPS.saturating_add(bytes.saturating_mul(STEPS_PER_BYTE)).min(MAX_STEPS);
    let begun = Instant::now();
    let handler = move || {
        left = left.saturating_sub(STEPS_BETWEEN.into());
        let is_over = left == 0 || lasting.is_some_and(|most| begun.elapsed() > most);
        if is_over {
            reached.0.store(true, Ordering::Relaxed);
        }
        is_over
    };
    connection.progress_handler(STEPS_BETWEEN.into(), Some(handler))?;
    Ok(bounds)
}
