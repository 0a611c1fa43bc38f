//! A file of a workspace, looked at before it is packed: what it is, and whether it may leave the machine.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use carryover_agents::formats::file::open_regular;

use super::super::CapsuleError;
use super::super::limits;
use super::super::member_path::{check_link, path_bytes};
use super::path_or_odd;
use super::secret_scan::{holds_secret, stream_holds_secret};

/// Files up to this length are packed as they were looked at, from memory; several are held at a time.
const HELD_BYTES: u64 = 8 << 20;
const HOLDS_SECRETS: &str = "holds secrets";
const LEADS_TO_SECRETS: &str = "is a link to a name that holds secrets";
pub(super) const TOO_MUCH: &str = "is more than a capsule holds";
const UNREADABLE: &str = "could not be read";

/// What becomes of a path.
pub(super) enum LookedFile {
    /// It is gone since the folder was looked through.
    Gone,
    /// It does not come along, for a reason.
    LeftOut(&'static str),
    Link(PathBuf),
    File(FileStat, FileContent),
}

/// What the archive says of a file.
pub(super) struct FileStat {
    pub(super) mode: u32,
    pub(super) modified_seconds: u64,
}

pub(super) enum FileContent {
    Held(Vec<u8>),
    /// So long that it is read again while it is packed.
    InPlace {
        path: PathBuf,
        length: u64,
    },
}

impl FileContent {
    pub(super) fn n_bytes(&self) -> u64 {
        match self {
            Self::Held(bytes) => bytes.len() as u64,
            Self::InPlace { length, .. } => *length,
        }
    }
}

/// Looks at a path below a folder, where no more than `left` bytes are taken; with `redact`, also for secrets.
pub(super) fn look_at_file(root: &Path, path: &[u8], left: u64, redact: bool) -> Result<LookedFile, CapsuleError> {
    let place = root.join(path_or_odd(path));
    let metadata = match fs_err::symlink_metadata(&place) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(LookedFile::Gone),
        Err(_) => return Ok(LookedFile::LeftOut(UNREADABLE)),
    };
    if metadata.is_symlink() {
        return look_at_link(&place, path, redact);
    }
    if !metadata.is_file() {
        return Ok(LookedFile::LeftOut("is no regular file"));
    }
    if metadata.len() > limits::MAX_FILE_BYTES {
        return Ok(LookedFile::LeftOut("is larger than 1 GB"));
    }
    if metadata.len() > left {
        return Ok(LookedFile::LeftOut(TOO_MUCH));
    }
    look_at_content(place, &metadata, redact)
}

fn look_at_link(place: &Path, path: &[u8], redact: bool) -> Result<LookedFile, CapsuleError> {
    let target = fs_err::read_link(place)?;
    let bytes = path_bytes(&target).unwrap_or_default();
    Ok(match check_link(path, &bytes) {
        Err(reason) => LookedFile::LeftOut(reason),
        Ok(()) if redact && holds_secret(&bytes) => LookedFile::LeftOut(LEADS_TO_SECRETS),
        Ok(()) => LookedFile::Link(target),
    })
}

fn look_at_content(place: PathBuf, metadata: &std::fs::Metadata, redact: bool) -> Result<LookedFile, CapsuleError> {
    let Ok(mut file) = open_regular(&place) else { return Ok(LookedFile::LeftOut(UNREADABLE)) };
    let modified = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let stat = FileStat { mode: file_mode(metadata), modified_seconds: modified.map_or(0, |since| since.as_secs()) };
    if metadata.len() > HELD_BYTES {
        let holds_secrets = redact && stream_holds_secret(&mut file)?;
        let content = FileContent::InPlace { path: place, length: metadata.len() };
        return Ok(if holds_secrets { LookedFile::LeftOut(HOLDS_SECRETS) } else { LookedFile::File(stat, content) });
    }
    let mut held = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
    (&mut file).take(HELD_BYTES + 1).read_to_end(&mut held)?;
    if held.len() as u64 > HELD_BYTES {
        return Err(CapsuleError::Changed(place));
    }
    if redact && holds_secret(&held) {
        return Ok(LookedFile::LeftOut(HOLDS_SECRETS));
    }
    Ok(LookedFile::File(stat, FileContent::Held(held)))
}

#[cfg(unix)]
fn file_mode(metadata: &std::fs::Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777
}

#[cfg(not(unix))]
fn file_mode(_: &std::fs::Metadata) -> u32 {
    0o644
}
