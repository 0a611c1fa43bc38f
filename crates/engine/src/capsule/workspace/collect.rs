//! Which files of a workspace come along.

use std::collections::{BTreeSet, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use carryover_agents::formats::file::open_regular;

use super::super::CapsuleError;
use super::super::limits;
use super::super::member_path::{check_workspace_path, decode_path, encode_path, is_own_path, path_bytes};
use super::git_state::{ChangedPath, Repository, Staged, TrackedPaths};
use super::overlooked::list_absent;
use super::{FileChange, FilesMode, LeftOut, SCHEMA, StagedChange, WorkspaceRecord, WorktreeChange};
use crate::context::Context;
use crate::handoff::workspace::find_repository;
use crate::sessions::project::resolve_path;
use crate::share::crypt::MAGIC;
use crate::share::sealed::FILE_END;

const SUBMODULE: &str = "is a submodule, which has a history of its own";
const UNMERGED: &str = "comes along as it is, without the conflict: what git holds of both sides does not";
const INSIDE: &str = "is a repository of its own";
const INTENDED: &str = "comes along as a new file, without git's mark that it will be added";
const ALL_IGNORED: &str = "the repository of a folder above it ignores all that is in it: no files of it are taken";
const NO_NAME: &str = "has a name that a capsule cannot hold";
const OWN_FOLDER: &str = "is carryover's own";
const SHARE: &str = "is encrypted for somebody: a session that was shared";
const TOO_WIDE: &str = "it is the home folder, or one above it: no files of it are taken";

/// A workspace, looked through.
pub(in crate::capsule) struct Collected<'a> {
    pub(in crate::capsule) record: WorkspaceRecord,
    pub(super) root: PathBuf,
    /// Paths below the root, in order.
    pub(super) tree: BTreeSet<Vec<u8>>,
    /// Empty folders, where there is no git that would forget them.
    pub(super) folders: BTreeSet<Vec<u8>>,
    pub(super) staged: Vec<StagedBlob>,
    pub(super) repository: Option<Repository<'a>>,
}

/// A content that is staged.
pub(super) struct StagedBlob {
    pub(super) path: Vec<u8>,
    pub(super) mode: String,
    pub(super) id: String,
}

/// Why no files of a folder are taken: everybody's whole home is in it.
pub fn check_project(context: &Context, project: &Path) -> Option<&'static str> {
    resolve_path(&context.env.home).starts_with(resolve_path(project)).then_some(TOO_WIDE)
}

/// The folder that a workspace is: that of the repository, unless it is the home folder.
pub(in crate::capsule) fn workspace_root(context: &Context, project: &Path) -> PathBuf {
    find_repository(project).filter(|root| check_project(context, root).is_none()).unwrap_or(project).to_owned()
}

/// Whether a file is a share: each would otherwise hold all that were made in this folder before it.
fn is_share_file(root: &Path, path: &[u8]) -> bool {
    if !path.ends_with(FILE_END.as_bytes()) {
        return false;
    }
    let mut head = [0; MAGIC.len()];
    open_regular(&root.join(super::path_or_odd(path))).is_ok_and(|mut file| file.read_exact(&mut head).is_ok())
        && head == MAGIC
}

/// Looks through a workspace.
pub(in crate::capsule) fn collect_workspace<'a>(
    context: &'a Context,
    root: &'a Path,
    project: &Path,
    mode: FilesMode,
) -> Result<Collected<'a>, CapsuleError> {
    let asked = match mode {
        FilesMode::None => Repository::open(context, root),
        _ => Repository::find(context, root)?,
    };
    let (repository, above) =
        asked.map_or((None, None), |asked| if asked.is_at(root) { (Some(asked), None) } else { (None, Some(asked)) });
    let below = project.strip_prefix(root).ok().and_then(path_bytes).unwrap_or_default();
    let record = WorkspaceRecord {
        schema: SCHEMA.to_owned(),
        files_mode: mode,
        root: Some(encode_path(&path_bytes(root).unwrap_or_default())),
        project: encode_path(&below),
        commit: repository.as_ref().and_then(|repository| repository.commit.clone()),
        branch: repository.as_ref().and_then(|repository| repository.branch.clone()),
        files: 0,
        bytes: 0,
        changes: Vec::new(),
        left_out: Vec::new(),
        remarks: Vec::new(),
    };
    let mut collected = Collected {
        record,
        root: root.to_owned(),
        tree: BTreeSet::new(),
        folders: BTreeSet::new(),
        staged: Vec::new(),
        repository: None,
    };
    match &repository {
        _ if mode == FilesMode::None => {}
        Some(repository) => collected.take_repository(repository, mode)?,
        None => {
            // Without a commit to start from, what is changed is everything.
            collected.record.files_mode = FilesMode::Full;
            match &above {
                Some(above) => collected.take_kept(above)?,
                None => collected.take_folder(root, &mut Vec::new())?,
            }
        }
    }
    collected.repository = repository;
    Ok(collected)
}

