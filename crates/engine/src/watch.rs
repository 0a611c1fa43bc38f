//! Watching the stores of agents: which sessions are in use, and which has run into a limit.
//!
//! Rule of this module: it reads, and sleeps until the system tells that a file changed. Nothing but the state in our
//! own folder is written, and whole stores are listed only when they are met for the first time.

mod change_queue;
mod doing;
mod event;
mod followed_session;
mod fs_watcher;
mod limit_detector;
pub(crate) mod own_copies;
mod pending;
mod state;
mod watched_store;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use carryover_agents::{Agent, AgentError, FoundSession, Liveness, Store};
use carryover_core::time::Timestamp;
use carryover_core::transcript::SessionId;

use self::change_queue::{ChangeQueue, Changes};
use self::followed_session::{FollowedSession, Stamps};
use self::fs_watcher::FsWatcher;
use self::own_copies::OwnCopies;
use self::pending::Pending;
use self::watched_store::PathKind;
pub(crate) use self::watched_store::WatchedStore;
use crate::context::Context;
use crate::sessions::list::{self, ListedSession};
use crate::sessions::project::resolve_path;

pub use change_queue::StopHandle;
pub use doing::{CallSummary, Doing, LastUsage};
pub use event::{Activity, Event, Limit};
pub use state::State;

/// How long a file that changed is left alone.
pub const DEBOUNCE: Duration = Duration::from_secs(2);

/// How often stores are looked for and the state is written, where nobody says otherwise.
pub const DEFAULT_INTERVAL: Duration = Duration::from_secs(30);

/// A limit that was met so long before the watcher began is still worth telling.
const RECENT_LIMIT_MS: i64 = 5 * 60 * 1000;

/// A session that has not changed for so long is no longer in use.
const INACTIVE_AFTER_MS: i64 = ACTIVE_MINUTES * 60 * 1000;

/// The minutes in which a session must have changed to be in use.
pub const ACTIVE_MINUTES: i64 = 15;

/// How to watch.
pub struct Options {
    pub agents: Vec<&'static dyn Agent>,
    pub interval: Duration,
    pub debounce: Duration,
    /// The project in which the state is kept; none where nobody reads it.
    pub state_in: Option<PathBuf>,
    /// Told of every change before it is made sense of, for who keeps sessions.
    pub observer: Option<Observer>,
}

/// Takes changes of sessions as they are seen.
pub type Observer = Box<dyn FnMut(Change) + Send>;

/// A change in a store.
pub enum Change {
    /// A session was written to; not by us.
    Session(Box<ListedSession>),
    /// A file with sessions is gone.
    Gone,
}

/// Takes what happens; whoever has enough answers with a break.
pub type Report<'r> = dyn FnMut(Event) -> ControlFlow<()> + 'r;

/// Tells the time.
pub type Clock = dyn Fn() -> Timestamp;

/// Something of ours went wrong while a store was looked at.
#[derive(Debug, thiserror::Error)]
#[error("a bug of carryover's")]
struct WatchPanic;

/// The one who watches.
pub struct Watcher<'c> {
    context: Context,
    options: Options,
    clock: &'c Clock,
    /// Older events are not reported.
    since: Timestamp,
    queue: Arc<ChangeQueue>,
    folders: FsWatcher,
    stores: Vec<WatchedStore>,
    sessions: BTreeMap<(&'static str, SessionId), FollowedSession>,
    copies: OwnCopies,
    pending: Pending,
    /// The projects of the surroundings, to be found quickly.
    projects: BTreeSet<PathBuf>,
    /// Problems that were reported already and would be repeated at every interval.
    reported: BTreeSet<String>,
    /// Files that could not be read when they were last looked at.
    failed: BTreeSet<(usize, PathBuf)>,
    is_second_look: bool,
}

impl<'c> Watcher<'c> {
    /// Begins to watch every store that is there.
    pub fn open(context: &Context, options: Options, clock: &'c Clock) -> Self {
        let inbox = Arc::new(ChangeQueue::default());
        Self {
            context: context.clone(),
            options,
            clock,
            since: clock().plus_millis(-RECENT_LIMIT_MS),
            folders: FsWatcher::open(&inbox),
            queue: inbox,
            stores: Vec::new(),
            sessions: BTreeMap::new(),
            copies: OwnCopies::default(),
            pending: Pending::default(),
            projects: context.env.projects.iter().cloned().collect(),
            reported: BTreeSet::new(),
            failed: BTreeSet::new(),
            is_second_look: false,
        }
    }

