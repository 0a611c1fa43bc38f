//! Taking back what a resume wrote.

use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::{AGENTS, Agent};

use crate::context::Context;
use crate::digest::Digest;
use crate::disk::{Disk, RealDisk, temp_prefix};
use crate::file::{self, TEMP_SUFFIX};
use crate::journal::{self, Journal, Lock, State};
use crate::{blocks, bounds, ignored, rows};

/// What was taken back.
#[derive(Debug, Clone)]
pub struct Undone {
    pub id: String,
    pub target: String,
    pub session: String,
    pub removed: Vec<PathBuf>,
    pub warnings: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    #[error("nothing to undo")]
    Nothing,
    #[error("no resume is known by `{0}`")]
    NotFound(String),
    #[error("`{prefix}` fits {} resumes", fitting.len())]
    Ambiguous { prefix: String, fitting: Vec<Undoable> },
    #[error("{} has been changed since it was written: somebody has gone on there", .0.display())]
    Used(PathBuf),
    #[error("{} names {}, where no resume of ours writes: nothing was taken back", journal.display(), path.display())]
    Beyond { journal: PathBuf, path: PathBuf },
    #[error("{0}")]
    Rows(String),
    #[error("could not take back {}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// A resume that can be taken back, for listings.
#[derive(Debug, Clone)]
pub struct Undoable {
    pub id: String,
    pub source: String,
    pub target: String,
    pub session: String,
}

/// A resume that was cut short, by a crash or a power failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    pub id: String,
    pub target: String,
    pub session: String,
}

/// Takes back a resume, the last one where none is named.
pub fn undo(context: &Context, id: Option<&str>, force: bool) -> Result<Undone, UndoError> {
    undo_among(AGENTS, context, id, force)
}

