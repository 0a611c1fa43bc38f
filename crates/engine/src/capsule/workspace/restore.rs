//! Putting a workspace back: the same files, and in a checkout of the same commit also what was staged.
//!
//! It goes into a folder that is empty or a clean checkout, unless the user says otherwise, and never through a link.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::super::CapsuleError;
use super::super::member_path::{encode_path, path_bytes, path_from_bytes};
use super::super::tar_walk::{EntryKind, TarEntry};
use super::drift::{Difference, WorkspaceDrift};
use super::git_state::{ChangedPath, Repository};
use super::index_restore::IndexBlobs;
use super::placed::PlacedLog;
use super::restored::{FileState, RestoredFile, RestoredFiles};
use super::snapshot::{change_path, walk_snapshot};
use super::{FilesMode, WorkspaceRecord, WorktreeChange, path_or_odd};
use crate::context::Context;
use crate::own::files::TEMP_SUFFIX;
use crate::write::disk::temp_prefix;

const OWN_FOLDER: &[u8] = b".carryover";
const BUFFER_BYTES: usize = 128 << 10;

/// The state of the folder that a workspace goes into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::capsule) enum RestoreInto {
    /// Nothing is there.
    Empty,
    /// A checkout of the same commit, without changes: what was changed is enough.
    CleanCheckout,
    /// A checkout of the same commit whose files are as they were already: what was staged is staged again.
    StagingAlone,
    /// Something else is there, and the user has said that it may be written over.
    Forced,
}

/// Where a workspace goes, and how.
pub(in crate::capsule) struct Placement<'a> {
    pub(in crate::capsule) folder: &'a Path,
    pub(in crate::capsule) into: RestoreInto,
    /// Is part of the names of files that are being written.
    pub(in crate::capsule) mark: &'a str,
    /// What is there, as it was noted: what is otherwise by now is left alone. None where anything may be written over.
    pub(in crate::capsule) noted: Option<&'a RestoredFiles>,
    /// Is told each file that was put there.
    pub(in crate::capsule) placed: Option<PlacedLog>,
}

/// What was put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RestoredWorkspace {
    pub files: u64,
    pub deleted: u64,
    /// What was staged is staged again.
    pub index: bool,
}

impl RestoreInto {
    /// Whether what was there before is git's.
    pub(super) fn is_checkout(self) -> bool {
        matches!(self, Self::CleanCheckout | Self::StagingAlone)
    }

    /// Looks at a folder; the error says why nothing is put there. What is otherwise there was looked at before.
    pub(in crate::capsule) fn choose(
        context: &Context,
        folder: &Path,
        record: &WorkspaceRecord,
        drift: &WorkspaceDrift,
        force: bool,
    ) -> Result<Self, CapsuleError> {
        let needs_commit = record.files_mode == FilesMode::Changed && record.commit.is_some();
        let commit = || record.commit.clone().unwrap_or_default();
        let other_commit = || CapsuleError::OtherCommit { folder: folder.to_owned(), commit: commit() };
        if is_empty(folder)? {
            return if needs_commit { Err(other_commit()) } else { Ok(Self::Empty) };
        }
        let repository = Repository::open(context, folder).filter(|repository| repository.commit == record.commit);
        let in_the_way = match &repository {
            Some(repository) => list_dirt(repository, record, drift)?,
            None if needs_commit && !force => return Err(other_commit()),
            None => list_others(folder, drift)?,
        };
        if repository.is_some() && in_the_way.is_empty() {
            // What was in no repository has no changes since a commit: all of it goes into one that is new.
            let is_new = record.commit.is_none() && record.changes.is_empty() && drift.is_missing_alone();
            return Ok(match drift.is_staging_alone() {
                true => Self::StagingAlone,
                false if is_new => Self::Empty,
                false => Self::CleanCheckout,
            });
        }
        if force {
            return Ok(Self::Forced);
        }
        let shown = record.commit.as_deref().map_or("the same commit", |commit| commit.get(..12).unwrap_or(commit));
        Err(CapsuleError::NotClean { folder: folder.to_owned(), commit: shown.to_owned(), in_the_way })
    }
}

