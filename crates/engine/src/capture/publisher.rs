//! The line of work that publishes handoffs: at once when it is quiet, ever more seldom when a session is written to all the
//! time.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use carryover_agents::{HookEvent, agent_by_name};
use carryover_core::transcript::SessionId;

use super::{
    CaptureNote, Desk, KEEPING_DELAY, KeeperJob, error_words, is_still_there, run_guarded, session_key, session_project,
};
use crate::context::Context;
use crate::handoff::publish::{Publication, PublishError, PublishOptions, is_unpublished, publish_session};
use crate::ledger::HandoffRecord;
use crate::sessions::list::{ListedSession, agent_stores};
use crate::sessions::recent::recent_sessions;
use crate::watch::own_copies::OwnCopies;

/// The least time between two handoffs of one session that is written to all the time.
const LEAST_PAUSE: Duration = Duration::from_secs(1);
/// Publishing may take this part of the time.
const COST_SHARE: u32 = 5;
/// So many of the newest files are looked at for a project's newest session.
const RECENT_SESSIONS: usize = 40;
/// So many of a project's newest sessions are tried for one with words in it.
const MAX_CANDIDATES: usize = 5;
/// A session that was not published for so long needs no pause.
const FORGET_AFTER: Duration = Duration::from_mins(10);

pub(super) enum PublisherJob {
    Session(Box<ListedSession>),
    /// An agent told that something ended.
    Event(Box<HookEvent>),
    /// An agent starts in a project: its handoff must be the newest.
    Prepare {
        project: PathBuf,
        starting: Option<SessionId>,
        done: mpsc::Sender<()>,
    },
}

pub(super) struct Publisher {
    desk: Arc<Desk>,
    /// When each session was last published, and when it may be again.
    pauses: BTreeMap<String, Instant>,
    /// Sessions that could not be read when that was last tried.
    failed: BTreeSet<String>,
    copies: OwnCopies,
}

impl Publisher {
    pub(super) fn new(desk: Arc<Desk>) -> Self {
        Self { desk, pauses: BTreeMap::new(), failed: BTreeSet::new(), copies: OwnCopies::default() }
    }

    pub(super) fn run(&mut self) {
        let desk = Arc::clone(&self.desk);
        while let Some((key, job)) = desk.publishing.next() {
            run_guarded(&desk, "publishing", || self.do_job(key, job));
        }
    }

    fn do_job(&mut self, key: String, job: PublisherJob) {
        match job {
            PublisherJob::Session(session) => {
                let now = Instant::now();
                match self.pauses.get(&key).filter(|until| **until > now) {
                    Some(until) => self.desk.publishing.put_back(key, PublisherJob::Session(session), *until),
                    None => drop(self.publish(&session)),
                }
            }
            PublisherJob::Event(event) => {
                if let Some(session) = find_session(&(self.desk.options.make_context)(), &event) {
                    // One that waits for a quiet moment need not any more.
                    let key = session_key(&session);
                    self.desk.publishing.take_where(|waiting, _| *waiting == key);
                    self.publish(&session);
                }
            }
            PublisherJob::Prepare { project, starting, done } => {
                self.prepare(&project, starting.as_ref());
                // Nobody may wait any more.
                done.send(()).ok();
            }
        }
    }

    /// Publishes a session; whether there was something to publish.
    fn publish(&mut self, session: &ListedSession) -> bool {
        let start = Instant::now();
        let key = session_key(session);
        let has_failed = self.failed.remove(&key);
        let context = (self.desk.options.make_context)();
        let options = PublishOptions { show_command: self.desk.options.show_command };
        let result = publish_session(&context, session, &options);
        let is_published = matches!(result, Ok(Some(_)));
        match result {
            Ok(Some(publication)) => {
                self.desk.tally.count_publication(context.env.now);
                self.desk.report(CaptureNote::Published {
                    agent: session.agent.facts().id,
                    session: session.found.id.clone(),
                    project: publication.project.clone(),
                });
                self.keep_publication(&context, session, publication);
            }
            // Nothing is wanted there, or nothing is left to publish it in.
            Ok(None) | Err(PublishError::NoFolder) => {}
            Err(_) if !is_still_there(session) => {}
            // Its client may have been in the middle of something: the second time tells.
            Err(_) if !has_failed => {
                let again = PublisherJob::Session(Box::new(session.clone()));
                self.desk.publishing.put_back(key.clone(), again, Instant::now() + LEAST_PAUSE);
                self.failed.insert(key.clone());
            }
            Err(error) => self.desk.report_trouble(session.agent.facts().id, &error_words(&error)),
        }
        let now = Instant::now();
        self.pauses.retain(|_, until| *until + FORGET_AFTER > now);
        self.pauses.insert(key, now + (start.elapsed() * COST_SHARE).max(LEAST_PAUSE));
        is_published
    }

    /// Hands a handoff on to the ledger.
    fn keep_publication(&self, context: &Context, session: &ListedSession, publication: Publication) {
        let Some(project) = publication.project else { return };
        let agent = session.agent.facts().id.to_owned();
        let (session_id, at) = (session.found.id.clone(), context.env.now);
        let record = HandoffRecord { project, agent, session: session_id, at, text: publication.text };
        let due = Instant::now() + KEEPING_DELAY;
        self.desk.keeping.add(format!("handoff {}", session_key(session)), KeeperJob::Handoff(Box::new(record)), due);
    }

    /// Publishes what waits for this project, and what was never told.
    fn prepare(&mut self, project: &Path, starting: Option<&SessionId>) {
        let mut context = (self.desk.options.make_context)();
        let home = context.env.home.clone();
        let is_here = |session: &ListedSession| session_project(&home, session).as_deref() == Some(project);
        let waiting = self.desk.publishing.take_where(
            |_, job| matches!(job, PublisherJob::Session(session) if is_here(session) && starting != Some(&session.found.id)),
        );
        for (_, job) in waiting {
            if let PublisherJob::Session(session) = job {
                self.publish(&session);
            }
        }
        project.clone_into(&mut context.cwd);
        context.env.projects.push(project.to_owned());
        let mut newest = recent_sessions(&context, None, RECENT_SESSIONS);
        // What lies in the project may have come with it; only what was seen to be written there is this user's.
        newest.retain(|session| {
            let is_in_project = session.agent.facts().keeps_sessions_in_projects();
            session.here && is_here(session) && !is_in_project && starting != Some(&session.found.id)
        });
        newest.retain(|session| {
            let size = session.found.bytes;
            !self.copies.is_untouched(&context, session.agent.facts().id, &session.found, size)
        });
        // In some nothing was said; the newest with words counts.
        for session in newest.into_iter().take(MAX_CANDIDATES) {
            if !is_unpublished(&context, project, &session) || self.publish(&session) {
                break;
            }
        }
    }
}

/// The session that an event is about, by the file that the event names, else by its id in the agent's stores.
fn find_session(context: &Context, event: &HookEvent) -> Option<ListedSession> {
    let agent = agent_by_name(event.agent)?;
    let session = event.session.as_ref()?;
    let context = context.with_project(event.folder.as_deref());
    for store in agent_stores(agent, &context) {
        let found = match &event.transcript {
            Some(file) if file.starts_with(&store.root) => agent.sessions_in(&store, file).unwrap_or_default(),
            _ => Vec::new(),
        };
        if let Some(found) = found.into_iter().find(|found| found.id == *session) {
            return Some(ListedSession { agent, store, found, here: false });
        }
    }
    let recent = recent_sessions(&context, Some(agent), RECENT_SESSIONS);
    recent.into_iter().find(|listed| listed.found.id == *session)
}
