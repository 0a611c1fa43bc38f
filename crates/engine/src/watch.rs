//! Watching the stores of agents: which sessions are in use, and which has run into a limit.
//!
//! Rule of this module: it reads, and sleeps until the system tells that a file changed. Nothing but the state in our
//! own folder is written, and whole stores are listed only when they are met for the first time.

mod event;
mod followed;
mod fs_watcher;
mod inbox;
mod pending;
mod place;
mod recent;
mod state;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use carryover_agents::{Agent, Found, Store};
use carryover_core::time::Timestamp;
use carryover_core::transcript::SessionId;

use self::followed::{Followed, Stamps};
use self::fs_watcher::FsWatcher;
use self::inbox::{Changes, Inbox};
use self::pending::Pending;
use self::place::{Place, Watched};
use crate::context::Context;
use crate::sessions::list;
use crate::sessions::project::resolve;

pub use event::{Activity, Event, Limit};
pub use inbox::Handle;
pub use state::State;

/// How long a file that changed is left alone.
pub const DEBOUNCE: Duration = Duration::from_secs(2);

/// How often stores are looked for and the state is written, where nobody says otherwise.
pub const INTERVAL: Duration = Duration::from_secs(30);

/// A limit that was met so long before the watcher began is still worth telling.
const MOMENTS_MS: i64 = 5 * 60 * 1000;

/// A session that has not changed for so long is no longer in use.
const QUIET_MS: i64 = 15 * 60 * 1000;

/// How to watch.
pub struct Options {
    pub agents: Vec<&'static dyn Agent>,
    pub interval: Duration,
    pub debounce: Duration,
    /// The project in which the state is kept; none where nobody reads it.
    pub state_in: Option<PathBuf>,
}

/// Takes what happens; whoever has enough answers with a break.
pub type Report<'r> = dyn FnMut(Event) -> ControlFlow<()> + 'r;

/// Tells the time.
pub type Clock = dyn Fn() -> Timestamp;

/// The one who watches.
pub struct Watcher<'c> {
    context: Context,
    options: Options,
    clock: &'c Clock,
    /// What happened before is no news.
    since: Timestamp,
    inbox: Arc<Inbox>,
    files: FsWatcher,
    stores: Vec<Watched>,
    sessions: BTreeMap<(&'static str, SessionId), Followed>,
    pending: Pending,
    /// The projects of the surroundings, to be found quickly.
    projects: BTreeSet<PathBuf>,
    /// What was said already and would be said at every interval.
    said: BTreeSet<String>,
}

impl<'c> Watcher<'c> {
    /// Begins to watch every store that is there.
    pub fn open(context: &Context, options: Options, clock: &'c Clock) -> Self {
        let inbox = Arc::new(Inbox::default());
        Self {
            context: context.clone(),
            options,
            clock,
            since: clock().plus_millis(-MOMENTS_MS),
            files: FsWatcher::open(&inbox),
            inbox,
            stores: Vec::new(),
            sessions: BTreeMap::new(),
            pending: Pending::default(),
            projects: context.env.projects.iter().cloned().collect(),
            said: BTreeSet::new(),
        }
    }

    /// By which it can be ended.
    pub fn handle(&self) -> Handle {
        Handle(Arc::clone(&self.inbox))
    }

    /// Watches until it is told to stop. Fails only where the last state cannot be written.
    pub fn run(&mut self, report: &mut Report<'_>) -> io::Result<()> {
        let mut around = Instant::now();
        loop {
            let now = Instant::now();
            if around <= now {
                around = now + self.options.interval;
                if self.look_around(report).is_break() || self.inbox.is_stopped() {
                    break;
                }
            }
            let until = self.pending.next().map_or(around, |due| due.min(around));
            let changes = self.inbox.wait(until.saturating_duration_since(Instant::now()));
            if changes.stop {
                break;
            }
            self.sort(changes);
            let due = self.pending.take(Instant::now());
            if due.into_iter().try_for_each(|(store, file)| self.check(store, &file, report)).is_break() {
                break;
            }
        }
        self.write_state()
    }