pub(crate) fn undo_among(
    agents: &[&'static dyn Agent],
    context: &Context,
    id: Option<&str>,
    force: bool,
) -> Result<Undone, UndoError> {
    let folder = journal::folder(context);
    if !folder.is_dir() {
        return Err(id.map_or(UndoError::Nothing, |id| UndoError::NotFound(id.to_owned())));
    }
    let _lock = Lock::take(context).map_err(failed(&folder))?;
    let mut journal = choose(context, id)?;
    withdraw(agents, &mut RealDisk, context, &mut journal, force)
}

/// The resumes that can still be taken back, newest first.
pub fn undoable(context: &Context) -> Vec<Undoable> {
    let journals = journal::all(context).into_iter().filter(|journal| journal.state != State::Undone);
    journals.map(Undoable::from).collect()
}

impl From<Journal> for Undoable {
    fn from(journal: Journal) -> Self {
        Self {
            id: journal.id,
            source: journal.source.agent,
            target: journal.target.agent,
            session: journal.target.session.0,
        }
    }
}

/// The resumes that were cut short; none while one is under way.
pub fn unfinished(context: &Context) -> Vec<Unfinished> {
    let writing: Vec<Journal> = journal::all(context).into_iter().filter(|one| one.state == State::Writing).collect();
    if writing.is_empty() || Lock::try_take(context).is_none() {
        return Vec::new();
    }
    let named = |journal: Journal| Unfinished {
        id: journal.id,
        target: journal.target.agent,
        session: journal.target.session.0,
    };
    writing.into_iter().map(named).collect()
}

/// Puts right what a crash left behind; the lock is held. The answer are warnings.
pub(crate) fn recover(agents: &[&'static dyn Agent], disk: &mut dyn Disk, context: &Context) -> Vec<String> {
    let mut warnings = Vec::new();
    for mut journal in journal::all(context).into_iter().filter(|journal| journal.state == State::Writing) {
        match withdraw(agents, disk, context, &mut journal, false) {
            Ok(undone) => warnings.push(format!("an earlier resume ({}) was cut short and was taken back", undone.id)),
            // It was complete, and somebody has gone on in it: it is theirs now.
            Err(UndoError::Used(_)) => {
                journal.state = State::Done;
                if write_journal(disk, context, &journal).is_err() {
                    warnings.push(format!("an earlier resume ({}) could not be put right", journal.id));
                }
            }
            Err(error) => {
                warnings.push(format!("an earlier resume ({}) was cut short and is still there: {error}", journal.id));
            }
        }
    }
    warnings
}

fn choose(context: &Context, id: Option<&str>) -> Result<Journal, UndoError> {
    let mut open = journal::all(context).into_iter().filter(|journal| journal.state != State::Undone);
    let Some(id) = id else {
        return open.next().ok_or(UndoError::Nothing);
    };
    let fitting: Vec<Journal> = open.filter(|journal| !id.is_empty() && journal.id.starts_with(id)).collect();
    let exact = fitting.iter().position(|journal| journal.id == id);
    if exact.is_none() && fitting.len() > 1 {
        let fitting = fitting.into_iter().map(Undoable::from).collect();
        return Err(UndoError::Ambiguous { prefix: id.to_owned(), fitting });
    }
    let found = fitting.into_iter().nth(exact.unwrap_or(0));
    found.ok_or_else(|| UndoError::NotFound(id.to_owned()))
}

/// Takes a resume back and says so in its journal.
pub(crate) fn withdraw(
    agents: &[&'static dyn Agent],
    disk: &mut dyn Disk,
    context: &Context,
    journal: &mut Journal,
    force: bool,
) -> Result<Undone, UndoError> {
    if let Some(path) = bounds::beyond(agents, context, journal) {
        return Err(UndoError::Beyond { journal: journal::path(context, &journal.id), path });
    }
    let (removed, warnings) = take_back(disk, journal, force)?;
    journal.state = State::Undone;
    write_journal(disk, context, journal)?;
    let lineage = journal::lineage_path(context, &journal.id);
    remove(disk, &lineage)?;
    Ok(Undone {
        id: journal.id.clone(),
        target: journal.target.agent.clone(),
        session: journal.target.session.0.clone(),
        removed,
        warnings,
    })
}

fn write_journal(disk: &mut dyn Disk, context: &Context, journal: &Journal) -> Result<(), UndoError> {
    journal::write(disk, context, journal).map_err(failed(&journal::path(context, &journal.id)))
}

/// Whether the files of a resume are as it left them.
pub(crate) fn is_unused(journal: &Journal) -> bool {
    journal.files.iter().all(|left| left.path.exists()) && refuse_used(journal).is_ok()
}

/// Removes exactly what a resume added. Answers what was removed, and warnings.
///
/// Nothing is removed unless all of it may be.
pub(crate) fn take_back(
    disk: &mut dyn Disk,
    journal: &Journal,
    force: bool,
) -> Result<(Vec<PathBuf>, Vec<String>), UndoError> {
    if !force {
        refuse_used(journal)?;
    }
    let mut warnings = Vec::new();
    // Before the files: an index that lists a session without its file is an error in its client.
    if let Err(error) = disk.delete_rows(&journal.rows) {
        // An index can be behind; rows that are the session itself cannot.
        if journal.rows.iter().any(|rows| rows.is_session) {
            return Err(UndoError::Rows(error.to_string()));
        }
        warnings.push(error.to_string());
    }
    if let Err(error) = disk.take_out_lines(&journal.lines) {
        warnings.push(error.to_string());
    }
    let mut removed = Vec::new();
    for block in &journal.blocks {
        blocks::take_out(disk, block).map_err(failed(&block.file))?;
        removed.push(block.file.clone());
    }
    if let Some(left) = &journal.ignored {
        ignored::take_out(disk, left).map_err(failed(&left.file))?;
    }
    for left in &journal.files {
        if remove(disk, &left.path)? {
            removed.push(left.path.clone());
        } else if journal.state == State::Done {
            warnings.push(format!("{} was gone already", left.path.display()));
        }
        remove_staged(disk, &left.path, &journal.id)?;
    }
    for folder in journal.folders.iter().rev() {
        // One that is not empty holds what others have put there since.
        if disk.remove_folder(folder).is_ok() {
            removed.push(folder.clone());
        }
    }
    Ok((removed, warnings))
}

fn refuse_used(journal: &Journal) -> Result<(), UndoError> {
    for left in &journal.files {
        match Digest::of_file(&left.path, None) {
            Ok(now) if now == (left.size, left.digest) => {}
            Ok(_) => return Err(UndoError::Used(left.path.clone())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(&left.path)(error)),
        }
    }
    for block in &journal.blocks {
        match blocks::is_as_left(block) {
            Ok(true) => {}
            Ok(false) => return Err(UndoError::Used(block.file.clone())),
            Err(error) => return Err(failed(&block.file)(error)),
        }
    }
    for rows in journal.rows.iter().filter(|rows| rows.left.is_some()) {
        match rows::digest(rows) {
            Ok(None) => {}
            Ok(now) if now == rows.left => {}
            Ok(_) => return Err(UndoError::Used(rows.database.clone())),
            Err(error) => return Err(UndoError::Rows(error.to_string())),
        }
    }
    Ok(())
}

/// Removes files that a crash left beside the place that they were meant for.
fn remove_staged(disk: &mut dyn Disk, path: &Path, id: &str) -> Result<(), UndoError> {
    let folder = file::parent(path).map_err(failed(path))?;
    let Ok(files) = fs_err::read_dir(folder) else { return Ok(()) };
    for file in files.flatten() {
        let name = file.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(&temp_prefix(id)) && name.ends_with(TEMP_SUFFIX) {
            remove(disk, &file.path())?;
        }
    }
    Ok(())
}

/// Removes a file; whether it was there.
fn remove(disk: &mut dyn Disk, path: &Path) -> Result<bool, UndoError> {
    match disk.remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(failed(path)(error)),
    }
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> UndoError {
    let path = path.to_owned();
    move |source| UndoError::Io { path, source }
}
