//! `.carryover/` in a project: what is private to its user, and never committed.

use std::io;
use std::path::{Path, PathBuf};

use crate::disk::{Disk, RealDisk};

/// The folder's name.
pub const FOLDER: &str = ".carryover";

/// The prompt in it that the next agent goes on from.
pub const RESUME: &str = "RESUME.md";

/// Where that prompt is, from the project's folder.
pub fn resume_file() -> String {
    Path::new(FOLDER).join(RESUME).display().to_string()
}

/// A short prompt that names the file, for command lines are bounded. Some agents' own tools for reading refuse what git
/// ignores; their shells do not.
pub fn pointer() -> String {
    let file = resume_file();
    format!("Read {file} in this folder (with a shell command if need be: git ignores it) and go on from there.")
}

/// Whether a prompt is that one, and nothing else.
pub(crate) fn is_pointer(prompt: &str) -> bool {
    prompt.trim() == pointer()
}

/// Whether a prompt sends the agent to the file.
pub(crate) fn names_resume(prompt: &str) -> bool {
    prompt.contains(FOLDER) && prompt.contains(RESUME)
}

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
