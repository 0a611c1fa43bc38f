//! How a conversation stands, noted in its `session.json`, and taken back with the resume that it went on with.

use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::AGENTS;
use carryover_agents::saved::read_session_file;
use carryover_core::render::saved::{SavedSession, SavedStatus};
use serde::{Deserialize, Serialize};

use super::folder::Conversation;
use super::store::{list_journals, refuse_links, session_content};
use crate::context::Context;
use crate::own::fingerprint::Fingerprint;
use crate::write::disk::{Disk, RealDisk};
use crate::write::journal::{self, Journal, Lock, WrittenFile};
use crate::write::undo;

/// A status that has changed, and how it was before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusNote {
    project: PathBuf,
    session_file: PathBuf,
    /// All of the file, as it was.
    before: String,
    size: u64,
    digest: Fingerprint,
}

/// Notes how a conversation stands; one without `session.json` has no place for it.
pub fn set_status(
    context: &Context,
    root: &Path,
    conversation: &Conversation,
    status: SavedStatus,
) -> io::Result<Option<StatusNote>> {
    if !conversation.has_session {
        return Ok(None);
    }
    let disk = &mut RealDisk;
    let _lock = Lock::acquire(context)?;
    undo::recover(AGENTS, disk, context);
    refuse_links(root, conversation)?;
    let file = conversation.session_file();
    // Read anew: a resume that was taken back in between has changed it.
    let Ok(Some(now)) = read_session_file(&file) else { return Ok(None) };
    if now.status == status {
        return Ok(None);
    }
    let before = fs_err::read_to_string(&file)?;
    let left = write_session(disk, context, root, &file, &session_content(&SavedSession { status, ..now })?)?;
    let (size, digest) = (left.size, left.digest);
    Ok(Some(StatusNote { project: root.to_owned(), session_file: file, before, size, digest }))
}

/// Puts the change of a status to a resume, so that it goes back with it.
pub fn note_status(context: &Context, undo_id: &str, note: StatusNote) -> io::Result<()> {
    let _lock = Lock::acquire(context)?;
    let Some(mut journal) = journal::read_by_id(context, undo_id) else { return Ok(()) };
    journal.status = Some(note);
    journal::write(&mut RealDisk, context, &journal)
}

/// Puts a status back that changed for something that did not come about.
pub fn restore_status(context: &Context, note: &StatusNote) -> io::Result<()> {
    let _lock = Lock::acquire(context)?;
    put_back(&mut RealDisk, context, note).map(drop)
}

/// Puts a status back that changed with a resume, where nothing else has changed in the file since. The answer is a
/// warning.
pub(crate) fn take_back_status(disk: &mut dyn Disk, context: &Context, journal: &Journal) -> Option<String> {
    let note = journal.status.as_ref()?;
    let file = &note.session_file;
    if !Conversation::is_session_file(&note.project, file) || file.symlink_metadata().is_err() {
        return None;
    }
    let is_put_back = put_back(disk, context, note).unwrap_or_default();
    (!is_put_back).then(|| format!("{} was changed since, and its status stays as it is", file.display()))
}

fn put_back(disk: &mut dyn Disk, context: &Context, note: &StatusNote) -> io::Result<bool> {
    let is_unchanged = Fingerprint::from_file(&note.session_file, None)? == (note.size, note.digest);
    if is_unchanged {
        write_session(disk, context, &note.project, &note.session_file, note.before.as_bytes())?;
    }
    Ok(is_unchanged)
}

/// Writes a `session.json` that differs in its status alone; the save that left the file knows it as it is now.
fn write_session(
    disk: &mut dyn Disk,
    context: &Context,
    root: &Path,
    file: &Path,
    bytes: &[u8],
) -> io::Result<WrittenFile> {
    let left = WrittenFile::from_bytes(file, bytes);
    let was = Fingerprint::from_file(file, None)?;
    let folder = file.parent().and_then(Path::parent).unwrap_or(root);
    let of_file = |journal: &Journal| journal.files.iter().position(|written| written.path == *file);
    let owner = list_journals(context, folder).into_iter().find_map(|journal| Some((of_file(&journal)?, journal)));
    disk.replace_shared(file, bytes, root)?;
    if let Some((at, mut journal)) = owner
        && (journal.files[at].size, journal.files[at].digest) == was
    {
        journal.files[at] = left.clone();
        journal::write(disk, context, &journal)?;
    }
    Ok(left)
}
