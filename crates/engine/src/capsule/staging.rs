//! Folders of ours for what is on its way into a capsule or out of one. Each goes with whoever made it, and one that a kill
//! left behind with the next that is made.

use std::io;
use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::own::files::{self, TEMP_PREFIX, TEMP_SUFFIX};

/// A private folder, held by the lock on a file beside it.
pub(crate) struct StagingFolder {
    folder: PathBuf,
    _held: tempfile::NamedTempFile,
}

impl StagingFolder {
    /// Makes one in the folder of this name.
    pub(crate) fn create(context: &Context, name: &str) -> io::Result<Self> {
        let above = context.home.join(name);
        files::create_private_folder(&above)?;
        sweep_left(&above);
        let held = files::create_temporary(&above)?;
        let folder = folder_of(held.path());
        files::create_folder(&folder, true)?;
        Ok(Self { folder, _held: held })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.folder
    }
}

impl Drop for StagingFolder {
    fn drop(&mut self) {
        // If it stays, the next one sweeps it.
        fs_err::remove_dir_all(&self.folder).ok();
    }
}

fn folder_of(held: &Path) -> PathBuf {
    held.with_extension("folder")
}

/// Removes what nobody holds.
fn sweep_left(above: &Path) {
    let Ok(entries) = fs_err::read_dir(above) else { return };
    let is_ours = |name: &str| name.starts_with(TEMP_PREFIX) && name.ends_with(TEMP_SUFFIX);
    for entry in entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_ours)) {
        let path = entry.path();
        let is_free = std::fs::OpenOptions::new().write(true).open(&path).is_ok_and(|file| file.try_lock().is_ok());
        if is_free {
            fs_err::remove_dir_all(folder_of(&path)).ok();
            fs_err::remove_file(&path).ok();
        }
    }
}
