//! Taking back the files that an import has put into a folder, beside the session that goes on there.
//!
//! They are a user's as soon as they are there, so they stay unless they are asked for. They have a journal of their own:
//! it is begun before the first of them is written, and outlives the session's.

use std::path::{Path, PathBuf};

use carryover_agents::AGENTS;
use carryover_core::transcript::SessionId;

use crate::capsule::workspace::{
    FileState, KeptBeside, PlacedFiles, PlacedLog, RestoredFile, RestoredFiles, Strictness, TakeBackPlan, TakenFiles,
};
use crate::context::Context;
use crate::own::private;
use crate::write::disk::{Disk, RealDisk};
use crate::write::journal::{self, Journal, Lock, RESTORED_WORKSPACE, SessionRef, State, WorkspaceNote};
use crate::write::removal::remove_if_exists;
use crate::write::undo::{
    UndoError, UndoReport, choose_journal, is_open, recover, undo_error, undo_journal, write_journal,
};
use crate::write::undoable::Undoable;

/// Files that an undo leaves where they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptFiles {
    pub folder: PathBuf,
    pub files: usize,
}

/// Nobody else writes or takes back: held from the first look at a folder to the last file that is put there.
pub(crate) struct WorkspaceLock(Lock);

impl WorkspaceLock {
    pub(crate) fn acquire(context: &Context) -> std::io::Result<Self> {
        let lock = Lock::acquire(context)?;
        recover(AGENTS, &mut RealDisk, context);
        Ok(Self(lock))
    }
}

/// Files that are being put into a folder.
pub(crate) struct WorkspaceJournal {
    journal: Journal,
    _lock: Lock,
}

impl WorkspaceJournal {
    /// Notes what will be written, before it is, and copies what nobody else could bring back.
    pub(crate) fn begin(
        context: &Context,
        lock: WorkspaceLock,
        source: SessionRef,
        restored: &RestoredFiles,
    ) -> std::io::Result<Self> {
        let disk = &mut RealDisk;
        let target = SessionRef { agent: RESTORED_WORKSPACE.to_owned(), session: SessionId::default() };
        let mut journal = Journal::begin(context, source, target, &restored.folder);
        journal.workspace = Some(WorkspaceNote { files: restored.files.len(), resume: None });
        disk.write_own(&journal::workspace_path(context, &journal.id), &serde_json::to_vec(restored)?)?;
        copy_replaced(&journal::copies_path(context, &journal.id), restored)?;
        journal::write(disk, context, &journal)?;
        Ok(Self { journal, _lock: lock.0 })
    }

    /// Where each file is noted once it is in its place.
    pub(crate) fn open_log(&self, context: &Context) -> std::io::Result<PlacedLog> {
        PlacedLog::create(&journal::placed_path(context, &self.journal.id))
    }

    /// Is part of the names of files that are not in their place yet.
    pub(crate) fn mark(&self) -> &str {
        &self.journal.id
    }

    /// All of it is there.
    pub(crate) fn finish(mut self, context: &Context) -> std::io::Result<String> {
        self.journal.state = State::Done;
        journal::write(&mut RealDisk, context, &self.journal)?;
        remove_if_exists(&mut RealDisk, &journal::placed_path(context, &self.journal.id)).ok();
        Ok(self.journal.id)
    }

    /// It could not be finished. What of it cannot be taken back stays, for the first error is the one to tell.
    pub(crate) fn abandon(mut self, context: &Context) {
        undo_workspace(&mut RealDisk, context, &mut self.journal, Strictness::KeepChanged).ok();
    }
}

/// Copies what is replaced or deleted, where git does not have the very bytes.
fn copy_replaced(copies: &Path, restored: &RestoredFiles) -> std::io::Result<()> {
    let is_lost = |file: &&RestoredFile| file.before != file.left && file.blob.is_none();
    for file in restored.files.iter().filter(is_lost) {
        let FileState::File { sha256, .. } = &file.before else { continue };
        let mut content = carryover_agents::formats::file::open_regular(&file.place(&restored.folder))?;
        std::io::copy(&mut content, &mut private::open_file(&copies.join(sha256))?)?;
    }
    Ok(())
}

/// What is kept beside the note of a workspace's files.
fn read_beside(context: &Context, journal: &Journal) -> KeptBeside {
    let placed = || PlacedFiles::read(&journal::placed_path(context, &journal.id));
    KeptBeside {
        copies: journal::copies_path(context, &journal.id),
        placed: (journal.state == State::Writing).then(placed),
    }
}

