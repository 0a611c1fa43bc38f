//! The pointers to the handoff that stand in a project's files of instructions for as long as handoffs are published there.
//!
//! Each is placed once: what a user takes out stays out, and only the file of an agent that comes into use later is placed
//! then. No agent reads less because of them: a file that would make one pass over another is made only as an import of that
//! other, or not at all. All of it is journaled, and goes with the installation.

use std::collections::{BTreeMap, BTreeSet};
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
use crate::write::removal;
use crate::write::undo;

/// Places the pointers in a project that were never placed there. `agents` are those that are in use.
pub fn place_pointers(context: &Context, project: &Path, agents: &[&str]) -> io::Result<()> {
    place_pointers_on(&mut RealDisk, context, project, agents)
}

fn place_pointers_on(disk: &mut dyn Disk, context: &Context, project: &Path, agents: &[&str]) -> io::Result<()> {
    let placed = find_placed(context, project);
    let due = find_due_files(&placed, project, agents);
    if due.is_empty() {
        return Ok(());
    }
    let _lock = Lock::acquire(context)?;
    undo::recover(AGENTS, disk, context);
    let nobody = || SessionRef { agent: STANDING_POINTERS.to_owned(), session: SessionId::default() };
    let mut journal = Journal::begin(context, nobody(), nobody(), project);
    // The line, too, is added once.
    let missing = if placed.is_empty() { gitignore::find_missing_rule(context, project) } else { None };
    journal.ignored = missing.as_ref().map(MissingIgnoreRule::to_journal);
    journal.pointer_files = due.iter().map(|file| file.name.to_owned()).collect();
    let mut changes = Vec::new();
    for (file, pointer) in choose_files(project, &due) {
        // A file that is not text, or whose markers somebody has changed, stays as it is.
        let Ok(Some(change)) = plan_change(context, &file, pointer) else { continue };
        journal.blocks.push(change.block);
        changes.push(NewText { file, before: change.before, text: change.text });
    }
    journal::write(disk, context, &journal)?;
    let done = write_changes(disk, project, missing.as_ref(), &changes);
    journal.state = State::Done;
    if let Err(error) = done.and_then(|()| journal::write(disk, context, &journal)) {
        removal::take_back(disk, &journal, true).ok();
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

/// The placements in a project that were not taken back since.
fn find_placed(context: &Context, project: &Path) -> Vec<Journal> {
    let is_here = |journal: &Journal| {
        journal.is_standing() && journal.state == State::Done && journal.project.as_path() == project
    };
    journal::read_all(context).into_iter().filter(is_here).collect()
}

/// The files of instructions whose time has come, and that were not looked at before.
fn find_due_files(placed: &[Journal], project: &Path, agents: &[&str]) -> Vec<&'static PointerFile> {
    let is_in_use = |file: &PointerFile| match file.readers {
        PointerReaders::Most | PointerReaders::Importing => true,
        PointerReaders::Only(agent) => agents.contains(&agent) || project.join(file.name).exists(),
    };
    let was_looked_at = |file: &PointerFile| placed.iter().any(|journal| has_looked_at(journal, file));
    POINTER_FILES.iter().filter(|file| is_in_use(file) && !was_looked_at(file)).collect()
}

/// Whether a placement decided about a file, also where it was left without a pointer.
fn has_looked_at(journal: &Journal, file: &PointerFile) -> bool {
    // Earlier journals did not name them: they looked at what everybody reads, and at what they wrote to.
    if journal.pointer_files.is_empty() {
        let is_written = || journal.blocks.iter().any(|block| block.file.ends_with(file.name));
        return !matches!(file.readers, PointerReaders::Only(_)) || is_written();
    }
    journal.pointer_files.iter().any(|name| name == file.name)
}

/// The real files that get a pointer, each once, with which.
fn choose_files(project: &Path, due: &[&PointerFile]) -> Vec<(PathBuf, Pointer)> {
    let exists = |file: &PointerFile| project.join(file.name).exists();
    let has = |readers: PointerReaders| POINTER_FILES.iter().any(|file| file.readers == readers && exists(file));
    let (has_common, has_importing) = (has(PointerReaders::Most), has(PointerReaders::Importing));
    let wanted = |file: &PointerFile| match file.readers {
        _ if exists(file) => (!imports_common(project, file)).then_some(Pointer::Handoff),
        PointerReaders::Most => (!has_importing).then_some(Pointer::Handoff),
        // Where the common file is there, or will be.
        PointerReaders::Importing => Some(Pointer::Import).filter(|_| has_common || !has_importing),
        PointerReaders::Only(_) => Some(Pointer::Handoff),
    };
    // One that leads out of the project is not ours to write to.
    let resolve = |file: &PointerFile| resolve_inside(project, file.name).ok().flatten();
    let mut chosen = Vec::new();
    for (index, file) in POINTER_FILES.iter().enumerate() {
        let is_due = due.iter().any(|due| due.name == file.name);
        let (true, Some(pointer), Some(real)) = (is_due, wanted(file), resolve(file)) else { continue };
        // A clone may bring a link to what git itself reads.
        let is_gits = real.components().any(|part| part.as_os_str() == ".git");
        let is_anothers = POINTER_FILES[..index].iter().any(|other| resolve(other).as_ref() == Some(&real));
        if !is_gits && !is_anothers {
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

impl RemovedPointers {
    /// Adds what came of another placement in the same project.
    fn add(&mut self, other: Self) {
        self.n_files += other.n_files;
        if self.result.is_ok() {
            self.result = other.result;
        }
    }
}

/// The placements that were not taken back yet.
fn find_standing(context: &Context) -> impl Iterator<Item = Journal> {
    let is_standing = |journal: &Journal| journal.is_standing() && journal.state != State::Undone;
    journal::read_all(context).into_iter().filter(is_standing)
}

/// The projects that have pointers which were placed.
pub fn list_projects(context: &Context) -> BTreeSet<PathBuf> {
    let placed = find_standing(context).filter(|journal| !journal.blocks.is_empty());
    placed.map(|journal| resolve_path(&journal.project)).collect()
}

/// Takes the pointers out of every project.
pub fn remove_all(context: &Context) -> io::Result<Vec<RemovedPointers>> {
    if !journal::folder_path(context).is_dir() {
        return Ok(Vec::new());
    }
    let _lock = Lock::acquire(context)?;
    let mut removed: BTreeMap<PathBuf, RemovedPointers> = BTreeMap::new();
    for journal in find_standing(context) {
        let next = remove_pointers(context, journal);
        match removed.get_mut(&next.project) {
            Some(known) => known.add(next),
            None => drop(removed.insert(next.project.clone(), next)),
        }
    }
    // Where a clone had brought them, none was placed, and none is taken out.
    let is_told = |removed: &RemovedPointers| removed.n_files > 0 || removed.result.is_err();
    Ok(removed.into_values().filter(is_told).collect())
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
