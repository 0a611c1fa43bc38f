//! `carryover undo`.

use std::path::PathBuf;

use carryover_agents::Target;
use carryover_engine::capsule::workspace::TakenFiles;
use carryover_engine::context::Context;
use carryover_engine::memory::sync::MEMORY_SYNC;
use carryover_engine::write::undo::{
    self, KeptFiles, RemovedPart, SAVED_CONVERSATION, UndoError, UndoReport, Undoable,
};
use clap::Args;
use serde::Serialize;

use crate::error::CommandError;
use crate::quantity::format_count;
use crate::relative_time::format_ago;
use crate::session_row::{abbreviate_home, cut_to_width};
use crate::ui::{DIM, Ui};

/// Take back what a resume or a save wrote
///
/// Removes exactly what was added to the target's store; of a conversation that was saved again, the last save alone. Where somebody has gone on in that session since, nothing is
/// removed, unless --force is given. Files that `import` has put into a folder stay there, unless --files is given: then
/// those go that nobody has changed, and a checkout is as it was.
#[derive(Args)]
pub(crate) struct UndoArgs {
    /// The id that `resume` told; the last one by default
    #[arg(value_name = "RESUME-ID")]
    id: Option<String>,
    /// Also where somebody has gone on in the session since; without an id, the last one of this project
    #[arg(long)]
    force: bool,
    /// Take back the files of an import, too, if none was changed since; with --force, those that were not
    #[arg(long)]
    files: bool,
    /// List the resumes that can be taken back, the last one first, and take back none
    #[arg(long, conflicts_with_all = ["id", "force", "files"])]
    list: bool,
}

/// The resumes that can be taken back, as `--json` tells them.
#[derive(Serialize)]
struct ListDocument {
    schema: &'static str,
    resumes: Vec<ResumeRow>,
}

#[derive(Serialize)]
struct ResumeRow {
    undo_id: String,
    at: String,
    title: Option<String>,
    source: String,
    target: String,
    session_id: String,
    project: String,
    removes: Vec<String>,
    changes: Vec<String>,
    /// Files that an import has put into a folder, which stay without `--files`.
    files: Option<FilesRow>,
}

#[derive(Serialize)]
struct FilesRow {
    folder: String,
    files: usize,
}

impl FilesRow {
    fn new(kept: &KeptFiles) -> Self {
        Self { folder: kept.folder.display().to_string(), files: kept.files }
    }
}

/// Files that were taken back, as `--json` tells them.
#[derive(Serialize)]
struct TakenRow<'a> {
    folder: String,
    removed: usize,
    brought_back: usize,
    folder_removed: bool,
    left: &'a [String],
}

/// The report, as `--json` tells it.
#[derive(Serialize)]
struct UndoDocument<'a> {
    schema: &'static str,
    undo_id: &'a str,
    target: &'a str,
    session_id: &'a str,
    removed: Vec<String>,
    changed: Vec<String>,
    kept_files: Option<FilesRow>,
    taken_files: Option<TakenRow<'a>>,
    warnings: &'a [String],
}

pub(crate) fn cmd_undo(ui: &mut Ui, context: &Context, args: &UndoArgs) -> Result<(), CommandError> {
    if args.list {
        return list_resumes(ui, context);
    }
    let id = choose_id(ui, context, args)?;
    let undo = if args.files { undo::undo_with_files } else { undo::undo_resume };
    let undone = undo(context, id.as_deref(), args.force).map_err(|error| explain_error(context, error))?;
    for warning in &undone.warnings {
        ui.warning(warning)?;
    }
    if ui.is_json() {
        ui.write_json(&UndoDocument {
            schema: "carryover.undo/1",
            undo_id: &undone.id,
            target: &undone.target,
            session_id: &undone.session,
            removed: undone.removed.iter().map(|path| path.display().to_string()).collect(),
            changed: undone
                .removed_parts
                .iter()
                .map(|taken| &taken.file)
                .chain(&undone.put_back)
                .map(|path| path.display().to_string())
                .collect(),
            kept_files: undone.kept.as_ref().map(FilesRow::new),
            taken_files: undone.taken.as_ref().map(taken_row),
            warnings: &undone.warnings,
        })?;
        return Ok(());
    }
    tell_undone(ui, context, &undone)
}

fn taken_row(taken: &TakenFiles) -> TakenRow<'_> {
    TakenRow {
        folder: taken.folder.display().to_string(),
        removed: taken.removed,
        brought_back: taken.brought_back,
        folder_removed: taken.is_folder_gone,
        left: &taken.left,
    }
}

