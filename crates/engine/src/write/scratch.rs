//! Temporary files: where they lie, who is still at them, and how those go that a kill left behind.
//!
//! Whoever makes one holds a lock on it for as long as he lives, and a vendor's command that is given a folder holds the
//! folder's. What nobody holds was left behind, and the next command sweeps it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::context::Context;
use crate::handoff::project_dir;
use crate::own::files::{self, TEMP_PREFIX, TEMP_SUFFIX};
use crate::sessions::project;
use crate::write::journal::{self, Journal, Lock, State};

/// In our own folder.
const FOLDER: &str = "tmp";
/// The file by whose lock a folder is held.
const LOCK_NAME: &str = ".held";
/// How long a vendor's command may go on without us: it has a whole session to write.
const COMMAND_TIMEOUT: Duration = Duration::from_mins(3);
/// How long one that was ended may take to be gone, with all that it started.
const END_TIMEOUT: Duration = Duration::from_secs(3);

/// A private folder for one run of a vendor's command; it goes with the last who holds it.
pub(crate) struct ScratchFolder {
    lock: File,
    folder: TempDir,
}

impl ScratchFolder {
    /// Makes one; the lock on all that is written is held.
    pub(crate) fn create(home: &Path) -> io::Result<Self> {
        let above = home.join(FOLDER);
        files::create_private_folder(&above)?;
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = builder.prefix(TEMP_PREFIX).tempdir_in(above)?;
        let held = create_locked(&folder.path().join(LOCK_NAME))?;
        Ok(Self { lock: held, folder })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Standard error of a command: by it the command holds the folder, and so do those that it starts.
    #[cfg(unix)]
    pub(crate) fn stderr(&self) -> io::Result<Stdio> {
        Ok(self.lock.try_clone()?.into())
    }

    /// Elsewhere nobody but the owner of a lock can write to what it is on.
    #[cfg(not(unix))]
    pub(crate) fn stderr(&self) -> io::Result<Stdio> {
        Ok(Stdio::null())
    }

    /// The end of what a command said there.
    pub(crate) fn read_stderr(&self) -> Vec<u8> {
        const MAX_BYTES: u64 = 16 << 10;
        let read = || {
            let mut file = fs_err::File::open(self.folder.path().join(LOCK_NAME))?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(MAX_BYTES)))?;
            let mut bytes = Vec::new();
            file.take(MAX_BYTES).read_to_end(&mut bytes)?;
            io::Result::Ok(bytes)
        };
        // Where it cannot be read, the exit code has to do.
        read().unwrap_or_default()
    }

    /// Removes it once nobody else holds it; one that is still held is left to the next command.
    pub(crate) fn remove_when_free(self) {
        drop(self.lock);
        let end = Instant::now() + END_TIMEOUT;
        while is_held(self.folder.path()) {
            if Instant::now() >= end {
                // Whoever holds it reads from it.
                let _: PathBuf = self.folder.keep();
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn create_locked(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    file.lock()?;
    Ok(file)
}

fn is_held(folder: &Path) -> bool {
    OpenOptions::new().write(true).open(folder.join(LOCK_NAME)).is_ok_and(|file| file.try_lock().is_err())
}

fn list_folders(home: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs_err::read_dir(home.join(FOLDER)) else { return Vec::new() };
    entries.flatten().map(|entry| entry.path()).filter(|path| is_temporary(path)).collect()
}

/// Whether a vendor's command of an earlier resume is at work without us.
pub(crate) fn is_any_held(home: &Path) -> bool {
    list_folders(home).iter().any(|folder| is_held(folder))
}

/// Waits for the vendor's commands of resumes that were killed, and removes what they were given; the lock is held.
/// Whether all of them have ended.
pub(crate) fn wait_for_commands(home: &Path) -> bool {
    let end = Instant::now() + COMMAND_TIMEOUT;
    while is_any_held(home) {
        if Instant::now() >= end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    sweep_folders(home);
    true
}

fn sweep_folders(home: &Path) {
    for folder in list_folders(home).iter().filter(|folder| !is_held(folder)) {
        // If it stays, the next command tries again.
        fs_err::remove_dir_all(folder).ok();
    }
    fs_err::remove_dir(home.join(FOLDER)).ok();
}

/// Removes the temporary files of commands that were killed. What is not ours, or still held, stays.
pub fn sweep_abandoned(context: &Context) {
    if !list_folders(&context.home).is_empty()
        && let Some(_lock) = Lock::try_acquire(context)
    {
        sweep_folders(&context.home);
    }
    let mut places = vec![context.home.clone(), journal::folder_path(context)];
    for project in project::with_repository_root(&context.cwd) {
        places.push(project.join(project_dir::FOLDER));
        places.push(project);
    }
    let unfinished = journal::read_all(context).into_iter().filter(|journal| journal.state == State::Writing);
    places.extend(unfinished.flat_map(|journal| staging_folders(&journal)));
    for folder in &places {
        sweep_files(context, folder);
    }
}

/// The folders in which a resume makes files before it puts them in their place; those of sessions are looked after
/// when it is taken back.
fn staging_folders(journal: &Journal) -> Vec<PathBuf> {
    let ignored = journal.ignored.iter().map(|ignored| &ignored.file);
    let files = journal.blocks.iter().map(|block| &block.file).chain(ignored);
    let folders = files.filter_map(|file| file.parent()).map(Path::to_owned);
    folders.chain([journal.project.join(project_dir::FOLDER)]).collect()
}

fn sweep_files(context: &Context, folder: &Path) {
    // A clone may bring a link in the place of our folder.
    if !fs_err::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_dir())
        && folder.ends_with(project_dir::FOLDER)
    {
        return;
    }
    let Ok(entries) = fs_err::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let is_file = || fs_err::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file());
        if !is_temporary(&path) || !path.to_string_lossy().ends_with(TEMP_SUFFIX) || !is_file() {
            continue;
        }
        // Nobody holds one between its being written and its being put in its place; whoever does that has the lock.
        if !is_staged(&path) {
            remove_abandoned(&path);
        } else if let Some(_lock) = Lock::try_acquire(context) {
            remove_abandoned(&path);
        }
    }
}

/// Whether a temporary file is one of a resume's, by whose id it is named.
fn is_staged(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.strip_prefix(TEMP_PREFIX).is_some_and(|rest| rest.contains('-'))
}

fn remove_abandoned(path: &Path) {
    let held = OpenOptions::new().write(true).open(path);
    if held.is_ok_and(|file| file.try_lock().is_ok()) {
        // If it stays, the next command tries again.
        fs_err::remove_file(path).ok();
    }
}

fn is_temporary(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(TEMP_PREFIX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::world::World;

    #[test]
    fn what_a_resume_is_about_to_put_in_its_place_is_not_swept() {
        let world = World::new();
        let staged = world.context.cwd.join(".carryover-0000abcd-xyz.tmp");
        files::write_private(&staged, b"a session").unwrap();
        let lock = Lock::acquire(&world.context).unwrap();
        sweep_abandoned(&world.context);
        assert!(staged.exists(), "somebody is at it");
        drop(lock);
        sweep_abandoned(&world.context);
        assert!(!staged.exists(), "a kill left it behind");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_the_place_of_our_folder_is_not_swept() {
        let world = World::new();
        let elsewhere = tempfile::tempdir().unwrap();
        let theirs = elsewhere.path().join(".carryover-theirs.tmp");
        files::write_private(&theirs, b"theirs").unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), world.context.cwd.join(project_dir::FOLDER)).unwrap();
        sweep_abandoned(&world.context);
        assert!(theirs.exists());
    }
}
