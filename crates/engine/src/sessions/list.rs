//! Sessions of all agents, as a listing shows them.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;

use carryover_agents::{AGENTS, Agent, AgentError, FoundSession, Store, UnreadableSessions};

use crate::context::Context;
use crate::sessions::project::{ProjectMatcher, resolve_path};
use crate::sessions::word_matcher::WordMatcher;

/// A session together with whose it is.
#[derive(Clone)]
pub struct ListedSession {
    pub agent: &'static dyn Agent,
    pub store: Store,
    pub found: FoundSession,
    /// It belongs to the project that was asked about (or to a folder below or above it in the same repository).
    pub here: bool,
}

/// Which sessions to list.
#[derive(Clone, Default)]
pub struct Filter {
    pub agent: Option<&'static dyn Agent>,
    /// Only this project's; `None` lists all, this project's first.
    pub project: Option<PathBuf>,
    /// Also those of agents that the configuration leaves out.
    pub include_left_out: bool,
    /// Only those that have each of these in their id, title, project, branch, first or last prompt.
    pub words: Vec<String>,
}

/// A store, or a part of one, that could not be read, and whose it is.
pub type Failure = (&'static dyn Agent, AgentError);

/// Takes a session that was found, and says whether to go on.
pub type FoundCallback<'f> = &'f mut dyn FnMut(&ListedSession) -> ControlFlow<()>;

/// Sessions, newest first, this project's before others; and the stores that could not be read.
pub struct Listing {
    pub sessions: Vec<ListedSession>,
    pub failures: Vec<Failure>,
    /// Sessions whose format has changed, newest first, whatever project they are of: that may not be known.
    pub drifted: Vec<ListedSession>,
}

/// Lists sessions from heads, tails and indexes alone.
pub fn list_sessions(context: &Context, filter: &Filter) -> Listing {
    list_among(AGENTS, context, filter)
}

/// The same, telling each session as it is found, in no order, until it is told to stop; one that is in two stores is
/// told twice.
pub fn list_sessions_with(context: &Context, filter: &Filter, found: FoundCallback<'_>) -> Listing {
    list_among_with(AGENTS, context, filter, found)
}

/// The stores that the configuration names and that are not there, with the agents whose they would be.
pub fn missing_stores(context: &Context) -> Vec<(&'static dyn Agent, PathBuf)> {
    let configured = AGENTS.iter().flat_map(|agent| {
        let named = context.config.stores.get(agent.facts().id).into_iter().flatten();
        named.map(|store| (*agent, store.clone()))
    });
    configured.filter(|(_, store)| !store.exists()).collect()
}

/// The sessions that their clients keep from being read, by agent.
pub fn unreadable_sessions(context: &Context) -> Vec<(&'static dyn Agent, UnreadableSessions)> {
    let stores = |agent: &'static dyn Agent| agent.stores(&context.env).into_iter();
    let of_agent = |agent: &'static dyn Agent| {
        let all = stores(agent).filter_map(|store| agent.unreadable_sessions(&store));
        let all = all.reduce(|all, more| UnreadableSessions { count: all.count + more.count, ..all });
        all.map(|unreadable| (agent, unreadable))
    };
    covered_agents(context).into_iter().filter_map(of_agent).collect()
}

/// The agents that the configuration covers.
pub fn covered_agents(context: &Context) -> Vec<&'static dyn Agent> {
    let wanted = &context.config.agents;
    let covers = |agent: &&dyn Agent| wanted.is_empty() || wanted.iter().any(|id| id == agent.facts().id);
    AGENTS.iter().copied().filter(covers).collect()
}

