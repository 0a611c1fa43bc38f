//! The ledger: our own record of every session, which outlives what agents delete.
//!
//! It holds what a store held, byte for byte (`archive`), what was said in it entry by entry (`ingest`), and an index of
//! the words (`index`). One process writes at a time; everybody may read. What is forgotten is gone from the disk.

mod archive;
mod at_risk;
mod entry_text;
pub mod forget;
mod handoffs;
mod hook_log;
mod index;
mod ingest;
mod kept_session;
mod lineage;
pub mod restore;
mod schema;
pub mod search;
mod snippet;
mod stored_text;
pub mod sync;
mod tombstone;
mod words;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::AgentError;
use carryover_agents::formats::sqlite::companion_path;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::context::Context;
use crate::own::files;

pub use at_risk::{AtRisk, at_risk};
pub use handoffs::HandoffRecord;
pub use hook_log::HookRecord;
pub use index::IndexedCount;
pub use ingest::Ingested;
pub use kept_session::{KeptSession, LookupError, gone_sessions};
pub use lineage::LineageLink;

const FILE_NAME: &str = "ledger.sqlite";
const LOCK_NAME: &str = "ledger.lock";
/// What a ledger that could not be read is called, with the time behind it.
const SET_ASIDE_PREFIX: &str = "ledger.sqlite.broken-";

/// The files that a database consists of besides itself.
const COMPANIONS: [&str; 2] = ["-wal", "-shm"];

