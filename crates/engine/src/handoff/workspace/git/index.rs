//! The list of files that a repository keeps, read where git cannot be asked: it is not there, does not trust the folder, or
//! the repository is broken. What cannot be read may hold everything.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::own::files;
use crate::sessions::project::resolve_path;

const MAX_INDEX_BYTES: u64 = 256 << 20;
const MAX_LINK_BYTES: u64 = 16 << 10;

/// Names stand in these versions as they are; the next one shortens them.
const PLAIN_VERSIONS: [[u8; 4]; 2] = [[0, 0, 0, 2], [0, 0, 0, 3]];
const MAGIC: &[u8] = b"DIRC";

/// Whether the repository in a folder may keep this file.
pub(super) fn may_hold(root: &Path, file: &Path) -> bool {
    let (root, file) = (resolve_path(root), resolve_parent(file));
    let Ok(name) = file.strip_prefix(&root) else { return false };
    // Names that are no text are taken for kept.
    let Some(name) = name.to_str().map(|name| name.replace('\\', "/")) else { return true };
    read_index(&root).map_or(true, |index| index.is_some_and(|index| holds_name(&index, &name)))
}

/// The path with its folders as the file system knows them; the file may be a link, and need not be there.
fn resolve_parent(file: &Path) -> PathBuf {
    match (file.parent(), file.file_name()) {
        (Some(folder), Some(name)) => resolve_path(folder).join(name),
        _ => file.to_owned(),
    }
}

/// The bytes of the index; none where nothing was ever added.
fn read_index(root: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut folder = root.join(".git");
    if !fs_err::metadata(&folder)?.is_dir() {
        let link = files::read_bounded(&folder, MAX_LINK_BYTES)?.unwrap_or_default();
        let link = String::from_utf8(link).map_err(io::Error::other)?;
        let named = link.strip_prefix("gitdir:").ok_or(ErrorKind::InvalidData)?;
        folder = root.join(named.trim());
    }
    for entry in fs_err::read_dir(&folder)? {
        // A part of the list stands in a file of its own.
        if entry?.file_name().to_string_lossy().starts_with("sharedindex.") {
            return Err(ErrorKind::Unsupported.into());
        }
    }
    files::read_bounded(&folder.join("index"), MAX_INDEX_BYTES)
}

fn holds_name(index: &[u8], name: &str) -> bool {
    let is_plain = index.starts_with(MAGIC) && PLAIN_VERSIONS.iter().any(|version| index[4..].starts_with(version));
    let name: Vec<u8> = name.bytes().chain([0]).collect();
    !is_plain || index.windows(name.len()).any(|bytes| bytes == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_is_not_understood_may_hold_everything() {
        let index = |version: u8| [MAGIC, &[0, 0, 0, version], b"....docs/a.md\0...."].concat();
        assert!(holds_name(&index(2), "docs/a.md") && holds_name(&index(3), "docs/a.md"));
        assert!(!holds_name(&index(2), "docs/a") && !holds_name(&index(2), "docs/b.md"));
        for unknown in [index(4), index(9), b"DIRC".to_vec(), Vec::new()] {
            assert!(holds_name(&unknown, "docs/b.md"));
        }
    }
}
