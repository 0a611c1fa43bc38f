//! The window of the model that will run: what the user's settings say, what the model's name and the table say, and
//! what has been taken already.

use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::path::Path;

use carryover_agents::{Agent, Bookmark, FoundSession, SettingsView, Sink, Store};
use carryover_core::transcript::{Entry, EntryKey, Fact, NodeId, RejectedRecord};

use super::assemble::AssembledSession;
use super::resume::client_env;
use crate::context::Context;
use crate::sessions::copies::Copies;

/// So many sessions of the target are asked which model they ran and how much it took, newest first.
const RECENT_SESSIONS: usize = 6;

/// One that can only be read from its beginning is asked up to this size.
const MAX_WHOLE_BYTES: u64 = 4 << 20;

/// The window in tokens of the model that the target would run in a project.
pub(super) fn model_window(
    context: &Context,
    target: &dyn Agent,
    store: &Store,
    project: &Path,
    assembled: &AssembledSession,
) -> u64 {
    let facts = target.facts();
    let env = client_env(context);
    let at = SettingsView { env: &env, store, project };
    let recent = recent_sessions(context, target, store);
    let model = choose_model(target, target.current_model(&at), &recent);
    if let Some(window) = target.configured_window(&at, model.as_deref()) {
        return window;
    }
    let table = facts.window(model.as_deref());
    let source = &assembled.header;
    let is_same = source.agent == facts.id || (source.model.is_some() && source.model == model);
    let carried = if is_same { assembled.largest_input } else { 0 };
    let ran_it = |found: &&FoundSession| model.is_none() || found.model == model;
    let taken = recent.iter().filter(ran_it).map(|found| largest_input(target, found)).max();
    let used = taken.unwrap_or(0).max(carried);
    if used > table { facts.proven_window(used) } else { table }
}

/// The newest sessions of a store that its own client wrote: what we wrote tells no more than we knew.
fn recent_sessions(context: &Context, target: &dyn Agent, store: &Store) -> Vec<FoundSession> {
    let mut found = Vec::new();
    // A store that cannot be listed proves nothing; whoever writes to it is told.
    let _ = target.list_sessions(store, &mut |session| {
        found.push(session);
        ControlFlow::Continue(())
    });
    let copies = Copies::load(context);
    found.retain(|session| copies.origin_of(target.facts().id, &session.id).is_none());
    found.sort_by_key(|session| Reverse(session.updated_at));
    found.truncate(RECENT_SESSIONS);
    found
}

/// The model that is set, by the name under which it was run before where the set one is short for it; else the one that
/// was run last.
fn choose_model(target: &dyn Agent, set: Option<String>, recent: &[FoundSession]) -> Option<String> {
    let known = |model: &str| target.facts().known_window(model).is_some();
    let mut ran = recent.iter().filter_map(|found| found.model.as_ref()).filter(|model| known(model));
    match set {
        Some(set) if known(&set) => Some(set),
        Some(set) => Some(ran.find(|model| model.contains(&set)).cloned().unwrap_or(set)),
        None => ran.next().cloned(),
    }
}

/// The most that the model of a session was given at once, as far as the end of its log tells.
fn largest_input(agent: &dyn Agent, found: &FoundSession) -> u64 {
    let from = agent.bookmark_near_end(&found.source).unwrap_or_default();
    if from == Bookmark::Start && found.bytes > MAX_WHOLE_BYTES {
        return 0;
    }
    let mut sink = LargestInput { tokens: 0, model: found.model.as_deref().map(NodeId::from_name) };
    // One that cannot be read proves nothing.
    let _ = agent.read_session(&found.source, &from, &mut sink);
    sink.tokens
}

/// Remembers the largest input of a model.
struct LargestInput {
    tokens: u64,
    model: Option<NodeId>,
}

impl Sink for LargestInput {
    fn wants_full_history(&self) -> bool {
        false
    }

    fn learn(&mut self, _fact: Fact) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn put(&mut self, entry: Entry) -> ControlFlow<()> {
        // A sub-agent may run another model.
        let usage = entry.usage().filter(|usage| !entry.side && (usage.model.is_none() || usage.model == self.model));
        self.tokens = self.tokens.max(usage.map_or(0, |usage| usage.tokens.input));
        ControlFlow::Continue(())
    }

    fn retract(&mut self, _from: EntryKey) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn reject(&mut self, _rejected: RejectedRecord) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
