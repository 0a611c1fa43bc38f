//! The line of work that keeps sessions in the ledger. It has the ledger open only while it works, so that commands get at it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use carryover_agents::{AgentError, HookEvent};
use carryover_core::time::Timestamp;

use super::{
    CaptureNote, Desk, PublisherJob, error_words, is_busy, is_still_there, run_guarded, session_key, session_project,
};
use crate::context::Context;
use crate::handoff::publish::is_unpublished;
use crate::handoff::published::Published;
use crate::ledger::sync::SyncReport;
use crate::ledger::{HandoffRecord, HookRecord, Ledger, LedgerError, OpenedLedger};
use crate::sessions::list::{Filter, ListedSession, list_sessions};
use crate::watch::own_copies::OwnCopies;

/// The name of the work that looks at all stores.
pub(super) const SWEEP: &str = "sweep";
/// How often all stores are looked at for what was missed or deleted.
const SWEEP_INTERVAL: Duration = Duration::from_hours(1);
/// How long a session that is written to all the time is left alone between two looks.
const LEAST_PAUSE: Duration = Duration::from_secs(2);
/// How soon something is tried again that could not be kept.
const RETRY_AFTER: Duration = Duration::from_secs(30);

pub(super) enum KeeperJob {
    Session(Box<ListedSession>),
    /// What an agent told, and when.
    Event {
        event: Box<HookEvent>,
        at: Timestamp,
    },
    Handoff(Box<HandoffRecord>),
    /// Looks at all stores.
    Sweep,
}

pub(super) struct Keeper {
    desk: Arc<Desk>,
    last_at: Option<Instant>,
    /// Work that could not be done because of a store when it was last tried.
    failed: BTreeSet<String>,
    /// What was told of the ledger since it last worked.
    ledger_troubles: BTreeSet<String>,
    /// Whose stores were not read as they were at the last look, and how.
    store_troubles: BTreeSet<(String, String)>,
}

impl Keeper {
    pub(super) fn new(desk: Arc<Desk>) -> Self {
        Self {
            desk,
            last_at: None,
            failed: BTreeSet::new(),
            ledger_troubles: BTreeSet::new(),
            store_troubles: BTreeSet::new(),
        }
    }

    pub(super) fn run(&mut self) {
        let desk = Arc::clone(&self.desk);
        let mut is_first = true;
        while let Some((key, job)) = desk.keeping.next() {
            let is_sweep = matches!(job, KeeperJob::Sweep);
            if is_sweep {
                run_guarded(&desk, "events", || desk.take_spooled_events(&(desk.options.make_context)()));
            }
            run_guarded(&desk, "the ledger", || self.do_job(&key, job));
            if is_sweep {
                if std::mem::take(&mut is_first) && !desk.keeping.is_stopped() {
                    run_guarded(&desk, "publishing", || publish_missed(&desk));
                }
                desk.keeping.add(SWEEP.to_owned(), KeeperJob::Sweep, Instant::now() + SWEEP_INTERVAL);
            }
        }
    }

    fn do_job(&mut self, key: &str, job: KeeperJob) {
        let context = (self.desk.options.make_context)();
        if !context.config.ledger.is_enabled() {
            return;
        }
        let now = Instant::now();
        if let (KeeperJob::Session(_), Some(last)) = (&job, self.last_at)
            && now < last + LEAST_PAUSE
        {
            self.desk.keeping.put_back(key.to_owned(), job, last + LEAST_PAUSE);
            return;
        }
        // Whatever else waits is done while the ledger is open.
        let mut jobs = vec![(key.to_owned(), job)];
        jobs.extend(self.desk.keeping.take_where(|_, job| !matches!(job, KeeperJob::Sweep)));
        // The work at the end is done first: what an agent told is nowhere else, and is soon written.
        jobs.sort_by_key(|(_, job)| matches!(job, KeeperJob::Event { .. } | KeeperJob::Handoff(_)));
        match self.keep_all(&context, &mut jobs) {
            Ok(()) => {
                for message in std::mem::take(&mut self.ledger_troubles) {
                    self.desk.tally.clear_trouble("the ledger", &message);
                }
            }
            Err(error) => self.put_back(jobs, &error),
        }
        self.last_at = Some(Instant::now());
    }

    /// Puts back what could not be kept. That somebody else is at the ledger is no trouble.
    fn put_back(&mut self, jobs: Vec<(String, KeeperJob)>, error: &LedgerError) {
        let pause = if is_busy(error) { LEAST_PAUSE } else { RETRY_AFTER };
        if !is_busy(error) {
            let message = error_words(error);
            self.desk.report_trouble("the ledger", &message);
            self.ledger_troubles.insert(message);
        }
        for (key, job) in jobs {
            self.desk.keeping.put_back(key, job, Instant::now() + pause);
        }
    }

