//! Stores whose format has changed: sessions are there, and nothing in them is understood.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::path::PathBuf;

use carryover_agents::{Agent, Bookmark, Sink, Source};
use carryover_core::plain::{one_line, plain};
use carryover_core::transcript::{Body, Entry, EntryKey, Fact, Rejected, Transcript, WORDLESS};

use crate::sessions::list::Listing;

/// How many kinds of records are named, and how much of a name is.
const NAMED: usize = 3;
const NAME: usize = 40;

/// A store whose format has changed. Shown, it is a sentence about its agent.
pub struct Drift {
    pub agent: &'static dyn Agent,
    pub store: PathBuf,
    /// How many sessions are not understood.
    pub sessions: usize,
    /// What the newest of them holds.
    seen: String,
}

/// The stores of a listing that have drifted.
pub fn drifts(listing: &Listing) -> Vec<Drift> {
    let mut found: Vec<Drift> = Vec::new();
    for session in &listing.drifted {
        let same = |drift: &&mut Drift| {
            drift.agent.facts().id == session.agent.facts().id && drift.store == session.store.root
        };
        if let Some(drift) = found.iter_mut().find(same) {
            drift.sessions += 1;
            continue;
        }
        let seen = seen(session.agent, &session.found.source);
        found.push(Drift { agent: session.agent, store: session.store.root.clone(), sessions: 1, seen });
    }
    found
}

impl Drift {
    /// What can be done about it.
    pub fn advice(&self) -> String {
        let facts = self.agent.facts();
        let (oldest, newest) = facts.versions_seen;
        format!(
            "carryover was tried with {name} {oldest} to {newest}: look for a newer carryover; until then these sessions can \
             be resumed in {name} only, and stay as they are",
            name = facts.name
        )
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (noun, verb) = if self.sessions == 1 { ("session", "holds") } else { ("sessions", "hold") };
        let store = self.store.display().to_string();
        write!(
            out,
            "the format has changed: {} {noun} in {} {verb} nothing that carryover knows ({})",
            self.sessions,
            plain(&store),
            self.seen
        )
    }
}

/// What stands in a session that is not understood, in few words and none of its text.
fn seen(agent: &dyn Agent, source: &Source) -> String {
    let mut kinds = Kinds::default();
    if let Err(error) = agent.read(source, &Bookmark::Start, &mut kinds) {
        let cause = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
        return format!("it could not be read: {}", one_line(&cause, 120));
    }
    let named = name_kinds(&kinds.counts);
    if named.is_empty() { "no records were seen".to_owned() } else { format!("seen: {named}") }
}

/// The kinds that are met most often.
pub(crate) fn name_kinds(counts: &BTreeMap<String, usize>) -> String {
    let mut counted: Vec<(&String, &usize)> = counts.iter().collect();
    counted.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let more = counted.len().saturating_sub(NAMED);
    let mut named: Vec<String> = counted.iter().take(NAMED).map(|(kind, count)| format!("{count} × {kind}")).collect();
    if more > 0 {
        named.push(format!("{more} more kinds"));
    }
    named.join(", ")
}

/// Records that are not understood beside others that are, by their kinds.
pub(crate) fn unknown_kinds(agent: &dyn Agent, transcript: &Transcript) -> BTreeMap<String, usize> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for entry in &transcript.entries {
        if let Body::Opaque(kind) = &entry.body
            && kind != "rejected"
            && (kind == WORDLESS || agent.is_unknown(&entry.body))
        {
            *counts.entry(one_line(kind, NAME)).or_default() += 1;
        }
    }
    counts
}

pub(crate) fn name_kind(kind: &str) -> String {
    let name = one_line(kind, NAME);
    if name.is_empty() { "records that name no kind".to_owned() } else { format!("`{name}`") }
}

/// Counts the kinds of the first records.
#[derive(Default)]
struct Kinds {
    counts: BTreeMap<String, usize>,
    looked_at: usize,
}

impl Sink for Kinds {
    fn learn(&mut self, _fact: Fact) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn put(&mut self, entry: Entry) -> ControlFlow<()> {
        const ENOUGH: usize = 200;
        // What is rejected is counted by its reason.
        if let Body::Opaque(kind) = &entry.body
            && kind != "rejected"
        {
            *self.counts.entry(name_kind(kind)).or_default() += 1;
        }
        self.looked_at += 1;
        if self.looked_at < ENOUGH { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn retract(&mut self, _from: EntryKey) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn reject(&mut self, rejected: Rejected) -> ControlFlow<()> {
        *self.counts.entry(rejected.reason.to_owned()).or_default() += 1;
        ControlFlow::Continue(())
    }
}
