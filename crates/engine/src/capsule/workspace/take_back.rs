//! Taking back what was put into a folder: what is still as it was left goes, and what was there before comes back.
//!
//! What somebody has made or changed since is never touched, whatever is asked for.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::super::member_path::decode_path;
use super::git_state::{IndexEntry, Repository};
use super::index_restore::run_git;
use super::placed::PlacedFiles;
use super::restored::{FileState, IndexChange, IndexLeft, RestoredFile, RestoredFiles, digest_bytes};
use crate::context::Context;
use crate::own::files::TEMP_SUFFIX;
use crate::write::disk::temp_prefix;

/// Why files cannot be taken back.
#[derive(Debug, thiserror::Error)]
pub enum TakeBackError {
    #[error("{count} of the files that it wrote in {} have been changed since, {first} among them", folder.display())]
    Changed { folder: PathBuf, count: usize, first: String },
    #[error("{} was at commit {before}, and is at {now}", folder.display())]
    OtherCommit { folder: PathBuf, before: String, now: String },
    #[error("git does not have the bytes that {path} had before in {}", folder.display())]
    Inexact { folder: PathBuf, path: String },
    #[error("git could not {0}")]
    Git(&'static str),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// What was taken back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TakenFiles {
    pub folder: PathBuf,
    pub removed: usize,
    /// Files that are as they were before, and entries of the index.
    pub brought_back: usize,
    /// The folder itself was made for them, and is gone.
    pub is_folder_gone: bool,
    /// Files that were changed since, and stay.
    pub left: Vec<String>,
}

/// How strictly a folder is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// Nothing is taken back where anything was changed.
    AllOrNothing,
    /// What was changed stays, and the rest goes.
    KeepChanged,
}

/// What was kept beside the note of the files.
pub(crate) struct KeptBeside {
    /// Copies of what git could not bring back byte for byte, by their digests.
    pub(crate) copies: PathBuf,
    /// Where it was cut short: the files that were put there so far. Any other is somebody's own, whatever is in it.
    pub(crate) placed: Option<PlacedFiles>,
}

/// Files that can be taken back, as far as was seen.
pub(crate) struct TakeBackPlan<'a> {
    restored: &'a RestoredFiles,
    beside: &'a KeptBeside,
    repository: Option<Repository<'a>>,
    changed: BTreeSet<String>,
}

impl<'a> TakeBackPlan<'a> {
    /// Looks at everything and changes nothing.
    pub(crate) fn make(
        context: &'a Context,
        restored: &'a RestoredFiles,
        beside: &'a KeptBeside,
        strictness: Strictness,
    ) -> Result<Self, TakeBackError> {
        let folder = &restored.folder;
        let repository = restored.commit.as_ref().and_then(|_| Repository::open(context, folder));
        if let Some(commit) = &restored.commit {
            let now = repository.as_ref().and_then(|repository| repository.commit.clone());
            if now.as_ref() != Some(commit) {
                let short = |commit: &str| commit.get(..12).unwrap_or(commit).to_owned();
                let now = now.as_deref().map_or_else(|| "none".to_owned(), short);
                return Err(TakeBackError::OtherCommit { folder: folder.clone(), before: short(commit), now });
            }
        }
        let mut plan = Self { restored, beside, repository, changed: BTreeSet::new() };
        plan.find_changed(strictness)?;
        if let Some(first) = plan.changed.first().filter(|_| strictness == Strictness::AllOrNothing) {
            let (count, first) = (plan.changed.len(), first.clone());
            return Err(TakeBackError::Changed { folder: folder.clone(), count, first });
        }
        Ok(plan)
    }

    fn find_changed(&mut self, strictness: Strictness) -> Result<(), TakeBackError> {
        let restored = self.restored;
        let entries = self.repository.as_ref().map(Repository::index_entries).transpose();
        let entries = entries.map_err(|_| TakeBackError::Git("list its files"))?.unwrap_or_default();
        for file in &restored.files {
            let now = file.state_now(&restored.folder)?;
            // One that is gone was removed by its user, and is as good as taken back.
            let is_gone = now == FileState::Absent && restored.commit.is_none();
            let is_left = now == file.left && self.is_known(file);
            let mut is_ours = is_gone || is_left || now == file.before;
            if let (Some(index), Some(repository)) = (&file.index, &self.repository) {
                let entry = entries.get(&file.bytes().unwrap_or_default());
                is_ours &= entry == index.before.as_ref() || is_as_staged(repository, index, entry);
            }
            let needs_blob = file.before != FileState::Absent && now != file.before;
            if !is_ours {
                self.changed.insert(file.path.clone());
            } else if needs_blob && !self.can_bring_back(file) {
                if strictness == Strictness::AllOrNothing {
                    return Err(TakeBackError::Inexact { folder: restored.folder.clone(), path: file.path.clone() });
                }
                self.changed.insert(file.path.clone());
            }
        }
        Ok(())
    }

    /// Whether what is as it was left is what we have left there.
    fn is_known(&self, file: &RestoredFile) -> bool {
        let placed = self.beside.placed.as_ref().filter(|_| file.left != FileState::Absent);
        placed.is_none_or(|placed| placed.is_ours(&file.path, &file.place(&self.restored.folder)))
    }

    fn can_bring_back(&self, file: &RestoredFile) -> bool {
        match &file.before {
            FileState::File { sha256, .. } => file.blob.is_some() || self.beside.copies.join(sha256).is_file(),
            FileState::Absent | FileState::Link { .. } => true,
            FileState::Other => false,
        }
    }

