//! The line of work that keeps sessions in the ledger. It has the ledger open only while it works, so that commands get at it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use carryover_agents::{AgentError, HookEvent};

use super::{CaptureNote, Desk, error_words, is_busy, is_still_there, run_guarded};
use crate::context::Context;
use crate::ledger::sync::SyncReport;
use crate::ledger::{HandoffRecord, HookRecord, Ledger, LedgerError, OpenedLedger};
use crate::sessions::list::ListedSession;

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
    Event(Box<HookEvent>),
    Handoff(Box<HandoffRecord>),
    /// Looks at all stores.
    Sweep,
}

pub(super) struct Keeper {
    desk: Arc<Desk>,
    last_at: Option<Instant>,
    /// Work that could not be done because of a store when it was last tried.
    failed: BTreeSet<String>,
}

impl Keeper {
    pub(super) fn new(desk: Arc<Desk>) -> Self {
        Self { desk, last_at: None, failed: BTreeSet::new() }
    }

    pub(super) fn run(&mut self) {
        let desk = Arc::clone(&self.desk);
        while let Some((key, job)) = desk.keeping.next() {
            let is_sweep = matches!(job, KeeperJob::Sweep);
            run_guarded(&desk, "the ledger", || self.do_job(&key, job));
            if is_sweep {
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
            self.desk.keeping.add(key.to_owned(), job, last + LEAST_PAUSE);
            return;
        }
        // Whatever else waits is done while the ledger is open.
        let mut jobs = vec![(key.to_owned(), job)];
        jobs.extend(self.desk.keeping.take_where(|_, job| !matches!(job, KeeperJob::Sweep)));
        if let Err(error) = self.keep_all(&context, &mut jobs) {
            self.desk.report_trouble("the ledger", &error_words(&error));
            let retry_at = if is_busy(&error) { Instant::now() + LEAST_PAUSE } else { Instant::now() + RETRY_AFTER };
            for (key, job) in jobs {
                self.desk.keeping.add(key, job, retry_at);
            }
        }
        self.last_at = Some(Instant::now());
    }

    /// Does the work, and takes off the list what is done.
    fn keep_all(&mut self, context: &Context, jobs: &mut Vec<(String, KeeperJob)>) -> Result<(), LedgerError> {
        let mut ledger = self.open(context)?;
        while let Some((_, job)) = jobs.last() {
            match self.keep(context, &mut ledger, job) {
                Err(error) if error.is_corrupt() => {
                    let anew = ledger.begin_anew(context)?;
                    self.tell_set_aside(&anew);
                    ledger = anew.ledger;
                    ledger.bring_up_to_date(context, &mut |_| ())?;
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
        while !ledger.index_pending()?.is_done {}
        let sessions = ledger.n_sessions()?;
        self.desk.tally.note_kept(context.env.now, sessions, ledger.disk_bytes());
        self.desk.report(CaptureNote::Kept { sessions });
        Ok(())
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
            self.desk.keeping.add(key, job, Instant::now() + LEAST_PAUSE);
        }
    }

    fn keep(&mut self, context: &Context, ledger: &mut Ledger, job: &KeeperJob) -> Result<(), LedgerError> {
        match job {
            KeeperJob::Session(session) => ledger.take_in(context, session).map(drop),
            KeeperJob::Event(event) => ledger.record_hook_event(&HookRecord::from_event(event, context.env.now)),
            KeeperJob::Handoff(record) => ledger.record_handoff(record),
            KeeperJob::Sweep => {
                let mut report = ledger.bring_up_to_date(context, &mut |_| ())?;
                report.failures.retain(|(_, error)| !is_deleted(error));
                let has_failed = self.failed.remove(SWEEP);
                if !report.failures.is_empty() && !has_failed {
                    self.failed.insert(SWEEP.to_owned());
                    self.desk.keeping.add(SWEEP.to_owned(), KeeperJob::Sweep, Instant::now() + LEAST_PAUSE);
                } else {
                    self.tell_unread(&report);
                }
                ledger.drop_expired(context).map(drop)
            }
        }
    }

    /// Tells of stores that are not read as they were: the others are, so nobody would notice.
    fn tell_unread(&self, report: &SyncReport) {
        for (agent, error) in &report.failures {
            self.desk.report_trouble(agent.facts().id, &error_words(error));
        }
        for drift in &report.drifts {
            self.desk.report_trouble(drift.agent.facts().id, &drift.to_string());
        }
        for store in &report.missing {
            let message = format!("its sessions were in {}, which is not there any more", store.path.display());
            self.desk.report_trouble(&store.agent, &message);
        }
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
