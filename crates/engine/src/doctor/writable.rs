//! Whether something could be written to a folder, found out without writing.

use std::path::{Path, PathBuf};

use carryover_agents::Agent;

/// The folders of a store in which sessions are made, and to which nothing can be written.
pub(super) fn closed_folders(agent: &dyn Agent, root: &Path) -> Vec<PathBuf> {
    let tracks = agent.facts().session_patterns.iter().filter(|track| track.len() > 1);
    let below = tracks.filter_map(|track| track.first()).map(|folder| root.join(folder));
    let mut folders: Vec<PathBuf> = std::iter::once(root.to_owned()).chain(below).collect();
    folders.dedup();
    folders.retain(|folder| folder.is_dir() && !is_writable(folder));
    folders
}

#[cfg(unix)]
pub(super) fn is_writable(folder: &Path) -> bool {
    use rustix::fs::{Access, access};
    access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

#[cfg(not(unix))]
pub(super) fn is_writable(folder: &Path) -> bool {
    fs_err::metadata(folder).is_ok_and(|metadata| !metadata.permissions().readonly())
}
