//! Files that git was told to overlook: it does not tell what was changed in them, so they are compared here.

use std::collections::HashSet;
use std::path::Path;

use super::super::CapsuleError;
use super::super::member_path::{encode_path, path_bytes};
use super::collect::Collected;
use super::git_state::{Overlooked, Repository};
use super::index_restore::run_git;
use super::{FileChange, WorktreeChange, path_or_odd};

const COULD_NOT: CapsuleError = CapsuleError::Git("compare what it was told to overlook");
const MARKED: &str = "comes along as it is here, without git's mark to overlook its changes";

/// Those that are not checked out, which is no deletion.
pub(super) fn list_absent(root: &Path, overlooked: &[Overlooked]) -> HashSet<Vec<u8>> {
    let is_absent =
        |file: &&Overlooked| file.may_be_missing && root.join(path_or_odd(&file.path)).symlink_metadata().is_err();
    overlooked.iter().filter(is_absent).map(|file| file.path.clone()).collect()
}

impl Collected<'_> {
    /// Takes down what was changed in them, and tells what a receiver does not get.
    pub(super) fn take_overlooked(
        &mut self,
        repository: &Repository<'_>,
        overlooked: Vec<Overlooked>,
        absent: &HashSet<Vec<u8>>,
    ) -> Result<(), CapsuleError> {
        if !absent.is_empty() {
            let reason =
                format!("{} of the commit's files are not checked out here, and do not come along", absent.len());
            self.leave_out(b".", &reason);
        }
        let told: HashSet<String> = self.record.changes.iter().map(|change| change.path.clone()).collect();
        let mut there: Vec<Overlooked> = overlooked.into_iter().filter(|file| !absent.contains(&file.path)).collect();
        for file in &there {
            self.remark(&file.path, MARKED);
        }
        there.retain(|file| !told.contains(&encode_path(&file.path)));
        let (there, gone): (Vec<_>, Vec<_>) = there.into_iter().partition(|file| self.is_there(&file.path));
        for Overlooked { path, .. } in gone {
            self.note_change(&path, WorktreeChange::Deleted);
        }
        for path in self.find_changed(repository, there)? {
            self.note_change(&path, WorktreeChange::Present);
            self.take_file(path);
        }
        self.record.changes.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(())
    }

    fn note_change(&mut self, path: &[u8], worktree: WorktreeChange) {
        self.record.changes.push(FileChange { path: encode_path(path), staged: None, worktree });
    }

    /// Those whose content is not what the index has.
    fn find_changed(&self, repository: &Repository<'_>, files: Vec<Overlooked>) -> Result<Vec<Vec<u8>>, CapsuleError> {
        // Git takes names line by line.
        let (files, mut changed): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| !file.path.contains(&b'\n'));
        let (links, files): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|file| self.root.join(path_or_odd(&file.path)).is_symlink());
        let is_changed = |file: &Overlooked| {
            let target = fs_err::read_link(self.root.join(path_or_odd(&file.path))).ok();
            target.and_then(|target| path_bytes(&target)) != repository.read_blob(&file.id)
        };
        changed.extend(links.into_iter().filter(is_changed));
        if !files.is_empty() {
            let names: Vec<u8> = files.iter().flat_map(|file| [&b"./"[..], &file.path, b"\n"].concat()).collect();
            let told = run_git(repository, &["hash-object", "--stdin-paths"], names).map_err(|_| COULD_NOT)?;
            let told = String::from_utf8(told).map_err(|_| COULD_NOT)?;
            let ids: Vec<&str> = told.lines().collect();
            if ids.len() != files.len() {
                return Err(COULD_NOT);
            }
            changed.extend(files.into_iter().zip(ids).filter(|(file, id)| file.id != *id).map(|(file, _)| file));
        }
        Ok(changed.into_iter().map(|file| file.path).collect())
    }
}
