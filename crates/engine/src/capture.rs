//! Capturing what agents do, while it happens: sessions that change are taken into the ledger, and their handoffs are
//! published. The daemon runs it; whatever tells of changes, watcher or hook, comes here.
//!
//! Publishing and keeping are two lines of work that know nothing of each other: the handoff does not wait for the ledger,
//! and stands without it.

mod due_queue;
mod keeper;
mod publisher;
mod spool;
mod tally;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use carryover_agents::{FoundSession, HookEvent, HookKind, Os};
use carryover_core::time::Timestamp;
use carryover_core::transcript::SessionId;

use crate::context::Context;
use crate::ledger::LedgerError;
use crate::sessions::list::ListedSession;
use crate::sessions::project::published_project;
use crate::watch::{Change, Observer};
use due_queue::DueQueue;
use keeper::{Keeper, KeeperJob};
use publisher::{Publisher, PublisherJob};

pub use spool::spool_event;
pub use tally::{Counts, Tally, Trouble};

/// How long a change is left alone before it is kept: nobody waits for the ledger.
const KEEPING_DELAY: Duration = Duration::from_secs(1);
/// How long files that vanish are waited for to be all of them.
const SWEEP_DELAY: Duration = Duration::from_secs(2);
/// So many events wait at most while the ledger cannot be written; of more, the oldest go.
const MAX_WAITING_EVENTS: usize = 10_000;

/// Makes the surroundings of one piece of work: the time and the settings of that moment.
pub type MakeContext = Arc<dyn Fn() -> Context + Send + Sync>;

/// How captured sessions are published.
#[derive(Clone)]
pub struct CaptureOptions {
    pub make_context: MakeContext,
    /// The command that shows a session whole.
    pub show_command: fn(&str, Os) -> String,
    /// Told what was done, for a log.
    pub report: Arc<dyn Fn(CaptureNote) + Send + Sync>,
}

/// Something that was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaptureNote {
    Published {
        agent: &'static str,
        session: SessionId,
        project: Option<PathBuf>,
    },
    /// The ledger is up to date, with so many sessions.
    Kept {
        sessions: u64,
    },
    Trouble {
        about: String,
        message: String,
    },
}

/// The work under way. It ends when this is dropped.
pub struct Capture {
    desk: Arc<Desk>,
    threads: Vec<JoinHandle<()>>,
}

/// What the threads share.
struct Desk {
    options: CaptureOptions,
    publishing: DueQueue<String, PublisherJob>,
    keeping: DueQueue<String, KeeperJob>,
    tally: Tally,
    /// The next number by which work is named.
    next_number: AtomicU64,
}

/// Tells a running capture what happened.
#[derive(Clone)]
pub struct CaptureHandle {
    desk: Arc<Desk>,
}

impl Capture {
    /// Starts the two lines of work, and brings the ledger up to date.
    pub fn start(options: CaptureOptions) -> Result<Self, std::io::Error> {
        let desk = Arc::new(Desk {
            options,
            publishing: DueQueue::new(),
            keeping: DueQueue::new(),
            tally: Tally::default(),
            next_number: AtomicU64::new(0),
        });
        desk.keeping.add(keeper::SWEEP.to_owned(), KeeperJob::Sweep, Instant::now());
        let spawn = |name: &str, work: fn(&Arc<Desk>)| {
            let desk = Arc::clone(&desk);
            thread::Builder::new().name(name.to_owned()).spawn(move || work(&desk))
        };
        let threads = vec![
            spawn("publisher", |desk| Publisher::new(Arc::clone(desk)).run())?,
            spawn("keeper", |desk| Keeper::new(Arc::clone(desk)).run())?,
        ];
        Ok(Self { desk, threads })
    }

    pub fn handle(&self) -> CaptureHandle {
        CaptureHandle { desk: Arc::clone(&self.desk) }
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.desk.publishing.stop();
        self.desk.keeping.stop();
        for thread in self.threads.drain(..) {
            // A panic in it has been counted where it happened.
            thread.join().ok();
        }
        self.desk.spool_waiting();
    }
}

impl CaptureHandle {
    /// What a watcher tells its observer.
    pub fn observer(&self) -> Observer {
        let handle = self.clone();
        Box::new(move |change| match change {
            Change::Session(session) => handle.note_session(*session),
            Change::Gone => handle.note_gone(),
        })
    }

    fn note_session(&self, session: ListedSession) {
        let now = Instant::now();
        let name = session_key(&session);
        self.desk.keeping.add(name.clone(), KeeperJob::Session(Box::new(session.clone())), now + KEEPING_DELAY);
        self.desk.publishing.add(name, PublisherJob::Session(Box::new(session)), now);
    }

    fn note_gone(&self) {
        self.desk.keeping.add(keeper::SWEEP.to_owned(), KeeperJob::Sweep, Instant::now() + SWEEP_DELAY);
    }

    /// Takes an event of a hook. At the end of something its session is published at once.
    pub fn note_event(&self, event: HookEvent) {
        let context = (self.desk.options.make_context)();
        self.desk.take_spooled_events(&context);
        self.desk.note_event(event, context.env.now);
    }