/// What somebody has done in a checkout, and a capsule would write over or mix with. What is as the capsule has it is nobody's
/// loss.
fn list_dirt(
    repository: &Repository<'_>,
    record: &WorkspaceRecord,
    drift: &WorkspaceDrift,
) -> Result<Vec<String>, CapsuleError> {
    let ours: BTreeSet<Vec<u8>> =
        record.changes.iter().map(|change| change_path(&change.path)).collect::<Result<_, _>>()?;
    let is_in_the_way = |change: &&ChangedPath| match drift.of(&change.path) {
        Some(Difference::NotStaged) => false,
        Some(_) => true,
        None => !ours.contains(&change.path),
    };
    let describe = |change: &ChangedPath| {
        let how = match drift.of(&change.path) {
            Some(how) if how != Difference::Missing => how.describe(),
            _ if change.is_new => "is new there",
            _ if change.is_deleted => "is deleted there",
            _ => "is changed there",
        };
        format!("{} {how}", encode_path(&change.path))
    };
    let changes = repository.changed_paths()?;
    Ok(changes.iter().filter(is_in_the_way).map(describe).collect())
}

/// What is in a folder that is no checkout.
fn list_others(folder: &Path, drift: &WorkspaceDrift) -> Result<Vec<String>, CapsuleError> {
    let differing = drift.list().filter(|(_, how)| *how != Difference::Missing);
    let mut lines: Vec<String> = differing.map(|(path, how)| format!("{path} {}", how.describe())).collect();
    let mut others = Vec::new();
    for entry in fs_err::read_dir(folder)? {
        let name = path_bytes(Path::new(&entry?.file_name())).unwrap_or_default();
        let is_told = drift.of(&name).is_some();
        if name != OWN_FOLDER && !is_told {
            let what = if name == b".git" { "is there: a repository that is not at that commit" } else { "is there" };
            others.push(format!("{} {what}", encode_path(&name)));
        }
    }
    others.sort();
    lines.extend(others);
    Ok(lines)
}

/// Whether nothing is in a folder, or it is not there.
pub(in crate::capsule) fn is_empty(folder: &Path) -> io::Result<bool> {
    match fs_err::read_dir(folder) {
        // A folder of ours is nobody's work.
        Ok(entries) => {
            let mut others = entries
                .filter(|entry| entry.as_ref().is_ok_and(|entry| entry.file_name().as_encoded_bytes() != OWN_FOLDER));
            Ok(others.next().is_none())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

/// Puts a workspace into a folder.
pub(in crate::capsule) fn restore_workspace(
    context: &Context,
    stream: impl Read,
    packed: u64,
    record: &WorkspaceRecord,
    placement: Placement<'_>,
) -> Result<RestoredWorkspace, CapsuleError> {
    let Placement { folder, into, mark, noted, placed } = placement;
    let changed: BTreeSet<Vec<u8>> =
        record.changes.iter().map(|change| change_path(&change.path)).collect::<Result<_, _>>()?;
    let mut blobs = IndexBlobs::new(context)?;
    // First, for a folder may stand now where a file was.
    let expected = noted.map(Expected::from);
    let is_over_others = matches!(into, RestoreInto::CleanCheckout | RestoreInto::Forced);
    let deleted = if is_over_others { delete_files(record, folder, expected.as_ref())? } else { 0 };
    let (known, links, buffer) = (HashSet::new(), Vec::new(), vec![0; BUFFER_BYTES]);
    let mut writer = TreeWriter { folder, mark, expected, placed, known, links, files: 0, buffer };
    writer.write_all(stream, packed, into, &changed, &mut blobs)?;
    let files = writer.files;
    let repository = Repository::open(context, folder).filter(|repository| repository.commit == record.commit);
    let index = match repository {
        Some(repository) if into != RestoreInto::Empty => blobs.stage(&repository, record)?,
        _ => false,
    };
    Ok(RestoredWorkspace { files, deleted, index })
}

fn delete_files(record: &WorkspaceRecord, folder: &Path, expected: Option<&Expected<'_>>) -> Result<u64, CapsuleError> {
    let mut deleted = 0;
    for change in record.changes.iter().filter(|change| change.worktree == WorktreeChange::Deleted) {
        let path = change_path(&change.path)?;
        let place = folder.join(path_or_odd(&path));
        if leads_through_link(folder, &path) || !place.symlink_metadata().is_ok_and(|there| !there.is_dir()) {
            continue;
        }
        if let Some(expected) = expected {
            expected.check(&path, &place)?;
        }
        fs_err::remove_file(&place)?;
        deleted += 1;
        // As git does: a folder without files is none.
        let mut above = place.parent();
        while let Some(empty) = above.filter(|above| *above != folder && std::fs::remove_dir(above).is_ok()) {
            above = empty.parent();
        }
    }
    Ok(deleted)
}

/// Whether a folder above a path is a link.
pub(in crate::capsule) fn leads_through_link(folder: &Path, path: &[u8]) -> bool {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    slashes.map(|at| folder.join(path_or_odd(&path[..at]))).any(|above| above.is_symlink())
}

/// What was at each path when it was noted.
struct Expected<'a>(HashMap<&'a str, &'a FileState>);

impl<'a> From<&'a RestoredFiles> for Expected<'a> {
    fn from(noted: &'a RestoredFiles) -> Self {
        let state = |file: &'a RestoredFile| (file.path.as_str(), &file.before);
        Self(noted.files.iter().map(state).collect())
    }
}

impl Expected<'_> {
    /// Whether nothing was there, and nothing may be; a folder has gone with its files by now.
    fn is_free(&self, path: &[u8]) -> bool {
        self.0.get(encode_path(path).as_str()).is_none_or(|state| matches!(state, FileState::Absent | FileState::Other))
    }

    /// Makes sure that what is there is what was noted.
    fn check(&self, path: &[u8], place: &Path) -> Result<(), CapsuleError> {
        let is_same = self
            .0
            .get(encode_path(path).as_str())
            .is_some_and(|state| FileState::read(place).is_ok_and(|now| now == **state));
        if is_same { Ok(()) } else { Err(CapsuleError::ChangedMeanwhile(place.to_owned())) }
    }
}

struct TreeWriter<'a> {
    folder: &'a Path,
    /// Is part of the names of files that are being written.
    mark: &'a str,
    expected: Option<Expected<'a>>,
    placed: Option<PlacedLog>,
    /// Folders that were seen to be folders.
    known: HashSet<PathBuf>,
    /// Links are made last, so that nothing is written through one.
    links: Vec<(PathBuf, PathBuf, Vec<u8>)>,
    files: u64,
    buffer: Vec<u8>,
}