    /// Does the work, and takes off the list what is done. At the end only what is nowhere else is still kept.
    fn keep_all(&mut self, context: &Context, jobs: &mut Vec<(String, KeeperJob)>) -> Result<(), LedgerError> {
        let mut ledger = self.open(context)?;
        let has_sweep = jobs.iter().any(|(_, job)| matches!(job, KeeperJob::Sweep));
        let mut is_anew = false;
        while let Some((_, job)) = jobs.last() {
            if self.desk.keeping.is_stopped() && matches!(job, KeeperJob::Session(_) | KeeperJob::Sweep) {
                jobs.pop();
                continue;
            }
            match self.keep(context, &mut ledger, job) {
                Err(error) if error.is_corrupt() && !is_anew => {
                    is_anew = true;
                    let anew = ledger.begin_anew(context)?;
                    self.tell_set_aside(&anew);
                    ledger = anew.ledger;
                    ledger.bring_up_to_date(context, &mut |_| self.check_stopped())?;
                    // The work that met it is not done yet.
                    continue;
                }
                // A session that cannot be read is not worth the others.
                Err(LedgerError::Agent(error)) => {
                    self.note_unread(jobs.pop(), &error);
                    continue;
                }
                kept => kept?,
            }
            jobs.pop();
        }
        while !ledger.index_pending()?.is_done && !self.desk.keeping.is_stopped() {}
        if self.desk.keeping.is_stopped() {
            return Ok(());
        }
        let sessions = ledger.n_sessions()?;
        if self.desk.tally.note_kept(context.env.now, sessions, ledger.disk_bytes()) || has_sweep {
            self.desk.report(CaptureNote::Kept { sessions });
        }
        Ok(())
    }

    fn check_stopped(&self) -> ControlFlow<()> {
        if self.desk.keeping.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Tries again what could not be read, for its client may have been in the middle of something; the second time is told.
    fn note_unread(&mut self, job: Option<(String, KeeperJob)>, error: &AgentError) {
        let Some((key, job)) = job else { return };
        if matches!(&job, KeeperJob::Session(session) if !is_still_there(session)) {
            self.failed.remove(&key);
        } else if self.failed.remove(&key) {
            self.desk.report_trouble("the ledger", &error_words(error));
        } else {
            self.failed.insert(key.clone());
            self.desk.keeping.put_back(key, job, Instant::now() + LEAST_PAUSE);
        }
    }

    fn keep(&mut self, context: &Context, ledger: &mut Ledger, job: &KeeperJob) -> Result<(), LedgerError> {
        match job {
            KeeperJob::Session(session) => ledger.take_in(context, session).map(drop),
            KeeperJob::Event { event, at } => ledger.record_hook_event(&HookRecord::from_event(event, *at)),
            KeeperJob::Handoff(record) => ledger.record_handoff(record),
            KeeperJob::Sweep => {
                let mut report = ledger.bring_up_to_date(context, &mut |_| self.check_stopped())?;
                if self.desk.keeping.is_stopped() {
                    return Ok(());
                }
                report.failures.retain(|(_, error)| !is_deleted(error));
                let has_failed = self.failed.remove(SWEEP);
                if !report.failures.is_empty() && !has_failed {
                    self.failed.insert(SWEEP.to_owned());
                    self.desk.keeping.add(SWEEP.to_owned(), KeeperJob::Sweep, Instant::now() + LEAST_PAUSE);
                } else {
                    self.tell_unread(context, &report);
                }
                ledger.drop_expired(context).map(drop)
            }
        }
    }

    /// Tells of stores that are not read as they were: the others are, so nobody would notice.
    fn tell_unread(&mut self, context: &Context, report: &SyncReport) {
        let failures = report.failures.iter().map(|(agent, error)| (agent.facts().id.to_owned(), error_words(error)));
        let drifts = report.drifts.iter().map(|drift| (drift.agent.facts().id.to_owned(), drift.to_string()));
        let missing = report.missing.iter().map(|store| {
            let message = format!("its sessions were in {}, which is not there any more", store.path.display());
            (store.agent.clone(), message)
        });
        let troubles: BTreeSet<(String, String)> = failures.chain(drifts).chain(missing).collect();
        for (about, message) in self.store_troubles.difference(&troubles) {
            self.desk.tally.clear_trouble(about, message);
        }
        for (about, message) in &troubles {
            if self.desk.tally.note_store_trouble(about, message, context.env.now) {
                self.desk.report(CaptureNote::Trouble { about: about.clone(), message: message.clone() });
            }
        }
        self.store_troubles = troubles;
    }

    fn open(&self, context: &Context) -> Result<Ledger, LedgerError> {
        let opened = Ledger::open(context)?;
        self.tell_set_aside(&opened);
        Ok(opened.ledger)
    }

    fn tell_set_aside(&self, opened: &OpenedLedger) {
        if let Some(path) = &opened.set_aside {
            let message = format!("could not be read: it was set aside as {}, and a new one begun", path.display());
            self.desk.report_trouble("the ledger", &message);
        }
    }
}

/// Whether a file could not be read because it was deleted between two looks.
fn is_deleted(error: &AgentError) -> bool {
    matches!(error, AgentError::Io(error) if error.kind() == std::io::ErrorKind::NotFound)
}

/// Publishes what was said while no daemon ran, in projects that have a handoff already: its agent may have no hook to ask for it.
fn publish_missed(desk: &Desk) {
    let context = (desk.options.make_context)();
    let projects: BTreeSet<PathBuf> = Published::load_all(&context).into_iter().map(|record| record.project).collect();
    if projects.is_empty() {
        return;
    }
    let mut copies = OwnCopies::default();
    let mut newest: BTreeMap<PathBuf, ListedSession> = BTreeMap::new();
    for session in list_sessions(&context, &Filter::default()).sessions {
        let project = session_project(&context.env.home, &session).filter(|project| projects.contains(project));
        let Some(project) = project.filter(|project| is_unpublished(&context, project, &session)) else { continue };
        let is_newer = newest.get(&project).is_none_or(|known| known.found.updated_at < session.found.updated_at);
        let (agent, size) = (session.agent.facts().id, session.found.bytes);
        if is_newer && !copies.is_untouched(&context, agent, &session.found, size) {
            newest.insert(project, session);
        }
    }
    for session in newest.into_values() {
        let due = Instant::now();
        desk.publishing.put_back(session_key(&session), PublisherJob::Session(Box::new(session)), due);
    }
}
