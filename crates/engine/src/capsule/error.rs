//! Why a capsule could not be made or opened.

use std::io;
use std::path::PathBuf;

use carryover_agents::AgentError;

use crate::carry::resume::ResumeError;

#[derive(Debug, thiserror::Error)]
pub enum CapsuleError {
    #[error("this is no capsule: {0}")]
    NoCapsule(String),
    #[error("the capsule is of schema version {found}, and this carryover opens up to {known}")]
    Newer { found: u32, known: u32 },
    #[error("the capsule is damaged: {name} {reason}")]
    Damaged { name: String, reason: &'static str },
    /// It is made so that unpacking it would do harm.
    #[error("the capsule is refused: {name} {reason}")]
    Refused { name: String, reason: &'static str },
    #[error("the capsule is refused: it unpacks to more than {limit} bytes, and is only {packed} bytes long")]
    Bomb { packed: u64, limit: u64 },
    #[error("{} changed while it was read", .0.display())]
    Changed(PathBuf),
    #[error("{} is there already", .0.display())]
    Exists(PathBuf),
    /// Every path that keeps it from being one, with the reason.
    #[error("{} is not empty, and not a clean checkout of {commit}", folder.display())]
    NotClean { folder: PathBuf, commit: String, in_the_way: Vec<String> },
    #[error("the capsule holds what was changed since commit {commit}, and {} is not at it", folder.display())]
    OtherCommit { folder: PathBuf, commit: String },
    /// Only where the user says so: nobody could bring them back.
    #[error("{} in {} would be written over or deleted, and git does not have {}", count_files(*count, first), folder.display(), if *count == 1 { "it" } else { "them" })]
    Threatened { folder: PathBuf, count: usize, first: String },
    #[error("{} was made or changed while the workspace was put there", .0.display())]
    ChangedMeanwhile(PathBuf),
    #[error("{} stands in the way of the workspace's {path}", at.display())]
    InTheWay { at: PathBuf, path: String },
    #[error("git could not {0}")]
    Git(&'static str),
    /// What it ignores would be taken for what it keeps.
    #[error("git cannot tell what it ignores in {}: {reason}", folder.display())]
    Unasked { folder: PathBuf, reason: String },
    #[error("no agent is known by the name `{0}`, and none was named with a target")]
    NoTarget(String),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Agent(#[from] AgentError),
    #[error(transparent)]
    Resume(#[from] ResumeError),
}

impl CapsuleError {
    pub(super) fn refused(name: &[u8], reason: &'static str) -> Self {
        Self::Refused { name: shown_name(name), reason }
    }

    pub(super) fn damaged(name: &str, reason: &'static str) -> Self {
        Self::Damaged { name: shown_name(name.as_bytes()), reason }
    }
}

fn count_files(count: usize, first: &str) -> String {
    if count == 1 { first.to_owned() } else { format!("{count} files, {first} among them,") }
}

/// A name of somebody else's, as an error tells it.
fn shown_name(name: &[u8]) -> String {
    carryover_core::plain::one_line(&String::from_utf8_lossy(name), 200)
}