impl TreeWriter<'_> {
    fn write_all(
        &mut self,
        stream: impl Read,
        packed: u64,
        into: RestoreInto,
        changed: &BTreeSet<Vec<u8>>,
        blobs: &mut IndexBlobs,
    ) -> Result<(), CapsuleError> {
        self.make_folder(self.folder.to_owned(), b"")?;
        walk_snapshot(stream, packed, &mut |found| {
            if !found.in_tree {
                return blobs.take_in(found.path, found.entry.content);
            }
            let is_kept = match into {
                RestoreInto::Empty | RestoreInto::Forced => false,
                RestoreInto::CleanCheckout => !changed.contains(found.path),
                RestoreInto::StagingAlone => true,
            };
            if is_kept {
                return Ok(());
            }
            self.write_entry(found.path, found.entry)
        })?;
        for (place, target, path) in std::mem::take(&mut self.links) {
            self.write_link(&target, &place, &path)?;
        }
        Ok(())
    }

    fn write_entry(&mut self, path: &[u8], mut entry: TarEntry<'_>) -> Result<(), CapsuleError> {
        let below =
            path_from_bytes(path).ok_or_else(|| CapsuleError::refused(path, "has a name that this system has not"));
        let place = self.folder.join(below?);
        if entry.kind == EntryKind::Folder {
            return self.make_folders_to(&place, path);
        }
        if let Some(above) = place.parent() {
            self.make_folders_to(above, path)?;
        }
        match &entry.kind {
            EntryKind::Link(target) => {
                let odd = || CapsuleError::refused(path, "is a link that this system has not");
                self.links.push((place, path_from_bytes(target).ok_or_else(odd)?, path.to_vec()));
                Ok(())
            }
            _ => self.write_file(&place, path, &mut entry),
        }
    }

    fn write_file(&mut self, place: &Path, path: &[u8], entry: &mut TarEntry<'_>) -> Result<(), CapsuleError> {
        refuse_folder(place, path)?;
        // Beside its place first: a file that is there is whole. Whether it is on the disk already is left to the system, as it is by tar and
        // git: to wait for each makes many small files slow, and the capsule, from which `import --force` writes it again, stays.
        let above = place.parent().unwrap_or(self.folder);
        let mut new =
            tempfile::Builder::new().prefix(&temp_prefix(self.mark)).suffix(TEMP_SUFFIX).tempfile_in(above)?;
        copy_content(&mut *entry.content, new.as_file_mut(), &mut self.buffer)?;
        let file = new.as_file();
        #[cfg(unix)]
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(written_mode(entry.mode)))?;
        // A time that the system does not have is none that anybody needs.
        if let Some(at) = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(entry.modified_seconds)) {
            file.set_modified(at).ok();
        }
        match &self.expected {
            Some(expected) if expected.is_free(path) => new.persist_noclobber(place).map_err(|failed| {
                let is_taken = failed.error.kind() == io::ErrorKind::AlreadyExists;
                if is_taken { CapsuleError::ChangedMeanwhile(place.to_owned()) } else { failed.error.into() }
            })?,
            Some(expected) => {
                expected.check(path, place)?;
                new.persist(place).map_err(|failed| failed.error)?
            }
            None => new.persist(place).map_err(|failed| failed.error)?,
        };
        self.note_placed(path, place)
    }

    fn write_link(&mut self, target: &Path, place: &Path, path: &[u8]) -> Result<(), CapsuleError> {
        refuse_folder(place, path)?;
        match &self.expected {
            Some(expected) if expected.is_free(path) => make_link(target, place).map_err(|error| {
                let is_taken = error.kind() == io::ErrorKind::AlreadyExists;
                if is_taken { CapsuleError::ChangedMeanwhile(place.to_owned()) } else { error.into() }
            })?,
            Some(expected) => {
                expected.check(path, place)?;
                replace_with_link(target, place, self.mark)?;
            }
            None => replace_with_link(target, place, self.mark)?,
        }
        self.note_placed(path, place)
    }

    fn note_placed(&mut self, path: &[u8], place: &Path) -> Result<(), CapsuleError> {
        if let Some(placed) = &mut self.placed {
            placed.note(path, place)?;
        }
        self.files += 1;
        Ok(())
    }

    /// Makes the folders from the workspace's own down to one.
    fn make_folders_to(&mut self, folder: &Path, path: &[u8]) -> Result<(), CapsuleError> {
        if self.known.contains(folder) || !folder.starts_with(self.folder) {
            return Ok(());
        }
        if let Some(above) = folder.parent() {
            self.make_folders_to(above, path)?;
        }
        self.make_folder(folder.to_owned(), path)
    }

    fn make_folder(&mut self, folder: PathBuf, path: &[u8]) -> Result<(), CapsuleError> {
        match fs_err::symlink_metadata(&folder) {
            Ok(there) if there.is_dir() || (path.is_empty() && folder.is_dir()) => {}
            Ok(_) => return Err(CapsuleError::InTheWay { at: folder, path: encode_path(path) }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs_err::create_dir_all(&folder)?;
            }
            Err(error) => return Err(error.into()),
        }
        self.known.insert(folder);
        Ok(())
    }
}

