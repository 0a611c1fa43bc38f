//! Databases of others, read so that their owner never notices.
//!
//! A database without a log beside it is read as it lies on the disk, and looked at again afterwards: if it has changed
//! meanwhile, what was read counts for nothing and is read again. Where its owner writes without a pause, it is locked for
//! reading, as briefly as can be. One with a log is read through the shared memory that its owner made. Nothing is created,
//! and nobody waits for long, neither the owner nor we.

mod guard;
mod shared_memory;
mod stamp;
mod trouble;

use std::io;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, ffi};

pub use self::guard::{Bounds, check_files, limit_work, protect};
use self::stamp::Stamp;
pub use self::stamp::companion_path;
pub use self::trouble::DatabaseTrouble;
use crate::AgentError;

/// The first bytes of every database.
pub const MAGIC: &[u8] = b"SQLite format 3\0";

/// How a database that changes while it is read is read again, and how long its owner is given before.
const ATTEMPTS: [(Manner, Duration); 6] = [
    (Manner::Unlocked, Duration::ZERO),
    (Manner::Unlocked, Duration::from_millis(5)),
    (Manner::Unlocked, Duration::from_millis(15)),
    (Manner::Locked, Duration::from_millis(15)),
    (Manner::LockedByStatement, Duration::from_millis(30)),
    (Manner::LockedByStatement, Duration::from_millis(30)),
];

/// How long a lock of its owner's is waited for, which is about as long as one write takes.
const MAX_WAIT: Duration = Duration::from_millis(120);

/// How long an owner that changes a database in place may be kept from it, which waits for a second where it waits at all.
const MAX_HOLD: Duration = Duration::from_millis(200);

/// How often, and how long after each other, a journal is looked at that may have been begun at this very moment.
const JOURNAL_LOOKS: usize = 15;
const JOURNAL_PAUSE: Duration = Duration::from_millis(4);

/// How a database without a log is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// As it lies on the disk, while nobody changes it.
    Unlocked,
    /// Its owner waits until all was looked at.
    Locked,
    /// Its owner waits for each of the queries alone, and may write in between: what was a state at the beginning may have
    /// another end.
    LockedByStatement,
}

/// Whether a file begins like a database.
pub fn is_database(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// Looks into a database. `look` is called again, from the beginning, where the database changed under it.
pub fn read_database<T>(
    path: &Path,
    look: &mut dyn FnMut(&Connection) -> rusqlite::Result<T>,
) -> Result<T, AgentError> {
    let mut failed = None;
    for (manner, pause) in ATTEMPTS {
        std::thread::sleep(pause);
        let before = Stamp::from_path(path)?;
        let Some(way) = Way::choose(path, &before, manner) else { continue };
        if way != Way::AsItLies {
            guard::check_files(path)?;
        }
        let result = way.look_patiently(path, &before, look);
        // A log that came or went means that another way of reading is right now.
        let same = match way {
            Way::AsItLies => Stamp::from_path(path)? == before,
            Way::Shared | Way::AloneWithLog => Stamp::from_path(path)?.log > 0,
            Way::Locked | Way::LockedByStatement => true,
        };
        match result {
            Ok(found) if same => return Ok(found),
            Ok(_) => {}
            Err(error) if way.may_yet_succeed(&error) => failed = Some(error),
            Err(error) if same => return Err(database_error(path, error)),
            Err(error) => failed = Some(error),
        }
    }
    Err(failed.map_or_else(|| changing_error(path), |error| database_error(path, error)))
}

fn database_error(path: &Path, source: rusqlite::Error) -> AgentError {
    AgentError::Database { path: path.to_owned(), source }
}

/// A log that comes and goes with each look.
fn changing_error(path: &Path) -> AgentError {
    let message = format!("{}: it changed each time that it was read", path.display());
    AgentError::Io(io::Error::new(io::ErrorKind::ResourceBusy, message))
}

/// How a database is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    AsItLies,
    Locked,
    LockedByStatement,
    /// With its log, beside others that have it open.
    Shared,
    /// With its log, which nobody has open.
    AloneWithLog,
}

