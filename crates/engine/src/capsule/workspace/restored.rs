//! What a capsule's workspace puts into a folder, noted before the first byte is written, so that it can be taken back.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::super::CapsuleError;
use super::super::member_path::{check_workspace_path, decode_path, encode_path, path_bytes};
use super::super::tar_walk::{EntryKind, TarEntry};
use super::bare_layout::{BareLayouts, REASON};
use super::git_state::{IndexEntry, Repository};
use super::restore::{RestoreInto, leads_through_link};
use super::snapshot::{change_path, walk_snapshot};
use super::threatened::list_threatened;
use super::{StagedChange, WorkspaceRecord, WorktreeChange, path_or_odd};
use crate::context::Context;
use crate::own::sha256::to_hex;

pub(in crate::capsule) const SCHEMA: &str = "carryover.restored/1";
const BUFFER_BYTES: usize = 128 << 10;

/// Everything that is put into a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RestoredFiles {
    pub(crate) schema: String,
    pub(crate) folder: PathBuf,
    /// The commit of the checkout that they were put into; none where the folder was empty or missing.
    pub(crate) commit: Option<String>,
    /// The folder itself and those above it, where they were not there.
    pub(crate) made_folders: Vec<PathBuf>,
    /// Folders below it that were not there.
    pub(crate) inner_folders: BTreeSet<String>,
    pub(crate) files: Vec<RestoredFile>,
}

/// A path, as it was and as it was left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RestoredFile {
    /// Below the folder; bytes that are no text stand as `%` with two digits.
    pub(crate) path: String,
    pub(crate) before: FileState,
    pub(crate) left: FileState,
    /// The blob in git that is what was there before, byte for byte; none where git has other bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) blob: Option<String>,
    /// Where it is a checkout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) index: Option<IndexChange>,
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FileState {
    Absent,
    File {
        size: u64,
        sha256: String,
        mode: u32,
    },
    Link {
        target: String,
    },
    /// A folder, or something that is neither.
    Other,
}

/// An entry of git's index, as it was and as it was left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IndexChange {
    pub(crate) before: Option<IndexEntry>,
    pub(crate) left: IndexLeft,
}

/// How an entry of the index was left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum IndexLeft {
    AsBefore,
    Removed,
    /// With a content whose blob has no name yet when this is noted.
    Written {
        mode: String,
        sha256: String,
    },
}

impl RestoredFiles {
    /// Whether every path is one that a workspace can have: the file may be somebody else's.
    pub(crate) fn is_sound(&self) -> bool {
        let is_path = |file: &RestoredFile| {
            file.bytes().is_some_and(|path| check_workspace_path(&path).is_ok() && !path.is_empty())
        };
        let is_inside = |path: &String| decode_path(path).is_some_and(|path| check_workspace_path(&path).is_ok());
        self.schema == SCHEMA
            && self.folder.is_absolute()
            && self.files.iter().all(is_path)
            && self.made_folders.iter().all(|made| self.folder.starts_with(made))
            && self.inner_folders.iter().all(is_inside)
    }

    /// Every folder that was made, the innermost first.
    pub(super) fn list_folders(&self) -> Vec<PathBuf> {
        let inner = self.inner_folders.iter().filter_map(|path| decode_path(path));
        let inner = inner.map(|path| self.folder.join(path_or_odd(&path)));
        let mut folders: Vec<PathBuf> = self.made_folders.iter().cloned().chain(inner).collect();
        folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
        folders
    }
}

impl RestoredFile {
    pub(crate) fn bytes(&self) -> Option<Vec<u8>> {
        decode_path(&self.path)
    }

    pub(crate) fn place(&self, folder: &Path) -> PathBuf {
        folder.join(path_or_odd(&self.bytes().unwrap_or_default()))
    }

    /// What is at the path now. Behind a link it is somebody else's, whatever it is.
    pub(crate) fn state_now(&self, folder: &Path) -> io::Result<FileState> {
        if leads_through_link(folder, &self.bytes().unwrap_or_default()) {
            return Ok(FileState::Other);
        }
        FileState::read(&self.place(folder))
    }
}