/// Notes whose session goes on among the files.
pub(crate) fn name_resume(context: &Context, id: &str, resume: Option<&str>) -> std::io::Result<()> {
    let _lock = Lock::acquire(context)?;
    let Some(mut journal) = journal::read_by_id(context, id) else { return Ok(()) };
    if let Some(note) = &mut journal.workspace {
        note.resume = resume.map(str::to_owned);
    }
    journal::write(&mut RealDisk, context, &journal)
}

/// Takes files back that no session goes on with. If that cannot be done they stay, for the first error is the one to tell.
pub(crate) fn abandon_workspace(context: &Context, id: &str) {
    let Ok(_lock) = Lock::acquire(context) else { return };
    if let Some(mut journal) = journal::read_by_id(context, id) {
        undo_workspace(&mut RealDisk, context, &mut journal, Strictness::AllOrNothing).ok();
    }
}

/// Files in this folder whose session was taken back are those of the one that goes on there now.
pub(crate) fn adopt_workspace(context: &Context, folder: &Path, resume: Option<&str>) -> std::io::Result<()> {
    let all = journal::read_all(context);
    let is_taken_back = |note: &WorkspaceNote| {
        let owner = note.resume.as_ref().and_then(|id| all.iter().find(|journal| journal.id == *id));
        owner.is_none_or(|owner| owner.state == State::Undone)
    };
    let is_here = |journal: &&Journal| {
        journal.state == State::Done
            && journal.project == folder
            && journal.workspace.as_ref().is_some_and(is_taken_back)
    };
    match all.iter().find(is_here) {
        Some(orphan) if resume.is_some() => name_resume(context, &orphan.id, resume),
        _ => Ok(()),
    }
}

/// The files that a resume leaves where they are.
pub(crate) fn find_kept(context: &Context, resume: &str) -> Option<KeptFiles> {
    let journal = find_workspace(context, resume)?;
    Some(KeptFiles { files: journal.workspace?.files, folder: journal.project })
}

fn find_workspace(context: &Context, resume: &str) -> Option<Journal> {
    let is_its = |journal: &Journal| journal.workspace.as_ref().and_then(|note| note.resume.as_deref()) == Some(resume);
    journal::read_all(context).into_iter().find(|journal| journal.state == State::Done && is_its(journal))
}

/// Takes back a resume with the files that came with it. The session may have been taken back before.
pub fn undo_with_files(context: &Context, id: Option<&str>, force: bool) -> Result<UndoReport, UndoError> {
    let folder = journal::folder_path(context);
    if !folder.is_dir() {
        return Err(id.map_or(UndoError::Nothing, |id| UndoError::NotFound(id.to_owned())));
    }
    let _lock = Lock::acquire(context).map_err(undo_error(&folder))?;
    let (mut resume, mut workspace) = choose_files(context, id)?;
    let no_files = || UndoError::NoFiles { id: resume.id.clone() };
    if !force {
        refuse_used_folder(context, &resume, &workspace)?;
    }
    let is_alone = resume.state == State::Undone || resume.is_workspace();
    let strictness = if force { Strictness::KeepChanged } else { Strictness::AllOrNothing };
    // Looked at first: nothing goes unless all of it may.
    let restored = load_restored(context, &workspace).ok_or_else(no_files)?;
    let beside = read_beside(context, &workspace);
    let plan = TakeBackPlan::make(context, &restored, &beside, strictness);
    plan.map_err(|source| UndoError::Files { id: resume.id.clone(), is_alone, source })?;
    let mut report = if is_alone {
        UndoReport::of_nothing(&resume)
    } else {
        undo_journal(AGENTS, &mut RealDisk, context, &mut resume, force)?
    };
    let taken = undo_workspace(&mut RealDisk, context, &mut workspace, strictness)?;
    report.warnings.extend(taken.warnings);
    Ok(UndoReport { kept: None, taken: taken.taken, ..report })
}

/// The resume that is meant, with the journal of its files; for files whose session was here before, that journal is both.
fn choose_files(context: &Context, id: Option<&str>) -> Result<(Journal, Journal), UndoError> {
    let resume = match choose_journal(context, id) {
        Err(UndoError::FilesLeft { id, .. }) => {
            journal::read_by_id(context, &id).ok_or_else(|| UndoError::NotFound(id.clone()))?
        }
        other => other?,
    };
    let workspace = if resume.is_workspace() { Some(resume.clone()) } else { find_workspace(context, &resume.id) };
    let workspace = workspace.ok_or_else(|| UndoError::NoFiles { id: resume.id.clone() })?;
    Ok((resume, workspace))
}

