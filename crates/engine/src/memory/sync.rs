//! Writes what was planned: journaled first, so that it can be taken back like any other write.

use std::io;
use std::path::Path;

use carryover_agents::AGENTS;
use carryover_core::transcript::SessionId;

use crate::context::Context;
use crate::handoff::blocks;
use crate::handoff::pointer::Pointer;
use crate::memory::sync_plan::{FileChange, SyncError, SyncPlan};
use crate::write::disk::{Disk, RealDisk};
use crate::write::journal::{self, Journal, Lock, SessionRef, State};
use crate::write::supersede::supersede_earlier;
use crate::write::undo;

/// Whose target such a write is: no agent's session.
pub const MEMORY_SYNC: &str = "memory-sync";

/// A write that was done.
pub struct SyncReport {
    /// None where there was nothing to do.
    pub undo_id: Option<String>,
    pub warnings: Vec<String>,
}

/// Writes the blocks.
pub fn apply_sync(context: &Context, plan: &SyncPlan) -> Result<SyncReport, SyncError> {
    apply_sync_on(&mut RealDisk, context, plan)
}

pub(crate) fn apply_sync_on(disk: &mut dyn Disk, context: &Context, plan: &SyncPlan) -> Result<SyncReport, SyncError> {
    if plan.changes.is_empty() {
        return Ok(SyncReport { undo_id: None, warnings: Vec::new() });
    }
    let folder = journal::folder_path(context);
    let _lock = Lock::acquire(context).map_err(io_error(&folder))?;
    let warnings = undo::recover(AGENTS, disk, context);
    let mut journal = begin_journal(context, plan)?;
    write_journal(disk, context, &journal)?;
    let done = write_files(disk, plan, &journal);
    journal.state = State::Done;
    if let Err(error) = done.and_then(|()| write_journal(disk, context, &journal)) {
        take_back(disk, plan, &journal)?;
        journal.state = State::Undone;
        write_journal(disk, context, &journal)?;
        return Err(error);
    }
    supersede_earlier(disk, context, &mut journal).map_err(io_error(&folder))?;
    Ok(SyncReport { undo_id: Some(journal.id), warnings })
}

fn begin_journal(context: &Context, plan: &SyncPlan) -> Result<Journal, SyncError> {
    let source = SessionRef { agent: plan.source.clone(), session: SessionId::default() };
    let target = SessionRef { agent: MEMORY_SYNC.to_owned(), session: SessionId::default() };
    let mut journal = Journal::begin(context, source, target, &plan.project);
    let names: Vec<&str> = plan.changes.iter().map(|change| change.name.as_str()).collect();
    journal.title = Some(names.join(", "));
    for change in &plan.changes {
        let made = change.is_new.then_some("");
        let block = blocks::describe(context, &change.path, &change.text, Pointer::Memory, made);
        journal.blocks.push(block.map_err(io_error(&change.path))?);
        let missing = change.path.ancestors().skip(1).take_while(|folder| !folder.is_dir());
        let mut missing: Vec<_> = missing.map(Path::to_owned).collect();
        missing.reverse();
        missing.retain(|folder| !journal.folders.contains(folder));
        journal.folders.extend(missing);
    }
    Ok(journal)
}

fn write_files(disk: &mut dyn Disk, plan: &SyncPlan, journal: &Journal) -> Result<(), SyncError> {
    for folder in &journal.folders {
        disk.create_folder(folder, false).map_err(io_error(folder))?;
    }
    for FileChange { path, before, text, .. } in &plan.changes {
        // Whoever is writing there has not seen our words.
        if blocks::read_text(path).map_err(io_error(path))? != *before {
            return Err(SyncError::Busy(path.clone()));
        }
        disk.replace_shared(path, text.as_bytes(), &plan.project).map_err(io_error(path))?;
    }
    Ok(())
}

/// Gives every file back that holds what we have just written.
fn take_back(disk: &mut dyn Disk, plan: &SyncPlan, journal: &Journal) -> Result<(), SyncError> {
    for FileChange { path, before, text, .. } in &plan.changes {
        let is_ours = blocks::read_text(path).is_ok_and(|now| now.as_ref() == Some(text));
        match before {
            _ if !is_ours => {}
            Some(before) => disk.replace_shared(path, before.as_bytes(), &plan.project).map_err(io_error(path))?,
            None => disk.remove_file(path).map_err(io_error(path))?,
        }
    }
    for folder in journal.folders.iter().rev() {
        // One that is not empty is in use.
        disk.remove_folder(folder).ok();
    }
    Ok(())
}

fn write_journal(disk: &mut dyn Disk, context: &Context, journal: &Journal) -> Result<(), SyncError> {
    journal::write(disk, context, journal).map_err(io_error(&journal::file_path(context, &journal.id)))
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> SyncError {
    let path = path.to_owned();
    move |source| SyncError::Io { path, source }
}
