//! Going on with the session of a capsule: its workspace is put back, and its session is carried into an agent.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use carryover_agents::{AGENTS, Agent, FoundSession, Liveness, Source, Store, captured};
use carryover_core::time::Timestamp;
use carryover_core::transcript::SessionId;

use super::drift::{Receiver, mode_drift};
use super::manifest::Manifest;
use super::masks::add_masks;
use super::member_path::{decode_path, path_from_bytes};
use super::open::{LaidOut, RawRecords};
use super::workspace::{
    FilesMode, Placement, RestoreInto, RestoredWorkspace, WorkspaceDrift, is_empty, leads_through_link,
};
use super::{CapsuleError, VerifiedCapsule};
use crate::carry::own::MovedRecords;
use crate::carry::resume::{self, Report, ResumeError};
use crate::client;
use crate::context::Context;
use crate::sessions::list::ListedSession;
use crate::write::journal::SessionRef;
use crate::write::undo_files::{WorkspaceJournal, WorkspaceLock, abandon_workspace, adopt_workspace, name_resume};

/// Is part of the names of files on their way into a folder that something else is in.
const FORCED_MARK: &str = "import";
const NOT_KEPT: &str = "files that were written over are not kept: `carryover undo` does not bring them back";
/// So many remarks on files are told.
const MAX_REMARKS: usize = 5;

/// How a capsule is gone on with.
#[derive(Clone)]
pub struct ImportOptions {
    pub target: &'static dyn Agent,
    /// The folder that the workspace goes into.
    pub folder: PathBuf,
    /// Puts the workspace back; else the folder is taken as it is.
    pub files: bool,
    /// Also into a folder in which something else is.
    pub force: bool,
    pub tokens: Option<u64>,
}

/// A capsule that is gone on with.
#[derive(Debug)]
pub struct Imported {
    /// The folder that the session goes on in.
    pub project: PathBuf,
    pub workspace: WorkspaceOutcome,
    /// The target was given its own records, as it wrote them.
    pub own_records: bool,
    /// How often each kind of secret was masked for it.
    pub masked: BTreeMap<String, usize>,
    pub report: Report,
}

/// Files of a capsule in a folder, whose session goes on as the one that it was.
#[derive(Debug)]
pub struct BroughtFiles {
    pub workspace: WorkspaceOutcome,
    /// By which `undo` knows the files; none where none were written, or they cannot be taken back.
    pub undo_id: Option<String>,
    pub warnings: Vec<String>,
}

/// What became of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkspaceOutcome {
    /// The capsule has no files.
    Absent,
    /// The folder was as the capsule says already.
    Same,
    Restored(RestoredWorkspace),
    /// The folder was to be left alone; this differs.
    Left(WorkspaceDrift),
}

/// The agent to go on in, and why it is this one.
#[derive(Clone)]
pub struct TargetChoice {
    pub agent: &'static dyn Agent,
    pub reason: String,
    /// Others would do as well.
    pub is_ambiguous: bool,
}

/// Chooses the agent that the session comes from where it is installed, else the first one that is.
pub fn choose_target(context: &Context, manifest: &Manifest) -> Result<TargetChoice, CapsuleError> {
    let is_installed = |agent: &dyn Agent| client::find_agent_program(context, agent.facts()).is_some();
    let source = carryover_agents::agent_by_name(&manifest.source.agent).filter(|agent| agent.writer().is_some());
    let name = |agent: &dyn Agent| agent.facts().name;
    if let Some(agent) = source.filter(|agent| is_installed(*agent)) {
        let reason = "the session comes from it, and it is installed".to_owned();
        return Ok(TargetChoice { agent, reason, is_ambiguous: false });
    }
    let mut others = AGENTS.iter().copied().filter(|agent| agent.writer().is_some() && is_installed(*agent));
    let missing = source.map_or(manifest.source.agent.as_str(), name);
    match (others.next(), source) {
        (Some(agent), _) => {
            let reason = format!("{missing}, which it comes from, is not installed; {} is", name(agent));
            Ok(TargetChoice { agent, reason, is_ambiguous: others.next().is_some() })
        }
        (None, Some(agent)) => {
            let reason = format!("no agent is installed; {missing} is the one that it comes from");
            Ok(TargetChoice { agent, reason, is_ambiguous: true })
        }
        (None, None) => Err(CapsuleError::NoTarget(manifest.source.agent.clone())),
    }
}

