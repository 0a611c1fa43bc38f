//! A brief, left where the next agent reads instructions.
//!
//! A file that git sees gets only a pointer; the brief itself stands in our own folder of the project, which is
//! kept from git.

use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::{AGENTS, Placement, Target};
use carryover_core::redact::redact_title;
use carryover_core::render::block;
use carryover_core::transcript::SessionId;

use crate::context::Context;
use crate::handoff::blocks;
use crate::handoff::gitignore;
use crate::handoff::gitignore::MissingIgnoreRule;
use crate::handoff::pointer::{self, Pointer};
use crate::handoff::project_dir;
use crate::handoff::workspace;
use crate::own::files;
use crate::own::fingerprint::Fingerprint;
use crate::sessions::project::resolve_inside;
use crate::write::disk::{Disk, RealDisk};
use crate::write::journal::{self, Journal, Lock, SessionRef, State, WrittenFile};
use crate::write::removal;
use crate::write::supersede::supersede_earlier;
use crate::write::undo;

/// One that is longer is no brief.
const MAX_BRIEF_BYTES: u64 = 16 << 20;

/// A brief that is to be left, and for whom.
pub struct ContextFile<'a> {
    pub target: &'a Target,
    pub project: &'a Path,
    /// Whose session it is.
    pub agent: &'static str,
    pub session: &'a SessionId,
    /// Its title, as the session has it.
    pub title: Option<&'a str>,
    /// The brief.
    pub text: &'a str,
    pub dry_run: bool,
}

/// A brief that was left, and where.
#[derive(Debug, Clone)]
pub struct WrittenBrief {
    /// The file that the agent reads by itself; none where the brief must be named.
    pub file: Option<PathBuf>,
    /// The file that holds the brief.
    pub brief_file: PathBuf,
    pub undo_id: Option<String>,
    pub warnings: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum ContextFileError {
    #[error("could not leave the brief in {}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} leads out of the project", .0.display())]
    Outside(PathBuf),
    #[error("somebody has written inside the brief that stands in {}", .0.display())]
    Changed(PathBuf),
}

/// Leaves a brief; an earlier one in the same place is replaced.
pub fn write_context_file(context: &Context, leaving: &ContextFile<'_>) -> Result<WrittenBrief, ContextFileError> {
    write_context_file_on(&mut RealDisk, context, leaving)
}

pub(crate) fn write_context_file_on(
    disk: &mut dyn Disk,
    context: &Context,
    leaving: &ContextFile<'_>,
) -> Result<WrittenBrief, ContextFileError> {
    let plan = Plan::new(context, leaving)?;
    let payload = project_dir::context_path(leaving.project);
    // Before anything is noted down: what is taken back after a failure must not be what was there before.
    project_dir::check_private(context, leaving.project, project_dir::CONTEXT_FILE).map_err(io_error(&payload))?;
    refuse_changed_brief(context, &payload)?;
    let mut left = WrittenBrief {
        file: plan.block.as_ref().map(|block| block.file.clone()),
        brief_file: payload,
        undo_id: None,
        warnings: plan.warnings.clone(),
    };
    if leaving.dry_run {
        return Ok(left);
    }
    let folder = journal::folder_path(context);
    let _lock = Lock::acquire(context).map_err(io_error(&folder))?;
    left.warnings.extend(undo::recover(AGENTS, disk, context));
    left.undo_id = Some(plan.write_journaled(disk, context, leaving)?);
    Ok(left)
}

/// Changes that will be written besides the brief.
struct Plan {
    block: Option<NewBlock>,
    /// The project's list of what git ignores, where our folder is to be put on it.
    missing: Option<MissingIgnoreRule>,
    warnings: Vec<String>,
}

struct NewBlock {
    file: PathBuf,
    /// The text that the file holds already, or that a new one begins with.
    before: String,
    is_new: bool,
}

impl Plan {
    fn new(context: &Context, leaving: &ContextFile<'_>) -> Result<Self, ContextFileError> {
        let mut warnings = Vec::new();
        let block = NewBlock::plan(context, leaving, &mut warnings)?;
        // The list names our folder before anything is in it.
        let missing = gitignore::find_missing_rule(context, leaving.project);
        warnings.extend(missing.is_some().then(|| gitignore::note_line(leaving.dry_run)));
        Ok(Self { block, missing, warnings })
    }

