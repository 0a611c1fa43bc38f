//! How far a folder is from a capsule's workspace: content, permissions, and what is staged.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::path::Path;

use serde::Serialize;

use super::super::CapsuleError;
use super::super::member_path::{encode_path, path_bytes};
use super::super::tar_walk::{EntryKind, TarEntry};
use super::git_state::{ChangedPath, Repository, Staged};
use super::restore::{leads_through_link, written_mode};
use super::restored::{digest_bytes, digest_content};
use super::snapshot::{BlobReader, change_path, walk_snapshot};
use super::{FileChange, StagedChange, WorkspaceRecord, WorktreeChange, path_or_odd};
use crate::context::Context;
use crate::handoff::workspace::find_repository;

/// How a path is otherwise in a folder than in a capsule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Difference {
    Missing,
    /// It was deleted in the workspace.
    StillThere,
    Content,
    Permissions,
    /// It was staged in the workspace, and nothing of it is staged here.
    NotStaged,
    StagedOtherwise,
    /// It was as the commit has it in the workspace, and is changed here.
    Changed,
}

impl Difference {
    /// The words for it, after the path.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Missing => "is missing",
            Self::StillThere => "was deleted, and is there",
            Self::Content => "has another content",
            Self::Permissions => "has other permissions",
            Self::NotStaged => "was staged, and is not",
            Self::StagedOtherwise => "is staged otherwise",
            Self::Changed => "was as the commit has it, and is changed",
        }
    }
}

/// The paths of a workspace that are otherwise, or not at all, in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorkspaceDrift {
    paths: BTreeMap<Vec<u8>, Difference>,
}

impl WorkspaceDrift {
    pub fn count(&self) -> usize {
        self.paths.len()
    }

    pub fn is_none(&self) -> bool {
        self.paths.is_empty()
    }

    /// Each path with how it differs, in order.
    pub fn list(&self) -> impl Iterator<Item = (String, Difference)> {
        self.paths.iter().map(|(path, how)| (encode_path(path), *how))
    }

    pub(super) fn of(&self, path: &[u8]) -> Option<Difference> {
        self.paths.get(path).copied()
    }

    /// Whether nothing of it is there in another form.
    pub(super) fn is_missing_alone(&self) -> bool {
        self.paths.values().all(|how| *how == Difference::Missing)
    }

    /// Whether the files are as they were, and only what was staged has to be staged again.
    pub(super) fn is_staging_alone(&self) -> bool {
        !self.is_none() && self.paths.values().all(|how| *how == Difference::NotStaged)
    }

    /// The first that was seen of a path is what is told of it.
    fn note(&mut self, path: &[u8], how: Difference) {
        self.paths.entry(path.to_vec()).or_insert(how);
    }
}

/// Compares every file of a snapshot with the one in a folder, and what was staged with what is.
pub(in crate::capsule) fn compare_workspace(
    context: &Context,
    stream: impl Read,
    packed: u64,
    record: &WorkspaceRecord,
    folder: &Path,
) -> Result<WorkspaceDrift, CapsuleError> {
    let mut drift = WorkspaceDrift::default();
    let changed: BTreeSet<Vec<u8>> =
        record.changes.iter().map(|change| change_path(&change.path)).collect::<Result<_, _>>()?;
    // What git has checked out has the permissions that the user's own settings give it.
    let is_checkout = find_repository(folder).is_some();
    let mut staged = BTreeMap::new();
    walk_snapshot(stream, packed, &mut |found| {
        if !found.in_tree {
            staged.insert(found.path.to_vec(), digest_content(found.entry.content)?.1);
            return Ok(());
        }
        let is_exact = !is_checkout || changed.contains(found.path);
        if let Some(how) = compare_entry(&folder.join(path_or_odd(found.path)), found.entry, is_exact)? {
            drift.note(found.path, how);
        }
        Ok(())
    })?;
    for change in record.changes.iter().filter(|change| change.worktree == WorktreeChange::Deleted) {
        let path = change_path(&change.path)?;
        // A folder that has come in its place, or a link to one, is among what is there.
        let there = folder.join(path_or_odd(&path)).symlink_metadata();
        if there.is_ok_and(|there| !there.is_dir()) && !leads_through_link(folder, &path) {
            drift.note(&path, Difference::StillThere);
        }
    }
    let repository = Repository::open(context, folder);
    let same_commit = |repository: &Repository<'_>| repository.commit.is_some() && repository.commit == record.commit;
    if let Some(repository) = repository.filter(same_commit) {
        drift.compare_index(&repository, record, &staged)?;
    }
    Ok(drift)
}

