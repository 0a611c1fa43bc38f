//! Which agents are here, and in which version.

use std::path::PathBuf;

use carryover_agents::{Facts, HookPlace, HookSet, Version, hooked_agents};

use crate::client::{self, Client};
use crate::context::Context;

/// How an agent was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    Client(Client),
    /// Its own folder is there; where its program is, this shell does not know.
    Folder(PathBuf),
    Absent,
}

impl Presence {
    pub fn version(&self) -> Option<Version> {
        match self {
            Self::Client(client) => client.version,
            Self::Folder(_) | Self::Absent => None,
        }
    }

    pub fn is_present(&self) -> bool {
        *self != Self::Absent
    }
}

/// An agent, and whether it is here.
#[derive(Debug, Clone)]
pub struct Detected {
    pub facts: &'static Facts,
    pub presence: Presence,
}

/// Looks for everybody who has hooks.
pub fn detect_hooked(context: &Context) -> Vec<Detected> {
    hooked_agents().map(|facts| Detected { facts, presence: find_agent(context, facts) }).collect()
}

/// Looks for a client on the search path, else for the folders that an agent keeps in a home.
pub fn find_agent(context: &Context, facts: &'static Facts) -> Presence {
    if let Some(client) = client::find_installed_client(context, facts) {
        return Presence::Client(client);
    }
    // The folder of a file that is ours alone may be ours, too.
    let is_shared = |hooks: &&HookSet| matches!(hooks.place, HookPlace::Entries { .. });
    let hooks = facts.hooks.filter(is_shared);
    let hook_folder = hooks.and_then(|hooks| Some(hooks.place.file_path(&context.env)?.parent()?.to_owned()));
    let mut folders = if facts.keeps_sessions_in_projects() { Vec::new() } else { own_folders(context, facts) };
    folders.extend(hook_folder);
    // Everybody has a home, and some agents keep a file right in it.
    let is_its_own = |folder: &PathBuf| folder.is_dir() && *folder != context.env.home;
    folders.into_iter().find(is_its_own).map_or(Presence::Absent, Presence::Folder)
}

/// The folders that tell of an agent: its stores, where we read them. An editor's folder alone says nothing of one inside it.
fn own_folders(context: &Context, facts: &'static Facts) -> Vec<PathBuf> {
    match carryover_agents::agent_by_name(facts.id) {
        Some(agent) => agent.stores(&context.env).into_iter().map(|store| store.root).collect(),
        None => facts.store_candidates(&context.env),
    }
}
