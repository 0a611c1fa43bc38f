//! Files and lines that are taken back while another resume still needs them: they are that one's to remove.

use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::write::disk::Disk;
use crate::write::journal::{self, Journal, State, WrittenFile};
use crate::write::undo::{UndoError, write_journal};

/// Another resume whose session, too, is kept from git by the line that this one added.
pub(crate) fn next_line_owner(context: &Context, journal: &Journal) -> Option<Journal> {
    journal.ignored.as_ref()?;
    let is_with_work = |other: &Journal| other.files.iter().any(|left| left.path.parent() == Some(&other.project));
    let is_heir = |other: &Journal| {
        other.id != journal.id
            && other.state == State::Done
            && other.ignored.is_none()
            && other.project == journal.project
            && other.target.agent == journal.target.agent
            && is_with_work(other)
    };
    journal::read_all(context).into_iter().find(is_heir)
}

/// Folders of ours in which another resume has left something since, and files there that both need, are that one's to
/// remove.
pub(crate) fn transfer_shared(disk: &mut dyn Disk, context: &Context, journal: &Journal) -> Result<(), UndoError> {
    let folders: Vec<&PathBuf> = journal.folders.iter().filter(|folder| folder.is_dir()).collect();
    let shared: Vec<&WrittenFile> = journal.files.iter().filter(|left| left.shared && left.path.exists()).collect();
    if folders.is_empty() && shared.is_empty() {
        return Ok(());
    }
    let open = |other: &Journal| other.id != journal.id && other.state != State::Undone;
    for mut other in journal::read_all(context).into_iter().filter(open) {
        let is_its = |folder: &Path| other.has_files_in(folder);
        let its_folders: Vec<PathBuf> = folders
            .iter()
            .filter(|folder| is_its(folder) && !other.folders.contains(folder))
            .map(|folder| (*folder).clone())
            .collect();
        let knows = |left: &WrittenFile| other.files.iter().any(|known| known.path == left.path);
        let its_files: Vec<WrittenFile> = shared
            .iter()
            .filter(|left| left.path.parent().is_some_and(is_its) && !knows(left))
            .map(|left| (*left).clone())
            .collect();
        if !its_folders.is_empty() || !its_files.is_empty() {
            other.folders.extend(its_folders);
            other.files.extend(its_files);
            write_journal(disk, context, &other)?;
        }
    }
    Ok(())
}