    /// What is watched and in use.
    pub fn state(&self) -> State {
        let active = self.sessions.values().filter(|session| session.active_at.is_some());
        let of =
            |session: &Followed| Some((session.found.source.path.display().to_string(), session.stamps.modified()?));
        State {
            timestamp: (self.clock)().to_string(),
            agents: self.agents(),
            active_sessions: active.filter_map(of).collect(),
        }
    }

    /// The agents with stores, in the order in which they are shown.
    fn agents(&self) -> Vec<&'static str> {
        let ids = self.options.agents.iter().map(|agent| agent.facts().id);
        ids.filter(|id| self.stores.iter().any(|watched| watched.agent.facts().id == *id)).collect()
    }

    fn write_state(&self) -> io::Result<()> {
        match &self.options.state_in {
            Some(project) => state::write(&self.context, project, &self.state()),
            None => Ok(()),
        }
    }

    /// What is done at every interval.
    fn look_around(&mut self, report: &mut Report<'_>) -> ControlFlow<()> {
        let before = self.agents();
        self.look_for_stores(report)?;
        let changed = self.files.look().into_iter().collect();
        self.sort(Changes { changed, ..Changes::default() });
        self.look_after(|session| session.active_at.is_some());
        self.end_quiet(report)?;
        if let Err(error) = self.write_state() {
            self.trouble(None, &error, report)?;
        }
        let agents = self.agents();
        if agents == before { ControlFlow::Continue(()) } else { report(Event::Watching { agents }) }
    }

    /// Finds stores that were not there before. Those that are kept with the work come last, for they are found by what
    /// the others' sessions name.
    fn look_for_stores(&mut self, report: &mut Report<'_>) -> ControlFlow<()> {
        for in_projects in [false, true] {
            let agents = self.options.agents.clone();
            for agent in agents.into_iter().filter(|agent| agent.facts().keeps_sessions_in_projects() == in_projects) {
                for store in list::stores(agent, &self.context) {
                    let store = Store { root: resolve(&store.root) };
                    let same = |known: &Watched| known.agent.facts().id == agent.facts().id && known.store == store;
                    if !self.stores.iter().any(same) {
                        self.add(Watched::new(agent, store), report)?;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Begins to watch a store, and looks at what is in it; in this order, so that nothing falls in between.
    fn add(&mut self, watched: Watched, report: &mut Report<'_>) -> ControlFlow<()> {
        self.files.watch(watched.folders());
        let agent = watched.agent;
        let mut found = Vec::new();
        let told = agent.discover(&watched.store, &mut |session| {
            found.push(session);
            if self.inbox.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        self.go_on()?;
        self.stores.push(watched);
        let store = self.stores.len() - 1;
        for session in found {
            self.know(store, session);
        }
        match told {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => self.trouble(Some(agent.facts().id), &error, report),
        }
    }

    /// Breaks off where the end was asked for: whatever is being read then is of no use any more.
    fn go_on(&self) -> ControlFlow<()> {
        if self.inbox.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn know(&mut self, store: usize, found: Found) {
        let agent = self.stores[store].agent;
        self.learn_project(found.project.as_deref());
        if found.updated_at.is_some_and(|at| at >= self.since) {
            self.pending.add((store, found.source.path.clone()), Instant::now(), Duration::ZERO);
        }
        let stamps = Stamps::of(&found.source.path);
        let key = (agent.facts().id, found.id.clone());
        self.sessions.entry(key).or_insert_with(|| Followed::known(agent, found, stamps, self.since));
    }

    fn learn_project(&mut self, project: Option<&Path>) {
        let Some(project) = project.filter(|project| !self.projects.contains(*project)) else { return };
        self.projects.insert(project.to_owned());
        self.context.env.projects.push(project.to_owned());
    }

    /// Sorts paths that changed: files with sessions are read in a moment, new folders are watched at once.
    fn sort(&mut self, changes: Changes) {
        let now = Instant::now();
        for path in changes.changed {
            for (store, watched) in self.stores.iter().enumerate() {
                match watched.place(&path) {
                    Place::Sessions(file) => self.pending.add((store, file), now, self.options.debounce),
                    Place::Folder if path.is_dir() => {
                        // It may have taken the place of another of that name, which is what the system watches.
                        for folder in &watched.below(&path).0 {
                            self.files.forget(folder);
                        }
                        // Watched first and looked at afterwards, until nothing new comes up: nothing falls in between.
                        let files = loop {
                            let (folders, files) = watched.below(&path);
                            if self.files.watch(folders) == 0 {
                                break files;
                            }
                        };
                        for file in files {
                            self.pending.add((store, file), now, self.options.debounce);
                        }
                    }
                    Place::Folder => self.files.forget(&path),
                    Place::Elsewhere => {}
                }
            }
        }
        if changes.lost {
            for watched in &self.stores {
                self.files.watch(watched.folders());
            }
            self.look_after(|_| true);
        }
    }

    /// Looks whether the files of some sessions changed without our being told; some file systems never tell.
    fn look_after(&mut self, which: impl Fn(&Followed) -> bool) {
        let now = Instant::now();
        for followed in self.sessions.values().filter(|session| which(session)) {
            let file = &followed.found.source.path;
            if Stamps::of(file) == followed.stamps {
                continue;
            }
            for (store, watched) in self.stores.iter().enumerate() {
                if matches!(watched.place(file), Place::Sessions(_)) {
                    self.pending.add((store, file.clone()), now, self.options.debounce);
                }
            }
        }
    }

    /// Reads what is new in a file.
    fn check(&mut self, store: usize, file: &Path, report: &mut Report<'_>) -> ControlFlow<()> {
        self.go_on()?;
        let stamps = Stamps::of(file);
        if stamps.modified().is_none() {
            return self.end(|session| session.found.source.path == file, report);
        }
        let watched = &self.stores[store];
        let agent = watched.agent;
        match agent.sessions_in(&watched.store, file) {
            Ok(found) => found.into_iter().try_for_each(|found| self.check_session(agent, found, stamps, report)),
            Err(error) => self.trouble(Some(agent.facts().id), &error, report),
        }
    }

    fn check_session(
        &mut self,
        agent: &'static dyn Agent,
        found: Found,
        stamps: Stamps,
        report: &mut Report<'_>,
    ) -> ControlFlow<()> {
        self.learn_project(found.project.as_deref());
        let key = (agent.facts().id, found.id.clone());
        let born = || Followed::born(agent, found.clone(), stamps, self.since);
        let session = self.sessions.entry(key).or_insert_with(born);
        if !session.update(found, stamps) {
            return ControlFlow::Continue(());
        }
        let now = (self.clock)();
        session.active_at = Some(now);
        let read = session.read(&|| self.inbox.is_stopped());
        report(Event::Active(session.activity(now)))?;
        match read {
            Ok(None) => ControlFlow::Continue(()),
            Ok(Some(standing)) => report(Event::Limit(session.limit(standing, now))),
            Err(error) => self.trouble(Some(agent.facts().id), &error, report),
        }
    }

    fn end_quiet(&mut self, report: &mut Report<'_>) -> ControlFlow<()> {
        let quiet_since = (self.clock)().plus_millis(-QUIET_MS);
        self.end(|session| session.active_at.is_some_and(|at| at < quiet_since), report)
    }

    fn end(&mut self, which: impl Fn(&Followed) -> bool, report: &mut Report<'_>) -> ControlFlow<()> {
        for session in self.sessions.values_mut().filter(|session| which(session)) {
            if session.active_at.take().is_some() {
                let (agent, found) = (session.agent.facts().id, &session.found);
                report(Event::Ended { agent, session: found.id.clone(), project: found.project.clone() })?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Says what went wrong, once.
    fn trouble(
        &mut self,
        agent: Option<&'static str>,
        error: &dyn std::error::Error,
        report: &mut Report<'_>,
    ) -> ControlFlow<()> {
        let message = error.to_string();
        if self.said.insert(message.clone()) {
            report(Event::Trouble { agent, message })
        } else {
            ControlFlow::Continue(())
        }
    }
}
