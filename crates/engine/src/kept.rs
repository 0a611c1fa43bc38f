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
    // A link could lead anywhere.
    if folder.is_symlink() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{} is a link", folder.display())));
    }
    let ignore = folder.join(".gitignore");
    if !ignore.exists() {
        disk.write_own(&ignore, IGNORE.as_bytes())?;
    }
    let path = folder.join(name);
    disk.write_own(&path, bytes)?;
    Ok(path)
}