    /// Asks the work to end, for who cannot wait until it has; what was told and is not kept yet is there for the next one.
    pub fn end_soon(&self) {
        self.desk.publishing.stop();
        self.desk.keeping.stop();
        self.desk.spool_waiting();
    }

    /// Remembers a trouble, and tells it the first time.
    pub fn note_trouble(&self, about: &str, message: &str) {
        self.desk.report_trouble(about, message);
    }

    /// Sees to it that a project's handoff is of its newest session, for an agent that starts there; waits so long at
    /// most. Whether that was done.
    pub fn prepare_project(&self, event: &HookEvent, at_most: Duration) -> bool {
        let home = (self.desk.options.make_context)().env.home;
        let Some(project) = event.folder.as_deref().and_then(|folder| published_project(&home, folder)) else {
            return true;
        };
        let (done, wait) = mpsc::channel();
        let job = PublisherJob::Prepare { project, starting: event.session.clone(), done };
        self.desk.publishing.add(format!("prepare {}", self.desk.take_number()), job, Instant::now());
        wait.recv_timeout(at_most).is_ok()
    }

    pub fn tally(&self) -> &Tally {
        &self.desk.tally
    }

    /// How much work waits: handoffs to publish, and changes to keep.
    pub fn n_waiting(&self) -> (usize, usize) {
        (self.desk.publishing.len(), self.desk.keeping.len())
    }
}

fn session_key(session: &ListedSession) -> String {
    format!("session {} {}", session.agent.facts().id, session.found.id.0)
}

/// Whether a session can still be found where it was: one that its agent has deleted meanwhile is no trouble.
fn is_still_there(session: &ListedSession) -> bool {
    let path = &session.found.source.path;
    let is_listed = |found: Vec<FoundSession>| found.iter().any(|found| found.id == session.found.id);
    path.exists() && session.agent.sessions_in(&session.store, path).map_or(true, is_listed)
}

/// The project of a session's folder, by which work for one project is found.
fn session_project(home: &Path, session: &ListedSession) -> Option<PathBuf> {
    session.found.project.as_deref().and_then(|folder| published_project(home, folder))
}

impl Desk {
    fn report(&self, note: CaptureNote) {
        if let CaptureNote::Published { agent, .. } = &note {
            self.tally.clear_about(agent);
        }
        (self.options.report)(note);
    }

    /// A number of which names are made that stand in the order in which they were given.
    fn take_number(&self) -> String {
        format!("{:015}", self.next_number.fetch_add(1, Ordering::Relaxed))
    }

    fn note_event(&self, event: HookEvent, at: Timestamp) {
        let now = Instant::now();
        self.tally.count_event();
        let key = format!("event {}", self.take_number());
        let is_end = matches!(
            event.kind,
            HookKind::SessionEnd | HookKind::BeforeCompaction | HookKind::TurnFailure | HookKind::TurnEnd
        );
        let kept = KeeperJob::Event { event: Box::new(event.clone()), at };
        self.keeping.add(key.clone(), kept, now + KEEPING_DELAY);
        self.keeping.limit_where(MAX_WAITING_EVENTS, |_, job| matches!(job, KeeperJob::Event { .. }));
        if is_end {
            self.publishing.add(key, PublisherJob::Event(Box::new(event)), now);
        }
    }

    /// Takes the events that found nobody.
    fn take_spooled_events(&self, context: &Context) {
        for (event, at) in spool::take_spooled(context) {
            self.note_event(event, at);
        }
    }

    /// Leaves the events that are not kept yet for the next daemon.
    fn spool_waiting(&self) {
        let context = (self.options.make_context)();
        for (_, job) in self.keeping.take_where(|_, job| matches!(job, KeeperJob::Event { .. })) {
            if let KeeperJob::Event { event, at } = job {
                // Where it cannot be kept, the stores still tell all of it.
                spool_event(&context, &event, at).ok();
            }
        }
    }

    /// Counts a trouble, and tells it the first time.
    fn report_trouble(&self, about: &str, message: &str) {
        let now = (self.options.make_context)().env.now;
        if self.tally.note_trouble(about, message, now) {
            self.report(CaptureNote::Trouble { about: about.to_owned(), message: message.to_owned() });
        }
    }
}

/// Runs one piece of work; a panic in it costs that piece, and is told without its words.
fn run_guarded(desk: &Desk, what: &'static str, work: impl FnOnce()) {
    if std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_err() {
        desk.report_trouble(what, "a bug of carryover's");
    }
}

/// The words of an error and of what caused it; neither holds a transcript's.
fn error_words(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words.push_str(": ");
        words.push_str(&error.to_string());
        cause = error.source();
    }
    words
}

/// Whether the ledger is merely in use by somebody else.
fn is_busy(error: &LedgerError) -> bool {
    let code = if let LedgerError::Database(error) = error { error.sqlite_error_code() } else { None };
    matches!(error, LedgerError::Busy { .. })
        || matches!(code, Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked))
}