/// Puts the workspace back and carries the session over.
pub fn import_capsule(
    context: &Context,
    capsule: &mut VerifiedCapsule,
    options: &ImportOptions,
) -> Result<Imported, CapsuleError> {
    let made = make_project(capsule, options)?;
    let (workspace, journal) = bring_workspace(context, capsule, options)?;
    let is_for_good = journal.is_none() && matches!(workspace, WorkspaceOutcome::Restored(_));
    let mut imported = import_session(context, capsule, options, workspace);
    if let (true, Ok(imported)) = (is_for_good, &mut imported) {
        imported.report.warnings.push(NOT_KEPT.to_owned());
    }
    let resume = imported.as_ref().ok().and_then(|imported| imported.report.undo_id.as_deref());
    match (journal, &imported) {
        (Some(id), Ok(_)) => name_resume(context, &id, resume)?,
        // Where no session goes on there, its files have no business there either.
        (Some(id), Err(_)) => abandon_workspace(context, &id),
        (None, Ok(imported)) if imported.workspace == WorkspaceOutcome::Same => {
            adopt_workspace(context, &options.folder, resume)?;
        }
        (None, Ok(_)) => {}
        (None, Err(_)) => made.iter().for_each(|folder| {
            // One that somebody has put something into stays.
            std::fs::remove_dir(folder).ok();
        }),
    }
    imported
}

/// Puts the workspace into a folder, and carries nothing over: the session is here already. Where the folder cannot take it, it is
/// left as it is and compared.
pub fn bring_files(
    context: &Context,
    capsule: &mut VerifiedCapsule,
    options: &ImportOptions,
) -> Result<BroughtFiles, CapsuleError> {
    let brought = match bring_workspace(context, capsule, options) {
        Err(CapsuleError::NotClean { .. } | CapsuleError::OtherCommit { .. } | CapsuleError::Threatened { .. }) => {
            bring_workspace(context, capsule, &ImportOptions { files: false, ..options.clone() })
        }
        other => other,
    };
    let (workspace, undo_id) = brought?;
    let project = project_below(&options.folder, &capsule.workspace.project);
    let here = Receiver { context, project: &project, target: options.target };
    let warnings = here.find_drift(capsule, &workspace);
    Ok(BroughtFiles { workspace, undo_id, warnings })
}

/// Whether a folder would be given files of a capsule.
pub fn takes_files(context: &Context, capsule: &mut VerifiedCapsule, folder: &Path) -> Result<bool, CapsuleError> {
    if !capsule.has_files() || capsule.workspace.files == 0 {
        return Ok(false);
    }
    let drift = capsule.compare_workspace(context, folder)?;
    let into = RestoreInto::choose(context, folder, &capsule.workspace, &drift, false);
    Ok(!drift.is_none() && into.is_ok())
}

/// Makes the folder of a session that comes without files, and those above it, as far as they are missing.
fn make_project(capsule: &VerifiedCapsule, options: &ImportOptions) -> Result<Vec<PathBuf>, CapsuleError> {
    if capsule.has_files() {
        return Ok(Vec::new());
    }
    let is_missing = |folder: &&Path| fs_err::symlink_metadata(folder).is_err();
    let missing = options.folder.ancestors().take_while(is_missing).map(Path::to_owned).collect();
    fs_err::create_dir_all(&options.folder)?;
    Ok(missing)
}

