//! The workspace of a capsule: the files that were worked on, as they are, with what git knows of their state.
//!
//! Files are never altered. Those that cannot or should not come along are left out, and each is named with the reason.

mod bare_layout;
mod collect;
mod drift;
mod git_state;
mod index_restore;
mod looked_file;
mod overlooked;
mod placed;
mod restore;
mod restored;
mod secret_scan;
mod snapshot;
mod take_back;
mod threatened;
mod withheld;

use std::path::{Path, PathBuf};

use carryover_core::redact::redact_text;
use serde::{Deserialize, Serialize};

use super::CapsuleError;
use super::member_path::{check_workspace_path, decode_path, encode_path, path_bytes, path_from_bytes};
use crate::context::Context;

pub use collect::check_project;
pub(super) use collect::{collect_workspace, workspace_root};
pub(super) use drift::compare_workspace;
pub use drift::{Difference, WorkspaceDrift};
pub(super) use git_state::head_commit;
pub(crate) use placed::{PlacedFiles, PlacedLog};
pub use restore::RestoredWorkspace;
pub(super) use restore::{Placement, RestoreInto, is_empty, leads_through_link, restore_workspace};
pub(super) use restored::note_restored;
pub(crate) use restored::{FileState, RestoredFile, RestoredFiles};
pub(super) use secret_scan::holds_secret;
pub(super) use snapshot::{verify_snapshot, write_snapshot};
pub(crate) use take_back::{KeptBeside, Strictness, TakeBackPlan};
pub use take_back::{TakeBackError, TakenFiles};

pub const SCHEMA: &str = "carryover.workspace/1";

/// Which files come along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FilesMode {
    /// What differs from the commit, which the receiver must have.
    Changed,
    /// Everything that git would not ignore.
    Full,
    None,
}

/// The state of a workspace, and what came along of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceRecord {
    pub schema: String,
    pub files_mode: FilesMode,
    /// The folder that the files were in.
    pub root: Option<String>,
    /// The session's folder below it.
    pub project: String,
    pub commit: Option<String>,
    pub branch: Option<String>,
    /// How many files and links are in the snapshot's tree.
    pub files: u64,
    pub bytes: u64,
    /// The paths that differ from the commit.
    pub changes: Vec<FileChange>,
    pub left_out: Vec<LeftOut>,
    /// Files that come along, without what git was told of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<LeftOut>,
}

/// How a path differs from the commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// Bytes that are no text stand as `%` with two digits.
    pub path: String,
    /// What is staged, where that differs from the commit.
    pub staged: Option<StagedChange>,
    pub worktree: WorktreeChange,
}

/// A change in git's index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StagedChange {
    /// The content is in the snapshot's index, to be kept with this mode.
    Written {
        mode: String,
    },
    Deleted,
    /// The content was left out.
    Omitted,
}

/// A change in the files themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorktreeChange {
    /// It is in the snapshot's tree, unless it was left out.
    Present,
    Deleted,
}

/// What was left out, and why; or what else is to be told of a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LeftOut {
    pub path: String,
    pub reason: String,
}

impl LeftOut {
    pub(super) fn new(path: &str, reason: &str) -> Self {
        Self { path: path.to_owned(), reason: reason.to_owned() }
    }

    fn from_bytes(path: &[u8], reason: &str) -> Self {
        Self::new(&encode_path(path), reason)
    }
}

/// The folder of a project's workspace, as a capsule of it tells it.
pub(crate) fn describe_root(context: &Context, project: &Path) -> String {
    encode_path(&path_bytes(&workspace_root(context, project)).unwrap_or_default())
}

/// A path from bytes that this system gave us or can have; one that it cannot have is no path of any file.
fn path_or_odd(bytes: &[u8]) -> PathBuf {
    path_from_bytes(bytes).unwrap_or_else(|| PathBuf::from(encode_path(bytes)))
}

impl WorkspaceRecord {
    /// One of a session without files.
    pub(super) fn without_files(root: Option<String>) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            files_mode: FilesMode::None,
            root,
            project: String::new(),
            commit: None,
            branch: None,
            files: 0,
            bytes: 0,
            changes: Vec::new(),
            left_out: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// Masks secrets in what it is called: a branch may be named after a key.
    fn mask_names(&mut self) {
        for name in [&mut self.branch, &mut self.root].into_iter().flatten() {
            *name = redact_text(name).into_owned();
        }
    }

    /// Checks every path that it names.
    pub(super) fn check(&self) -> Result<(), CapsuleError> {
        let refuse = |path: &str, reason| CapsuleError::refused(path.as_bytes(), reason);
        for change in &self.changes {
            let path = decode_path(&change.path).ok_or_else(|| refuse(&change.path, "is no path"))?;
            check_workspace_path(&path).map_err(|reason| refuse(&change.path, reason))?;
            let mode = match &change.staged {
                Some(StagedChange::Written { mode }) => mode.as_str(),
                _ => continue,
            };
            if !["100644", "100755", "120000"].contains(&mode) {
                return Err(refuse(&change.path, "is staged as something that is no file"));
            }
        }
        if !self.project.is_empty() {
            let project = decode_path(&self.project).ok_or_else(|| refuse(&self.project, "is no path"))?;
            check_workspace_path(&project).map_err(|reason| refuse(&self.project, reason))?;
        }
        let is_hash = |commit: &String| commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        if self.commit.as_ref().is_some_and(|commit| !is_hash(commit)) {
            return Err(refuse("workspace/metadata.json", "names a commit that is none"));
        }
        Ok(())
    }
}
