//! Carrying a session over to another agent.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use carryover_agents::{
    AGENTS, Agent, AgentError, Env, Liveness, Loss, Op, ResumeCommand, Store, TargetView, WritePlan, WriteRequest,
};
use carryover_core::transcript::{Body, Permission, SessionId};

use super::assemble::{Assembled, assemble};
use crate::client::{self, Client};
use crate::context::Context;
use crate::handoff::ignored::{Hiding, MissingIgnoreRule};
use crate::own::cache;
use crate::sessions::lineage;
use crate::sessions::list::Listed;
use crate::sessions::project::resolve;
use crate::sessions::unread::Unread;
use crate::write::apply::apply;
use crate::write::disk::{Disk, RealDisk};
use crate::write::journal::{self, Journal, Lineage, Lock, Named, State};
use crate::write::readback;
use crate::write::undo;

use super::fit::{self, Fitted};
use super::report;

/// What is wanted.
#[derive(Clone)]
pub struct Options {
    pub target: &'static dyn Agent,
    /// Where to go on; by default the session's own directory, else the working directory.
    pub project: Option<PathBuf>,
    /// The token budget; by default the window of the target's model.
    pub tokens: Option<u64>,
    /// Plan only.
    pub dry_run: bool,
}

/// What happened, or would happen.
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
    /// What the user should know besides: the client is not installed, the folder is gone, a registration failed.
    pub warnings: Vec<String>,
    /// Steps that would be taken, for a dry run.
    pub steps: Vec<String>,
    /// An earlier copy that nobody had used and that this one replaced.
    pub superseded: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    #[error(transparent)]
    Agent(#[from] AgentError),
    #[error("{0} cannot take sessions natively")]
    NoWriter(&'static str),
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
    Run { program: String, why: &'static str, reason: String },
    #[error("the project folder {} does not exist", .0.display())]
    NoProject(PathBuf),
}

/// Carries a session over.
pub fn resume(context: &Context, session: &Listed, options: &Options) -> Result<Report, ResumeError> {
    resume_among(AGENTS, &mut RealDisk, context, session, options)
}

pub(crate) fn resume_among(
    agents: &[&'static dyn Agent],
    disk: &mut dyn Disk,
    context: &Context,
    session: &Listed,
    options: &Options,
) -> Result<Report, ResumeError> {
    let facts = options.target.facts();
    let writer = options.target.writer().ok_or(ResumeError::NoWriter(facts.name))?;
    let assembled = assemble(agents, context, session)?;
    // Losing the count costs a reading later, and is no reason to fail.
    cache::remember_messages(context, &session.found.source, assembled.n_messages as u64).ok();
    let is_asked = assembled.carried.iter().any(|carried| matches!(carried.entry.body, Body::Prompt(_)));
    // In a format that has changed, what is left without a question is nobody's answer.
    if assembled.carried.is_empty() || (session.found.drifted && !is_asked) {
        return Err(ResumeError::Empty(assembled.unread));
    }
    let mut warnings = assembled.unread.warnings();
    let place = Place::choose(context, session, options, &assembled, &mut warnings)?;
    let fitted = fit::fit(assembled, place.budget, options.target)?;
    let client = client::installed(context, options.target);
    warn(session, options.target, client.as_ref(), &mut warnings);
    let plan = writer.plan(&request(context, session, &place, &fitted), &place.view(context, client.as_ref()))?;
    warnings.extend(hiding(context, options.target, &place, &plan).told);
    let mut report = report::of(session, options.target, &plan, &fitted, place.window, warnings);
    if options.dry_run {
        let journal = journal_of(context, session, options, &place, &plan);
        report.superseded = superseded(context, &journal).pop().map(|earlier| earlier.target.session.0);
    } else {
        write(agents, disk, context, session, options, &place, &plan, &fitted, &mut report)?;
    }
    Ok(report)
}

/// Where to go on, and with how much.
struct Place {
    project: PathBuf,
    store: Store,
    window: u64,
    budget: u64,
}

impl Place {
    fn choose(
        context: &Context,
        session: &Listed,
        options: &Options,
        assembled: &Assembled,
        warnings: &mut Vec<String>,
    ) -> Result<Self, ResumeError> {
        let own = assembled.header.project.as_ref().or(session.found.project.as_ref());
        let project = match (&options.project, own) {
            (Some(given), _) if given.is_dir() => resolve(given),
            (Some(given), _) => return Err(ResumeError::NoProject(given.clone())),
            (None, Some(own)) if own.is_dir() => resolve(own),
            (None, own) => {
                if let Some(own) = own {
                    warnings.push(format!("{} is gone: the session goes on in this folder", own.display()));
                }
                resolve(&context.cwd)
            }
        };
        let target = options.target;
        let store = store(context, target)?;
        let window = target.facts().window(target.current_model(&store).as_deref());
        // The client's own prompt and the next turn need room, too.
        let given = options.tokens.or(context.config.resume.tokens);
        // The client's own prompt and the next turn need room, too; who gives a number has thought of it.
        let budget = given.unwrap_or(window / 5 * 4);
        let window = given.unwrap_or(window);
        Ok(Self { project, store, window, budget })
    }

    fn view<'a>(&'a self, context: &'a Context, client: Option<&'a Client>) -> TargetView<'a> {
        TargetView {
            env: &context.env,
            store: &self.store,
            program: client.map(|client| client.program.as_path()),
            version: client.and_then(|client| client.version),
        }
    }
}

/// The target's store: the one in use, else where it would be.
fn store(context: &Context, target: &dyn Agent) -> Result<Store, ResumeError> {
    // Paths from the configuration are for reading: the client would not look for a session there.
    let own = Env { stores: BTreeMap::new(), ..context.env.clone() };
    let existing = target.stores(&own).into_iter().next();
    let first = || target.facts().store_candidates(&own).into_iter().next().map(|root| Store { root });
    existing.or_else(first).ok_or_else(|| {
        let reason = "no place for its sessions is known on this system".to_owned();
        AgentError::CannotHold { agent: target.facts().name, reason }.into()
    })
}

fn warn(session: &Listed, target: &dyn Agent, client: Option<&Client>, warnings: &mut Vec<String>) {
    if session.found.live == Liveness::Live {
        let name = session.agent.facts().name;
        warnings.push(format!("{name} is still running in that session: what it does from now on is not carried over"));
    }
    if client.is_none() {
        warnings.push(format!("{} is not installed: the session waits for it", target.facts().name));
    }
}

fn request<'a>(context: &Context, session: &'a Listed, place: &'a Place, fitted: &'a Fitted) -> WriteRequest<'a> {
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
    }
}