impl Way {
    /// The way for a moment; `None` where that is no moment to read it in.
    fn choose(path: &Path, stamp: &Stamp, manner: Manner) -> Option<Self> {
        if stamp.log > 0 {
            let is_shared = shared_memory::is_shared_memory(&companion_path(path, "-shm"));
            return Some(if is_shared { Self::Shared } else { Self::AloneWithLog });
        }
        match manner {
            // Its owner is in the middle of a change.
            Manner::Unlocked => (stamp.journal == 0).then_some(Self::AsItLies),
            _ if !stamp::is_changed_in_place(path) => Some(Self::AsItLies),
            Manner::Locked => Some(Self::Locked),
            Manner::LockedByStatement => Some(Self::LockedByStatement),
        }
    }

    /// Whether what failed may be had by another attempt, though nothing changed: a look was too slow for a lock on all of
    /// it, or met a journal that its owner was just beginning, which looks like one that was left behind.
    fn may_yet_succeed(self, error: &rusqlite::Error) -> bool {
        match DatabaseTrouble::from_error(error) {
            DatabaseTrouble::Endless => self == Self::Locked,
            DatabaseTrouble::HalfChanged => true,
            _ => false,
        }
    }

    /// Looks again where a journal seems to have been left behind: one that its owner was just beginning looks the same, and is
    /// gone the next moment.
    fn look_patiently<T>(
        self,
        path: &Path,
        stamp: &Stamp,
        look: &mut dyn FnMut(&Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let is_begun = |result: &rusqlite::Result<T>| {
            result.as_ref().is_err_and(|error| DatabaseTrouble::from_error(error) == DatabaseTrouble::HalfChanged)
        };
        let mut result = self.look_into(path, stamp, look);
        for _ in 1..JOURNAL_LOOKS {
            if !is_begun(&result) {
                break;
            }
            std::thread::sleep(JOURNAL_PAUSE);
            result = self.look_into(path, stamp, look);
        }
        result
    }

    fn look_into<T>(
        self,
        path: &Path,
        stamp: &Stamp,
        look: &mut dyn FnMut(&Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let mut connection = self.open(path)?;
        let lasting = (self == Self::Locked).then_some(MAX_HOLD);
        let bounds = guard::limit_work(&mut connection, stamp.bytes(), lasting)?;
        if self != Self::LockedByStatement {
            // One state for all that is looked at, and no look at the file before each query.
            connection.execute_batch("BEGIN")?;
        }
        let result = look(&connection).map_err(|error| guard::explain_refusal(&connection, error));
        connection.close().map_err(|(_, error)| error)?;
        // Whoever looked may have taken the bound for a row that cannot be read.
        if bounds.is_reached() { Err(interrupt_error()) } else { result }
    }

    fn open(self, path: &Path) -> rusqlite::Result<Connection> {
        let how = match self {
            Self::AsItLies => "&immutable=1",
            Self::Shared => "&readonly_shm=1",
            // Shared memory is not needed, and would have to be made.
            Self::AloneWithLog if cfg!(windows) => "&vfs=win32-none",
            Self::AloneWithLog => "&vfs=unix-none",
            Self::Locked | Self::LockedByStatement => "",
        };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(format!("{}?mode=ro{how}", file_uri(path)), flags)?;
        connection.busy_timeout(MAX_WAIT)?;
        guard::protect_reading(&connection)?;
        // The log is its owner's to bring in.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        // One plan for every value: a query that is asked once for each message would else be prepared anew each time.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        if self == Self::AloneWithLog {
            connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE")?;
        }
        Ok(connection)
    }
}

fn interrupt_error() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_INTERRUPT), None)
}

/// The path as an address; what has a meaning in addresses is escaped. A relative path stays one.
fn file_uri(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    // The host is nobody's: where none is named, a second slash of the path would begin one.
    let mut uri = String::from(match bytes.first() {
        Some(first) if std::path::is_separator(char::from(*first)) => "file://",
        _ if path.is_absolute() => "file:///",
        _ => "file:",
    });
    for byte in bytes {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'%' | b'?' | b'#' | 0x80.. => uri.extend(["%", &format!("{byte:02x}")]),
            _ => uri.push(char::from(*byte)),
        }
    }
    uri
}

/// The columns of a table; none where there is no such table.
pub fn table_columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut query = connection.prepare_cached("SELECT name FROM pragma_table_info(?1)")?;
    query.query_map([table], |row| row.get(0))?.collect()
}

#[cfg(test)]
mod tests;
