//! The sessions that were worked in last, found by the times of their files: for whoever cannot wait for a listing.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::SystemTime;

use carryover_agents::{Agent, Store};

use crate::context::Context;
use crate::sessions::list::{ListedSession, agent_stores, covered_agents};
use crate::sessions::project::ProjectMatcher;
use crate::watch::WatchedStore;

/// A file with sessions in it.
struct SessionFile {
    agent: &'static dyn Agent,
    store: Store,
    path: PathBuf,
    changed: SystemTime,
}

/// So many sessions at most, this project's first, newest first. Only as many files are opened; a title that a client
/// keeps in another file is not known, and what cannot be read is left out.
pub fn recent_sessions(context: &Context, agent: Option<&'static dyn Agent>, limit: usize) -> Vec<ListedSession> {
    let agents = agent.map_or_else(|| covered_agents(context), |agent| vec![agent]);
    let mut files: Vec<SessionFile> = agents.into_iter().flat_map(|agent| session_files(context, agent)).collect();
    files.sort_by_key(|file| Reverse(file.changed));
    let mut here = ProjectMatcher::new(&context.cwd);
    let (mut sessions, mut seen) = (Vec::new(), BTreeSet::new());
    for file in files.into_iter().take(limit) {
        for found in file.agent.sessions_in(&file.store, &file.path).unwrap_or_default() {
            if seen.insert((file.agent.facts().id, found.id.clone())) {
                let here = found.project.as_deref().is_some_and(|project| here.matches(project));
                sessions.push(ListedSession { agent: file.agent, store: file.store.clone(), found, here });
            }
        }
    }
    sessions.sort_by_key(|session| (!session.here, Reverse(session.found.updated_at)));
    sessions.truncate(limit);
    sessions
}

fn session_files(context: &Context, agent: &'static dyn Agent) -> Vec<SessionFile> {
    let in_store = |store: Store| {
        let files = WatchedStore::new(agent, store.clone()).session_files();
        files.into_iter().filter_map(move |path| {
            let changed = fs_err::metadata(&path).and_then(|file| file.modified()).ok()?;
            Some(SessionFile { agent, store: store.clone(), path, changed })
        })
    };
    agent_stores(agent, context).into_iter().flat_map(in_store).collect()
}