/// Files without a session of theirs that could be taken back, by the beginning of an id that listings show.
pub(super) fn find_left(context: &Context, id: &str) -> Option<(String, KeptFiles)> {
    let journals = journal::read_all(context);
    let fits = |journal: &&Journal| is_left_alone(journal, &journals) && owner_id(journal).starts_with(id);
    let found = journals.iter().find(fits)?;
    let files = found.workspace.as_ref()?.files;
    Some((owner_id(found).to_owned(), KeptFiles { folder: found.project.clone(), files }))
}

/// The name under which files are known: that of the resume that they came with, else their own.
fn owner_id(files: &Journal) -> &str {
    files.workspace.as_ref().and_then(|note| note.resume.as_deref()).unwrap_or(&files.id)
}

/// Whether a journal is one of files whose session is not to be taken back with them any more.
pub(super) fn is_left_alone(files: &Journal, all: &[Journal]) -> bool {
    let owner = all.iter().find(|journal| journal.id == owner_id(files));
    files.is_workspace()
        && files.state == State::Done
        && owner.is_none_or(|owner| owner.state == State::Undone || owner.id == files.id)
}

/// A resume, or files that are left of one, for listings.
pub(super) fn describe_undoable(journal: &Journal, all: &[Journal]) -> Undoable {
    let is_its = |files: &&Journal| files.is_workspace() && files.state == State::Done && owner_id(files) == journal.id;
    let files = if journal.is_workspace() { Some(journal) } else { all.iter().find(is_its) };
    let kept = |files: &Journal| {
        let count = files.workspace.as_ref()?.files;
        Some(KeptFiles { folder: files.project.clone(), files: count })
    };
    let workspace = files.and_then(kept);
    if !journal.is_workspace() {
        return Undoable { workspace, ..Undoable::from(journal.clone()) };
    }
    let resume = all.iter().find(|resume| resume.id == owner_id(journal)).unwrap_or(journal).clone();
    Undoable { workspace, files: Vec::new(), shared: Vec::new(), ..Undoable::from(resume) }
}

/// Refuses to take the files away from under sessions that came to the folder after them.
fn refuse_used_folder(context: &Context, resume: &Journal, workspace: &Journal) -> Result<(), UndoError> {
    let all = journal::read_all(context);
    let is_later = |journal: &&Journal| {
        is_open(journal)
            && journal.id != resume.id
            && journal.number > workspace.number
            && journal.project.starts_with(&workspace.project)
    };
    let sessions: Vec<Undoable> = all.iter().filter(is_later).map(|journal| describe_undoable(journal, &all)).collect();
    if sessions.is_empty() {
        return Ok(());
    }
    Err(UndoError::FilesInUse { id: resume.id.clone(), folder: workspace.project.clone(), sessions })
}

fn load_restored(context: &Context, journal: &Journal) -> Option<RestoredFiles> {
    let restored: RestoredFiles = journal::load_json(&journal::workspace_path(context, &journal.id))?;
    (restored.is_sound() && restored.folder == journal.project).then_some(restored)
}

/// Takes files back and says so in their journal.
pub(super) fn undo_workspace(
    disk: &mut dyn Disk,
    context: &Context,
    journal: &mut Journal,
    strictness: Strictness,
) -> Result<UndoReport, UndoError> {
    let no_files = || UndoError::NoFiles { id: journal.id.clone() };
    let restored = load_restored(context, journal).ok_or_else(no_files)?;
    let files_error = |source| UndoError::Files { id: journal.id.clone(), is_alone: true, source };
    let beside = read_beside(context, journal);
    let plan = TakeBackPlan::make(context, &restored, &beside, strictness).map_err(files_error)?;
    let taken: TakenFiles = plan.apply(&journal.id).map_err(files_error)?;
    journal.state = State::Undone;
    write_journal(disk, context, journal)?;
    for beside in [journal::workspace_path(context, &journal.id), journal::placed_path(context, &journal.id)] {
        remove_if_exists(disk, &beside)?;
    }
    // Nothing is lost with copies that stay.
    fs_err::remove_dir_all(&beside.copies).ok();
    let left = taken.left.iter().map(|path| format!("{path} was changed since it was written, and stays"));
    Ok(UndoReport { warnings: left.collect(), taken: Some(taken), ..UndoReport::of_nothing(journal) })
}

impl UndoReport {
    fn of_nothing(journal: &Journal) -> Self {
        Self {
            id: journal.id.clone(),
            target: journal.target.agent.clone(),
            session: journal.target.session.0.clone(),
            removed: Vec::new(),
            removed_parts: Vec::new(),
            put_back: Vec::new(),
            warnings: Vec::new(),
            kept: None,
            taken: None,
        }
    }
}