    fn write_journaled(
        &self,
        disk: &mut dyn Disk,
        context: &Context,
        leaving: &ContextFile<'_>,
    ) -> Result<String, ContextFileError> {
        let mut journal = self.begin_journal(context, leaving);
        let text = match &self.block {
            Some(new) => Some(new.insert_pointer(context, &mut journal)?),
            None => None,
        };
        // An earlier brief, or somebody's own file, is there again if this one cannot be left.
        let payload = project_dir::context_path(leaving.project);
        let earlier = files::read_bounded(&payload, MAX_BRIEF_BYTES).map_err(io_error(&payload))?;
        write_journal(disk, context, &journal)?;
        let done = self.write_files(disk, context, leaving, &journal, text.as_deref());
        journal.state = State::Done;
        if let Err(error) = done.and_then(|()| write_journal(disk, context, &journal)) {
            removal::take_back(disk, &journal, true).ok();
            if let Some(earlier) = earlier {
                // It may be the list itself that cannot be written.
                project_dir::prepare_folder(disk, leaving.project).ok();
                disk.write_own(&payload, &earlier).map_err(io_error(&payload))?;
            }
            if let Some(new) = self.block.as_ref().filter(|new| !new.is_new) {
                disk.replace_shared(&new.file, new.before.as_bytes(), leaving.project).map_err(io_error(&new.file))?;
            }
            journal.state = State::Undone;
            write_journal(disk, context, &journal)?;
            return Err(error);
        }
        supersede_earlier(disk, context, &mut journal).map_err(io_error(&journal::folder_path(context)))?;
        Ok(journal.id)
    }

    fn write_files(
        &self,
        disk: &mut dyn Disk,
        context: &Context,
        leaving: &ContextFile<'_>,
        journal: &Journal,
        text: Option<&str>,
    ) -> Result<(), ContextFileError> {
        if let Some(missing) = &self.missing {
            project_dir::prepare_folder(disk, leaving.project).map_err(io_error(leaving.project))?;
            missing.append_line(disk, leaving.project).map_err(io_error(leaving.project))?;
        }
        let payload = project_dir::context_path(leaving.project);
        project_dir::write_file_on(disk, context, leaving.project, project_dir::CONTEXT_FILE, leaving.text.as_bytes())
            .map_err(io_error(&payload))?;
        for folder in &journal.folders {
            disk.create_folder(folder, false).map_err(io_error(folder))?;
        }
        match (&self.block, text) {
            (Some(new), Some(text)) => {
                disk.replace_shared(&new.file, text.as_bytes(), leaving.project).map_err(io_error(&new.file))
            }
            _ => Ok(()),
        }
    }