fn import_session(
    context: &Context,
    capsule: &mut VerifiedCapsule,
    options: &ImportOptions,
    workspace: WorkspaceOutcome,
) -> Result<Imported, CapsuleError> {
    let project = project_below(&options.folder, &capsule.workspace.project);
    let here = Receiver { context, project: &project, target: options.target };
    let mut warnings = here.find_drift(capsule, &workspace);
    let laid_out = capsule.lay_out(context, choose_records(&capsule.manifest, options, &mut warnings))?;
    let masked = match &capsule.manifest {
        Manifest { masked: Some(masked), .. } => masked.clone(),
        Manifest { redacted: true, .. } => count_masks(&laid_out.transcript)?,
        Manifest { .. } => BTreeMap::new(),
    };
    let (mut report, own_records) =
        carry_session(context, &capsule.manifest, &laid_out, options, &project, &mut warnings)?;
    warnings.extend(mode_drift(capsule, &report));
    if matches!(workspace, WorkspaceOutcome::Restored(_)) {
        let told = capsule.workspace.remarks.iter().take(MAX_REMARKS);
        warnings.extend(told.map(|remark| format!("{} {}", remark.path, remark.reason)));
    }
    warnings.append(&mut report.warnings);
    report.warnings = warnings;
    Ok(Imported { project, workspace, own_records, masked, report })
}

/// Puts the workspace into the folder; and the journal of its files, where they can be taken back.
fn bring_workspace(
    context: &Context,
    capsule: &mut VerifiedCapsule,
    options: &ImportOptions,
) -> Result<(WorkspaceOutcome, Option<String>), CapsuleError> {
    if !capsule.has_files() {
        return Ok((WorkspaceOutcome::Absent, None));
    }
    // Before the first look: what is seen is what is written over.
    let lock = WorkspaceLock::acquire(context)?;
    let has_nothing = capsule.workspace.files == 0 && capsule.workspace.files_mode == FilesMode::Full;
    if has_nothing && options.folder.is_dir() {
        return Ok((WorkspaceOutcome::Same, None));
    }
    let drift = if options.files && is_empty(&options.folder)? {
        WorkspaceDrift::default()
    } else {
        let drift = capsule.compare_workspace(context, &options.folder)?;
        if drift.is_none() {
            return Ok((WorkspaceOutcome::Same, None));
        }
        drift
    };
    if !options.files {
        return Ok((WorkspaceOutcome::Left(drift), None));
    }
    let into = RestoreInto::choose(context, &options.folder, &capsule.workspace, &drift, options.force)?;
    let folder = options.folder.as_path();
    let Some(noted) = capsule.note_restored(context, folder, into, options.force)? else {
        let placement = Placement { folder, into, mark: FORCED_MARK, noted: None, placed: None };
        let restored = capsule.restore_workspace(context, placement)?;
        return Ok((restored.map_or(WorkspaceOutcome::Absent, WorkspaceOutcome::Restored), None));
    };
    let source = &capsule.manifest.source;
    let source = SessionRef { agent: source.agent.clone(), session: SessionId(source.session_id.clone()) };
    let journal = WorkspaceJournal::begin(context, lock, source, &noted)?;
    let placed = Some(journal.open_log(context)?);
    let placement = Placement { folder, into, mark: journal.mark(), noted: Some(&noted), placed };
    match capsule.restore_workspace(context, placement) {
        Ok(restored) => {
            let id = journal.finish(context)?;
            Ok((restored.map_or(WorkspaceOutcome::Absent, WorkspaceOutcome::Restored), Some(id)))
        }
        Err(error) => {
            journal.abandon(context);
            Err(error)
        }
    }
}

/// The session's own folder in the workspace.
fn project_below(folder: &Path, below: &str) -> PathBuf {
    let bytes = decode_path(below).unwrap_or_default();
    if bytes.is_empty() {
        return folder.to_owned();
    }
    let project = folder.join(path_from_bytes(&bytes).unwrap_or_default());
    // One behind a link leads where the capsule was not made.
    let is_inside = project.is_dir() && !project.is_symlink() && !leads_through_link(folder, &bytes);
    if is_inside { project } else { folder.to_owned() }
}

