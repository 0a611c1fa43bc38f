//! Our own folder: settings, what is remembered, and how our files are written.

pub(crate) mod cache;
pub mod config;
pub(crate) mod files;
pub(crate) mod fingerprint;
pub mod permissions;
pub mod private;
pub mod project_settings;
pub(crate) mod sha256;

use std::io;
use std::path::Path;

/// Removes our own folder with everything in it; a link in its place is only taken away.
pub fn remove_folder(home: &Path) -> io::Result<()> {
    match fs_err::symlink_metadata(home) {
        Ok(metadata) if metadata.is_dir() => fs_err::remove_dir_all(home),
        Ok(_) => fs_err::remove_file(home),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