    /// Takes back what can be. Whatever stops it, it can be done again.
    pub(crate) fn apply(self, mark: &str) -> Result<TakenFiles, TakeBackError> {
        let Self { restored, beside, repository, changed } = self;
        let folder = &restored.folder;
        let mut taken =
            TakenFiles { folder: folder.clone(), left: changed.iter().cloned().collect(), ..TakenFiles::default() };
        let mut to_stage = Vec::new();
        for file in restored.files.iter().filter(|file| !changed.contains(&file.path)) {
            // Once more, for this is the moment that counts.
            let now = file.state_now(folder)?;
            if now == file.left && now != file.before {
                bring_back(repository.as_ref(), beside, folder, file, mark)?;
                *(if file.before == FileState::Absent { &mut taken.removed } else { &mut taken.brought_back }) += 1;
            } else if now != file.before && now != FileState::Absent {
                taken.left.push(file.path.clone());
                continue;
            }
            if let Some(index) = file.index.as_ref().filter(|index| index.left != IndexLeft::AsBefore) {
                to_stage.extend(index_line(repository.as_ref(), file, index.before.as_ref()));
            }
        }
        if let Some(repository) = repository.as_ref().filter(|_| !to_stage.is_empty()) {
            let staged = run_git(repository, &["update-index", "-z", "--index-info"], to_stage);
            staged.map_err(|_| TakeBackError::Git("stage what was staged before"))?;
        }
        remove_staged(restored, mark)?;
        remove_folders(restored);
        taken.is_folder_gone = restored.made_folders.contains(folder) && fs_err::symlink_metadata(folder).is_err();
        Ok(taken)
    }
}

/// Whether an entry of the index is what we staged.
fn is_as_staged(repository: &Repository<'_>, index: &IndexChange, entry: Option<&IndexEntry>) -> bool {
    match (&index.left, entry) {
        (IndexLeft::Removed, None) => true,
        (IndexLeft::Written { mode, sha256 }, Some(entry)) => {
            *mode == entry.mode && repository.read_blob(&entry.id).is_some_and(|bytes| digest_bytes(&bytes) == *sha256)
        }
        _ => false,
    }
}

fn index_line(repository: Option<&Repository<'_>>, file: &RestoredFile, entry: Option<&IndexEntry>) -> Vec<u8> {
    let mut line = match entry {
        Some(entry) => format!("{} {} 0\t", entry.mode, entry.id).into_bytes(),
        None => format!("0 {} 0\t", repository.map(Repository::null_id).unwrap_or_default()).into_bytes(),
    };
    line.extend(file.bytes().unwrap_or_default());
    line.push(0);
    line
}

/// Makes a path what it was before, in one step.
fn bring_back(
    repository: Option<&Repository<'_>>,
    beside: &KeptBeside,
    folder: &Path,
    file: &RestoredFile,
    mark: &str,
) -> Result<(), TakeBackError> {
    const UNREAD: TakeBackError = TakeBackError::Git("read what was there before");
    let place = file.place(folder);
    match &file.before {
        FileState::Absent => fs_err::remove_file(&place)?,
        FileState::File { mode, sha256, .. } => {
            let bytes = match &file.blob {
                Some(id) => repository.and_then(|repository| repository.read_blob(id)).ok_or(UNREAD)?,
                None => fs_err::read(beside.copies.join(sha256))?,
            };
            if digest_bytes(&bytes) != *sha256 {
                return Err(UNREAD);
            }
            let above = make_parent(&place)?;
            let mut new = tempfile::Builder::new().prefix(&temp_prefix(mark)).suffix(TEMP_SUFFIX).tempfile_in(above)?;
            new.write_all(&bytes)?;
            set_mode(new.as_file(), *mode)?;
            new.as_file().sync_all()?;
            new.persist(&place).map_err(|failed| failed.error)?;
        }
        FileState::Link { target } => {
            let bytes = decode_path(target).ok_or(UNREAD)?;
            make_parent(&place)?;
            super::restore::replace_with_link(&super::path_or_odd(&bytes), &place, mark)?;
        }
        FileState::Other => {}
    }
    Ok(())
}

fn make_parent(place: &Path) -> io::Result<&Path> {
    let above = place.parent().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
    fs_err::create_dir_all(above)?;
    Ok(above)
}

#[cfg(unix)]
fn set_mode(file: &std::fs::File, mode: u32) -> io::Result<()> {
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode & 0o777))
}

#[cfg(not(unix))]
fn set_mode(_: &std::fs::File, _: u32) -> io::Result<()> {
    Ok(())
}

/// Removes what a crash left beside the places that it was meant for.
fn remove_staged(restored: &RestoredFiles, mark: &str) -> io::Result<()> {
    let places: Vec<PathBuf> = restored.files.iter().map(|file| file.place(&restored.folder)).collect();
    let folders: BTreeSet<&Path> = places.iter().filter_map(|place| place.parent()).collect();
    for entry in folders.into_iter().filter_map(|folder| fs_err::read_dir(folder).ok()).flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(&temp_prefix(mark)) && name.ends_with(TEMP_SUFFIX) {
            fs_err::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Removes the folders that were made, the innermost first. One that is not empty holds what others have put there.
fn remove_folders(restored: &RestoredFiles) {
    for folder in restored.list_folders() {
        std::fs::remove_dir(folder).ok();
    }
}