impl Collected<'_> {
    pub(super) fn leave_out(&mut self, path: &[u8], reason: &str) {
        self.record.left_out.push(LeftOut::from_bytes(path, reason));
    }

    pub(super) fn remark(&mut self, path: &[u8], words: &str) {
        self.record.remarks.push(LeftOut::from_bytes(path, words));
    }

    fn take_repository(&mut self, repository: &Repository<'_>, mode: FilesMode) -> Result<(), CapsuleError> {
        let TrackedPaths { files: tracked, submodules, overlooked } = repository.tracked_paths()?;
        let absent = list_absent(&self.root, &overlooked);
        for path in &submodules {
            self.leave_out(path, SUBMODULE);
        }
        for change in repository.changed_paths()? {
            // A repository inside of this one, which git names as a folder.
            if change.path.ends_with(b"/") {
                self.leave_out(&change.path, INSIDE);
            } else {
                self.take_change(change, &absent);
            }
        }
        self.take_overlooked(repository, overlooked, &absent)?;
        if mode == FilesMode::Full {
            // What is gone may be something else by now: a folder, or what is behind a link.
            let gone = self.record.changes.iter().filter(|change| change.worktree == WorktreeChange::Deleted);
            let gone: HashSet<Vec<u8>> = gone.filter_map(|change| decode_path(&change.path)).collect();
            for path in tracked.into_iter().filter(|path| !gone.contains(path) && !absent.contains(path)) {
                self.take_file(path);
            }
        }
        Ok(())
    }

    /// What a repository above the folder keeps in it.
    fn take_kept(&mut self, above: &Repository<'_>) -> Result<(), CapsuleError> {
        let kept = above.kept_paths()?;
        if kept.is_empty() && fs_err::read_dir(&self.root)?.next().is_some() {
            self.leave_out(b".", ALL_IGNORED);
        }
        for path in kept {
            if path.ends_with(b"/") || self.is_folder(&path) {
                self.leave_out(&path, INSIDE);
            } else {
                self.take_file(path);
            }
        }
        Ok(())
    }

    fn is_folder(&self, path: &[u8]) -> bool {
        self.root.join(super::path_or_odd(path)).symlink_metadata().is_ok_and(|there| there.is_dir())
    }

    /// Whether a file or a link is at a path: one that was replaced by a folder is gone.
    pub(super) fn is_there(&self, path: &[u8]) -> bool {
        self.root.join(super::path_or_odd(path)).symlink_metadata().is_ok_and(|there| !there.is_dir())
    }

    fn take_change(&mut self, change: ChangedPath, absent: &HashSet<Vec<u8>>) {
        let ChangedPath { path, staged, is_deleted, is_unmerged, is_intended, is_new: _ } = change;
        if check_workspace_path(&path).is_err() {
            return self.take_file(path);
        }
        for reason in [is_unmerged.then_some(UNMERGED), is_intended.then_some(INTENDED)].into_iter().flatten() {
            self.remark(&path, reason);
        }
        let is_absent = absent.contains(&path);
        let is_gone = !is_absent && (is_deleted || !self.is_there(&path));
        let staged = staged.map(|staged| match staged {
            Staged::Deleted => StagedChange::Deleted,
            Staged::Blob { mode, id } => {
                self.staged.push(StagedBlob { path: path.clone(), mode: mode.clone(), id });
                StagedChange::Written { mode }
            }
        });
        let worktree = if is_gone { WorktreeChange::Deleted } else { WorktreeChange::Present };
        self.record.changes.push(FileChange { path: encode_path(&path), staged, worktree });
        if !is_gone && !is_absent {
            self.take_file(path);
        }
    }

    pub(super) fn take_file(&mut self, path: Vec<u8>) {
        if is_own_path(&path) {
            self.leave_out(&path, OWN_FOLDER);
        } else if check_workspace_path(&path).is_err() {
            self.leave_out(&path, NO_NAME);
        } else if is_share_file(&self.root, &path) {
            self.leave_out(&path, SHARE);
        } else {
            self.tree.insert(path);
        }
    }

    /// Everything below a folder that is no repository; links are not followed.
    fn take_folder(&mut self, folder: &Path, below: &mut Vec<u8>) -> Result<(), CapsuleError> {
        if below.len() > limits::MAX_DEPTH_BYTES || self.tree.len() as u64 > limits::MAX_FILES {
            self.leave_out(below, "has more files than a capsule holds");
            return Ok(());
        }
        let mut is_empty = true;
        for entry in fs_err::read_dir(folder)? {
            let entry = entry?;
            is_empty = false;
            let Some(name) = path_bytes(Path::new(&entry.file_name())) else { continue };
            let length = below.len();
            if length > 0 {
                below.push(b'/');
            }
            below.extend_from_slice(&name);
            if entry.file_type()?.is_dir() && check_workspace_path(below).is_ok() {
                // What that one ignores is nobody else's to say.
                if entry.path().join(".git").symlink_metadata().is_ok() {
                    self.leave_out(below, INSIDE);
                } else {
                    self.take_folder(&entry.path(), below)?;
                }
            } else {
                self.take_file(below.clone());
            }
            below.truncate(length);
        }
        if is_empty && !below.is_empty() {
            self.folders.insert(below.clone());
        }
        Ok(())
    }
}
