//! The files that were put in their places so far, noted one by one.
//!
//! After a crash, a file of ours is known by this from one that somebody has put there since with the same content.

use std::collections::HashMap;
use std::fs::Metadata;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::super::member_path::encode_path;
use crate::own::private;

/// One of them: where it is, and which file of the system it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct PlacedFile {
    path: String,
    #[serde(flatten)]
    identity: Identity,
}

/// By what a system tells files apart. The time is the one that nobody can set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Identity {
    device: u64,
    inode: u64,
    changed_seconds: i64,
    changed_nanos: i64,
}

impl Identity {
    #[cfg(unix)]
    #[expect(clippy::unnecessary_wraps, reason = "other systems tell none")]
    fn from_metadata(metadata: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        Some(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            changed_seconds: metadata.ctime(),
            changed_nanos: metadata.ctime_nsec(),
        })
    }

    #[cfg(not(unix))]
    fn from_metadata(_: &Metadata) -> Option<Self> {
        None
    }
}

/// The note that is being written.
pub(crate) struct PlacedLog(std::fs::File);

impl PlacedLog {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        private::open_file(path).map(Self)
    }

    /// Notes a file that has just been put there.
    pub(super) fn note(&mut self, path: &[u8], place: &Path) -> io::Result<()> {
        let Some(identity) = Identity::from_metadata(&fs_err::symlink_metadata(place)?) else { return Ok(()) };
        let mut line = serde_json::to_vec(&PlacedFile { path: encode_path(path), identity })?;
        line.push(b'\n');
        // Not buffered: what is in the system's hands outlives us.
        self.0.write_all(&line)
    }
}

/// The note as it was found.
pub(crate) struct PlacedFiles(HashMap<String, Identity>);

impl PlacedFiles {
    /// Reads a note. Its last line may have been cut short, and then one file more is somebody's own.
    pub(crate) fn read(path: &Path) -> Self {
        let text = fs_err::read_to_string(path).unwrap_or_default();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<PlacedFile>(line).ok());
        Self(lines.map(|placed| (placed.path, placed.identity)).collect())
    }

    /// Whether what is at a place is the very file that was put there.
    pub(super) fn is_ours(&self, path: &str, place: &Path) -> bool {
        let there = fs_err::symlink_metadata(place).ok().and_then(|metadata| Identity::from_metadata(&metadata));
        there.is_some() && self.0.get(path).copied() == there
    }
}
