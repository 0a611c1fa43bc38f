//! The pointers to the handoff that stand in a project's files of instructions for as long as handoffs are published there.
//!
//! They are placed once: what a user takes out stays out. No agent reads less because of them: a file that would make one
//! pass over another is made only as an import of that other, or not at all. All of it is journaled, and goes with the
//! installation.

use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::{AGENTS, POINTER_FILES, PointerFile, PointerReaders};
use carryover_core::transcript::SessionId;

use crate::context::Context;
use crate::handoff::blocks;
use crate::handoff::gitignore::{self, MissingIgnoreRule};
use crate::handoff::pointer::{self, IMPORT_LINE, Pointer};
use crate::handoff::project_dir;
use crate::sessions::project::{resolve_inside, resolve_path};
use crate::write::disk::{Disk, RealDisk};
use crate::write::journal::{self, Journal, Lock, STANDING_POINTERS, SessionRef, State};
use crate::write::undo;

/// Places the pointers in a project, where they never were. `agents` are those that are in use.
pub fn place_pointers(context: &Context, project: &Path, agents: &[&str]) -> io::Result<()> {
    place_pointers_on(&mut RealDisk, context, project, agents)
}

fn place_pointers_on(disk: &mut dyn Disk, context: &Context, project: &Path, agents: &[&str]) -> io::Result<()> {
    if is_placed(context, project) {
        return Ok(());
    }
    let _lock = Lock::acquire(context)?;
    undo::recover(AGENTS, disk, context);
    let nobody = || SessionRef { agent: STANDING_POINTERS.to_owned(), session: SessionId::default() };
    let mut journal = Journal::begin(context, nobody(), nobody(), project);
    let missing = gitignore::find_missing_rule(context, project);
    journal.ignored = missing.as_ref().map(MissingIgnoreRule::to_journal);
    let mut changes = Vec::new();
    for (file, pointer) in choose_files(project, agents) {
        // A file that is not text, or whose markers somebody has changed, stays as it is.
        let Ok(Some(change)) = plan_change(context, &file, pointer) else { continue };
        journal.blocks.push(change.block);
        changes.push(NewText { file, before: change.before, text: change.text });
    }
    journal::write(disk, context, &journal)?;
    let done = write_changes(disk, project, missing.as_ref(), &changes);
    journal.state = State::Done;
    if let Err(error) = done.and_then(|()| journal::write(disk, context, &journal)) {
        undo::take_back(disk, &journal, true).ok();
        // It will be tried again and again: nothing is left to be remembered of it.
        disk.remove_file(&journal::file_path(context, &journal.id))?;
        return Err(error);
    }
    Ok(())
}

fn write_changes(
    disk: &mut dyn Disk,
    project: &Path,
    missing: Option<&MissingIgnoreRule>,
    changes: &[NewText],
) -> io::Result<()> {
    // Before anything that is private is there.
    project_dir::prepare_folder(disk, project)?;
    if let Some(missing) = missing {
        missing.append_line(disk, project)?;
    }
    for NewText { file, before, text } in changes {
        // Its agent may have written there in this moment; the next handoff finds that.
        if blocks::read_text(file)? != *before {
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, format!("{} is being changed", file.display())));
        }
        disk.replace_shared(file, text.as_bytes(), project)?;
    }
    Ok(())
}

/// A file that gets a pointer, as it was and as it will be.
struct NewText {
    file: PathBuf,
    before: Option<String>,
    text: String,
}

/// A file with the pointer in it.
struct Change {
    before: Option<String>,
    text: String,
    block: journal::Block,
}

/// `None` where the file has the pointer already: a clone may bring it.
fn plan_change(context: &Context, file: &Path, pointer: Pointer) -> io::Result<Option<Change>> {
    // Whoever locked it has meant that.
    if fs_err::metadata(file).is_ok_and(|metadata| metadata.permissions().readonly()) {
        return Ok(None);
    }
    let before = blocks::read_text(file)?;
    let text = pointer::insert(before.as_deref().unwrap_or_default(), pointer)?;
    if before.as_ref() == Some(&text) {
        return Ok(None);
    }
    let made = before.is_none().then_some("");
    Ok(Some(Change { block: blocks::describe(context, file, &text, pointer, made)?, before, text }))
}