pub(crate) fn list_among(agents: &[&'static dyn Agent], context: &Context, filter: &Filter) -> Listing {
    list_among_with(agents, context, filter, &mut |_| ControlFlow::Continue(()))
}

pub(crate) fn list_among_with(
    agents: &[&'static dyn Agent],
    context: &Context,
    filter: &Filter,
    found: FoundCallback<'_>,
) -> Listing {
    let mut finder = Finder {
        here: ProjectMatcher::new(context.project_or_cwd(filter.project.as_deref())),
        matcher: WordMatcher::new(context, filter.words.iter().map(String::as_str)),
        filter,
        found,
        listing: Listing { sessions: Vec::new(), failures: Vec::new(), drifted: Vec::new() },
    };
    // Stopped or not, what was found so far is a listing.
    let _ = finder.find_all(agents, context);
    let Finder { matcher, mut listing, .. } = finder;
    sort_sessions(&mut listing.sessions);
    drop_duplicates(&mut listing.sessions);
    listing.drifted = listing.sessions.iter().filter(|session| session.found.drifted).cloned().collect();
    listing.sessions.retain(|session| is_asked_for(session, filter, &matcher));
    listing
}

/// Puts sessions into a listing's order: this project's first, then by time.
pub(crate) fn sort_sessions(sessions: &mut [ListedSession]) {
    sessions.sort_by_key(|session| (!session.here, Reverse(session.found.updated_at)));
}

/// Collects what agents find.
struct Finder<'f> {
    here: ProjectMatcher,
    filter: &'f Filter,
    matcher: WordMatcher,
    found: FoundCallback<'f>,
    listing: Listing,
}

impl Finder<'_> {
    fn find_all(&mut self, agents: &[&'static dyn Agent], context: &Context) -> ControlFlow<()> {
        let filter = self.filter;
        let wanted = |agent: &&&'static dyn Agent| is_wanted(**agent, context, filter);
        let in_projects = |agent: &&&'static dyn Agent| agent.facts().keeps_sessions_in_projects();
        for agent in agents.iter().filter(wanted).filter(|agent| !in_projects(agent)) {
            self.find_of(*agent, context)?;
        }
        // Last, for they are found by what the others' sessions name.
        let mut there = agents.iter().filter(wanted).filter(in_projects).peekable();
        if there.peek().is_some() {
            let context = with_known_projects(agents, context, filter, &self.listing);
            there.try_for_each(|agent| self.find_of(*agent, &context))?;
        }
        ControlFlow::Continue(())
    }

    fn find_of(&mut self, agent: &'static dyn Agent, context: &Context) -> ControlFlow<()> {
        for store in agent_stores(agent, context) {
            let mut go_on = ControlFlow::Continue(());
            let result = agent.list_sessions(&store, &mut |found| {
                let here = found.project.as_deref().is_some_and(|project| self.here.matches(project));
                let session = ListedSession { agent, store: store.clone(), found, here };
                if is_asked_for(&session, self.filter, &self.matcher) {
                    go_on = (self.found)(&session);
                }
                self.listing.sessions.push(session);
                go_on
            });
            if let Err(error) = result {
                self.listing.failures.push((agent, error));
            }
            go_on?;
        }
        ControlFlow::Continue(())
    }
}

/// Whether a session is of the project and has the words that are asked for.
fn is_asked_for(session: &ListedSession, filter: &Filter, matcher: &WordMatcher) -> bool {
    // One whose project cannot be told any more may be this one's: nothing to show would be a lie.
    let may_be_here = session.here || (session.found.drifted && session.found.project.is_none());
    (filter.project.is_none() || may_be_here) && matcher.matches(&session.found)
}

/// A session that is in two stores, a backup say, counts once: the first in the listing's order is the newer.
fn drop_duplicates(sessions: &mut Vec<ListedSession>) {
    let mut seen = BTreeSet::new();
    sessions.retain(|session| seen.insert((session.agent.facts().id, session.found.id.clone())));
}

/// An agent that was named is looked at even where the configuration leaves it out.
pub(crate) fn is_wanted(agent: &dyn Agent, context: &Context, filter: &Filter) -> bool {
    let id = agent.facts().id;
    match filter.agent {
        Some(named) => named.facts().id == id,
        None if filter.include_left_out => true,
        None => context.config.agents.is_empty() || context.config.agents.iter().any(|wanted| wanted == id),
    }
}

/// The stores of an agent, one that is reached by two paths counted once.
pub(crate) fn agent_stores(agent: &dyn Agent, context: &Context) -> Vec<Store> {
    let mut seen = BTreeSet::new();
    let mut stores = agent.stores(&context.env);
    stores.retain(|store| seen.insert(resolve_path(&store.root)));
    stores
}

/// The surroundings with every project that a session names; where only one is asked about, that one is enough.
fn with_known_projects(
    agents: &[&'static dyn Agent],
    context: &Context,
    filter: &Filter,
    listing: &Listing,
) -> Context {
    let mut knowing = context.with_project(filter.project.as_deref());
    if filter.project.is_some() {
        return knowing;
    }
    let others = Filter::default();
    let names = |session: &&ListedSession| !filter.include_left_out || is_wanted(session.agent, context, &others);
    let mut projects: BTreeSet<PathBuf> =
        listing.sessions.iter().filter(names).filter_map(|session| session.found.project.clone()).collect();
    let unseen = |agent: &&&dyn Agent| !is_wanted(**agent, context, filter) && is_wanted(**agent, context, &others);
    for agent in agents.iter().filter(unseen).filter(|agent| !agent.facts().keeps_sessions_in_projects()) {
        for store in agent_stores(*agent, context) {
            // A store that cannot be listed names no projects; whoever asks for its sessions is told.
            let _ = agent.list_sessions(&store, &mut |found| {
                projects.extend(found.project);
                ControlFlow::Continue(())
            });
        }
    }
    knowing.env.projects.extend(projects);
    knowing
}
