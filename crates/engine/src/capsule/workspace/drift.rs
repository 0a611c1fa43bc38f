//! How far a folder is from a capsule's workspace.

use std::io::{self, Read};
use std::path::Path;

use super::super::CapsuleError;
use super::super::member_path::{encode_path, path_bytes};
use super::super::tar_walk::{EntryKind, TarEntry};
use super::restore::leads_through_link;
use super::snapshot::{change_path, walk_snapshot};
use super::{WorkspaceRecord, WorktreeChange, path_or_odd};

/// So many paths are named.
const MAX_NAMED: usize = 20;

/// The paths of a workspace that are otherwise, or not at all, in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorkspaceDrift {
    pub count: u64,
    /// The first of them.
    pub paths: Vec<String>,
}

impl WorkspaceDrift {
    fn note(&mut self, path: &[u8]) {
        self.count += 1;
        if self.paths.len() < MAX_NAMED {
            self.paths.push(encode_path(path));
        }
    }
}

/// Compares every file of a snapshot with the one in a folder.
pub(in crate::capsule) fn compare_workspace(
    stream: impl Read,
    packed: u64,
    record: &WorkspaceRecord,
    folder: &Path,
) -> Result<WorkspaceDrift, CapsuleError> {
    let mut drift = WorkspaceDrift::default();
    walk_snapshot(stream, packed, &mut |found| {
        if found.in_tree && !is_same(&folder.join(path_or_odd(found.path)), found.entry)? {
            drift.note(found.path);
        }
        Ok(())
    })?;
    for change in record.changes.iter().filter(|change| change.worktree == WorktreeChange::Deleted) {
        let path = change_path(&change.path)?;
        // A folder that has come in its place, or a link to one, is among what is there.
        let there = folder.join(path_or_odd(&path)).symlink_metadata();
        if there.is_ok_and(|there| !there.is_dir()) && !leads_through_link(folder, &path) {
            drift.note(&path);
        }
    }
    Ok(drift)
}

fn is_same(place: &Path, entry: TarEntry<'_>) -> Result<bool, CapsuleError> {
    let Ok(metadata) = place.symlink_metadata() else { return Ok(false) };
    match entry.kind {
        EntryKind::Folder => Ok(metadata.is_dir()),
        EntryKind::Link(target) => {
            let there = fs_err::read_link(place).ok().and_then(|there| path_bytes(&there));
            Ok(there == Some(target))
        }
        EntryKind::File if !metadata.is_file() || metadata.len() != entry.size => Ok(false),
        EntryKind::File => {
            let Ok(there) = carryover_agents::formats::file::open_regular(place) else { return Ok(false) };
            Ok(has_same_bytes(entry.content, there)?)
        }
    }
}

fn has_same_bytes(mut one: impl Read, mut other: impl Read) -> io::Result<bool> {
    let (mut first, mut second) = (vec![0; 64 << 10], Vec::with_capacity(64 << 10));
    loop {
        let count = one.read(&mut first)?;
        second.clear();
        other.by_ref().take(count as u64).read_to_end(&mut second)?;
        if first[..count] != second[..] {
            return Ok(false);
        }
        if count == 0 {
            return Ok(true);
        }
    }
}
