//! Our own folder is closed to others: by what stands in it files are removed, and stores are read.

use std::path::{Path, PathBuf};

#[cfg(unix)]
use crate::own::config;
use crate::write::journal;

/// Why what is in our own folder may not be ours.
#[derive(Debug, thiserror::Error)]
pub enum OpenToOthers {
    #[error("{} can be written by others, so what it says may not be yours", .0.display())]
    Writable(PathBuf),
    #[error("{} belongs to somebody else, so what it says may not be yours", .0.display())]
    Foreign(PathBuf),
}

impl OpenToOthers {
    pub fn path(&self) -> &Path {
        match self {
            Self::Writable(path) | Self::Foreign(path) => path,
        }
    }
}

/// Refuses a folder of ours that somebody else can write to, or could have written. One that is not there yet is made
/// closed.
#[cfg(unix)]
pub fn check_private(home: &Path) -> Result<(), OpenToOthers> {
    use std::os::unix::fs::MetadataExt;
    const OTHERS_WRITE: u32 = 0o022;
    const ROOT: u32 = 0;
    let we = rustix::process::geteuid().as_raw();
    for path in [home.to_owned(), journal::folder_in(home), config::file_path(home)] {
        let Ok(metadata) = fs_err::metadata(&path) else { continue };
        if metadata.mode() & OTHERS_WRITE != 0 {
            return Err(OpenToOthers::Writable(path));
        }
        // The administrator may look after the folders of others.
        if ![we, ROOT].contains(&metadata.uid()) && we != ROOT {
            return Err(OpenToOthers::Foreign(path));
        }
    }
    Ok(())
}

/// Elsewhere a user's own folder is closed by the system.
#[cfg(not(unix))]
pub fn check_private(_home: &Path) -> Result<(), OpenToOthers> {
    Ok(())
}
