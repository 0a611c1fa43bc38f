//! Taking back what a resume wrote.

use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::{AGENTS, Agent};

use crate::capsule::workspace::{Strictness, TakeBackError, TakenFiles};
use crate::context::Context;
use crate::conversations::status::take_back_status;
use crate::handoff::blocks;
use crate::handoff::pointer::Pointer;
use crate::handoff::project_dir;
use crate::own::fingerprint::Fingerprint;
use crate::sessions::project::ProjectMatcher;
use crate::write::bounds;
use crate::write::closed::{self, NotClosed};
use crate::write::disk::{Disk, RealDisk};
pub use crate::write::journal::SAVED_CONVERSATION;
use crate::write::journal::{self, Journal, Lock, State};
use crate::write::ownership;
use crate::write::removal::{Removal, remove_if_exists, take_back};
use crate::write::replaced::{find_later_save, put_back};
use crate::write::rows;
use crate::write::scratch;
use crate::write::undo_files::{self, find_kept};
pub use crate::write::undo_files::{KeptFiles, undo_with_files};
pub use crate::write::undoable::Undoable;

/// Shorter words are never taken for the beginning of a session's name.
const MIN_SESSION_BYTES: usize = 4;

/// The result of an undo.
#[derive(Debug, Clone)]
pub struct UndoReport {
    pub id: String,
    pub target: String,
    pub session: String,
    /// Files and folders that are gone.
    pub removed: Vec<PathBuf>,
    /// Blocks and lines that were removed from files that stay.
    pub removed_parts: Vec<RemovedPart>,
    /// Files that were there before, and are as they were then.
    pub put_back: Vec<PathBuf>,
    pub warnings: Vec<String>,
    /// Files in a folder that it leaves as they are.
    pub kept: Option<KeptFiles>,
    /// Files in a folder that were taken back.
    pub taken: Option<TakenFiles>,
}

/// Something of ours that stood in a file of somebody else's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedPart {
    /// A block or a line.
    pub kind: &'static str,
    pub file: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    #[error("nothing to undo")]
    Nothing,
    #[error("no resume is known by `{0}`")]
    NotFound(String),
    #[error("`{prefix}` fits {} resumes", fitting.len())]
    Ambiguous { prefix: String, fitting: Vec<Undoable> },
    #[error("no resume of this project can be taken back")]
    NothingHere,
    #[error("{} cannot be read, and may be the resume that is meant: nothing was taken back", journal.display())]
    Unreadable { journal: PathBuf },
    #[error("{} has been changed since it was written{}", path.display(), used.told())]
    Used { id: String, path: PathBuf, used: UsedFile },
    #[error("{name} was saved again after that ({later}): nothing was taken back")]
    SavedAgain { name: String, later: String },
    #[error("{} names {}, where no resume of ours writes: nothing was taken back", journal.display(), path.display())]
    OutOfReach { journal: PathBuf, path: PathBuf },
    #[error("{} names {}, which is not, or no longer, what was written: nothing was taken back", journal.display(), path.display())]
    Foreign { journal: PathBuf, path: PathBuf },
    #[error("a command of {agent} is still at work for it: nothing was taken back")]
    Running { id: String, agent: String },
    #[error("{id} has put no files into a folder that could be taken back")]
    NoFiles { id: String },
    #[error("nothing was taken back")]
    Files {
        id: String,
        /// The session was taken back before.
        is_alone: bool,
        #[source]
        source: TakeBackError,
    },
    #[error("{} on in {}: nothing was taken back", if sessions.len() == 1 { "a later session goes".to_owned() } else { format!("{} later sessions go", sessions.len()) }, folder.display())]
    FilesInUse { id: String, folder: PathBuf, sessions: Vec<Undoable> },
    #[error("its session was taken back already; {} of its files {} in {}", kept.files, if kept.files == 1 { "is" } else { "are" }, kept.folder.display())]
    FilesLeft { id: String, kept: KeptFiles },
    #[error("{reason}: nothing was taken back")]
    EditorOpen { agent: String, reason: NotClosed },
    #[error("{0}")]
    Rows(String),
    #[error("could not take back {}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// What somebody has changed since it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsedFile {
    /// A client goes on in it.
    Session,
    /// The document of a conversation, which no undo removes then.
    Document,
    Other,
}