    fn begin_journal(&self, context: &Context, leaving: &ContextFile<'_>) -> Journal {
        let source = SessionRef { agent: leaving.agent.to_owned(), session: leaving.session.clone() };
        // No session of the target's: there is nothing to find the way back from.
        let target = SessionRef { agent: leaving.target.id.to_owned(), session: SessionId::default() };
        let mut journal = Journal::begin(context, source, target, leaving.project);
        journal.title = leaving.title.map(|title| redact_title(title, &[]));
        journal
            .files
            .push(WrittenFile::from_bytes(&project_dir::context_path(leaving.project), leaving.text.as_bytes()));
        journal.ignored = self.missing.as_ref().map(MissingIgnoreRule::to_journal);
        journal
    }
}

impl NewBlock {
    /// The pointer for a taker that has a file of instructions.
    fn plan(
        context: &Context,
        leaving: &ContextFile<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Self>, ContextFileError> {
        let (name, follows, beginning) = match leaving.target.placement {
            Placement::StartFile => return Ok(None),
            Placement::Block { file, follows_pointers: follows } => (file, follows, ""),
            Placement::OwnFile { file, front_matter } => (file, true, front_matter),
        };
        let resolved = resolve_inside(leaving.project, name).map_err(io_error(leaving.project))?;
        let file = resolved.ok_or_else(|| ContextFileError::Outside(leaving.project.join(name)))?;
        let before = blocks::read_text(&file).map_err(io_error(&file))?;
        refuse_changed(context, &file, before.as_deref())?;
        let kept = format!("{}/{}", project_dir::FOLDER, project_dir::CONTEXT_FILE);
        if before.is_some() && workspace::is_tracked(context, leaving.project, &file) {
            warnings.push(format!("{name} is tracked by git: it gets a pointer, and the brief stands in {kept}"));
        }
        if !follows {
            warnings.push(format!("{} may not open {kept} by itself: ask it to read that file", leaving.target.name));
        }
        let is_new = before.is_none();
        Ok(Some(Self { file, is_new, before: before.unwrap_or_else(|| beginning.to_owned()) }))
    }

    /// The file with the block in it; what that adds is noted down.
    fn insert_pointer(&self, context: &Context, journal: &mut Journal) -> Result<String, ContextFileError> {
        let text = pointer::insert(&self.before, Pointer::Context).map_err(io_error(&self.file))?;
        let made = self.is_new.then_some(self.before.as_str());
        let described = blocks::describe(context, &self.file, &text, Pointer::Context, made);
        journal.blocks.push(described.map_err(io_error(&self.file))?);
        let missing = self.file.ancestors().skip(1).take_while(|folder| !folder.is_dir());
        journal.folders = missing.map(Path::to_owned).collect();
        journal.folders.reverse();
        Ok(text)
    }
}

/// Words that somebody has put into an earlier brief would be gone with it, and no undo would bring them back.
fn refuse_changed(context: &Context, file: &Path, text: Option<&str>) -> Result<(), ContextFileError> {
    let text = text.unwrap_or_default();
    let found = block::find(text).map_err(|error| io_error(file)(blocks::invalid_data(error)))?;
    let Some(block) = found.map(|place| &text[place]) else { return Ok(()) };
    let digest = Fingerprint::from_bytes(block.as_bytes());
    let done = journal::read_all(context).into_iter().filter(|earlier| earlier.state == State::Done);
    let is_left = done.flat_map(|earlier| earlier.blocks).any(|left| left.file == file && left.left == digest);
    // A pointer is the same in every project: a clone may bring it.
    if is_left || pointer::is_of_pointers(block) { Ok(()) } else { Err(ContextFileError::Changed(file.to_owned())) }
}

/// The same for a brief in a file of our own.
fn refuse_changed_brief(context: &Context, payload: &Path) -> Result<(), ContextFileError> {
    let Some(bytes) = files::read_bounded(payload, MAX_BRIEF_BYTES).map_err(io_error(payload))? else { return Ok(()) };
    let digest = Fingerprint::from_bytes(&bytes);
    // One that was cut short may have left it, too.
    let open = journal::read_all(context).into_iter().filter(|earlier| earlier.state != State::Undone);
    let mut left = open.flat_map(|earlier| earlier.files).filter(|left| left.path == payload);
    let is_left = left.any(|left| left.digest == digest);
    if is_left || bytes.is_empty() { Ok(()) } else { Err(ContextFileError::Changed(payload.to_owned())) }
}

fn write_journal(disk: &mut dyn Disk, context: &Context, journal: &Journal) -> Result<(), ContextFileError> {
    journal::write(disk, context, journal).map_err(io_error(&journal::file_path(context, &journal.id)))
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> ContextFileError {
    let path = path.to_owned();
    move |source| ContextFileError::Io { path, source }
}