impl WorkspaceDrift {
    /// Compares what is staged in a checkout of the same commit.
    fn compare_index(
        &mut self,
        repository: &Repository<'_>,
        record: &WorkspaceRecord,
        staged: &BTreeMap<Vec<u8>, String>,
    ) -> Result<(), CapsuleError> {
        let here = repository.changed_paths()?;
        let mut blobs = if staged.is_empty() { None } else { Some(BlobReader::start(repository)?) };
        let mut here: BTreeMap<Vec<u8>, ChangedPath> = here.into_iter().map(|one| (one.path.clone(), one)).collect();
        for change in &record.changes {
            let path = change_path(&change.path)?;
            let now = here.remove(&path);
            let is_unmerged = now.as_ref().is_some_and(|now| now.is_unmerged);
            let now = now.and_then(|now| now.staged);
            if !is_staged_alike(blobs.as_mut(), change, now.as_ref(), staged.get(&path))? {
                let is_bare = now.is_none() && !is_unmerged;
                self.note(&path, if is_bare { Difference::NotStaged } else { Difference::StagedOtherwise });
            }
        }
        for (path, now) in here {
            if now.staged.is_some() {
                self.note(&path, Difference::StagedOtherwise);
            } else if !now.is_new {
                self.note(&path, Difference::Changed);
            }
        }
        Ok(())
    }
}

fn is_staged_alike(
    blobs: Option<&mut BlobReader>,
    change: &FileChange,
    now: Option<&Staged>,
    content: Option<&String>,
) -> Result<bool, CapsuleError> {
    Ok(match (&change.staged, now) {
        // What was left out cannot be compared.
        (None, None) | (Some(StagedChange::Omitted), _) | (Some(StagedChange::Deleted), Some(Staged::Deleted)) => true,
        (Some(StagedChange::Written { mode }), Some(Staged::Blob { mode: now, id })) if mode == now => {
            let bytes = blobs.map(|blobs| blobs.read(id)).transpose()?.flatten();
            bytes.is_some_and(|bytes| Some(&digest_bytes(&bytes)) == content)
        }
        _ => false,
    })
}

/// How a file is otherwise than an entry; `is_exact` compares all permissions, else whether it can be executed.
fn compare_entry(place: &Path, entry: TarEntry<'_>, is_exact: bool) -> Result<Option<Difference>, CapsuleError> {
    let Ok(metadata) = place.symlink_metadata() else { return Ok(Some(Difference::Missing)) };
    let is_same = match entry.kind {
        EntryKind::Folder => metadata.is_dir(),
        EntryKind::Link(target) => {
            let there = fs_err::read_link(place).ok().and_then(|there| path_bytes(&there));
            there == Some(target)
        }
        EntryKind::File if !metadata.is_file() || metadata.len() != entry.size => false,
        EntryKind::File => {
            let there = carryover_agents::formats::file::open_regular(place).ok();
            let is_same = there.map(|there| has_same_bytes(entry.content, there)).transpose()?.unwrap_or_default();
            if is_same && !has_same_mode(&metadata, entry.mode, is_exact) {
                return Ok(Some(Difference::Permissions));
            }
            is_same
        }
    };
    Ok((!is_same).then_some(Difference::Content))
}

#[cfg(unix)]
fn has_same_mode(there: &std::fs::Metadata, mode: u32, is_exact: bool) -> bool {
    let compared = if is_exact { 0o777 } else { 0o100 };
    let now = written_mode(std::os::unix::fs::PermissionsExt::mode(&there.permissions()));
    now & compared == written_mode(mode) & compared
}

/// Only what can be told from each other is compared.
#[cfg(not(unix))]
fn has_same_mode(_: &std::fs::Metadata, _: u32, _: bool) -> bool {
    true
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
