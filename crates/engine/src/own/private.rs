//! Files of our folder for the other crates: private, whole or not there at all.

use std::fs::File;
use std::io;
use std::path::Path;

use super::files;
use super::fingerprint::Fingerprint;

/// Opens a file for its owner alone, which is made where it is not there, for reading and writing.
pub fn open_file(path: &Path) -> io::Result<File> {
    files::create_private_folder(files::parent_folder(path)?)?;
    let mut options = std::fs::OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|source| files::error_with_path(path, source))
}

/// Writes a file in one step.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    files::write_private(path, bytes)
}

/// Makes a folder for its owner alone.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    files::create_private_folder(folder)
}

/// A short name for a path.
pub fn path_digest(path: &Path) -> String {
    Fingerprint::from_bytes(path.as_os_str().as_encoded_bytes()).to_string()
}
