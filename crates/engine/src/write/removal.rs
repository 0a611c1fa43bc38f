//! Removing what a resume added, each thing as it was added.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use crate::handoff::blocks;
use crate::handoff::gitignore;
use crate::handoff::project_dir;
use crate::own::files::{self, TEMP_SUFFIX};
use crate::own::fingerprint::Fingerprint;
use crate::write::disk::{Disk, temp_prefix};
use crate::write::journal::{Journal, Rows, State, WrittenFile};
use crate::write::rows;
use crate::write::undo::{RemovedPart, UndoError, refuse_used, undo_error};

/// The result of taking back.
#[derive(Default)]
pub(crate) struct Removal {
    pub(super) removed: Vec<PathBuf>,
    pub(super) removed_parts: Vec<RemovedPart>,
    pub(super) warnings: Vec<String>,
}

/// Removes exactly what a resume added. Nothing is removed unless all of it may be.
pub(crate) fn take_back(disk: &mut dyn Disk, journal: &Journal, force: bool) -> Result<Removal, UndoError> {
    if !force {
        refuse_used(journal)?;
    }
    let mut taken = Removal::default();
    let broken = rows::find_broken(&journal.rows);
    if let Some((_, error)) = broken.first().filter(|_| !force) {
        return Err(UndoError::Rows(error.to_string()));
    }
    let (broken, told): (Vec<&Rows>, Vec<String>) =
        broken.into_iter().map(|(rows, error)| (rows, error.to_string())).unzip();
    let whole: Vec<Rows> = journal.rows.iter().filter(|rows| !broken.contains(rows)).cloned().collect();
    taken.warnings.extend(told);
    // Before the files: an index that lists a session without its file is an error in its client.
    if let Err(error) = disk.delete_rows(&whole) {
        // An index can be behind; rows that are the session itself cannot, nor an editor's, which nobody makes anew.
        if journal.rows.iter().any(|rows| rows.is_session) || (journal.is_in_editor && !force) {
            return Err(UndoError::Rows(error.to_string()));
        }
        taken.warnings.push(error.to_string());
    }
    if let Err(error) = disk.remove_lines(&journal.lines) {
        taken.warnings.push(error.to_string());
    }
    for block in &journal.blocks {
        let file = block.file.clone();
        match blocks::remove_from_file(disk, block, &journal.project).map_err(undo_error(&file))? {
            blocks::BlockRemoval::File => taken.removed.push(file),
            blocks::BlockRemoval::Block => taken.removed_parts.push(RemovedPart { kind: "block", file }),
            blocks::BlockRemoval::Nothing => {}
        }
    }
    if let Some(left) = &journal.ignored
        && gitignore::remove_line(disk, left, &journal.project).map_err(undo_error(&left.file))?
    {
        taken.removed_parts.push(RemovedPart { kind: "line", file: left.file.clone() });
    }
    for left in journal.files.iter().filter(|left| !journal.is_replaced(&left.path)) {
        if left.shared {
            // It goes with its folder.
        } else if journal.is_written_in(left) {
            taken.warnings.push(format!("{} was written in by hand, and stays", left.path.display()));
        } else if remove_if_exists(disk, &left.path)? {
            taken.removed.push(left.path.clone());
        } else if journal.state == State::Done {
            taken.warnings.push(format!("{} was gone already", left.path.display()));
        }
        remove_staged(disk, &left.path, &journal.id)?;
    }
    if journal.ignored.is_some() || journal.has_files_in(&journal.project.join(project_dir::FOLDER)) {
        taken
            .removed
            .extend(project_dir::remove_if_unused(disk, &journal.project).map_err(undo_error(&journal.project))?);
    }
    remove_folders(disk, journal, &mut taken)?;
    Ok(taken)
}

/// Removes the folders that were made, and before each the files of ours in it that others share, if nobody does.
fn remove_folders(disk: &mut dyn Disk, journal: &Journal, taken: &mut Removal) -> Result<(), UndoError> {
    // One that says something else by now is not ours.
    let is_ours = |left: &&WrittenFile| {
        left.shared && Fingerprint::from_file(&left.path, None).is_ok_and(|now| now == (left.size, left.digest))
    };
    let shared: Vec<&PathBuf> = journal.files.iter().filter(is_ours).map(|left| &left.path).collect();
    let mut folders: BTreeSet<&Path> = journal.folders.iter().map(PathBuf::as_path).collect();
    folders.extend(shared.iter().filter_map(|file| file.parent()));
    let mut folders: Vec<&Path> = folders.into_iter().collect();
    // The innermost first.
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    for folder in folders {
        let ours: Vec<&PathBuf> = shared.iter().filter(|file| file.parent() == Some(folder)).copied().collect();
        if !ours.is_empty() && !holds_others(folder, &ours) {
            for file in ours {
                taken.removed.extend(remove_if_exists(disk, file)?.then(|| file.clone()));
            }
        }
        if !journal.folders.iter().any(|made| made == folder) {
            continue;
        }
        match disk.remove_folder(folder) {
            Ok(()) => taken.removed.push(folder.to_owned()),
            // One that is not empty holds what others have put there since.
            Err(_) if !is_empty(folder) => {}
            Err(error) => taken.warnings.push(format!("the empty folder {} stays: {error}", folder.display())),
        }
    }
    Ok(())
}

/// Whether a folder is there, and nothing can be seen in it.
fn is_empty(folder: &Path) -> bool {
    match fs_err::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Whether a folder holds files besides these, at any depth. One that cannot be looked into does.
fn holds_others(folder: &Path, ours: &[&PathBuf]) -> bool {
    let entries = match fs_err::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return error.kind() != io::ErrorKind::NotFound,
    };
    entries.into_iter().any(|entry| {
        let Ok(entry) = entry else { return true };
        let (path, is_folder) = (entry.path(), entry.file_type().is_ok_and(|kind| kind.is_dir()));
        if is_folder { holds_others(&path, ours) } else { !ours.contains(&&path) }
    })
}

/// Removes files that a crash left beside the place that they were meant for.
fn remove_staged(disk: &mut dyn Disk, path: &Path, id: &str) -> Result<(), UndoError> {
    let folder = files::parent_folder(path).map_err(undo_error(path))?;
    let Ok(files) = fs_err::read_dir(folder) else { return Ok(()) };
    for file in files.flatten() {
        let name = file.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(&temp_prefix(id)) && name.ends_with(TEMP_SUFFIX) {
            remove_if_exists(disk, &file.path())?;
        }
    }
    Ok(())
}

/// Removes a file; whether it was there.
pub(super) fn remove_if_exists(disk: &mut dyn Disk, path: &Path) -> Result<bool, UndoError> {
    match disk.remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(undo_error(path)(error)),
    }
}
