//! Carrying a session over to another agent.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use carryover_agents::{
    AGENTS, Agent, AgentError, Env, LifeSign, Liveness, Loss, ResumeCommand, Store, SubAgentLink, TargetView, WriteOp,
    WritePlan, WriteRequest, Writer,
};
use carryover_core::redact::redact_title;
use carryover_core::tokens::estimate;
use carryover_core::transcript::{Body, Permission, SessionId};

use super::assemble::{AssembledSession, assemble_session};
use crate::client::{self, Client};
use crate::context::Context;
use crate::handoff::gitignore::{IgnoreCheck, MissingIgnoreRule};
use crate::sessions::copies::Copies;
use crate::sessions::glance;
use crate::sessions::lineage;
use crate::sessions::list::ListedSession;
use crate::sessions::project::resolve_path;
use crate::sessions::unread::Unread;
use crate::write::apply::apply_plan;
use crate::write::closed::{self, NotClosed};
use crate::write::disk::{Disk, RealDisk};
use crate::write::journal::{self, Journal, Lineage, Lock, SessionRef, State};
use crate::write::new_rows::AddRowsError;
use crate::write::readback;
use crate::write::undo;

use super::earlier::{EarlierCopy, source_ref};
use super::fit::{self, FittedSession};
use super::own::{MovedRecords, plan_whole};
use super::report;
use super::window::model_window;

/// How to carry a session over.
#[derive(Clone)]
pub struct Options {
    pub target: &'static dyn Agent,
    /// Where to go on; by default the session's own directory, else the working directory.
    pub project: Option<PathBuf>,
    /// The token budget; by default the window of the target's model.
    pub tokens: Option<u64>,
    /// Plan only.
    pub dry_run: bool,
    /// Conversations of its sub-agents that come along, each under its own id.
    pub sub_agents: Vec<ListedSession>,
    /// Words that stand before everything else; nobody in the session said them.
    pub opening: Option<String>,
    /// A session of the target's own is to move as a whole, where its agent can have that.
    pub whole: Option<MovedRecords>,
    /// Into the target's editor, whose own databases are changed: for who has asked for it.
    pub into_editor: bool,
}

