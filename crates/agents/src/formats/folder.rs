//! Folders that belong to a session as a whole.

use std::path::{Path, PathBuf};

/// Deeper folders are no client's.
const MAX_DEPTH: usize = 6;
/// A folder of more files is not one session's.
const MAX_FILES: usize = 10_000;

/// The regular files below a folder, by name; links are not followed, and a folder that is not there has none.
pub(crate) fn list_files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect_files(folder, MAX_DEPTH, &mut found);
    found.sort();
    found
}

fn collect_files(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(listing) = fs_err::read_dir(folder) else { return };
    for entry in listing.filter_map(Result::ok) {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth > 1 {
            collect_files(&entry.path(), depth - 1, found);
        } else if kind.is_file() && found.len() < MAX_FILES {
            found.push(entry.path());
        }
    }
}
