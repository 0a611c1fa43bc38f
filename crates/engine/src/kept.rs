//! `.carryover/` in a project: what is private to its user, and never committed.

use std::io;
use std::path::{Path, PathBuf};

use crate::disk::{Disk, RealDisk};

/// The folder's name.
pub const FOLDER: &str = ".carryover";

/// Keeps git away from everything in the folder, itself included.
const IGNORE: &str = "*\n";

/// Writes a file into the project's own folder, which is kept from git before its first byte is written.
pub fn write(project: &Path, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    write_on(&mut RealDisk, project, name, bytes)
}

pub(crate) fn write_on(disk: &mut dyn Disk, project: &Path, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    let folder = project.join(FOLDER);
    // A clone may bring a link of that name, which would lead us to write elsewhere.
    if fs_err::symlink_metadata(&folder).is_ok_and(|metadata| !metadata.is_dir()) {
        let message = format!("{} is not a folder", folder.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
    }
    let ignore = folder.join(".gitignore");
    if fs_err::symlink_metadata(&ignore).is_err() {
        disk.write_own(&ignore, IGNORE.as_bytes())?;
    }
    let path = folder.join(name);
    disk.write_own(&path, bytes)?;
    Ok(path)
}