/// The agent's own records are for that agent alone, and for as many as can be moved at once.
fn choose_records(manifest: &Manifest, options: &ImportOptions, warnings: &mut Vec<String>) -> RawRecords {
    if !manifest.has_raw_records() || options.target.facts().id != manifest.source.agent {
        return RawRecords::Left;
    }
    if manifest.raw_records_fit() {
        return RawRecords::Taken;
    }
    warnings
        .push("the agent's own records are too many or too long to move as they are, the transcript is taken".into());
    RawRecords::Left
}

/// How often each kind of secret is masked in a transcript: in a capsule that does not say itself how often that was done.
fn count_masks(transcript: &Path) -> Result<BTreeMap<String, usize>, CapsuleError> {
    let mut counts = BTreeMap::new();
    add_masks(&mut counts, &String::from_utf8_lossy(&fs_err::read(transcript)?));
    Ok(counts)
}

/// Carries the session over: from the agent's own records where it gets them back, else from the transcript.
fn carry_session(
    context: &Context,
    manifest: &Manifest,
    laid_out: &LaidOut,
    options: &ImportOptions,
    project: &Path,
    warnings: &mut Vec<String>,
) -> Result<(Report, bool), CapsuleError> {
    let options = resume::Options {
        target: options.target,
        project: Some(project.to_owned()),
        tokens: options.tokens,
        dry_run: false,
        sub_agents: Vec::new(),
        opening: None,
        whole: None,
        into_editor: false,
    };
    if let Some(raw) = &laid_out.raw_session {
        let session = list_session(options.target, manifest, Source::file(raw), &laid_out.raw_root);
        let moved = MovedRecords { old_home: manifest.raw_home.as_ref().map(PathBuf::from) };
        let whole = resume::Options { whole: Some(moved), ..options.clone() };
        let mut carried = resume::resume_session(context, &session, &whole);
        if matches!(carried, Err(ResumeError::ReadBack(_))) {
            // What does not move as a whole is written anew.
            carried = resume::resume_session(context, &session, &options);
        }
        match carried {
            Ok(report) => return Ok((report, true)),
            Err(ResumeError::Agent(error)) => {
                warnings.push(format!("the agent's own records cannot be read, the transcript is taken: {error}"));
            }
            Err(error) => return Err(error.into()),
        }
    }
    let reader = captured::recognise_file(&laid_out.transcript);
    let reader = reader.ok_or_else(|| CapsuleError::damaged("transcript.jsonl", "is no transcript"))?;
    // Who wrote it decided whether secrets are in it.
    let reader = reader.as_captured().filter(|_| !manifest.redacted).unwrap_or(reader);
    // It lies here for a while only: it is known by the session that it is of.
    let key = Some(manifest.source.session_id.clone());
    let source = Source { path: laid_out.transcript.clone(), key };
    let session = list_session(reader, manifest, source, &laid_out.transcript);
    Ok((resume::resume_session(context, &session, &options)?, false))
}

/// The session as it lies in our own folder, known by what it was.
fn list_session(agent: &'static dyn Agent, manifest: &Manifest, found: Source, root: &Path) -> ListedSession {
    let source = &manifest.source;
    let time = |text: &Option<String>| text.as_deref().and_then(Timestamp::parse);
    let found = FoundSession {
        source: found,
        id: SessionId(source.session_id.clone()),
        title: source.title.clone(),
        project: manifest.project.as_ref().map(PathBuf::from),
        branch: None,
        started_at: time(&source.started_at),
        updated_at: time(&source.updated_at),
        messages: None,
        bytes: 0,
        model: manifest.model.clone(),
        live: Liveness::NotLive,
        drifted: false,
    };
    ListedSession { agent, store: Store { root: root.to_owned() }, found, here: false }
}
