//! Sessions of all agents, as a listing shows them.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;

use carryover_agents::{AGENTS, Agent, AgentError, FoundSession, Store};

use crate::context::Context;
use crate::own::cache::Cache;
use crate::sessions::project::{ProjectMatcher, resolve_path};

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
    /// Only those that have each of these in their id, title, project or branch.
    pub words: Vec<String>,
}

/// A store, or a part of one, that could not be read, and whose it is.
pub type Failure = (&'static dyn Agent, AgentError);

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

/// The stores that the configuration names and that are not there, with the agents whose they would be.
pub fn missing_stores(context: &Context) -> Vec<(&'static dyn Agent, PathBuf)> {
    let configured = AGENTS.iter().flat_map(|agent| {
        let named = context.config.stores.get(agent.facts().id).into_iter().flatten();
        named.map(|store| (*agent, store.clone()))
    });
    configured.filter(|(_, store)| !store.exists()).collect()
}

/// The agents that the configuration covers.
pub fn covered_agents(context: &Context) -> Vec<&'static dyn Agent> {
    let wanted = &context.config.agents;
    let covers = |agent: &&dyn Agent| wanted.is_empty() || wanted.iter().any(|id| id == agent.facts().id);
    AGENTS.iter().copied().filter(covers).collect()
}

pub(crate) fn list_among(agents: &[&'static dyn Agent], context: &Context, filter: &Filter) -> Listing {
    let mut here = ProjectMatcher::new(context.project_or_cwd(filter.project.as_deref()));
    let mut listing = Listing { sessions: Vec::new(), failures: Vec::new(), drifted: Vec::new() };
    let wanted = |agent: &&&'static dyn Agent| is_wanted(**agent, context, filter);
    let in_projects = |agent: &&&'static dyn Agent| agent.facts().keeps_sessions_in_projects();
    for agent in agents.iter().filter(wanted).filter(|agent| !in_projects(agent)) {
        discover_sessions(*agent, context, &mut here, &mut listing);
    }
    // Last, for they are found by what the others' sessions name.
    let mut there = agents.iter().filter(wanted).filter(in_projects).peekable();
    if there.peek().is_some() {
        let context = with_known_projects(agents, context, filter, &listing);
        there.for_each(|agent| discover_sessions(*agent, &context, &mut here, &mut listing));
    }
    listing.sessions.sort_by_key(|session| (!session.here, Reverse(session.found.updated_at)));
    drop_duplicates(&mut listing.sessions);
    listing.drifted = listing.sessions.iter().filter(|session| session.found.drifted).cloned().collect();
    if filter.project.is_some() {
        // One whose project cannot be told any more may be this one's: nothing to show would be a lie.
        listing.sessions.retain(|session| session.here || (session.found.drifted && session.found.project.is_none()));
    }
    if !filter.words.is_empty() {
        let words: Vec<String> = filter.words.iter().map(|word| word.to_lowercase()).collect();
        listing.sessions.retain(|session| has_words(&session.found, &words));
    }
    fill_messages(context, &mut listing.sessions);
    listing
}

fn has_words(found: &FoundSession, words: &[String]) -> bool {
    let project = found.project.as_ref().map(|project| project.display().to_string());
    let fields = [Some(&found.id.0), found.title.as_ref(), project.as_ref(), found.branch.as_ref()];
    let fields: Vec<String> = fields.into_iter().flatten().map(|field| field.to_lowercase()).collect();
    words.iter().all(|word| fields.iter().any(|field| field.contains(word)))
}

/// A session that is in two stores, a backup say, counts once: the first in the listing's order is the newer.
fn drop_duplicates(sessions: &mut Vec<ListedSession>) {
    let mut seen = BTreeSet::new();
    sessions.retain(|session| seen.insert((session.agent.facts().id, session.found.id.clone())));
}

/// An agent that was named is looked at even where the configuration leaves it out.
fn is_wanted(agent: &dyn Agent, context: &Context, filter: &Filter) -> bool {
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

fn discover_sessions(agent: &'static dyn Agent, context: &Context, here: &mut ProjectMatcher, listing: &mut Listing) {
    for store in agent_stores(agent, context) {
        let result = agent.list_sessions(&store, &mut |found| {
            let here = found.project.as_deref().is_some_and(|project| here.matches(project));
            listing.sessions.push(ListedSession { agent, store: store.clone(), found, here });
            ControlFlow::Continue(())
        });
        if let Err(error) = result {
            listing.failures.push((agent, error));
        }
    }
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

/// Adds what earlier full readings counted, where the file is still the same.
fn fill_messages(context: &Context, sessions: &mut [ListedSession]) {
    let mut cache = Cache::load(context);
    if cache.is_empty() {
        return;
    }
    cache.sort_messages();
    for session in sessions {
        if session.found.messages.is_none() {
            session.found.messages = cache.message_count(&session.found.source);
        }
    }
}
