//! Files read and looked at ahead of where they are packed, by all cores.

use std::fs::Metadata;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use carryover_agents::formats::file::open_regular;

use super::super::container::n_threads;
use super::path_or_odd;
use super::secret_scan::holds_secret;

/// Files up to this length are looked at and packed from memory.
const HELD_BYTES: u64 = 8 << 20;
/// So much is held at once, and no file more is begun.
const MAX_HELD_TOGETHER: u64 = 4 << 20;
const MAX_FILES_TOGETHER: usize = 1_024;

/// A file, as it was found.
pub(super) enum FoundFile {
    Gone,
    Unreadable,
    There { place: PathBuf, metadata: Metadata, content: FoundContent },
}

/// What was found in a file.
pub(super) enum FoundContent {
    Held(Vec<u8>),
    HoldsSecret,
    Unreadable,
    /// Reading it failed in the middle.
    Broken(io::ErrorKind),
    /// It became longer while it was read.
    Grown,
    /// Too long to be held, or no file: nothing was read.
    Long,
}

/// Reads the first of some files, one at least; with `redact`, looks for secrets in them.
pub(super) fn read_ahead(root: &Path, paths: &[&[u8]], redact: bool) -> Vec<FoundFile> {
    let paths = &paths[..paths.len().min(MAX_FILES_TOGETHER)];
    let (next, held) = (AtomicUsize::new(0), AtomicU64::new(0));
    let read_some = || {
        let mut found = Vec::new();
        while held.load(Ordering::Relaxed) < MAX_HELD_TOGETHER {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = paths.get(index) else { break };
            let file = find_file(root, path, redact);
            if let FoundFile::There { content: FoundContent::Held(bytes), .. } = &file {
                held.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            }
            found.push((index, file));
        }
        found
    };
    let mut found = thread::scope(|scope| {
        let others: Vec<_> = (1..n_threads()).map(|_| scope.spawn(read_some)).collect();
        let mut found = read_some();
        for other in others {
            match other.join() {
                Ok(more) => found.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        found
    });
    // Every one that was begun was read, so that none is missing between them.
    found.sort_unstable_by_key(|(index, _)| *index);
    found.into_iter().map(|(_, file)| file).collect()
}

fn find_file(root: &Path, path: &[u8], redact: bool) -> FoundFile {
    let place = root.join(path_or_odd(path));
    let metadata = match fs_err::symlink_metadata(&place) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return FoundFile::Gone,
        Err(_) => return FoundFile::Unreadable,
    };
    let is_held = metadata.is_file() && metadata.len() <= HELD_BYTES;
    let content = if is_held { read_content(&place, metadata.len(), redact) } else { FoundContent::Long };
    FoundFile::There { place, metadata, content }
}

fn read_content(place: &Path, length: u64, redact: bool) -> FoundContent {
    let Ok(file) = open_regular(place) else { return FoundContent::Unreadable };
    let mut held = Vec::with_capacity(usize::try_from(length).unwrap_or_default() + 1);
    match file.take(HELD_BYTES + 1).read_to_end(&mut held) {
        Err(error) => FoundContent::Broken(error.kind()),
        Ok(_) if held.len() as u64 > HELD_BYTES => FoundContent::Grown,
        Ok(_) if redact && holds_secret(&held) => FoundContent::HoldsSecret,
        Ok(_) => FoundContent::Held(held),
    }
}