/// The result of a resume, or of a dry run.
#[derive(Debug, Clone)]
pub struct Report {
    pub source: &'static str,
    pub source_session: SessionId,
    pub target: &'static str,
    pub session: SessionId,
    pub command: ResumeCommand,
    /// Entries of every kind.
    pub carried: usize,
    /// Messages among them, as a person counts.
    pub messages: usize,
    pub calls: usize,
    pub translated: usize,
    pub clipped: usize,
    pub lost: Vec<Loss>,
    pub unread: Unread,
    pub tokens: u64,
    pub window: u64,
    pub files: Vec<PathBuf>,
    /// By which `undo` knows it; none for a dry run.
    pub undo_id: Option<String>,
    /// Further notes for the user: the client is not installed, the folder is gone, a registration failed.
    pub warnings: Vec<String>,
    /// Steps that would be taken, for a dry run.
    pub steps: Vec<String>,
    /// An earlier copy that nobody had used and that this one replaced.
    pub superseded: Option<String>,
    /// The conversations of sub-agents that came along.
    pub n_sub_agents: usize,
    /// A copy that was made before, superseded or not.
    pub earlier: Option<EarlierCopy>,
    /// Messages, or steps where a single turn was cut, that gave way to an outline because all of them did not fit.
    pub left_out: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    #[error(transparent)]
    Agent(#[from] AgentError),
    #[error("{0} cannot take sessions natively")]
    NoWriter(&'static str),
    #[error("{editor}: {reason}; nothing was added")]
    EditorOpen { editor: &'static str, reason: NotClosed },
    #[error(transparent)]
    Rows(#[from] AddRowsError),
    #[error("the session holds nothing that a model would see")]
    Empty(Unread),
    #[error("the last turn alone needs about {needed} tokens, and {window} are allowed")]
    CannotFit { needed: u64, window: u64 },
    #[error("could not write {}", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("what was written does not read back as it should: {0}; it was taken back")]
    ReadBack(&'static str),
    #[error("`{program}` was run ({why}), but {reason}; nothing was added")]
    Run { program: String, why: &'static str, reason: String, said: Vec<String> },
    #[error("{} was written in by hand, and what was said would stay readable in it", .0.display())]
    OpenDocument(PathBuf),
    #[error("the project folder {} does not exist", .0.display())]
    NoProject(PathBuf),
}

impl Options {
    /// Who plans the write.
    fn writer(&self) -> Option<&'static dyn Writer> {
        if self.into_editor { self.target.editor_writer().map(|writer| writer as _) } else { self.target.writer() }
    }
}

/// Whether the user has asked once for all that sessions go into this agent's editor, where it has one.
pub fn goes_into_editor(context: &Context, target: &dyn Agent) -> bool {
    context.config.resume.into_editor == Some(true) && target.editor_writer().is_some()
}

/// Carries a session over.
pub fn resume_session(context: &Context, session: &ListedSession, options: &Options) -> Result<Report, ResumeError> {
    resume_among(AGENTS, &mut RealDisk, context, session, options)
}

pub(crate) fn resume_among(
    agents: &[&'static dyn Agent],
    disk: &mut dyn Disk,
    context: &Context,
    session: &ListedSession,
    options: &Options,
) -> Result<Report, ResumeError> {
    let facts = options.target.facts();
    let writer = options.writer().ok_or(ResumeError::NoWriter(facts.name))?;
    let assembled = assemble_session(agents, context, session)?;
    // Losing the count costs a reading later, and is no reason to fail.
    glance::remember_messages(context, &session.found.source, assembled.n_messages as u64).ok();
    let is_asked = assembled.carried.iter().any(|carried| matches!(carried.entry.body, Body::Prompt(_)));
    // In a format that has changed, what is left without a question is nobody's answer.
    if assembled.carried.is_empty() || (session.found.drifted && !is_asked) {
        return Err(ResumeError::Empty(assembled.unread));
    }
    let mut warnings = assembled.unread.warnings();
    let place = ResumeTarget::choose(context, session, options, &assembled, &mut warnings)?;
    let opening = options.opening.as_deref();
    let budget = place.budget.saturating_sub(opening.map_or(0, estimate));
    let mut fitted = fit::fit_session(assembled, budget, options.target)?;
    fitted.prepend_opening(opening);
    let client = client::find_installed(context, options.target);
    warnings.extend(open_warning(session));
    warnings.extend(fitted.cut_warning(place.window));
    if client.is_none() {
        warnings.push(format!("{} is not installed: the session waits for it", facts.name));
    }
    let view = place.target_view(context, client.as_ref());
    let request = write_request(context, session, &place, &fitted);
    let moved =
        options.whole.as_ref().map(|moved| plan_whole(options.target, session, &fitted, moved, &request, &view));
    let moved = moved.transpose()?.flatten();
    let mut plan = moved.map_or_else(|| writer.plan(&request, &view), Ok)?;
    let mut n_sub_agents = 0;
    for (index, child) in options.sub_agents.iter().enumerate() {
        let above = Above { session: &session.found.id, written: &plan.session };
        // One that cannot be written is no reason to lose the session.
        if let Ok(ops) = plan_sub_agent(agents, context, options, &place, (index, child), above, &view) {
            plan.ops.extend(ops);
            n_sub_agents += 1;
        }
    }
    warnings.extend(check_ignored(context, options, &place, &plan).note);
    let mut report = report::for_plan(session, options.target, &plan, &fitted, place.window, warnings);
    report.n_sub_agents = n_sub_agents;
    report.earlier = EarlierCopy::find(context, &Copies::load(context), session, options.target);
    if options.dry_run {
        let journal = begin_journal(context, session, options, &place, &plan);
        report.superseded = find_superseded(context, &journal).pop().map(|earlier| earlier.target.session.0);
        if let Err(error) = check_closed(agents, disk, context, &journal, &plan) {
            report.warnings.push(error.to_string());
        }
    } else {
        write_session(agents, disk, context, session, options, &place, &plan, &fitted, &mut report)?;
    }
    Ok(report)
}

/// The session that started a sub-agent, as it was and as it is written now.
#[derive(Clone, Copy)]
struct Above<'a> {
    session: &'a SessionId,
    written: &'a SessionId,
}

/// The steps that bring a sub-agent's conversation along.
fn plan_sub_agent(
    agents: &[&'static dyn Agent],
    context: &Context,
    options: &Options,
    place: &ResumeTarget,
    (index, child): (usize, &ListedSession),
    above: Above<'_>,
    view: &TargetView<'_>,
) -> Result<Vec<WriteOp>, ResumeError> {
    let facts = options.target.facts();
    let writer = options.writer().ok_or(ResumeError::NoWriter(facts.name))?;
    let fitted = fit::fit_session(assemble_session(agents, context, child)?, place.budget, options.target)?;
    // A sub-agent may have had some of its own: they are below it still.
    let parent = fitted.header.parent.as_ref().filter(|parent| *parent != above.session).unwrap_or(above.written);
    let request = WriteRequest {
        // Ids that are made for it are others than the session's.
        seed: context.seed.wrapping_add((index as u128 + 1) << 64),
        sub_agent: Some(SubAgentLink { id: &child.found.id, parent }),
        ..write_request(context, child, place, &fitted)
    };
    Ok(writer.plan(&request, view)?.ops)
}

/// Where to go on, and with how much.
struct ResumeTarget {
    project: PathBuf,
    store: Store,
    window: u64,
    budget: u64,
}

impl ResumeTarget {
    fn choose(
        context: &Context,
        session: &ListedSession,
        options: &Options,
        assembled: &AssembledSession,
        warnings: &mut Vec<String>,
    ) -> Result<Self, ResumeError> {
        let own = assembled.header.project.as_ref().or(session.found.project.as_ref());
        let project = match (&options.project, own) {
            (Some(given), _) if given.is_dir() => resolve_path(given),
            (Some(given), _) => return Err(ResumeError::NoProject(given.clone())),
            (None, Some(own)) if own.is_dir() => resolve_path(own),
            (None, own) => {
                if let Some(own) = own {
                    warnings.push(format!("{} is gone: the session goes on in this folder", own.display()));
                }
                resolve_path(&context.cwd)
            }
        };
        let target = options.target;
        let store = target_store(context, options, &project)?;
        let window = model_window(context, target, &store, &project, assembled);
        let given = options.tokens.or(context.config.resume.tokens);
        // The client's own prompt and the next turn need room, too; who gives a number has thought of it.
        let budget = given.unwrap_or(window / 5 * 4);
        let window = given.unwrap_or(window);
        Ok(Self { project, store, window, budget })
    }

    fn target_view<'a>(&'a self, context: &'a Context, client: Option<&'a Client>) -> TargetView<'a> {
        TargetView {
            env: &context.env,
            store: &self.store,
            program: client.map(|client| client.program.as_path()),
            version: client.and_then(|client| client.version),
        }
    }
}

/// The surroundings as an agent's client knows them. Paths from the configuration are for reading: the client would not
/// look for a session there.
pub(super) fn client_env(context: &Context) -> Env {
    Env { stores: BTreeMap::new(), ..context.env.clone() }
}

/// The stores that an agent's client looks into.
pub(super) fn client_stores(context: &Context, agent: &dyn Agent) -> Vec<Store> {
    agent.stores(&client_env(context))
}

/// The target's store: the one in use, of several editors' that which knows the project, else where it would be.
fn target_store(context: &Context, options: &Options, project: &Path) -> Result<Store, ResumeError> {
    let target = options.target;
    let mut stores = client_stores(context, target);
    if let Some(editor) = target.editor_writer().filter(|_| options.into_editor) {
        stores.sort_by_key(|store| !editor.knows_project(store, project));
    }
    let existing = stores.into_iter().next();
    let first = || target.facts().store_candidates(&client_env(context)).into_iter().next().map(|root| Store { root });
    existing.or_else(first).ok_or_else(|| {
        let reason = "no place for its sessions is known on this system".to_owned();
        AgentError::CannotHold { agent: target.facts().name, reason }.into()
    })
}

/// That a session is open: what its client does from now on is in no copy.
pub fn open_warning(session: &ListedSession) -> Option<String> {
    let name = session.agent.facts().name;
    let text = || format!("{name} is still running in that session: what it does from now on is not carried over");
    (session.found.live == Liveness::Live).then(text)
}

fn write_request<'a>(
    context: &Context,
    session: &'a ListedSession,
    place: &'a ResumeTarget,
    fitted: &'a FittedSession,
) -> WriteRequest<'a> {
    let header = &fitted.header;
    WriteRequest {
        entries: &fitted.carried,
        brief: fitted.brief.as_deref(),
        title: header.title.as_deref().or(session.found.title.as_deref()),
        project: &place.project,
        old_project: old_project(fitted, &place.project),
        branch: header.branch.as_deref(),
        source_agent: session.agent.facts().id,
        source_model: header.model.as_deref(),
        started_at: header.started_at.unwrap_or(context.env.now),
        permission: header.permission,
        tokens: fitted.tokens,
        seed: context.seed,
        sub_agent: None,
    }
}

/// Where the session was. One that has moved already is moved by the folder that its originals still name.
fn old_project<'a>(fitted: &'a FittedSession, project: &Path) -> Option<&'a Path> {
    let own = fitted.header.project.as_deref();
    let moved = |own: &Path| own != project && resolve_path(own) != project;
    if own.is_some_and(moved) {
        return own;
    }
    let originals = fitted.sources.iter().skip(1).filter_map(|from| from.header.project.as_deref());
    originals.into_iter().find(|original| moved(original)).or(own)
}

