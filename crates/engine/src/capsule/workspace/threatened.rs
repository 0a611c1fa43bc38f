//! Files of a user in a clean checkout that a workspace would write over or delete, and that git does not have.
//!
//! A checkout is clean by what git tells, and git tells nothing of what it ignores, of what it was told to overlook, and of
//! repositories inside.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::super::member_path::decode_path;
use super::git_state::IndexEntry;
use super::path_or_odd;
use super::restored::{FileState, RestoredFile};

/// Their paths, of those that are about to be changed.
pub(super) fn list_threatened(
    folder: &Path,
    entries: &BTreeMap<Vec<u8>, IndexEntry>,
    files: &[RestoredFile],
) -> Vec<String> {
    let mut repositories = NestedRepositories { folder, known: BTreeMap::new() };
    let is_threatened = |file: &&RestoredFile| {
        if file.before == file.left {
            return false;
        }
        let path = decode_path(&file.path).unwrap_or_default();
        if repositories.hold(&path) {
            return true;
        }
        // Git brings back what it has; what it makes of that on the way is no work of anybody's.
        let is_in_git = file.blob.is_some() || entries.get(&path).is_some_and(|entry| entry.is_plain);
        // A folder is never written over.
        matches!(file.before, FileState::File { .. } | FileState::Link { .. }) && !is_in_git
    };
    let threatened: BTreeSet<String> = files.iter().filter(is_threatened).map(|file| file.path.clone()).collect();
    threatened.into_iter().collect()
}

/// Repositories below a folder, which are somebody else's work.
struct NestedRepositories<'a> {
    folder: &'a Path,
    known: BTreeMap<Vec<u8>, bool>,
}

impl NestedRepositories<'_> {
    /// Whether a path is in one.
    fn hold(&mut self, path: &[u8]) -> bool {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        let folder = self.folder;
        slashes.map(|at| &path[..at]).any(|above| {
            let look = || fs_err::symlink_metadata(folder.join(path_or_odd(above)).join(".git")).is_ok();
            *self.known.entry(above.to_vec()).or_insert_with(look)
        })
    }
}