impl FileState {
    pub(crate) fn read(place: &Path) -> io::Result<Self> {
        let there = match fs_err::symlink_metadata(place) {
            Ok(there) => there,
            // A file stands where a folder above it was.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(Self::Absent);
            }
            Err(error) => return Err(error),
        };
        if there.is_symlink() {
            let target = path_bytes(&fs_err::read_link(place)?).map(|target| encode_path(&target));
            return Ok(target.map_or(Self::Other, |target| Self::Link { target }));
        }
        if !there.is_file() {
            return Ok(Self::Other);
        }
        let (size, sha256) = digest_content(carryover_agents::formats::file::open_regular(place)?)?;
        Ok(Self::File { size, sha256, mode: mode_of(&there) })
    }

    fn from_entry(entry: &mut TarEntry<'_>) -> io::Result<Self> {
        if let EntryKind::Link(target) = &entry.kind {
            return Ok(Self::Link { target: encode_path(target) });
        }
        let (size, sha256) = digest_content(&mut *entry.content)?;
        Ok(Self::File { size, sha256, mode: super::restore::written_mode(entry.mode) })
    }
}

#[cfg(unix)]
fn mode_of(there: &std::fs::Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&there.permissions()) & 0o777
}

/// Only what can be told from each other is compared.
#[cfg(not(unix))]
fn mode_of(_: &std::fs::Metadata) -> u32 {
    super::restore::written_mode(0)
}

pub(super) fn digest_content(mut content: impl Read) -> io::Result<(u64, String)> {
    let (mut digest, mut buffer, mut size) = (Sha256::new(), vec![0; BUFFER_BYTES], 0);
    loop {
        match content.read(&mut buffer)? {
            0 => return Ok((size, to_hex(&digest.finalize()))),
            count => {
                digest.update(&buffer[..count]);
                size += count as u64;
            }
        }
    }
}

/// The digest of some bytes, as it is noted.
pub(super) fn digest_bytes(bytes: &[u8]) -> String {
    to_hex(&Sha256::digest(bytes))
}

/// Notes what a snapshot will put into a folder, and what is there now. None where the user has said that it may be written
/// over anything.
pub(in crate::capsule) fn note_restored(
    context: &Context,
    stream: impl Read,
    packed: u64,
    record: &WorkspaceRecord,
    folder: &Path,
    into: RestoreInto,
    force: bool,
) -> Result<Option<RestoredFiles>, CapsuleError> {
    let (left, folders, staged) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
    let layouts = BareLayouts::default();
    let mut noting = Noting { folder, into, force, left, folders, staged, layouts };
    let changed: BTreeSet<Vec<u8>> =
        record.changes.iter().map(|change| change_path(&change.path)).collect::<Result<_, _>>()?;
    walk_snapshot(stream, packed, &mut |found| {
        if found.in_tree {
            noting.refuse_repository(found.path, found.entry.kind == EntryKind::Folder)?;
        }
        if into == RestoreInto::Forced {
            return Ok(());
        }
        if !found.in_tree {
            noting.staged.insert(found.path.to_vec(), digest_content(found.entry.content)?.1);
        } else if into == RestoreInto::Empty || changed.contains(found.path) {
            noting.take_in(found.path, found.entry)?;
        }
        Ok(())
    })?;
    match into {
        RestoreInto::Forced => return Ok(None),
        RestoreInto::CleanCheckout | RestoreInto::StagingAlone => noting.add_deleted(record)?,
        RestoreInto::Empty => {}
    }
    noting.finish(context, record).map(Some)
}

struct Noting<'a> {
    folder: &'a Path,
    into: RestoreInto,
    /// Also over what git does not have.
    force: bool,
    left: BTreeMap<Vec<u8>, FileState>,
    folders: BTreeSet<Vec<u8>>,
    /// Digests of what will be staged.
    staged: BTreeMap<Vec<u8>, String>,
    layouts: BareLayouts,
}