#[expect(clippy::too_many_arguments, reason = "all of them decided before, none of them belongs to another")]
fn write_session(
    agents: &[&'static dyn Agent],
    disk: &mut dyn Disk,
    context: &Context,
    session: &ListedSession,
    options: &Options,
    place: &ResumeTarget,
    plan: &WritePlan,
    fitted: &FittedSession,
    report: &mut Report,
) -> Result<(), ResumeError> {
    let folder = journal::folder_path(context);
    let _lock = Lock::acquire(context).map_err(|source| ResumeError::Write { path: folder, source })?;
    report.warnings.extend(undo::recover(agents, disk, context));
    let mut journal = begin_journal(context, session, options, place, plan);
    check_closed(agents, disk, context, &journal, plan)?;
    let earlier = find_superseded(context, &journal);
    inherit_folders(&mut journal, plan, &earlier);
    let lineage = fitted.build_lineage(plan);
    let verify = || readback::verify_written(options.target, plan, &fitted.carried);
    let missing = check_ignored(context, options, place, plan).missing;
    journal.ignored = missing.as_ref().map(MissingIgnoreRule::to_journal);
    report.warnings.extend(apply_plan(disk, context, plan, &mut journal, missing.as_ref(), lineage, &verify)?);
    report.undo_id = Some(journal.id);
    for mut earlier in earlier {
        // It stays if somebody began to use it this very moment.
        if undo::undo_journal(agents, disk, context, &mut earlier, false).is_ok() {
            report.superseded = Some(earlier.target.session.0);
        }
    }
    Ok(())
}

/// Makes sure that the editor is closed whose databases a plan adds to.
fn check_closed(
    agents: &[&'static dyn Agent],
    disk: &mut dyn Disk,
    context: &Context,
    journal: &Journal,
    plan: &WritePlan,
) -> Result<(), ResumeError> {
    let agent = agents.iter().find(|agent| agent.facts().id == journal.target.agent);
    let Some((agent, writer)) = agent.and_then(|agent| Some((agent, agent.editor_writer()?))) else { return Ok(()) };
    let databases = plan.ops.iter().filter_map(|op| match op {
        WriteOp::AddRow(row) => Some(&row.rows.database),
        _ => None,
    });
    let databases: Vec<&PathBuf> = databases.collect();
    if databases.is_empty() {
        return Ok(());
    }
    let signs: Vec<LifeSign> = databases.into_iter().flat_map(|database| writer.life_signs(database)).collect();
    let closed = closed::check_signs(disk.list_processes(), &context.env, &signs);
    closed.map_err(|reason| ResumeError::EditorOpen { editor: agent.facts().name, reason })
}

/// Checks whether git is kept from a session that is kept with the work.
fn check_ignored(context: &Context, options: &Options, place: &ResumeTarget, plan: &WritePlan) -> IgnoreCheck {
    let Some(line) = options.target.ignore_line() else { return IgnoreCheck::default() };
    IgnoreCheck::for_file(context, &place.project, &plan.file, line, options.dry_run)
}

fn begin_journal(
    context: &Context,
    session: &ListedSession,
    options: &Options,
    place: &ResumeTarget,
    plan: &WritePlan,
) -> Journal {
    let target = SessionRef { agent: options.target.facts().id.to_owned(), session: plan.session.clone() };
    let begun = Journal::begin(context, source_ref(session), target, &place.project);
    let title = session.found.title.as_deref().map(|title| redact_title(title, &[]));
    let is_in_editor = plan.ops.iter().any(|op| matches!(op, WriteOp::AddRow(_)));
    let source_name = session.agent.as_captured().map(|_| session.found.id.clone());
    let (session_file, session_key) = (plan.file.clone(), plan.key.clone());
    Journal { source_name, title, session_file, session_key, is_in_editor, ..begun }
}

/// Earlier copies of the same session in the same place, which nobody has used.
fn find_superseded(context: &Context, journal: &Journal) -> Vec<Journal> {
    let same = |earlier: &Journal| {
        earlier.state == State::Done
            && earlier.source == journal.source
            && earlier.target.agent == journal.target.agent
            // One in the client's own store and one in its editor stand beside each other.
            && earlier.is_in_editor == journal.is_in_editor
            && earlier.project == journal.project
            && earlier.blocks.is_empty()
            && undo::is_unused(earlier)
    };
    journal::read_all(context).into_iter().filter(same).collect()
}

/// A copy that takes another's place also takes over the folders that were made for it.
fn inherit_folders(journal: &mut Journal, plan: &WritePlan, earlier: &[Journal]) {
    let is_in = |op: &WriteOp, folder: &Path| match op {
        WriteOp::Create { path, .. } | WriteOp::CreateShared { path, .. } => path.starts_with(folder),
        WriteOp::AppendLine { .. } | WriteOp::AddRow(_) | WriteOp::Run(_) => false,
    };
    let needed = |folder: &Path| plan.ops.iter().any(|op| is_in(op, folder));
    for folder in earlier.iter().flat_map(|earlier| &earlier.folders) {
        if needed(folder) && !journal.folders.contains(folder) {
            journal.folders.push(folder.clone());
        }
    }
}

/// Permissions of the session's agent stay behind, whether they allow or forbid.
pub(super) fn permission_loss(permission: Permission, target: &dyn Agent) -> Option<Loss> {
    let reason = match permission {
        Permission::Ask => return None,
        Permission::Plan if target.facts().keeps_plan_mode => return None,
        Permission::Plan => "it was held to planning and reading; the next agent goes by its own rules",
        Permission::AcceptEdits | Permission::Everything => {
            "permissions are never carried over; the next agent asks by its own rules"
        }
    };
    Some(Loss { what: "permission mode", count: 1, reason })
}

impl FittedSession {
    /// Where all of it came from, with the places that the plan gives it.
    fn build_lineage(&self, plan: &WritePlan) -> Lineage {
        let mut origins = self.origins.clone();
        for written in &plan.origins {
            // An opening came from nowhere.
            let Some(entry) = written.entry.checked_sub(self.n_openings) else { continue };
            if let Some(origin) = origins.get_mut(self.cut + entry)
                && !origin.at.contains(&written.offset)
            {
                origin.at.push(written.offset);
            }
        }
        Lineage::new(lineage::collect_ancestors(&self.sources), origins)
    }
}
