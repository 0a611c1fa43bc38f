//! Bringing back a session that its agent deleted.
//!
//! Where it was files and they are gone, the same bytes go to the same places. Otherwise, and for another project, it is
//! written by the agent's own writer, from what is kept of it. Nothing that exists is written over.

use std::path::{Path, PathBuf};

use carryover_agents::{
    AGENTS, Agent, AgentError, Bookmark, FoundSession, Liveness, ResumeCommand, Source, Store, WriteOp, WritePlan,
};
use carryover_core::redact::redact_title;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{SessionId, TranscriptBuilder};

use super::archive::{self, FileRole, KeptFile};
use super::kept_session::KeptSession;
use super::sync::StoreListings;
use super::{Ledger, LedgerError, io_error};
use crate::carry::resume::{Options, Report, ResumeError, resume_among};
use crate::context::Context;
use crate::handoff::gitignore::{IgnoreCheck, MissingIgnoreRule};
use crate::own::files;
use crate::sessions::list::ListedSession;
use crate::sessions::project::resolve_path;
use crate::sessions::read;
use crate::write::apply::apply_plan;
use crate::write::bounds;
use crate::write::disk::{Disk, RealDisk};
use crate::write::journal::{self, FROM_LEDGER, Journal, Lineage, Lock, SessionRef, State, WrittenFile};
use crate::write::readback::LiveRecords;
use crate::write::undo;

/// In our own folder: what is kept of a session, laid out to be read.
const FOLDER: &str = "restoring";
/// A session is brought back whole, whatever its size.
const ALL_TOKENS: u64 = 1 << 40;

/// A session that is back.
#[derive(Debug, Clone)]
pub struct Restored {
    pub agent: &'static str,
    /// By which its agent knows it now.
    pub session: SessionId,
    /// The same bytes are where they were; else its agent's own format was written anew.
    pub is_exact: bool,
    pub files: Vec<PathBuf>,
    /// How to go on, where the agent's writer tells it.
    pub command: Option<ResumeCommand>,
    pub undo_id: Option<String>,
    pub warnings: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    #[error("the agent `{0}` is not one that carryover knows")]
    UnknownAgent(String),
    #[error("nothing of session {0} is kept but its words")]
    NothingKept(SessionId),
    #[error("session {session} is still where it was: {}", path.display())]
    StillThere { session: SessionId, path: PathBuf },
    #[error(transparent)]
    Resume(#[from] ResumeError),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// Brings a session back, into another project where one is named.
pub fn restore_session(
    context: &Context,
    ledger: &Ledger,
    session: &KeptSession,
    project: Option<&Path>,
) -> Result<Restored, RestoreError> {
    restore_among(AGENTS, &mut RealDisk, context, ledger, session, project)
}

pub(crate) fn restore_among(
    agents: &[&'static dyn Agent],
    disk: &mut dyn Disk,
    context: &Context,
    ledger: &Ledger,
    session: &KeptSession,
    project: Option<&Path>,
) -> Result<Restored, RestoreError> {
    let agent = agents.iter().find(|agent| agent.facts().id == session.agent).copied();
    let agent = agent.ok_or_else(|| RestoreError::UnknownAgent(session.agent.clone()))?;
    let files = archive::list_files(&ledger.connection, session.row).map_err(LedgerError::from)?;
    if !files.iter().any(KeptFile::is_session) {
        return Err(RestoreError::NothingKept(session.id.clone()));
    }
    let restore = Restore { agents, context, ledger, session, agent, files };
    if project.is_none() {
        if !StoreListings::new(agents).is_gone_now(session) {
            let path = session.source.path.clone();
            return Err(RestoreError::StillThere { session: session.id.clone(), path });
        }
        if let Some(restored) = restore.write_same_bytes(disk)? {
            return Ok(restored);
        }
    }
    restore.write_anew(disk, project)
}

/// One session on its way back.
struct Restore<'a> {
    agents: &'a [&'static dyn Agent],
    context: &'a Context,
    ledger: &'a Ledger,
    session: &'a KeptSession,
    agent: &'static dyn Agent,
    files: Vec<KeptFile>,
}

impl Restore<'_> {
    /// The folder that the session is of.
    fn project(&self) -> PathBuf {
        let own = self.session.project.as_deref().filter(|project| project.is_dir());
        resolve_path(own.unwrap_or(&self.context.cwd))
    }