#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    #[error("could not open {}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the ledger could not be read or written")]
    Database(#[from] rusqlite::Error),
    #[error("{} was written by a newer carryover: its schema is {found}, and this one knows {known}", path.display())]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("{} is being read by another carryover: it is forgotten, and its bytes are not yet gone", path.display())]
    Busy { path: PathBuf },
    #[error("something could not be packed for the ledger")]
    NotPacked(#[source] io::Error),
    #[error("a part of the ledger cannot be unpacked")]
    Damaged(#[source] io::Error),
    #[error(transparent)]
    Agent(#[from] AgentError),
}

impl LedgerError {
    /// Whether the file itself is not what it should be.
    pub fn is_corrupt(&self) -> bool {
        let code = if let Self::Database(error) = self { error.sqlite_error_code() } else { None };
        matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)) || matches!(self, Self::Damaged(_))
    }
}

/// The ledger, open.
pub struct Ledger {
    connection: Connection,
    path: PathBuf,
    /// Held by the one who writes.
    lock: Option<File>,
}

/// What opening the ledger came to.
pub struct OpenedLedger {
    pub ledger: Ledger,
    /// Where one that could not be read was put; this one is new.
    pub set_aside: Option<PathBuf>,
}

impl Ledger {
    /// Opens it for writing, and waits for whoever else writes.
    pub fn open(context: &Context) -> Result<OpenedLedger, LedgerError> {
        let lock = open_lock(context)?;
        lock.lock().map_err(io_error(&context.home.join(LOCK_NAME)))?;
        Self::open_locked(context, lock)
    }

    /// The same; `None` where somebody else writes.
    pub fn try_open(context: &Context) -> Result<Option<OpenedLedger>, LedgerError> {
        let lock = open_lock(context)?;
        match lock.try_lock() {
            Ok(()) => Self::open_locked(context, lock).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// Opens it for reading; `None` where there is none yet.
    pub fn open_for_reading(context: &Context) -> Result<Option<Self>, LedgerError> {
        let path = file_path(context);
        if !path.is_file() {
            return Ok(None);
        }
        let connection = connect(&path)?;
        // One that is only being made, or of an earlier carryover, is for whoever writes to bring up to date.
        if !schema::check_version(&connection, &path)? {
            return Ok(None);
        }
        connection.pragma_update(None, "query_only", true)?;
        Ok(Some(Self { connection, path, lock: None }))
    }

    fn open_locked(context: &Context, lock: File) -> Result<OpenedLedger, LedgerError> {
        let path = file_path(context);
        match open_migrated(&path) {
            Ok(connection) => Ok(OpenedLedger { ledger: Self { connection, path, lock: Some(lock) }, set_aside: None }),
            Err(error) if error.is_corrupt() => {
                let aside = set_aside(context, &path).map_err(io_error(&path))?;
                let ledger = Self { connection: open_migrated(&path)?, path, lock: Some(lock) };
                Ok(OpenedLedger { ledger, set_aside: Some(aside) })
            }
            Err(error) => Err(error),
        }
    }

    /// Puts a ledger that turned out to be broken out of the way, and begins a new one.
    pub fn begin_anew(self, context: &Context) -> Result<OpenedLedger, LedgerError> {
        let Self { connection, path, lock } = self;
        // It cannot be read any more: what goes wrong with its end changes nothing.
        drop(connection);
        let aside = set_aside(context, &path).map_err(io_error(&path))?;
        let ledger = Self { connection: open_migrated(&path)?, path, lock };
        Ok(OpenedLedger { ledger, set_aside: Some(aside) })
    }

    /// How many pages it has, for tests that fill the disk.
    #[cfg(test)]
    pub(crate) fn page_count(&self) -> u32 {
        self.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap()
    }

    /// Fails at once where somebody else has it.
    #[cfg(test)]
    pub(crate) fn wait_for_nobody(&self) {
        self.connection.busy_timeout(std::time::Duration::ZERO).unwrap();
    }

    /// Lets it grow to so many pages and no further.
    #[cfg(test)]
    pub(crate) fn limit_pages(&self, pages: u32) {
        let limit = format!("PRAGMA max_page_count = {pages}");
        self.connection.query_row(&limit, [], |_| Ok(())).unwrap();
    }

    /// How many bytes it has on the disk.
    pub fn disk_bytes(&self) -> u64 {
        let companions = COMPANIONS.iter().map(|end| companion_path(&self.path, end));
        let size = |path: PathBuf| fs_err::metadata(path).map_or(0, |metadata| metadata.len());
        std::iter::once(self.path.clone()).chain(companions).map(size).sum()
    }

    /// How many sessions it holds.
    pub fn n_sessions(&self) -> Result<u64, LedgerError> {
        Ok(self.connection.query_row("SELECT count(*) FROM session", [], |row| row.get(0))?)
    }
}

/// Where the ledger is.
pub fn file_path(context: &Context) -> PathBuf {
    context.home.join(FILE_NAME)
}

/// Ledgers that could not be read and were put out of the way.
fn list_set_aside(context: &Context) -> Vec<PathBuf> {
    let Ok(listing) = fs_err::read_dir(&context.home) else { return Vec::new() };
    let is_aside = |path: &PathBuf| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(SET_ASIDE_PREFIX))
    };
    listing.filter_map(Result::ok).map(|entry| entry.path()).filter(is_aside).collect()
}

fn set_aside(context: &Context, path: &Path) -> io::Result<PathBuf> {
    let time = context.env.now.to_string().replace([':', '.'], "-");
    let mut aside = context.home.join(format!("{SET_ASIDE_PREFIX}{time}"));
    let mut number = 1;
    while aside.exists() {
        number += 1;
        aside = context.home.join(format!("{SET_ASIDE_PREFIX}{time}-{number}"));
    }
    fs_err::rename(path, &aside)?;
    for end in COMPANIONS {
        let companion = companion_path(path, end);
        if companion.exists() {
            fs_err::rename(companion, companion_path(&aside, end))?;
        }
    }
    Ok(aside)
}

fn open_lock(context: &Context) -> Result<File, LedgerError> {
    let path = context.home.join(LOCK_NAME);
    files::create_private_folder(&context.home).and_then(|()| open_private(&path)).map_err(io_error(&path))
}

/// Opens a file for its owner alone, which is made where it is not there.
fn open_private(path: &Path) -> io::Result<File> {
    let mut options = std::fs::OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn open_migrated(path: &Path) -> Result<Connection, LedgerError> {
    // The files that the database makes beside itself are as private as it is.
    open_private(path).map_err(io_error(path))?;
    let mut connection = connect(path)?;
    schema::check_version(&connection, path)?;
    schema::migrate(&mut connection)?;
    Ok(connection)
}

fn connect(path: &Path) -> Result<Connection, LedgerError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    // What is kept comes in large pieces; what is deleted is overwritten; a log that grew is given back.
    connection.execute_batch(
        "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON;
         PRAGMA cache_size = -4000; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 16777216;
         PRAGMA wal_autocheckpoint = 4000;",
    )?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> LedgerError {
    let path = path.to_owned();
    move |source| LedgerError::Io { path, source }
}