/// Copies in pieces of a size that costs few calls.
fn copy_content(mut content: impl Read, out: &mut impl Write, buffer: &mut [u8]) -> io::Result<()> {
    loop {
        match content.read(buffer)? {
            0 => return Ok(()),
            count => out.write_all(&buffer[..count])?,
        }
    }
}

/// The permissions that a file gets.
pub(super) fn written_mode(mode: u32) -> u32 {
    (mode & 0o777) | 0o600
}

/// A file or a link is replaced; a folder is not.
fn refuse_folder(place: &Path, path: &[u8]) -> Result<(), CapsuleError> {
    match fs_err::symlink_metadata(place) {
        Ok(there) if there.is_dir() => Err(CapsuleError::InTheWay { at: place.to_owned(), path: encode_path(path) }),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Puts a link in the place of what is there, in one step.
pub(super) fn replace_with_link(target: &Path, place: &Path, mark: &str) -> io::Result<()> {
    let name = place.file_name().unwrap_or_default().to_string_lossy().len();
    let beside = place.with_file_name(format!("{}link-{name}{TEMP_SUFFIX}", temp_prefix(mark)));
    make_link(target, &beside)?;
    fs_err::rename(&beside, place)
}

#[cfg(unix)]
fn make_link(target: &Path, place: &Path) -> io::Result<()> {
    fs_err::os::unix::fs::symlink(target, place)
}

#[cfg(not(unix))]
fn make_link(_: &Path, place: &Path) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, format!("{} is a link, which is not made here", place.display())))
}