impl UsedFile {
    const fn told(self) -> &'static str {
        match self {
            Self::Session => ": its client has been at it",
            Self::Document | Self::Other => "",
        }
    }
}

/// A resume that was cut short, by a crash or a power failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    pub id: String,
    pub target: String,
    pub session: String,
}

/// Takes back a resume, the last one where none is named.
pub fn undo_resume(context: &Context, id: Option<&str>, force: bool) -> Result<UndoReport, UndoError> {
    undo_among(AGENTS, context, id, force)
}

pub(crate) fn undo_among(
    agents: &[&'static dyn Agent],
    context: &Context,
    id: Option<&str>,
    force: bool,
) -> Result<UndoReport, UndoError> {
    let folder = journal::folder_path(context);
    if !folder.is_dir() {
        return Err(id.map_or(UndoError::Nothing, |id| UndoError::NotFound(id.to_owned())));
    }
    let _lock = Lock::acquire(context).map_err(undo_error(&folder))?;
    let mut journal = choose_journal(context, id)?;
    if journal.state == State::Writing && !scratch::wait_for_commands(&context.home) {
        return Err(UndoError::Running { id: journal.id, agent: journal.target.agent });
    }
    undo_journal(agents, &mut RealDisk, context, &mut journal, force)
}

/// The last resume of the project that the command was given in.
pub fn last_here(context: &Context) -> Result<Undoable, UndoError> {
    let mut here = ProjectMatcher::new(&context.cwd);
    let open = journal::read_all(context).into_iter().filter(is_open);
    refuse_unreadable(context, |_| true)?;
    let last = open.into_iter().find(|journal| here.matches(&journal.project));
    last.map(Undoable::from).ok_or(UndoError::NothingHere)
}

/// Whether a journal is one that a user would take back.
pub(super) fn is_open(journal: &Journal) -> bool {
    journal.state != State::Undone && !journal.is_standing() && !journal.is_workspace()
}

/// The resumes that can still be taken back, newest first.
pub fn list_undoable(context: &Context) -> Vec<Undoable> {
    let journals = journal::read_all(context);
    let is_listed = |journal: &&Journal| is_open(journal) || undo_files::is_left_alone(journal, &journals);
    journals.iter().filter(is_listed).map(|journal| undo_files::describe_undoable(journal, &journals)).collect()
}

/// The resumes that were cut short; none while one is under way.
pub fn list_unfinished(context: &Context) -> Vec<Unfinished> {
    let writing: Vec<Journal> =
        journal::read_all(context).into_iter().filter(|one| one.state == State::Writing).collect();
    if writing.is_empty() || Lock::try_acquire(context).is_none() {
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
    let unfinished: Vec<Journal> =
        journal::read_all(context).into_iter().filter(|journal| journal.state == State::Writing).collect();
    // Rows or files that a command adds after this would be found by nobody.
    if !unfinished.is_empty() && !scratch::wait_for_commands(&context.home) {
        let told = |journal: &Journal| format!("an earlier resume ({}) was cut short and is still at work", journal.id);
        return unfinished.iter().map(told).collect();
    }
    for mut journal in unfinished {
        match undo_journal(agents, disk, context, &mut journal, false) {
            Ok(undone) => warnings.push(format!("an earlier resume ({}) was cut short and was taken back", undone.id)),
            // It was complete, and somebody has gone on in it: it is theirs now.
            Err(UndoError::Used { .. }) => {
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

pub(super) fn choose_journal(context: &Context, id: Option<&str>) -> Result<Journal, UndoError> {
    let mut open = journal::read_all(context).into_iter().filter(is_open);
    let Some(id) = id else {
        refuse_unreadable(context, |_| true)?;
        return open.next().ok_or(UndoError::Nothing);
    };
    let fits = |known: &str| !id.is_empty() && known.starts_with(id);
    let open: Vec<Journal> = open.collect();
    let mut fitting: Vec<Journal> = open.iter().filter(|journal| fits(&journal.id)).cloned().collect();
    if fitting.is_empty() && id.len() >= MIN_SESSION_BYTES {
        // Listings show the session's name.
        fitting = open.into_iter().filter(|journal| fits(&journal.target.session.0)).collect();
    }
    // Of one conversation, the last save is what can be taken back.
    if let [newest, earlier @ ..] = fitting.as_slice()
        && newest.is_saved()
        && newest.target.session.0.starts_with(id)
        && earlier.iter().all(|one| one.target == newest.target && one.project == newest.project)
    {
        fitting.truncate(1);
    }
    let exact = fitting.iter().position(|journal| journal.id == id);
    if exact.is_none() {
        refuse_unreadable(context, fits)?;
    }
    if exact.is_none() && fitting.len() > 1 {
        let fitting = fitting.into_iter().map(Undoable::from).collect();
        return Err(UndoError::Ambiguous { prefix: id.to_owned(), fitting });
    }
    let found = fitting.into_iter().nth(exact.unwrap_or(0));
    found.ok_or_else(|| match undo_files::find_left(context, id) {
        Some((id, kept)) => UndoError::FilesLeft { id, kept },
        None => UndoError::NotFound(id.to_owned()),
    })
}

/// A journal that cannot be read may be the newest: to take back the one before it would be to take back another's.
fn refuse_unreadable(context: &Context, is_meant: impl Fn(&str) -> bool) -> Result<(), UndoError> {
    match journal::unreadable_ids(context).into_iter().find(|id| is_meant(id)) {
        Some(id) => Err(UndoError::Unreadable { journal: journal::file_path(context, &id) }),
        None => Ok(()),
    }
}

/// The journals that cannot be read, for who looks for one.
pub fn unreadable_journals(context: &Context) -> Vec<PathBuf> {
    journal::unreadable_ids(context).iter().map(|id| journal::file_path(context, id)).collect()
}

/// Takes a resume back and says so in its journal.
pub(crate) fn undo_journal(
    agents: &[&'static dyn Agent],
    disk: &mut dyn Disk,
    context: &Context,
    journal: &mut Journal,
    force: bool,
) -> Result<UndoReport, UndoError> {
    if journal.is_workspace() {
        return undo_files::undo_workspace(disk, context, journal, Strictness::KeepChanged);
    }
    if let Some(path) = bounds::find_path_outside(agents, context, journal) {
        return Err(UndoError::OutOfReach { journal: journal::file_path(context, &journal.id), path });
    }
    if let Some(path) = bounds::find_foreign_file(agents, context, journal) {
        let own = journal::file_path(context, &journal.id);
        // One that was cut short, and that somebody has written anew since, is theirs.
        let is_theirs = journal.state == State::Writing && !force;
        return Err(if is_theirs { used_error(journal, &path) } else { UndoError::Foreign { journal: own, path } });
    }
    if let Some(later) = find_later_save(context, journal) {
        return Err(UndoError::SavedAgain { name: journal.target.session.0.clone(), later: later.id });
    }
    closed::check_for_journal(agents, disk, &context.env, journal)
        .map_err(|reason| UndoError::EditorOpen { agent: journal.target.agent.clone(), reason })?;
    if journal.state == State::Writing {
        exclude_earlier(context, journal);
    }
    let heir = ownership::next_line_owner(context, journal);
    let line = heir.is_some().then(|| journal.ignored.take()).flatten();
    let taken = put_back(disk, context, journal, force).and_then(|put| Ok((put, take_back(disk, journal, force)?)));
    let (put, Removal { removed, removed_parts: taken_out, mut warnings }) = match taken {
        Ok(taken) => taken,
        Err(error) => {
            journal.ignored = line;
            return Err(error);
        }
    };
    if let Some(heir) = heir {
        write_journal(disk, context, &Journal { ignored: line, ..heir })?;
    }
    ownership::transfer_shared(disk, context, journal)?;
    warnings.extend(put.warnings);
    warnings.extend(warn_dangling(context, journal));
    warnings.extend(take_back_status(disk, context, journal));
    journal.state = State::Undone;
    write_journal(disk, context, journal)?;
    let lineage = journal::lineage_path(context, &journal.id);
    for path in std::iter::once(lineage).chain(journal::list_backups(context, &journal.id)) {
        remove_if_exists(disk, &path)?;
    }
    Ok(UndoReport {
        id: journal.id.clone(),
        target: journal.target.agent.clone(),
        session: journal.target.session.0.clone(),
        removed,
        removed_parts: taken_out,
        put_back: put.files,
        warnings,
        kept: find_kept(context, &journal.id),
        taken: None,
    })
}

/// Parts of an earlier brief, which this one was about to replace when it was cut short, are still the earlier one's.
fn exclude_earlier(context: &Context, journal: &mut Journal) {
    let earlier = journal::read_all(context).into_iter().filter(|earlier| earlier.state == State::Done);
    for earlier in earlier.filter(|earlier| earlier.id != journal.id) {
        journal.files.retain(|left| {
            let same = earlier.files.iter().find(|same| same.path == left.path);
            !same.is_some_and(|same| {
                Fingerprint::from_file(&same.path, None).is_ok_and(|now| now == (same.size, same.digest))
            })
        });
        journal.blocks.retain(|block| {
            let same = earlier.blocks.iter().find(|same| same.file == block.file && same.pointer == block.pointer);
            !same.is_some_and(|same| blocks::is_unchanged(same).unwrap_or_default())
        });
    }
}

pub(crate) fn write_journal(disk: &mut dyn Disk, context: &Context, journal: &Journal) -> Result<(), UndoError> {
    journal::write(disk, context, journal).map_err(undo_error(&journal::file_path(context, &journal.id)))
}

/// Whether the files of a resume are as it left them.
pub(crate) fn is_unused(journal: &Journal) -> bool {
    journal.files.iter().all(|left| left.path.exists()) && refuse_used(journal).is_ok()
}

/// Whether a file of a resume, or the rows that are its session, have been deleted since.
pub(crate) fn is_gone(journal: &Journal) -> bool {
    let mut sessions = journal.rows.iter().filter(|rows| rows.left.is_some());
    journal.files.iter().any(|left| !left.path.exists())
        || sessions.any(|rows| matches!(rows::compute_digest(rows), Ok(None)))
}

/// Warnings about blocks that still point to a brief that has gone with this one.
fn warn_dangling(context: &Context, journal: &Journal) -> Vec<String> {
    if !journal.files.iter().any(|left| left.path == project_dir::context_path(&journal.project)) {
        return Vec::new();
    }
    let other = |other: &Journal| {
        other.id != journal.id && other.state == State::Done && !other.is_standing() && other.project == journal.project
    };
    let others = journal::read_all(context).into_iter().filter(other);
    let told = |other: Journal| {
        let file = other.blocks.iter().find(|block| block.pointer == Pointer::Context)?.file.display().to_string();
        Some(format!("{file} still points to the brief: `carryover undo {}` takes that out, too", other.id))
    };
    others.filter_map(told).collect()
}

pub(super) fn refuse_used(journal: &Journal) -> Result<(), UndoError> {
    for left in journal.files.iter().filter(|left| !left.shared) {
        match Fingerprint::from_file(&left.path, None) {
            Ok(now) if now == (left.size, left.digest) => {}
            // It was cut short before this one was written.
            Ok(_) if journal.is_as_before(&left.path) => {}
            Ok(_) => return Err(used_error(journal, &left.path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(undo_error(&left.path)(error)),
        }
    }
    if let Some(path) = journal.find_remade() {
        return Err(used_error(journal, path));
    }
    for block in &journal.blocks {
        match blocks::is_unchanged(block) {
            Ok(true) => {}
            Ok(false) => return Err(used_error(journal, &block.file)),
            Err(error) => return Err(undo_error(&block.file)(error)),
        }
    }
    for rows in journal.rows.iter().filter(|rows| rows.left.is_some()) {
        match rows::compute_digest(rows) {
            Ok(None) => {}
            Ok(now) if now == rows.left => {}
            Ok(_) => return Err(used_error(journal, &rows.database)),
            Err(error) => return Err(UndoError::Rows(error.to_string())),
        }
    }
    Ok(())
}

fn used_error(journal: &Journal, path: &Path) -> UndoError {
    let is_session = journal.blocks.is_empty() && AGENTS.iter().any(|agent| agent.facts().id == journal.target.agent);
    let used = match is_session {
        true => UsedFile::Session,
        false if journal.is_document(path) => UsedFile::Document,
        false => UsedFile::Other,
    };
    UndoError::Used { id: journal.id.clone(), path: path.to_owned(), used }
}

pub(super) fn undo_error(path: &Path) -> impl FnOnce(io::Error) -> UndoError {
    let path = path.to_owned();
    move |source| UndoError::Io { path, source }
}