    fn read_bytes(&self, file: &KeptFile) -> Result<Vec<u8>, LedgerError> {
        archive::read_bytes(&self.ledger.connection, file)
    }

    /// Puts everything where it was; `None` where that cannot be.
    fn write_same_bytes(&self, disk: &mut dyn Disk) -> Result<Option<Restored>, RestoreError> {
        let Some(wanted) = self.missing_files()? else { return Ok(None) };
        let plan = self.make_plan(&self.session.id, &self.session.source, wanted);
        if bounds::find_path_outside(self.agents, self.context, &self.make_journal(&plan)).is_some() {
            return Ok(None);
        }
        let _lock = Lock::acquire(self.context).map_err(io_error(&journal::folder_path(self.context)))?;
        let mut warnings = undo::recover(self.agents, disk, self.context);
        let mut files = Vec::new();
        // The farthest first: each can be read only where the one that it goes on from is there.
        for base in self.files.iter().rev().filter(|file| self.is_of_another(file) && !file.path.exists()) {
            let op = create_op(base, self.read_bytes(base)?);
            let owner = SessionId(base.owner.clone().unwrap_or_default());
            let base_plan = self.make_plan(&owner, &Source::file(&base.path), vec![op]);
            self.apply(disk, &base_plan, &mut warnings)?;
            files.push(base.path.clone());
        }
        let undo_id = self.apply(disk, &plan, &mut warnings)?;
        files.extend(planned_paths(&plan));
        if let Some(project) = self.session.project.as_ref().filter(|project| !project.is_dir()) {
            warnings.push(format!("{} is gone, where the session was worked in", project.display()));
        }
        let session = self.session.id.clone();
        let undo_id = Some(undo_id);
        Ok(Some(Restored {
            agent: self.agent.facts().id,
            session,
            is_exact: true,
            files,
            command: None,
            undo_id,
            warnings,
        }))
    }

    /// The session's own files that are to be made; `None` where something else stands in the place of one.
    fn missing_files(&self) -> Result<Option<Vec<WriteOp>>, LedgerError> {
        let mut wanted = Vec::new();
        for file in self.files.iter().filter(|file| !self.is_of_another(file)) {
            let has_folder = || file.path.parent().is_some_and(Path::is_dir);
            if file.role == FileRole::Document || (file.role == FileRole::LoneDocument && !has_folder()) {
                return Ok(None);
            }
            let bytes = self.read_bytes(file)?;
            if file.path.symlink_metadata().is_err() {
                wanted.push(create_op(file, bytes));
            } else if file.role == FileRole::Base {
                // Others may go on from it as well.
            } else if file.is_session() || !holds_bytes(&file.path, &bytes) {
                return Ok(None);
            }
        }
        Ok(Some(wanted))
    }

    /// Whether a file is the beginning of this session, but another session's own. One whose agent began a new file after
    /// a rewind has its beginning in files of its own.
    fn is_of_another(&self, file: &KeptFile) -> bool {
        file.role == FileRole::Base && file.owner.as_deref() != Some(self.session.id.0.as_str())
    }

    fn make_plan(&self, session: &SessionId, source: &Source, ops: Vec<WriteOp>) -> WritePlan {
        let cwd = self.session.project.clone().unwrap_or_else(|| self.context.cwd.clone());
        WritePlan {
            session: session.clone(),
            file: source.path.clone(),
            key: source.key.clone(),
            ops,
            resume: ResumeCommand { argv: Vec::new(), cwd, needs_cwd: false },
            translated: 0,
            losses: Vec::new(),
            origins: Vec::new(),
        }
    }

    fn make_journal(&self, plan: &WritePlan) -> Journal {
        let named = |agent: &str| SessionRef { agent: agent.to_owned(), session: plan.session.clone() };
        let project = self.session.project.clone().unwrap_or_else(|| self.context.cwd.clone());
        let begun = Journal::begin(self.context, named(FROM_LEDGER), named(&self.session.agent), &project);
        let files = plan.ops.iter().filter_map(|op| match op {
            WriteOp::Create { path, bytes, .. } => Some(WrittenFile::from_bytes(path, bytes)),
            _ => None,
        });
        let title = self.session.title.as_deref().map(|title| redact_title(title, &[]));
        let (session_file, session_key) = (plan.file.clone(), plan.key.clone());
        Journal { title, session_file, session_key, files: files.collect(), ..begun }
    }

