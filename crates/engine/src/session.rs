//! Sessions of all agents, as a listing shows them.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

use carryover_agents::{AGENTS, Agent, AgentError, Found, Store};

use crate::cache::Cache;
use crate::context::Context;
use crate::project::{Here, resolve};

/// A session together with whose it is.
#[derive(Clone)]
pub struct Listed {
    pub agent: &'static dyn Agent,
    pub store: Store,
    pub found: Found,
    /// It belongs to the project that was asked about (or to a folder below or above it in the same repository).
    pub here: bool,
}

/// Which sessions to list.
#[derive(Clone, Default)]
pub struct Filter {
    pub agent: Option<&'static dyn Agent>,
    /// Only this project's; `None` lists all, this project's first.
    pub project: Option<std::path::PathBuf>,
}

/// Sessions, newest first, this project's before others; and the stores that could not be read.
pub struct Listing {
    pub sessions: Vec<Listed>,
    pub failures: Vec<(&'static dyn Agent, AgentError)>,
}

/// Lists sessions from heads, tails and indexes alone.
pub fn list(context: &Context, filter: &Filter) -> Listing {
    list_among(AGENTS, context, filter)
}

/// The agents that the configuration covers.
pub fn covered(context: &Context) -> Vec<&'static dyn Agent> {
    let wanted = &context.config.agents;
    let covers = |agent: &&dyn Agent| wanted.is_empty() || wanted.iter().any(|id| id == agent.facts().id);
    AGENTS.iter().copied().filter(covers).collect()
}

pub(crate) fn list_among(agents: &[&'static dyn Agent], context: &Context, filter: &Filter) -> Listing {
    let mut here = Here::of(context.project(filter.project.as_deref()));
    let mut listing = Listing { sessions: Vec::new(), failures: Vec::new() };
    for agent in agents.iter().copied().filter(|agent| is_wanted(*agent, context, filter)) {
        for store in stores(agent, context) {
            discover(agent, &store, &mut here, &mut listing);
        }
    }
    if filter.project.is_some() {
        listing.sessions.retain(|session| session.here);
    }
    listing.sessions.sort_by_key(|session| (!session.here, Reverse(session.found.updated_at)));
    once_each(&mut listing.sessions);
    fill_messages(context, &mut listing.sessions);
    listing
}

/// A session that is in two stores, a backup say, counts once: the first in the listing's order is the newer.
fn once_each(sessions: &mut Vec<Listed>) {
    let mut seen = BTreeSet::new();
    sessions.retain(|session| seen.insert((session.agent.facts().id, session.found.id.clone())));
}

/// An agent that was named is looked at even where the configuration leaves it out.
fn is_wanted(agent: &dyn Agent, context: &Context, filter: &Filter) -> bool {
    let id = agent.facts().id;
    match filter.agent {
        Some(named) => named.facts().id == id,
        None => context.config.agents.is_empty() || context.config.agents.iter().any(|wanted| wanted == id),
    }
}

/// The stores of an agent, one that is reached by two paths counted once.
pub(crate) fn stores(agent: &dyn Agent, context: &Context) -> Vec<Store> {
    let mut seen = Vec::new();
    let mut stores = agent.stores(&context.env);
    stores.retain(|store| {
        let real = resolve(&store.root);
        let new = !seen.contains(&real);
        seen.push(real);
        new
    });
    stores
}

fn discover(agent: &'static dyn Agent, store: &Store, here: &mut Here, listing: &mut Listing) {
    let result = agent.discover(store, &mut |found| {
        let here = found.project.as_deref().is_some_and(|project| here.holds(project));
        listing.sessions.push(Listed { agent, store: store.clone(), found, here });
        ControlFlow::Continue(())
    });
    if let Err(error) = result {
        listing.failures.push((agent, error));
    }
}

/// Adds what earlier full readings counted, where the file is still the same.
fn fill_messages(context: &Context, sessions: &mut [Listed]) {
    let mut cache = Cache::load(context);
    if cache.is_empty() {
        return;
    }
    cache.sort_messages();
    for session in sessions {
        if session.found.messages.is_none() {
            session.found.messages = cache.messages(&session.found.source);
        }
    }
}
