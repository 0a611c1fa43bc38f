//! Our own files: private, whole or not there at all.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fs_err::File;

/// Names of our files in the making, so that ones left by a crash can be told from everybody else's.
pub(crate) const TEMP_PREFIX: &str = ".carryover-";
pub(crate) const TEMP_SUFFIX: &str = ".tmp";

/// Writes one of our own files: 0600 in a 0700 folder, replaced in one step, on disk when this returns.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_private(path, bytes, true).map_err(|source| error_with_path(path, source))
}

/// The same for a file that may be lost: it is not waited for until it is on disk.
pub(crate) fn write_cached(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_private(path, bytes, false).map_err(|source| error_with_path(path, source))
}

/// The system's own error for a failed write does not name the file.
#[derive(Debug, thiserror::Error)]
#[error("could not write {}", path.display())]
struct WriteError {
    path: PathBuf,
    #[source]
    source: io::Error,
}

/// An error with the path that it is about.
pub(crate) fn error_with_path(path: &Path, source: io::Error) -> io::Error {
    io::Error::new(source.kind(), WriteError { path: path.to_owned(), source })
}

fn replace_private(path: &Path, bytes: &[u8], is_synced: bool) -> io::Result<()> {
    let folder = parent_folder(path)?;
    create_private_folder(folder)?;
    let mut file = create_temporary(folder)?;
    file.write_all(bytes)?;
    if is_synced {
        file.as_file().sync_all()?;
    }
    file.persist(path).map_err(|failed| failed.error)?;
    if is_synced { sync_folder(folder) } else { Ok(()) }
}

/// A file in the making. It is locked for as long as we live, so that one that was left behind is known by its being
/// free; where the system has no locks, it stays.
pub(crate) fn create_temporary(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    loop {
        let file = tempfile::Builder::new().prefix(TEMP_PREFIX).suffix(TEMP_SUFFIX).tempfile_in(folder)?;
        file.as_file().lock().ok();
        // Before it was locked, it looked like one that was left behind, and somebody may have swept it.
        if file.path().exists() {
            return Ok(file);
        }
    }
}

/// Replaces a file that is not ours alone, or makes it: in one step, with the permissions that it had. It is made in a
/// folder of ours, where that is there and on the same disk: beside its place, git would see it.
pub(crate) fn replace_shared(path: &Path, bytes: &[u8], aside: &Path) -> io::Result<()> {
    if fs_err::symlink_metadata(aside).is_ok_and(|metadata| metadata.is_dir())
        && replace_shared_via(aside, path, bytes).is_ok()
    {
        return Ok(());
    }
    replace_shared_via(parent_folder(path)?, path, bytes).map_err(|source| error_with_path(path, source))
}

fn replace_shared_via(aside: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = parent_folder(path)?;
    let mut file = create_temporary(aside)?;
    file.write_all(bytes)?;
    match fs_err::metadata(path) {
        Ok(metadata) => file.as_file().set_permissions(metadata.permissions())?,
        Err(_) => make_readable(file.as_file())?,
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|failed| failed.error)?;
    sync_folder(folder)
}

/// Lets others read a new file, as any editor would.
#[cfg(unix)]
fn make_readable(file: &std::fs::File) -> io::Result<()> {
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
}

#[cfg(not(unix))]
fn make_readable(_: &std::fs::File) -> io::Result<()> {
    Ok(())
}

/// Makes a folder that only its owner can open, and those above it that are missing.
pub(crate) fn create_private_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|source| error_with_path(folder, source))
}

/// Makes one folder: for its owner alone, or as any program would make it.
pub(crate) fn create_folder(folder: &Path, private: bool) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, if private { 0o700 } else { 0o755 });
    builder.create(folder).map_err(|source| error_with_path(folder, source))
}

/// Brings a folder's list of names to disk. Windows has no such call and keeps the order by itself.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Reads a file of ours; one that is not there is `None`, one that is longer than it can be is an error.
pub(crate) fn read_bounded(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    match carryover_agents::formats::file::read_bytes(path, limit) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Size and time of change, by which a cached fact about a file is known to be fresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Stamp {
    pub(crate) size: u64,
    pub(crate) mtime_ms: i64,
}

impl Stamp {
    pub(crate) fn from_path(path: &Path) -> io::Result<Self> {
        let metadata = fs_err::metadata(path)?;
        let since = metadata.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Ok(Self { size: metadata.len(), mtime_ms: i64::try_from(since.as_millis()).unwrap_or(i64::MAX) })
    }
}

/// The folder that a file is in.
pub(crate) fn parent_folder(path: &Path) -> io::Result<&Path> {
    path.parent().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a path without a folder"))
}

/// Removes a file of ours, if it is there.
pub(crate) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs_err::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
