#![expect(clippy::disallowed_methods, reason = "tests make their own files")]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;

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

#[cfg(unix)]
#[test]
fn a_pipe_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let make_pipe = |path: &Path| std::process::Command::new("mkfifo").arg(path).status().unwrap().success();
    assert!(make_pipe(&path));
    assert!(count_rows(&path).unwrap_err().to_string().ends_with("a.db is a pipe, not a file"));
    // One beside it is not looked at where the database is read as it lies, and opened by nobody otherwise.
    let path = folder.path().join("b.db");
    let owner = make_database(&path);
    assert!(make_pipe(&companion_path(&path, "-journal")));
    assert!(count_rows(&path).unwrap_err().to_string().ends_with("b.db-journal is a pipe, not a file"));
    owner.close().unwrap_or_else(|(_, error)| panic!("{error}"));
}

#[test]
fn a_view_in_the_place_of_a_table_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let owner = Connection::open(&path).unwrap();
    let sql = "CREATE VIEW t AS WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n;";
    owner.execute_batch(sql).unwrap();
    owner.close().unwrap();
    let error = count_rows(&path).unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("`t` is a view"), "{error}: {source}");
}

/// A tree of pages each of which leads a hundred times to the next one: it has more rows than can ever be read.
#[test]
fn pages_that_lead_to_each_other_come_to_an_end() {
    const PAGE: usize = 4096;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let owner = Connection::open(&path).unwrap();
    owner.execute_batch("CREATE TABLE t (x); CREATE TABLE filler AS SELECT zeroblob(60000)").unwrap();
    let leaf =
        "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 50) INSERT INTO t SELECT x FROM n";
    owner.execute_batch(leaf).unwrap();
    owner.close().unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let root = 2;
    let last = bytes.len() / PAGE;
    let leaf = bytes[(root - 1) * PAGE..root * PAGE].to_vec();
    bytes[(last - 1) * PAGE..].copy_from_slice(&leaf);
    let inner: Vec<usize> = [root].into_iter().chain(last - 8..last).collect();
    for (at, page) in inner.iter().enumerate() {
        let child = u32::try_from(*inner.get(at + 1).unwrap_or(&last)).unwrap().to_be_bytes();
        let page = &mut bytes[(page - 1) * PAGE..page * PAGE];
        page.fill(0);
        let cell = PAGE - 8;
        page[0] = 5;
        page[3..5].copy_from_slice(&100_u16.to_be_bytes());
        page[5..7].copy_from_slice(&u16::try_from(cell).unwrap().to_be_bytes());
        page[8..12].copy_from_slice(&child);
        for pointer in page[12..212].chunks_mut(2) {
            pointer.copy_from_slice(&u16::try_from(cell).unwrap().to_be_bytes());
        }
        page[cell..cell + 4].copy_from_slice(&child);
        page[cell + 4] = 1;
    }
    std::fs::write(&path, bytes).unwrap();
    let read = read_database(&path, &mut |connection| {
        // A reader that takes an error for a row that cannot be read.
        let sum: Option<i64> = connection.query_row("SELECT sum(x) FROM t", [], |row| row.get(0)).ok();
        Ok(sum)
    });
    let error = read.unwrap_err();
    assert_eq!(error.database_trouble(), Some(DatabaseTrouble::Endless), "{error}");
}

/// An owner that writes without a pause, as long as it lives, and never waits for anybody.
struct BusyOwner {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Written>>,
}

/// What came of an owner's writes.
#[derive(Debug, Default)]
struct Written {
    count: u32,
    /// The longest that it could not write.
    longest: Duration,
}

impl BusyOwner {
    fn start(path: &Path, journal_mode: &str) -> Self {
        let owner = Connection::open(path).unwrap();
        let mode = format!("PRAGMA journal_mode = {journal_mode}; PRAGMA synchronous = OFF;");
        owner.execute_batch(&mode).unwrap();
        owner.execute_batch("CREATE TABLE IF NOT EXISTS t (x); INSERT INTO t VALUES (1)").unwrap();
        owner.busy_timeout(Duration::ZERO).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let thread = std::thread::spawn({
            let stop = Arc::clone(&stop);
            move || write_until(&owner, &stop)
        });
        Self { stop, thread: Some(thread) }
    }

    fn end(mut self) -> Written {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

fn write_until(owner: &Connection, stop: &AtomicBool) -> Written {
    let mut written = Written::default();
    let mut last = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        if owner.execute_batch("UPDATE t SET x = x + 1").is_ok() {
            written.count += 1;
            last = Instant::now();
        } else {
            written.longest = written.longest.max(last.elapsed());
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    written
}

#[test]
fn a_database_whose_owner_writes_all_the_time_is_read() {
    for mode in ["DELETE", "TRUNCATE", "PERSIST", "WAL"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let owner = BusyOwner::start(&path, mode);
        for time in 0..30 {
            let read = read_database(&path, &mut |connection| {
                // As long as a listing takes.
                std::thread::sleep(Duration::from_millis(20));
                connection.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0))
            });
            assert_eq!(read.unwrap_or_else(|error| panic!("{mode}, {time}: {error}")), 1);
        }
        let written = owner.end();
        assert!(written.count > 30 && written.longest < Duration::from_secs(1), "{mode}: {written:?}");
    }
}

#[test]
fn one_state_is_read_where_there_is_time_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let owner = BusyOwner::start(&path, "DELETE");
    for _ in 0..10 {
        let [first, second] = read_database(&path, &mut |connection| {
            let sum = || connection.query_row("SELECT sum(x) FROM t", [], |row| row.get::<_, i64>(0));
            let first = sum()?;
            std::thread::sleep(Duration::from_millis(5));
            Ok([first, sum()?])
        })
        .unwrap();
        assert_eq!(first, second);
    }
    owner.end();
}

#[test]
fn what_cannot_be_read_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let trouble = |path: &Path| {
        let begun = Instant::now();
        let error = count_rows(path).unwrap_err();
        assert!(begun.elapsed() < Duration::from_secs(2), "{error}");
        (error.database_trouble().unwrap(), error.to_string())
    };
    let [locked, killed, other] = ["locked.db", "killed.db", "other.db"].map(|name| folder.path().join(name));
    let owner = Connection::open(&locked).unwrap();
    owner.execute_batch("CREATE TABLE t (x); BEGIN EXCLUSIVE; INSERT INTO t VALUES (1)").unwrap();
    let (found, told) = trouble(&locked);
    assert_eq!(found, DatabaseTrouble::InUse);
    assert!(told.ends_with("locked.db could not be read as a database: it is in use by its client"), "{told}");
    // As its owner left it when it was killed while it wrote.
    let bytes = "PRAGMA cache_size = 1; INSERT INTO t SELECT zeroblob(90000); INSERT INTO t SELECT zeroblob(90000)";
    owner.execute_batch(bytes).unwrap();
    for ending in ["", "-journal"] {
        std::fs::copy(companion_path(&locked, ending), companion_path(&killed, ending)).unwrap();
    }
    let journal = std::fs::read(companion_path(&killed, "-journal")).unwrap();
    let (found, told) = trouble(&killed);
    assert_eq!(found, DatabaseTrouble::HalfChanged, "{told}");
    assert!(std::fs::read(companion_path(&killed, "-journal")).unwrap() == journal, "only its client may take it back");
    std::fs::write(&other, [MAGIC, &[7; 5000]].concat()).unwrap();
    assert!(matches!(trouble(&other).0, DatabaseTrouble::NoDatabase | DatabaseTrouble::Damaged));
}
