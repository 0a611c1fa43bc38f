//! Files that a save has written anew: how they were before, so that they can be put back.

use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::saved::SESSION_FOLDER;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::own::files;
use crate::own::fingerprint::Fingerprint;
use crate::write::disk::Disk;
use crate::write::journal::{self, Journal, WrittenFile};
use crate::write::undo::{UndoError, refuse_used, undo_error};

const MAX_BYTES: u64 = 1 << 30;

/// A file as it was before it was written anew, or dropped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReplacedFile {
    pub(crate) path: PathBuf,
    pub(crate) size: u64,
    pub(crate) digest: Fingerprint,
    /// The number of its copy among our own files; none where what was written only goes on behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) copy: Option<usize>,
}

impl ReplacedFile {
    /// Keeps what a file holds before something else is in its place; none where there is no file.
    pub(crate) fn keep(
        disk: &mut dyn Disk,
        context: &Context,
        journal: &Journal,
        path: &Path,
        new: &[u8],
    ) -> io::Result<Option<Self>> {
        let Some(bytes) = files::read_bounded(path, MAX_BYTES)? else { return Ok(None) };
        let number = journal.replaced.len();
        let goes_on = !bytes.is_empty() && new.starts_with(&bytes);
        if !goes_on {
            disk.write_own(&journal::backup_path(context, &journal.id, number), &bytes)?;
        }
        let digest = Fingerprint::from_bytes(&bytes);
        let copy = (!goes_on).then_some(number);
        Ok(Some(Self { path: path.to_owned(), size: bytes.len() as u64, digest, copy }))
    }

    fn is_as_before(&self) -> bool {
        Fingerprint::from_file(&self.path, None).is_ok_and(|now| now == (self.size, self.digest))
    }

    /// What it held.
    fn read_before(&self, context: &Context, id: &str) -> io::Result<Vec<u8>> {
        let place = self.copy.map(|number| journal::backup_path(context, id, number));
        let mut bytes = files::read_bounded(place.as_ref().unwrap_or(&self.path), MAX_BYTES)?.unwrap_or_default();
        bytes.truncate(usize::try_from(self.size).unwrap_or(usize::MAX));
        if (bytes.len() as u64, Fingerprint::from_bytes(&bytes)) != (self.size, self.digest) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "what it held before is not known any more"));
        }
        Ok(bytes)
    }
}

impl Journal {
    /// Whether a file was there before, and is not removed.
    pub(super) fn is_replaced(&self, path: &Path) -> bool {
        self.replaced.iter().any(|before| before.path == path)
    }

    /// Whether a file that was there before is as it was then.
    pub(super) fn is_as_before(&self, path: &Path) -> bool {
        self.replaced.iter().any(|before| before.path == path && before.is_as_before())
    }

    /// The first file that was dropped, and that somebody has made anew.
    pub(super) fn find_remade(&self) -> Option<&Path> {
        let is_dropped = |before: &&ReplacedFile| !self.files.iter().any(|left| left.path == before.path);
        let is_remade = |before: &&ReplacedFile| before.path.symlink_metadata().is_ok() && !before.is_as_before();
        self.replaced.iter().filter(is_dropped).find(is_remade).map(|before| before.path.as_path())
    }

    /// Whether a file is the document of a conversation, in which people may write.
    pub(super) fn is_document(&self, path: &Path) -> bool {
        self.is_saved() && path.parent().is_some_and(|folder| !folder.ends_with(SESSION_FOLDER))
    }

    /// Whether a file is a document that somebody has written in: their words go with no undo, however it is asked for.
    pub(super) fn is_written_in(&self, left: &WrittenFile) -> bool {
        self.is_document(&left.path)
            && !self.is_as_before(&left.path)
            && Fingerprint::from_file(&left.path, None).is_ok_and(|now| now != (left.size, left.digest))
    }
}

/// Files that were put back.
#[derive(Default)]
pub(super) struct PutBack {
    pub(super) files: Vec<PathBuf>,
    pub(super) warnings: Vec<String>,
}

/// Puts files back as they were; those that were written in since stay.
pub(super) fn put_back(
    disk: &mut dyn Disk,
    context: &Context,
    journal: &Journal,
    force: bool,
) -> Result<PutBack, UndoError> {
    let mut done = PutBack::default();
    if journal.replaced.is_empty() {
        return Ok(done);
    }
    if !force {
        refuse_used(journal)?;
    }
    for before in journal.replaced.iter().filter(|before| !before.is_as_before()) {
        let left = journal.files.iter().find(|left| left.path == before.path);
        if left.is_some_and(|left| journal.is_written_in(left)) {
            done.warnings.push(format!("{} was written in by hand, and stays", before.path.display()));
            continue;
        }
        if left.is_some() && before.path.symlink_metadata().is_err() {
            done.warnings.push(format!("{} was gone already", before.path.display()));
            continue;
        }
        let put = before.read_before(context, &journal.id);
        put.and_then(|bytes| disk.replace_shared(&before.path, &bytes, &journal.project))
            .map_err(undo_error(&before.path))?;
        done.files.push(before.path.clone());
    }
    Ok(done)
}

/// The save of the same conversation that came after one, which has to be taken back before it.
pub(super) fn find_later_save(context: &Context, journal: &Journal) -> Option<Journal> {
    if !journal.is_saved() {
        return None;
    }
    let is_later = |later: &Journal| {
        later.state == journal::State::Done
            && later.number > journal.number
            && later.target == journal.target
            && later.project == journal.project
    };
    journal::read_all(context).into_iter().find(is_later)
}