    fn apply(&self, disk: &mut dyn Disk, plan: &WritePlan, warnings: &mut Vec<String>) -> Result<String, RestoreError> {
        // Its files are noted when it is applied.
        let mut journal = Journal { files: Vec::new(), ..self.make_journal(plan) };
        let missing = self.check_ignored(plan);
        journal.ignored = missing.as_ref().map(MissingIgnoreRule::to_journal);
        let verify = || self.verify(plan);
        let lineage = self.earlier_lineage(plan);
        warnings.extend(apply_plan(disk, self.context, plan, &mut journal, missing.as_ref(), lineage, &verify)?);
        Ok(journal.id)
    }

    fn check_ignored(&self, plan: &WritePlan) -> Option<MissingIgnoreRule> {
        let line = self.agent.ignore_line()?;
        IgnoreCheck::for_file(self.context, &self.project(), &plan.file, line, false).missing
    }

    /// A session that was carried over once comes back with where it came from.
    fn earlier_lineage(&self, plan: &WritePlan) -> Lineage {
        let is_same = |earlier: &Journal| {
            earlier.state == State::Done
                && earlier.target.agent == self.session.agent
                && earlier.target.session == plan.session
        };
        let earlier = journal::read_all(self.context).into_iter().find(is_same);
        let lineage = earlier.and_then(|earlier| Lineage::load(self.context, &earlier.id));
        lineage.unwrap_or_else(|| Lineage::new(Vec::new(), Vec::new()))
    }

