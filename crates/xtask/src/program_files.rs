//! Files that are programs, where systems differ.

use std::io;
use std::path::Path;

/// Lets everybody run a file.
#[cfg(unix)]
pub(crate) fn make_executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

/// A file's name alone makes it a program.
#[cfg(not(unix))]
pub(crate) fn make_executable(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// Makes a program known under another path.
#[cfg(unix)]
pub(crate) fn link_program(program: &Path, link: &Path) -> io::Result<()> {
    fs_err::os::unix::fs::symlink(program, link)
}

/// A link needs rights that not everybody has.
#[cfg(not(unix))]
pub(crate) fn link_program(program: &Path, link: &Path) -> io::Result<()> {
    fs_err::copy(program, link).map(drop)
}
