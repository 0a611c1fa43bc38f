//! Lines of ours in a client's own index: put at its end, taken out again.
//!
//! The index is the client's: it is changed under the client's own lock, every other byte stays as it was, and nothing
//! is left beside it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::own::files;
use crate::write::journal::Lines;

/// Its owner may be writing to it.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
const MAX_BYTES: u64 = 256 << 20;

#[derive(Debug, thiserror::Error)]
#[error("could not take our lines out of {}", file.display())]
pub(crate) struct LinesError {
    file: PathBuf,
    #[source]
    source: io::Error,
}

/// Takes lines out, each index whole or not at all. What is not there is not missed.
pub(crate) fn remove_all(all: &[Lines]) -> Result<(), LinesError> {
    for lines in all {
        remove_from_index(lines).map_err(|source| LinesError { file: lines.file.clone(), source })?;
    }
    Ok(())
}

/// Puts a line at the end of an index, which is begun where there is none.
pub(crate) fn append(lines: &Lines, line: &str) -> io::Result<()> {
    let _held = lines.lock.as_deref().map(acquire_lock).transpose()?.flatten();
    let before = files::read_bounded(&lines.file, MAX_BYTES)?.unwrap_or_default();
    let gap = if before.is_empty() || before.ends_with(b"\n") { "" } else { "\n" };
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut index = options.open(&lines.file)?;
    index.write_all(format!("{gap}{line}\n").as_bytes())?;
    index.sync_all()?;
    files::sync_folder(files::parent_folder(&lines.file)?)
}

fn remove_from_index(lines: &Lines) -> io::Result<()> {
    let lock = lines.lock.as_deref();
    let held = lock.map(acquire_lock).transpose()?.flatten();
    let result = remove_matching(&lines.file, lines.containing.as_bytes());
    if let (Ok(()), Some(_), Some(lock), true) = (&result, &held, lock, lines.is_lock_new) {
        // While it is held: nobody is in the midst of anything.
        fs_err::remove_file(lock)?;
    }
    result
}

/// Takes the client's lock; one that is not there is not made.
fn acquire_lock(path: &Path) -> io::Result<Option<File>> {
    let file = match OpenOptions::new().read(true).write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let end = Instant::now() + LOCK_TIMEOUT;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if Instant::now() >= end => return Err(io::ErrorKind::WouldBlock.into()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

fn remove_matching(path: &Path, containing: &[u8]) -> io::Result<()> {
    let Some(before) = files::read_bounded(path, MAX_BYTES)? else { return Ok(()) };
    let is_ours =
        |line: &&[u8]| !containing.is_empty() && line.windows(containing.len()).any(|some| some == containing);
    let after =
        before.split_inclusive(|byte| *byte == b'\n').filter(|line| !is_ours(line)).collect::<Vec<_>>().concat();
    if after.len() == before.len() {
        return Ok(());
    }
    // A link stays a link.
    let path = fs_err::canonicalize(path)?;
    if after.is_empty() {
        // An index is begun with its first line.
        fs_err::remove_file(&path)?;
        return files::sync_folder(files::parent_folder(&path)?);
    }
    replace_file(&path, &after)
}

/// Puts other bytes in a file's place, in one step; whose it is and how old stays.
fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = files::parent_folder(path)?;
    let metadata = fs_err::metadata(path)?;
    let mut new = files::create_temporary(folder)?;
    new.write_all(bytes)?;
    new.as_file().set_permissions(metadata.permissions())?;
    new.as_file().set_modified(metadata.modified()?)?;
    new.as_file().sync_all()?;
    new.persist(path).map_err(|failed| failed.error)?;
    files::sync_folder(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Index {
        folder: tempfile::TempDir,
    }

    impl Index {
        fn with_text(text: &str) -> Self {
            let index = Self { folder: tempfile::tempdir().unwrap() };
            files::write_private(&index.file(), text.as_bytes()).unwrap();
            files::write_private(&index.lock(), b"").unwrap();
            index
        }

        fn file(&self) -> PathBuf {
            self.folder.path().join("index.jsonl")
        }

        fn lock(&self) -> PathBuf {
            self.folder.path().join("index.jsonl.lock")
        }

        fn remove_ours(&self, is_lock_new: bool) -> Result<(), LinesError> {
            let containing = "\"ours\"".to_owned();
            remove_all(&[Lines { file: self.file(), containing, lock: Some(self.lock()), is_lock_new }])
        }

        fn file_names(&self) -> Vec<String> {
            let listing = fs_err::read_dir(self.folder.path()).unwrap();
            let mut names: Vec<String> = listing.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    #[test]
    fn every_other_byte_stays() {
        let index = Index::with_text(
            "{\"id\":\"theirs\"}\r\n\n{\"id\":\"ours\"}\n{\"id\":\"ours\",\"n\":2}\nnot \u{fffd} ended",
        );
        let aged = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        fs_err::OpenOptions::new().write(true).open(index.file()).unwrap().into_file().set_modified(aged).unwrap();
        #[cfg(unix)]
        fs_err::set_permissions(index.file(), std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
        index.remove_ours(false).unwrap();
        assert_eq!(fs_err::read_to_string(index.file()).unwrap(), "{\"id\":\"theirs\"}\r\n\nnot \u{fffd} ended");
        assert_eq!(index.file_names(), ["index.jsonl", "index.jsonl.lock"]);
        let metadata = fs_err::metadata(index.file()).unwrap();
        assert_eq!(metadata.modified().unwrap(), aged);
        #[cfg(unix)]
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777, 0o640);
    }

    #[test]
    fn an_index_that_holds_nothing_else_goes_with_its_lock() {
        let index = Index::with_text("{\"id\":\"ours\"}\n");
        index.remove_ours(true).unwrap();
        assert!(index.file_names().is_empty());
        index.remove_ours(true).unwrap();
        assert!(index.file_names().is_empty(), "what is not there is not made");
    }

    #[test]
    fn an_index_in_use_is_left_as_it_is() {
        let index = Index::with_text("{\"id\":\"ours\"}\n");
        let owner = OpenOptions::new().write(true).open(index.lock()).unwrap();
        owner.lock().unwrap();
        assert!(index.remove_ours(true).is_err());
        assert_eq!(index.file_names(), ["index.jsonl", "index.jsonl.lock"]);
        owner.unlock().unwrap();
        index.remove_ours(false).unwrap();
        assert_eq!(index.file_names(), ["index.jsonl.lock"], "the lock was there before");
    }
}