    /// Reads what was written, and compares it with what the ledger knows.
    fn verify(&self, plan: &WritePlan) -> Result<LiveRecords, &'static str> {
        let source = Source { path: plan.file.clone(), key: plan.key.clone() };
        let mut builder = TranscriptBuilder::new(self.agent.facts().id);
        let read = self.agent.read_session(&source, &Bookmark::Start, &mut builder);
        let is_itself = plan.session == self.session.id;
        if read.is_err() {
            // One that could not be read when it was kept cannot be now; its bytes are back all the same.
            let was_read = is_itself && self.count_entries().is_ok_and(|count| count > 0);
            return if was_read { Err("it cannot be read") } else { Ok(LiveRecords::new()) };
        }
        let transcript = builder.finish();
        if is_itself && !transcript.header.session.0.is_empty() && transcript.header.session != plan.session {
            return Err("it has another id");
        }
        let known = if is_itself { self.count_entries().map_err(|_| "the ledger cannot be read")? } else { 0 };
        if transcript.entries.len() < known { Err("entries are missing") } else { Ok(LiveRecords::new()) }
    }

    /// Counts what must be there again. Of a session that shared its file, nothing else is kept: what its reader found in
    /// a log beside it comes back only with that.
    fn count_entries(&self) -> rusqlite::Result<usize> {
        let sql = "SELECT count(*) FROM entry WHERE session = ?1 AND NOT retracted AND (file = 0 OR NOT ?2)";
        let shared = self.files.iter().any(|file| file.role == FileRole::LoneDocument);
        self.ledger.connection.query_row(sql, (self.session.row, shared), |row| row.get(0))
    }

    /// Lays out what is kept, and has the agent's writer write it.
    fn write_anew(&self, disk: &mut dyn Disk, project: Option<&Path>) -> Result<Restored, RestoreError> {
        let folder = self.make_folder().map_err(io_error(&self.context.home))?;
        let mut source = Source::file(folder.path());
        let mut sub_agents = Vec::new();
        for file in &self.files {
            let path = folder.path().join(relative_path(&file.path));
            files::write_private(&path, &self.read_bytes(file)?).map_err(io_error(&path))?;
            if file.is_session() {
                source.path = path;
            } else if let Some(id) = self.deleted_sub_agent(file) {
                sub_agents.push(self.list_laid_out(Source::file(&path), id));
            }
        }
        let project = Some(project.map_or_else(|| self.project(), Path::to_owned));
        let (target, tokens) = (self.agent, Some(ALL_TOKENS));
        let options = Options {
            target,
            project,
            tokens,
            dry_run: false,
            sub_agents,
            opening: None,
            whole: None,
            into_editor: false,
        };
        let session = self.list_laid_out(source, self.session.id.clone());
        let report = resume_among(self.agents, disk, self.context, &session, &options)?;
        Ok(self.restored_anew(report))
    }

    /// The id of a sub-agent's conversation that was in one database with the session and is not there any more.
    fn deleted_sub_agent(&self, file: &KeptFile) -> Option<SessionId> {
        let in_database = file.path.parent().filter(|place| place.parent() == Some(&self.session.source.path))?;
        let is_gone = read::session_start(self.agent, &Source::file(in_database)).is_err();
        let id = in_database.file_name()?.to_str()?;
        (file.role == FileRole::Child && is_gone).then(|| SessionId(id.to_owned()))
    }

    fn restored_anew(&self, report: Report) -> Restored {
        let mut warnings = report.warnings;
        let lost =
            report.lost.iter().map(|loss| format!("{} {} are not in it: {}", loss.count, loss.what, loss.reason));
        warnings.extend(lost);
        let n_kept = self.files.iter().filter(|file| file.role == FileRole::Child).count();
        match n_kept.saturating_sub(report.n_sub_agents) {
            0 => {}
            1 => warnings.push("1 conversation of a sub-agent is not in it: it stays in the ledger".to_owned()),
            n => warnings.push(format!("{n} conversations of sub-agents are not in it: they stay in the ledger")),
        }
        Restored {
            agent: self.agent.facts().id,
            session: report.session,
            is_exact: false,
            files: report.files,
            command: Some(report.command),
            undo_id: report.undo_id,
            warnings,
        }
    }

    /// The session as it lies in our own folder, known by what it was.
    fn list_laid_out(&self, source: Source, id: SessionId) -> ListedSession {
        let kept = self.session;
        let store = Store { root: source.path.parent().unwrap_or(&source.path).to_owned() };
        let found = FoundSession {
            source,
            title: kept.title.clone().filter(|_| id == kept.id),
            id,
            project: kept.project.clone(),
            branch: None,
            started_at: kept.started_at,
            updated_at: kept.updated_at,
            messages: None,
            bytes: 0,
            model: None,
            live: Liveness::NotLive,
            drifted: false,
        };
        ListedSession { agent: self.agent, store, found, here: false }
    }

    /// Makes the folder; the ledger's lock is held, so whatever is there was left by a crash.
    fn make_folder(&self) -> std::io::Result<tempfile::TempDir> {
        let above = self.context.home.join(FOLDER);
        sweep_left(self.context)?;
        files::create_private_folder(&above)?;
        tempfile::Builder::new().prefix(files::TEMP_PREFIX).tempdir_in(above)
    }
}

/// Removes what a restore that was killed left behind.
pub(super) fn sweep_left(context: &Context) -> std::io::Result<()> {
    match fs_err::remove_dir_all(context.home.join(FOLDER)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn create_op(file: &KeptFile, bytes: Vec<u8>) -> WriteOp {
    let modified = Timestamp::from_millis(file.modified_ms);
    WriteOp::Create { path: file.path.clone(), bytes, private: file.is_private, modified }
}

fn planned_paths(plan: &WritePlan) -> impl Iterator<Item = PathBuf> + use<'_> {
    plan.ops.iter().filter_map(|op| match op {
        WriteOp::Create { path, .. } => Some(path.clone()),
        _ => None,
    })
}

fn holds_bytes(path: &Path, bytes: &[u8]) -> bool {
    files::read_bounded(path, bytes.len() as u64).is_ok_and(|now| now.as_deref() == Some(bytes))
}

/// A path without its root, so that it can be below another.
fn relative_path(path: &Path) -> PathBuf {
    path.components().filter(|part| matches!(part, std::path::Component::Normal(_))).collect()
}

impl From<AgentError> for RestoreError {
    fn from(error: AgentError) -> Self {
        Self::Resume(error.into())
    }
}