/// Where the session was. One that has moved already is moved by the folder that its originals still name.
fn old_project<'a>(fitted: &'a Fitted, project: &Path) -> Option<&'a Path> {
    let own = fitted.header.project.as_deref();
    let moved = |own: &Path| own != project && resolve(own) != project;
    if own.is_some_and(moved) {
        return own;
    }
    let originals = fitted.sources.iter().skip(1).filter_map(|from| from.header.project.as_deref());
    originals.into_iter().find(|original| moved(original)).or(own)
}

#[expect(clippy::too_many_arguments, reason = "all of them decided before, none of them belongs to another")]
fn write(
    agents: &[&'static dyn Agent],
    disk: &mut dyn Disk,
    context: &Context,
    session: &Listed,
    options: &Options,
    place: &Place,
    plan: &WritePlan,
    fitted: &Fitted,
    report: &mut Report,
) -> Result<(), ResumeError> {
    let folder = journal::folder(context);
    let _lock = Lock::take(context).map_err(|source| ResumeError::Write { path: folder, source })?;
    report.warnings.extend(undo::recover(agents, disk, context));
    let mut journal = journal_of(context, session, options, place, plan);
    let earlier = superseded(context, &journal);
    inherit_folders(&mut journal, plan, &earlier);
    let lineage = fitted.lineage(plan);
    let verify = || readback::verify(options.target, plan, &fitted.carried);
    let missing = hiding(context, options.target, place, plan).missing;
    journal.ignored = missing.as_ref().map(MissingIgnoreRule::note);
    report.warnings.extend(apply(disk, context, plan, &mut journal, missing.as_ref(), lineage, &verify)?);
    report.undo_id = Some(journal.id);
    for mut earlier in earlier {
        // It stays if somebody began to use it this very moment.
        if undo::withdraw(agents, disk, context, &mut earlier, false).is_ok() {
            report.superseded = Some(earlier.target.session.0);
        }
    }
    Ok(())
}

/// What keeps git from a session that is kept with the work.
fn hiding(context: &Context, target: &dyn Agent, place: &Place, plan: &WritePlan) -> Hiding {
    let line = target.ignore_line();
    line.map_or_else(Hiding::default, |line| Hiding::of(context, &place.project, &plan.file, line))
}

fn journal_of(context: &Context, session: &Listed, options: &Options, place: &Place, plan: &WritePlan) -> Journal {
    let named =
        |agent: &dyn Agent, session: &SessionId| Named { agent: agent.facts().id.to_owned(), session: session.clone() };
    let mut source = named(session.agent, &session.found.id);
    if session.agent.as_captured().is_some() {
        // A file may claim to be any session: it takes the place of none but its own earlier copies.
        source.session = SessionId(session.found.source.path.display().to_string());
    }
    let target = named(options.target, &plan.session);
    let begun = Journal::begun(context, source, target, &place.project);
    Journal { session_file: plan.file.clone(), session_key: plan.key.clone(), ..begun }
}

/// Earlier copies of the same session in the same place, which nobody has used.
fn superseded(context: &Context, journal: &Journal) -> Vec<Journal> {
    let same = |earlier: &Journal| {
        earlier.state == State::Done
            && earlier.source == journal.source
            && earlier.target.agent == journal.target.agent
            && earlier.project == journal.project
            && earlier.blocks.is_empty()
            && undo::is_unused(earlier)
    };
    journal::all(context).into_iter().filter(same).collect()
}

/// A copy that takes another's place also takes over the folders that were made for it.
fn inherit_folders(journal: &mut Journal, plan: &WritePlan, earlier: &[Journal]) {
    let is_in = |op: &Op, folder: &Path| match op {
        Op::Create { path, .. } | Op::Share { path, .. } => path.starts_with(folder),
        Op::Append { .. } | Op::Run(_) => false,
    };
    let needed = |folder: &Path| plan.ops.iter().any(|op| is_in(op, folder));
    for folder in earlier.iter().flat_map(|earlier| &earlier.folders) {
        if needed(folder) && !journal.folders.contains(folder) {
            journal.folders.push(folder.clone());
        }
    }
}

/// What the session's agent was allowed to do stays behind, and what it was not allowed to do.
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

impl Fitted {
    /// Where all of it came from, with the places that the plan gives it.
    fn lineage(&self, plan: &WritePlan) -> Lineage {
        let mut origins = self.origins.clone();
        for written in &plan.origins {
            if let Some(origin) = origins.get_mut(self.cut + written.entry)
                && !origin.at.contains(&written.offset)
            {
                origin.at.push(written.offset);
            }
        }
        Lineage::new(lineage::ancestors(&self.sources), origins)
    }
}