    /// By which it can be ended.
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle(Arc::clone(&self.queue))
    }

    /// Watches until it is told to stop. Fails only where the last state cannot be written.
    pub fn run(&mut self, report: &mut Report<'_>) -> io::Result<()> {
        let mut around = Instant::now();
        loop {
            let now = Instant::now();
            if around <= now {
                around = now + self.options.interval;
                if self.run_guarded(None, report, Self::run_interval).is_break() || self.queue.is_stopped() {
                    break;
                }
            }
            let until = self.pending.next_due().map_or(around, |due| due.min(around));
            let changes = self.queue.wait(until.saturating_duration_since(Instant::now()));
            if changes.stop {
                break;
            }
            self.queue_changes(changes);
            let due = self.pending.take_due(Instant::now());
            let looked = due.into_iter().try_for_each(|(store, file)| {
                let agent = self.stores[store].agent.facts().id;
                self.run_guarded(Some(agent), report, |watcher, report| watcher.check_file(store, &file, report))
            });
            if looked.is_break() {
                break;
            }
        }
        self.write_state()
    }

    /// Runs one piece of work; a panic in it costs that piece, and is told without its words.
    fn run_guarded(
        &mut self,
        agent: Option<&'static str>,
        report: &mut Report<'_>,
        work: impl FnOnce(&mut Self, &mut Report<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let guarded = std::panic::AssertUnwindSafe(|| work(self, report));
        match std::panic::catch_unwind(guarded) {
            Ok(answer) => answer,
            Err(_) => self.report_trouble(agent, &WatchPanic, report),
        }
    }

    /// The watched agents and the sessions in use.
    pub fn state(&self) -> State {
        let active = self.sessions.values().filter(|session| session.active_at.is_some());
        let of = |session: &FollowedSession| {
            Some((session.found.source.path.display().to_string(), session.stamps.modified_ms()?))
        };
        State {
            timestamp: (self.clock)().to_string(),
            agents: self.watched_agents(),
            active_sessions: active.filter_map(of).collect(),
        }
    }

    /// The agents with stores, in the order in which they are shown.
    fn watched_agents(&self) -> Vec<&'static str> {
        let ids = self.options.agents.iter().map(|agent| agent.facts().id);
        ids.filter(|id| self.stores.iter().any(|watched| watched.agent.facts().id == *id)).collect()
    }

    fn write_state(&self) -> io::Result<()> {
        match &self.options.state_in {
            Some(project) => state::write_to_project(&self.context, project, &self.state()),
            None => Ok(()),
        }
    }

    /// Looks for new stores and missed changes, ends quiet sessions and writes the state.
    fn run_interval(&mut self, report: &mut Report<'_>) -> ControlFlow<()> {
        let before = self.watched_agents();
        self.find_stores(report)?;
        let changed = self.folders.poll_changes().into_iter().collect();
        self.queue_changes(Changes { changed, ..Changes::default() });
        self.queue_modified(|session| session.active_at.is_some());
        self.end_inactive(report)?;
        if let Err(error) = self.write_state() {
            self.report_trouble(None, &error, report)?;
        }
        let agents = self.watched_agents();
        if agents == before { ControlFlow::Continue(()) } else { report(Event::Watching { agents }) }
    }

    /// Finds stores that were not there before. Those that are kept with the work come last, for they are found by what
    /// the others' sessions name.
    fn find_stores(&mut self, report: &mut Report<'_>) -> ControlFlow<()> {
        for in_projects in [false, true] {
            let agents = self.options.agents.clone();
            for agent in agents.into_iter().filter(|agent| agent.facts().keeps_sessions_in_projects() == in_projects) {
                for store in list::agent_stores(agent, &self.context) {
                    let store = Store { root: resolve_path(&store.root) };
                    let same =
                        |known: &WatchedStore| known.agent.facts().id == agent.facts().id && known.store == store;
                    if !self.stores.iter().any(same) {
                        let watched = WatchedStore::new(agent, store);
                        let id = Some(agent.facts().id);
                        self.run_guarded(id, report, |watcher, report| watcher.add_store(watched, report))?;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Begins to watch a store, and looks at what is in it; in this order, so that nothing falls in between.
    fn add_store(&mut self, watched: WatchedStore, report: &mut Report<'_>) -> ControlFlow<()> {
        self.folders.watch(watched.list_folders());
        let agent = watched.agent;
        let mut found = Vec::new();
        let told = agent.list_sessions(&watched.store, &mut |session| {
            found.push(session);
            if self.queue.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        self.check_stopped()?;
        self.stores.push(watched);
        let store = self.stores.len() - 1;
        for session in found {
            self.add_session(store, session);
        }
        match told {
            Ok(()) => ControlFlow::Continue(()),
            // A database that its client is at work in.
            Err(AgentError::Database { .. }) => {
                for file in self.stores[store].session_files() {
                    self.pending.add((store, file), Instant::now(), self.options.debounce);
                }
                ControlFlow::Continue(())
            }
            // Deleted between two looks, which its folder tells.
            Err(AgentError::Io(error)) if error.kind() == io::ErrorKind::NotFound => ControlFlow::Continue(()),
            Err(error) => self.report_trouble(Some(agent.facts().id), &error, report),
        }
    }

    /// Breaks off where the end was asked for: whatever is being read then is of no use any more.
    fn check_stopped(&self) -> ControlFlow<()> {
        if self.queue.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn add_session(&mut self, store: usize, found: FoundSession) {
        let agent = self.stores[store].agent;
        self.add_project(found.project.as_deref());
        if found.updated_at.is_some_and(|at| at >= self.since) || found.live == Liveness::Live {
            self.pending.add((store, found.source.path.clone()), Instant::now(), Duration::ZERO);
        }
        let stamps = Stamps::from_path(&found.source.path);
        let key = (agent.facts().id, found.id.clone());
        self.sessions.entry(key).or_insert_with(|| FollowedSession::from_existing(agent, found, stamps, self.since));
    }

    fn add_project(&mut self, project: Option<&Path>) {
        let Some(project) = project.filter(|project| !self.projects.contains(*project)) else { return };
        self.projects.insert(project.to_owned());
        self.context.env.projects.push(project.to_owned());
    }

    /// Sorts paths that changed: files with sessions are read in a moment, new folders are watched at once.
    fn queue_changes(&mut self, changes: Changes) {
        let now = Instant::now();
        for path in changes.changed {
            for (store, watched) in self.stores.iter().enumerate() {
                match watched.classify_path(&path) {
                    PathKind::SessionFile(file) => self.pending.add((store, file), now, self.options.debounce),
                    PathKind::Folder if path.is_dir() => {
                        // It may have taken the place of another of that name, which is what the system watches.
                        for folder in &watched.scan_below(&path).0 {
                            self.folders.unwatch(folder);
                        }
                        // Watched first and looked at afterwards, until nothing new comes up: nothing falls in between.
                        let files = loop {
                            let (folders, files) = watched.scan_below(&path);
                            if self.folders.watch(folders) == 0 {
                                break files;
                            }
                        };
                        for file in files {
                            self.pending.add((store, file), now, self.options.debounce);
                        }
                    }
                    PathKind::Folder => self.folders.unwatch(&path),
                    PathKind::Unrelated => {}
                }
            }
        }
        if changes.lost {
            for watched in &self.stores {
                self.folders.watch(watched.list_folders());
            }
            self.queue_modified(|_| true);
        }
    }

    /// Looks whether the files of some sessions changed without our being told; some file systems never tell.
    fn queue_modified(&mut self, which: impl Fn(&FollowedSession) -> bool) {
        let now = Instant::now();
        for followed in self.sessions.values().filter(|session| which(session)) {
            let file = &followed.found.source.path;
            if Stamps::from_path(file) == followed.stamps {
                continue;
            }
            for (store, watched) in self.stores.iter().enumerate() {
                if matches!(watched.classify_path(file), PathKind::SessionFile(_)) {
                    self.pending.add((store, file.clone()), now, self.options.debounce);
                }
            }
        }
    }

    /// Reads what is new in a file.
    fn check_file(&mut self, store: usize, file: &Path, report: &mut Report<'_>) -> ControlFlow<()> {
        self.check_stopped()?;
        let stamps = Stamps::from_path(file);
        if stamps.modified_ms().is_none() {
            self.notify_observer(|| Change::Gone);
            return self.end_sessions(|session| session.found.source.path == file, true, report);
        }
        let watched = &self.stores[store];
        let agent = watched.agent;
        self.is_second_look = self.failed.remove(&(store, file.to_owned()));
        match agent.sessions_in(&watched.store, file) {
            Ok(found) => found.into_iter().try_for_each(|found| self.check_session(store, found, stamps, report)),
            Err(error) => self.note_failure(store, file, &error, report),
        }
    }

    /// A file that cannot be read may be in the middle of something, or be gone: it is looked at again, told then, and looked at
    /// now and then until it can be read.
    fn note_failure(
        &mut self,
        store: usize,
        file: &Path,
        error: &AgentError,
        report: &mut Report<'_>,
    ) -> ControlFlow<()> {
        self.failed.insert((store, file.to_owned()));
        let (now, file) = (Instant::now(), file.to_owned());
        if self.is_second_look {
            self.pending.add((store, file), now, self.options.interval);
            return self.report_trouble(Some(self.stores[store].agent.facts().id), error, report);
        }
        self.pending.add((store, file), now, self.options.debounce);
        ControlFlow::Continue(())
    }

    fn check_session(
        &mut self,
        store: usize,
        found: FoundSession,
        stamps: Stamps,
        report: &mut Report<'_>,
    ) -> ControlFlow<()> {
        let agent = self.stores[store].agent;
        self.add_project(found.project.as_deref());
        let key = (agent.facts().id, found.id.clone());
        let is_untouched = self.copies.is_untouched(&self.context, agent.facts().id, &found, stamps.size());
        let make = if is_untouched { FollowedSession::from_existing } else { FollowedSession::from_created };
        let session =
            self.sessions.entry(key.clone()).or_insert_with(|| make(agent, found.clone(), stamps, self.since));
        if !session.update(found.clone(), stamps) || is_untouched {
            return ControlFlow::Continue(());
        }
        let (root, file) = (self.stores[store].store.clone(), found.source.path.clone());
        self.notify_observer(|| Change::Session(Box::new(ListedSession { agent, store: root, found, here: false })));
        let Some(session) = self.sessions.get_mut(&key) else { return ControlFlow::Continue(()) };
        let now = (self.clock)();
        session.active_at = Some(now);
        let read = session.read_new(&|| self.queue.is_stopped());
        report(Event::Active(session.to_activity(now)))?;
        match read {
            Ok(None) => ControlFlow::Continue(()),
            Ok(Some(standing)) => report(Event::Limit(session.to_limit(standing, now))),
            Err(error) => self.note_failure(store, &file, &error, report),
        }
    }

    fn notify_observer(&mut self, change: impl FnOnce() -> Change) {
        if let Some(observer) = &mut self.options.observer {
            observer(change());
        }
    }

    fn end_inactive(&mut self, report: &mut Report<'_>) -> ControlFlow<()> {
        let now = (self.clock)();
        let quiet_since = now.plus_millis(-INACTIVE_AFTER_MS);
        let is_quiet = |session: &FollowedSession| session.active_at.is_some_and(|at| at < quiet_since);
        // One that a client has open is in use, however long it waits for its user.
        for session in self.sessions.values_mut().filter(|session| is_quiet(session)) {
            if session.found.live == Liveness::Live && is_open(&self.stores, session) {
                session.active_at = Some(now);
            }
        }
        self.end_sessions(is_quiet, false, report)
    }

    fn end_sessions(
        &mut self,
        which: impl Fn(&FollowedSession) -> bool,
        is_gone: bool,
        report: &mut Report<'_>,
    ) -> ControlFlow<()> {
        for session in self.sessions.values_mut().filter(|session| which(session)) {
            if session.active_at.take().is_some() {
                let (agent, found) = (session.agent.facts().id, &session.found);
                let (session, project) = (found.id.clone(), found.project.clone());
                report(Event::Ended { agent, session, project, is_gone })?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Says what went wrong, once.
    fn report_trouble(
        &mut self,
        agent: Option<&'static str>,
        error: &dyn std::error::Error,
        report: &mut Report<'_>,
    ) -> ControlFlow<()> {
        let message = error.to_string();
        if self.reported.insert(message.clone()) {
            report(Event::Trouble { agent, message })
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Whether a client has a session open at this moment.
fn is_open(stores: &[WatchedStore], session: &FollowedSession) -> bool {
    let file = &session.found.source.path;
    let holds = |watched: &&WatchedStore| {
        watched.agent.facts().id == session.agent.facts().id
            && matches!(watched.classify_path(file), PathKind::SessionFile(_))
    };
    let found = stores.iter().find(holds).and_then(|watched| watched.agent.sessions_in(&watched.store, file).ok());
    let is_it = |found: &FoundSession| found.id == session.found.id && found.live == Liveness::Live;
    found.is_some_and(|found| found.iter().any(is_it))
}
