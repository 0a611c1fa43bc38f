//! Databases of others, read so that their owner never notices.
//!
//! A database without a log beside it is read as it lies on the disk, and looked at again afterwards: if it has changed
//! meanwhile, what was read counts for nothing and is read again. One with a log is read through the shared memory that
//! its owner made. Nothing is created, nobody is waited for, and nobody is made to wait for long.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::file;
use crate::AgentError;

/// The first bytes of every database.
pub const MAGIC: &[u8] = b"SQLite format 3\0";

/// How often a database that changes while it is read is read again.
const MAX_ATTEMPTS: usize = 4;

/// Whether a file begins like a database.
pub fn is_database(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// Looks into a database. `look` is called again, from the beginning, where the database changed under it.
pub fn read_database<T>(
    path: &Path,
    look: &mut dyn FnMut(&Connection) -> rusqlite::Result<T>,
) -> Result<T, AgentError> {
    let mut left = MAX_ATTEMPTS;
    loop {
        left -= 1;
        let before = Stamp::from_path(path)?;
        let result = open_read_only(path, &before).and_then(|connection| {
            let result = look(&connection);
            connection.close().map_err(|(_, error)| error)?;
            result
        });
        // A log that came or went means that another way of reading is right now.
        let same = if before.has_log() { Stamp::from_path(path)?.has_log() } else { Stamp::from_path(path)? == before };
        match result {
            Ok(found) if same => return Ok(found),
            Err(error) if same || left == 0 => return Err(database_error(path, error)),
            _ if left == 0 => {
                let busy = io::Error::new(io::ErrorKind::ResourceBusy, "it changed each time that it was read");
                return Err(AgentError::Io(io::Error::new(busy.kind(), format!("{}: {busy}", path.display()))));
            }
            _ => {}
        }
    }
}

fn database_error(path: &Path, source: rusqlite::Error) -> AgentError {
    AgentError::Database { path: path.to_owned(), source }
}

fn open_read_only(path: &Path, stamp: &Stamp) -> rusqlite::Result<Connection> {
    let is_alone = stamp.log > 0 && !is_shared_memory(&companion_path(path, "-shm"));
    let how = match (stamp.has_log(), is_alone) {
        (false, _) => "immutable=1",
        (true, false) => "readonly_shm=1",
        // Nobody has it open: shared memory is not needed, and would have to be made.
        (true, true) if cfg!(windows) => "vfs=win32-none",
        (true, true) => "vfs=unix-none",
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(format!("{}?mode=ro&{how}", file_uri(path)), flags)?;
    connection.busy_timeout(std::time::Duration::ZERO)?;
    // The log is its owner's to bring in.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // One plan for every value: a query that is asked once for each message would else be prepared anew each time.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    if is_alone {
        connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE")?;
    }
    if stamp.log > 0 || !stamp.has_log() {
        // One state for all that is looked at, and no look at the file before each query. With a log that keeps nobody
        // from writing, and what is read as it lies on the disk is not locked at all.
        connection.execute_batch("BEGIN")?;
    }
    Ok(connection)
}

/// Whether a file is the memory that the users of a database share. `SQLite` itself would try for ten seconds to make
/// sense of anything else, and wait for a pipe without an end.
fn is_shared_memory(path: &Path) -> bool {
    // Whoever writes it writes it twice; it may be met between the two.
    const MAX_ATTEMPTS: usize = 3;
    (0..MAX_ATTEMPTS).any(|_| {
        let mut head = [0; 2 * SHARED_HEAD_BYTES];
        let read = file::open_regular(path).and_then(|mut file| file.read_exact(&mut head));
        read.is_ok() && is_shared_head_valid(&head)
    })
}

/// How long the head of the shared memory is, of which there are two copies.
const SHARED_HEAD_BYTES: usize = 48;

/// By what `SQLite` knows that shared memory is in use: two copies that are the same, a mark and a checksum.
fn is_shared_head_valid(heads: &[u8; 2 * SHARED_HEAD_BYTES]) -> bool {
    const MARK_OFFSET: usize = 12;
    const CHECKED_BYTES: usize = 40;
    let (head, copy) = heads.split_at(SHARED_HEAD_BYTES);
    let number = |at: usize| head[at..at + 4].try_into().map_or(0, u32::from_ne_bytes);
    let sum = (0..CHECKED_BYTES).step_by(8).fold((0_u32, 0_u32), |(first, second), at| {
        let first = first.wrapping_add(number(at)).wrapping_add(second);
        (first, second.wrapping_add(number(at + 4)).wrapping_add(first))
    });
    head == copy && head[MARK_OFFSET] != 0 && sum == (number(CHECKED_BYTES), number(CHECKED_BYTES + 4))
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

/// The file that belongs to a database and has its name with an ending.
pub fn companion_path(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// By what a change is noticed.
#[derive(PartialEq, Eq)]
struct Stamp {
    size: u64,
    modified: Option<SystemTime>,
    /// How long the log and the journal beside it are.
    log: u64,
    journal: u64,
}

impl Stamp {
    fn from_path(path: &Path) -> Result<Self, AgentError> {
        let metadata = fs_err::metadata(path)?;
        let length = |ending| fs_err::metadata(companion_path(path, ending)).map_or(0, |metadata| metadata.len());
        Ok(Self {
            size: metadata.len(),
            modified: metadata.modified().ok(),
            log: length("-wal"),
            journal: length("-journal"),
        })
    }

    fn has_log(&self) -> bool {
        self.log > 0 || self.journal > 0
    }
}

/// The columns of a table; none where there is no such table.
pub fn table_columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut query = connection.prepare_cached("SELECT name FROM pragma_table_info(?1)")?;
    query.query_map([table], |row| row.get(0))?.collect()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests {
    use super::*;

    fn file_names(folder: &Path) -> Vec<String> {
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = files.collect();
        names.sort();
        names
    }

    fn make_database(path: &Path) -> Connection {
        let connection = Connection::open(path).unwrap();
        connection.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1)").unwrap();
        connection
    }

    fn count_rows(path: &Path) -> Result<i64, AgentError> {
        read_database(path, &mut |connection| connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0)))
    }

    #[test]
    fn a_database_at_rest_is_read_without_a_trace() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a ?b%20#c.db");
        make_database(&path).close().unwrap();
        let before = std::fs::read(&path).unwrap();
        assert_eq!(count_rows(&path).unwrap(), 1);
        assert_eq!(file_names(folder.path()), ["a ?b%20#c.db"]);
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }

    #[test]
    #[cfg(unix)]
    fn a_database_is_read_by_any_path_that_leads_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a \\ ü.db");
        make_database(&path).close().unwrap();
        let here = std::env::current_dir().unwrap();
        let mut relative: PathBuf = here.components().skip(1).map(|_| "..").collect();
        relative.extend(path.canonicalize().unwrap().components().skip(1));
        assert_eq!(count_rows(&relative).unwrap(), 1);
        assert_eq!(count_rows(&Path::new("/").join(format!("/{}", path.display()))).unwrap(), 1);
    }

    #[test]
    fn what_stands_in_the_log_is_read_and_the_log_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let owner = make_database(&path);
        owner.execute_batch("INSERT INTO t VALUES (2); BEGIN IMMEDIATE; INSERT INTO t VALUES (3)").unwrap();
        assert_eq!(count_rows(&path).unwrap(), 2);
        owner.execute_batch("COMMIT").unwrap();
        assert_eq!(count_rows(&path).unwrap(), 3);
        assert_eq!(file_names(folder.path()), ["a.db", "a.db-shm", "a.db-wal"]);
    }

    #[test]
    fn what_a_killed_owner_left_is_read_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let owner = make_database(&path);
        let copy = folder.path().join("copy");
        std::fs::create_dir(&copy).unwrap();
        for ending in ["", "-wal", "-shm"] {
            std::fs::copy(companion_path(&path, ending), companion_path(&copy.join("a.db"), ending)).unwrap();
        }
        drop(owner);
        let bytes = |ending| std::fs::read(companion_path(&copy.join("a.db"), ending)).unwrap();
        let before = (bytes(""), bytes("-wal"), bytes("-shm"));
        assert_eq!(count_rows(&copy.join("a.db")).unwrap(), 1);
        assert!(before == (bytes(""), bytes("-wal"), bytes("-shm")));
        assert_eq!(file_names(&copy), ["a.db", "a.db-shm", "a.db-wal"]);
        std::fs::remove_file(copy.join("a.db-shm")).unwrap();
        assert_eq!(count_rows(&copy.join("a.db")).unwrap(), 1);
        assert!((before.0, before.1) == (bytes(""), bytes("-wal")));
        assert_eq!(file_names(&copy), ["a.db", "a.db-wal"]);
    }

    #[test]
    fn what_changes_meanwhile_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        make_database(&path).close().unwrap();
        let mut times = 0;
        let found = read_database(&path, &mut |connection| {
            times += 1;
            if times == 1 {
                let owner = Connection::open(&path)?;
                owner.execute_batch("INSERT INTO t SELECT zeroblob(9000)")?;
                owner.close().map_err(|(_, error)| error)?;
            }
            connection.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0))
        });
        assert_eq!((found.unwrap(), times), (2, 2));
    }

    #[test]
    fn what_is_no_database_is_an_error_and_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        assert!(count_rows(&path).is_err());
        std::fs::write(&path, "not a database, but long enough to be looked at as one").unwrap();
        assert!(matches!(count_rows(&path), Err(AgentError::Database { .. })));
        assert_eq!(file_names(folder.path()), ["a.db"]);
    }
}