impl Noting<'_> {
    fn refuse_repository(&mut self, path: &[u8], is_folder: bool) -> Result<(), CapsuleError> {
        match self.layouts.note_arrival(self.folder, path, is_folder) {
            Some(above) => Err(CapsuleError::refused(above, REASON)),
            None => Ok(()),
        }
    }

    fn take_in(&mut self, path: &[u8], mut entry: TarEntry<'_>) -> Result<(), CapsuleError> {
        if entry.kind == EntryKind::Folder {
            self.note_folders(path);
            return Ok(());
        }
        if let Some(slash) = path.iter().rposition(|byte| *byte == b'/') {
            self.note_folders(&path[..slash]);
        }
        self.left.insert(path.to_vec(), FileState::from_entry(&mut entry)?);
        Ok(())
    }

    /// Notes a folder and those above it, as far as they are missing.
    fn note_folders(&mut self, path: &[u8]) {
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at).chain([path.len()]);
        for above in ends.map(|end| &path[..end]).filter(|above| !above.is_empty()) {
            if !self.folders.contains(above) && fs_err::symlink_metadata(self.folder.join(path_or_odd(above))).is_err()
            {
                self.folders.insert(above.to_vec());
            }
        }
    }

    fn add_deleted(&mut self, record: &WorkspaceRecord) -> Result<(), CapsuleError> {
        for change in &record.changes {
            let path = change_path(&change.path)?;
            if change.worktree == WorktreeChange::Deleted {
                self.left.insert(path, FileState::Absent);
            } else if change.staged.is_some() && !self.left.contains_key(&path) {
                // Only its index changes.
                let now = FileState::read(&self.folder.join(path_or_odd(&path)))?;
                self.left.insert(path, now);
            }
        }
        Ok(())
    }

    fn finish(self, context: &Context, record: &WorkspaceRecord) -> Result<RestoredFiles, CapsuleError> {
        let repository = if self.into.is_checkout() { Repository::open(context, self.folder) } else { None };
        let entries = repository.as_ref().map(Repository::index_entries).transpose()?.unwrap_or_default();
        let mut staged = self.list_staged(record)?;
        let mut files = Vec::new();
        for (path, left) in self.left {
            let before = FileState::read(&self.folder.join(path_or_odd(&path)))?;
            let entry = entries.get(&path);
            let holds = |repository: &Repository<'_>, entry: &IndexEntry| {
                before != left && repository.holds_state(entry, &before)
            };
            let blob = match (&repository, entry) {
                (Some(repository), Some(entry)) if holds(repository, entry) => Some(entry.id.clone()),
                _ => None,
            };
            let index_left = staged.remove(&path).unwrap_or(IndexLeft::AsBefore);
            let index = repository.as_ref().map(|_| IndexChange { before: entry.cloned(), left: index_left });
            files.push(RestoredFile { path: encode_path(&path), before, left, blob, index });
        }
        let threatened = if repository.is_some() { list_threatened(self.folder, &entries, &files) } else { Vec::new() };
        if let Some(first) = threatened.first().filter(|_| !self.force) {
            let (count, first) = (threatened.len(), first.clone());
            return Err(CapsuleError::Threatened { folder: self.folder.to_owned(), count, first });
        }
        let commit = repository.and_then(|repository| repository.commit);
        Ok(RestoredFiles {
            schema: SCHEMA.to_owned(),
            folder: self.folder.to_owned(),
            commit,
            made_folders: missing_above(self.folder),
            inner_folders: self.folders.iter().map(|path| encode_path(path)).collect(),
            files,
        })
    }

    /// What will be staged, by path.
    fn list_staged(&self, record: &WorkspaceRecord) -> Result<BTreeMap<Vec<u8>, IndexLeft>, CapsuleError> {
        let mut staged = BTreeMap::new();
        for change in &record.changes {
            let path = change_path(&change.path)?;
            let left = match &change.staged {
                Some(StagedChange::Written { mode }) => {
                    let sha256 = self.staged.get(&path).cloned();
                    let sha256 = sha256.ok_or_else(|| CapsuleError::refused(&path, "is staged, and has no content"))?;
                    IndexLeft::Written { mode: mode.clone(), sha256 }
                }
                Some(StagedChange::Deleted) => IndexLeft::Removed,
                Some(StagedChange::Omitted) | None => continue,
            };
            staged.insert(path, left);
        }
        Ok(staged)
    }
}

impl Repository<'_> {
    /// Whether an entry's blob is exactly what is in the folder, which it is not where git changes it on the way.
    fn holds_state(&self, entry: &IndexEntry, state: &FileState) -> bool {
        match state {
            FileState::File { sha256, .. } if entry.mode != "120000" => {
                self.read_blob(&entry.id).is_some_and(|bytes| digest_bytes(&bytes) == *sha256)
            }
            FileState::Link { target } if entry.mode == "120000" => {
                self.read_blob(&entry.id).is_some_and(|bytes| encode_path(&bytes) == *target)
            }
            _ => false,
        }
    }
}

/// A folder and those above it, as far as they are missing.
fn missing_above(folder: &Path) -> Vec<PathBuf> {
    let is_missing = |folder: &&Path| fs_err::symlink_metadata(folder).is_err();
    folder.ancestors().take_while(is_missing).map(Path::to_owned).collect()
}