/// Whether they were placed here before and not taken back since.
fn is_placed(context: &Context, project: &Path) -> bool {
    let is_here = |journal: &Journal| {
        journal.is_standing() && journal.state == State::Done && journal.project.as_path() == project
    };
    journal::read_all(context).iter().any(is_here)
}

/// The real files that get a pointer, each once, with which.
fn choose_files(project: &Path, agents: &[&str]) -> Vec<(PathBuf, Pointer)> {
    let exists = |file: &PointerFile| project.join(file.name).exists();
    let has = |readers: PointerReaders| POINTER_FILES.iter().any(|file| file.readers == readers && exists(file));
    let (has_common, has_importing) = (has(PointerReaders::Most), has(PointerReaders::Importing));
    let wanted = |file: &PointerFile| match file.readers {
        _ if exists(file) => (!imports_common(project, file)).then_some(Pointer::Handoff),
        PointerReaders::Most => (!has_importing).then_some(Pointer::Handoff),
        // Where the common file is there, or will be.
        PointerReaders::Importing => Some(Pointer::Import).filter(|_| has_common || !has_importing),
        PointerReaders::Only(agent) => agents.contains(&agent).then_some(Pointer::Handoff),
    };
    let mut chosen: Vec<(PathBuf, Pointer)> = Vec::new();
    for (file, pointer) in POINTER_FILES.iter().filter_map(|file| Some((file, wanted(file)?))) {
        // One that leads out of the project is not ours to write to.
        let Ok(Some(real)) = resolve_inside(project, file.name) else { continue };
        // A clone may bring a link to what git itself reads.
        let is_gits = real.components().any(|part| part.as_os_str() == ".git");
        if !is_gits && !chosen.iter().any(|(known, _)| *known == real) {
            chosen.push((real, pointer));
        }
    }
    chosen
}

/// Whether a file takes the common one in by itself.
fn imports_common(project: &Path, file: &PointerFile) -> bool {
    let text = || blocks::read_text(&project.join(file.name)).ok().flatten().unwrap_or_default();
    file.readers == PointerReaders::Importing && text().lines().any(|line| line.trim() == IMPORT_LINE)
}

/// A project whose pointers were taken out, or why they stay.
pub struct RemovedPointers {
    pub project: PathBuf,
    /// The files that had them.
    pub n_files: usize,
    pub result: Result<(), undo::UndoError>,
}

/// Takes the pointers out of every project.
pub fn remove_all(context: &Context) -> io::Result<Vec<RemovedPointers>> {
    if !journal::folder_path(context).is_dir() {
        return Ok(Vec::new());
    }
    let _lock = Lock::acquire(context)?;
    let is_standing = |journal: &Journal| journal.is_standing() && journal.state != State::Undone;
    let standing = journal::read_all(context).into_iter().filter(is_standing);
    // Where a clone had brought them, none was placed, and none is taken out.
    let is_told = |removed: &RemovedPointers| removed.n_files > 0 || removed.result.is_err();
    Ok(standing.map(|journal| remove_pointers(context, journal)).filter(is_told).collect())
}

fn remove_pointers(context: &Context, mut journal: Journal) -> RemovedPointers {
    let project = resolve_path(&journal.project);
    let n_files = journal.blocks.len();
    // A project that is gone took them along.
    let result = if project.is_dir() {
        undo::undo_journal(AGENTS, &mut RealDisk, context, &mut journal, false).map(drop)
    } else {
        journal.state = State::Undone;
        undo::write_journal(&mut RealDisk, context, &journal)
    };
    RemovedPointers { project, n_files, result }
}
