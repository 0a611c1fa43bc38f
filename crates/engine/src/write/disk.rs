//! Everything that changes something outside of memory, in one place, so that tests can stop it anywhere.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use carryover_agents::{NewRow, VendorCommand};
use carryover_core::time::Timestamp;

use crate::context::Context;
use crate::handoff::project_dir;
use crate::own::files::{self, TEMP_PREFIX, TEMP_SUFFIX};
use crate::own::fingerprint::Fingerprint;
use crate::write::journal::{Lines, Rows};
use crate::write::lines::{self, LinesError};
use crate::write::new_rows::{self, AddRowsError};
use crate::write::processes::{self, Process};
use crate::write::rows::{self, RowsError};
use crate::write::run::{self, RunError};

/// A file to be made.
pub(crate) struct NewFile<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) private: bool,
    pub(crate) modified: Timestamp,
}

/// The world as far as we change it.
pub(crate) trait Disk {
    /// Replaces one of our own files.
    fn write_own(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Replaces a file of a project that is not ours alone; who may read it stays as it is.
    fn replace_shared(&mut self, path: &Path, bytes: &[u8], project: &Path) -> io::Result<()>;
    /// Makes one folder; the one above it exists. A private one is its owner's alone, whatever the process is set to.
    fn create_folder(&mut self, path: &Path, private: bool) -> io::Result<()>;
    /// Writes a file beside its place and brings it to disk; `mark` is part of its name.
    fn stage(&mut self, folder: &Path, mark: &str, new: &NewFile<'_>) -> io::Result<PathBuf>;
    /// Puts a staged file in its place; never over another one.
    fn publish(&mut self, staged: &Path, path: &Path) -> io::Result<()>;
    fn remove_file(&mut self, path: &Path) -> io::Result<()>;
    /// Removes a folder if it is empty.
    fn remove_folder(&mut self, path: &Path) -> io::Result<()>;
    fn run(&mut self, run: &VendorCommand, context: &Context) -> Result<(), RunError>;
    /// The processes of this user's, by which an editor is known to run.
    fn list_processes(&mut self) -> io::Result<Vec<Process>> {
        processes::list_own()
    }
    /// Puts rows into one database, all or none, where the values that they are added to are as they were copied.
    fn insert_rows(&mut self, database: &Path, rows: &[(&NewRow, Option<Fingerprint>)]) -> Result<(), AddRowsError> {
        new_rows::insert(database, rows)
    }
    fn delete_rows(&mut self, rows: &[Rows]) -> Result<(), RowsError>;
    fn append_line(&mut self, lines: &Lines, line: &str) -> io::Result<()>;
    fn remove_lines(&mut self, lines: &[Lines]) -> Result<(), LinesError>;
}

/// The real one.
pub(crate) struct RealDisk;

impl Disk for RealDisk {
    fn write_own(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        files::write_private(path, bytes)
    }

    fn replace_shared(&mut self, path: &Path, bytes: &[u8], project: &Path) -> io::Result<()> {
        files::replace_shared(path, bytes, &project.join(project_dir::FOLDER))
    }

    fn create_folder(&mut self, path: &Path, private: bool) -> io::Result<()> {
        files::create_folder(path, private)?;
        files::sync_folder(files::parent_folder(path)?)
    }

    fn stage(&mut self, folder: &Path, mark: &str, new: &NewFile<'_>) -> io::Result<PathBuf> {
        let prefix = temp_prefix(mark);
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(TEMP_SUFFIX);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(if new.private { 0o600 } else { 0o644 }));
        let mut file = builder.tempfile_in(folder)?;
        file.write_all(new.bytes)?;
        file.as_file().set_modified(system_time(new.modified))?;
        file.as_file().sync_all()?;
        file.into_temp_path().keep().map_err(|failed| failed.error)
    }

    fn publish(&mut self, staged: &Path, path: &Path) -> io::Result<()> {
        let staged = tempfile::TempPath::try_from_path(staged)?;
        staged.persist_noclobber(path).map_err(|failed| failed.error)?;
        files::sync_folder(files::parent_folder(path)?)
    }

    fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        fs_err::remove_file(path)?;
        files::sync_folder(files::parent_folder(path)?)
    }

    fn remove_folder(&mut self, path: &Path) -> io::Result<()> {
        fs_err::remove_dir(path)
    }

    fn run(&mut self, run: &VendorCommand, context: &Context) -> Result<(), RunError> {
        run::run_program(run, &context.env, &context.home)
    }

    fn delete_rows(&mut self, rows: &[Rows]) -> Result<(), RowsError> {
        rows::delete(rows)
    }

    fn append_line(&mut self, lines: &Lines, line: &str) -> io::Result<()> {
        lines::append(lines, line)
    }

    fn remove_lines(&mut self, lines: &[Lines]) -> Result<(), LinesError> {
        lines::remove_all(lines)
    }
}

/// How the staged files of one resume begin.
pub(crate) fn temp_prefix(mark: &str) -> String {
    format!("{TEMP_PREFIX}{mark}-")
}

fn system_time(at: Timestamp) -> SystemTime {
    let millis = Duration::from_millis(at.millis().unsigned_abs());
    if at.millis() < 0 { SystemTime::UNIX_EPOCH - millis } else { SystemTime::UNIX_EPOCH + millis }
}