fn tell_undone(ui: &mut Ui, context: &Context, undone: &UndoReport) -> Result<(), CommandError> {
    let target = Target::by_name(&undone.target).map_or(&*undone.target, |target| target.name);
    let has_session = !(undone.removed.is_empty() && undone.removed_parts.is_empty() && undone.put_back.is_empty());
    if undone.taken.is_some() && !has_session {
        ui.status(format_args!("took back the files of {}", undone.id))?;
    } else if undone.target == MEMORY_SYNC {
        ui.status("took back what `memory sync` wrote")?;
    } else if undone.target == SAVED_CONVERSATION {
        let what = if undone.put_back.is_empty() { "what was saved of" } else { "the last save of" };
        ui.status(format_args!("took back {what} {}", undone.session))?;
    } else if undone.session.is_empty() {
        ui.status(format_args!("took back what {target} got"))?;
    } else {
        ui.status(format_args!("took back {target} session {}", undone.session))?;
    }
    for RemovedPart { kind: what, file } in &undone.removed_parts {
        ui.status(format_args!("  took our {what} out of {DIM}{}{DIM:#}", abbreviate_home(context, file)))?;
    }
    for path in &undone.put_back {
        ui.status(format_args!("  put back {DIM}{}{DIM:#}", abbreviate_home(context, path)))?;
    }
    for path in &undone.removed {
        ui.status(format_args!("  removed {DIM}{}{DIM:#}", abbreviate_home(context, path)))?;
    }
    if let Some(taken) = &undone.taken {
        tell_taken(ui, context, taken)?;
    }
    if let Some(KeptFiles { folder, files }) = &undone.kept {
        let (files, folder) = (format_count(*files, "file", "files"), abbreviate_home(context, folder));
        ui.status(format_args!("  kept    {files} in {DIM}{folder}{DIM:#}"))?;
        ui.hint(format_args!("`carryover undo {} --files` takes them back, too", undone.id))?;
    }
    Ok(())
}

fn tell_taken(ui: &mut Ui, context: &Context, taken: &TakenFiles) -> Result<(), CommandError> {
    let folder = abbreviate_home(context, &taken.folder);
    if taken.removed > 0 || taken.brought_back == 0 {
        let with = if taken.is_folder_gone { ", and the folder" } else { "" };
        let files = format_count(taken.removed, "file", "files");
        ui.status(format_args!("  removed {files} in {DIM}{folder}{DIM:#}{with}"))?;
    }
    if taken.brought_back > 0 {
        let files = format_count(taken.brought_back, "file", "files");
        ui.status(format_args!("  brought back {files} in {DIM}{folder}{DIM:#}"))?;
    }
    Ok(())
}

fn list_resumes(ui: &mut Ui, context: &Context) -> Result<(), CommandError> {
    let resumes = undo::list_undoable(context);
    if ui.is_json() {
        let resumes = resumes.iter().map(resume_row).collect();
        return Ok(ui.write_json(&ListDocument { schema: "carryover.undo-list/1", resumes })?);
    }
    let width = ui.width();
    for resume in &resumes {
        let (ago, title) = (format_ago(resume.at, context.env.now), resume.title.as_deref().unwrap_or("–"));
        let line = format!("{}  {ago:<11}  {} → {}  {title}", resume.id, resume.source, resume.target);
        writeln!(ui.out(), "{}", cut_to_width(&line, width))?;
        let files = resume.files.iter().map(|file| ("removes", file));
        for (verb, file) in files.chain(resume.shared.iter().map(|file| ("changes", file))) {
            writeln!(ui.out(), "  {DIM}{verb} {}{DIM:#}", abbreviate_home(context, file))?;
        }
        if let Some(KeptFiles { folder, files }) = &resume.workspace {
            let (files, folder) = (format_count(*files, "file", "files"), abbreviate_home(context, folder));
            writeln!(ui.out(), "  {DIM}with --files: {files} in {folder}{DIM:#}")?;
        }
    }
    if resumes.is_empty() {
        ui.status("nothing to take back")?;
    }
    Ok(())
}

fn resume_row(one: &Undoable) -> ResumeRow {
    let names = |paths: &[PathBuf]| paths.iter().map(|path| path.display().to_string()).collect();
    ResumeRow {
        undo_id: one.id.clone(),
        at: one.at.to_string(),
        title: one.title.clone(),
        source: one.source.clone(),
        target: one.target.clone(),
        session_id: one.session.clone(),
        project: one.project.display().to_string(),
        removes: names(&one.files),
        changes: names(&one.shared),
        files: one.workspace.as_ref().map(FilesRow::new),
    }
}

/// The id that was given. Force without one is bounded to this project, and what it is about to take is told first.
fn choose_id(ui: &mut Ui, context: &Context, args: &UndoArgs) -> Result<Option<String>, CommandError> {
    if args.id.is_some() || !args.force {
        return Ok(args.id.clone());
    }
    let last = undo::last_here(context).map_err(|error| explain_error(context, error))?;
    ui.status(format_args!("the last resume of this project: {}", undoable_line(&last)))?;
    Ok(Some(last.id))
}

/// An id that is not known is answered with those that are, one that is too short with those that it fits.
fn explain_error(context: &Context, error: UndoError) -> CommandError {
    let known = match &error {
        UndoError::NotFound(_) | UndoError::NothingHere | UndoError::Unreadable { .. } => undo::list_undoable(context),
        UndoError::Ambiguous { fitting, .. } => fitting.clone(),
        UndoError::FilesInUse { sessions, .. } => sessions.clone(),
        _ => Vec::new(),
    };
    let unreadable = if let UndoError::NotFound(_) = &error { undo::unreadable_journals(context) } else { Vec::new() };
    let told = unreadable.iter().map(|journal| format!("{} cannot be read", journal.display()));
    CommandError::from(error).with_details(known.iter().map(undoable_line).chain(told))
}

fn undoable_line(one: &Undoable) -> String {
    // A brief is in no session.
    let session = if one.session.is_empty() { String::new() } else { format!("  session {}", one.session) };
    format!("{}  {} → {}{session}", one.id, one.source, one.target)
}
