//! Stores whose format has changed: sessions are there, and nothing in them is understood.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::path::PathBuf;

use carryover_agents::{Agent, Bookmark, Sink, Source};
use carryover_core::plain::{one_line, strip_hidden};
use carryover_core::transcript::{Body, Entry, EntryKey, Fact, Opaque, RejectedRecord, Transcript};

use crate::sessions::list::Listing;

/// How many kinds of records are named, and how much of a name is.
const MAX_KINDS_NAMED: usize = 3;
const MAX_KIND_CHARS: usize = 40;

/// A store whose format has changed. Shown, it is a sentence about its agent.
pub struct Drift {
    pub agent: &'static dyn Agent,
    pub store: PathBuf,
    /// How many sessions are not understood.
    pub sessions: usize,
    /// The kinds of records in the newest of them.
    seen: String,
}

/// The stores of a listing that have drifted.
pub fn find_drifts(listing: &Listing) -> Vec<Drift> {
    let mut found: Vec<Drift> = Vec::new();
    for session in &listing.drifted {
        let same = |drift: &&mut Drift| {
            drift.agent.facts().id == session.agent.facts().id && drift.store == session.store.root
        };
        if let Some(drift) = found.iter_mut().find(same) {
            drift.sessions += 1;
            continue;
        }
        let seen = describe_records(session.agent, &session.found.source);
        found.push(Drift { agent: session.agent, store: session.store.root.clone(), sessions: 1, seen });
    }
    found
}

impl Drift {
    /// Advice to the user.
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
            strip_hidden(&store),
            self.seen
        )
    }
}

/// The kinds of records in a session that is not understood, in few words and none of its text.
fn describe_records(agent: &dyn Agent, source: &Source) -> String {
    let mut kinds = KindCounter::default();
    if let Err(error) = agent.read_session(source, &Bookmark::Start, &mut kinds) {
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
    let more = counted.len().saturating_sub(MAX_KINDS_NAMED);
    let mut named: Vec<String> =
        counted.iter().take(MAX_KINDS_NAMED).map(|(kind, count)| format!("{count} × {kind}")).collect();
    if more > 0 {
        named.push(format!("{more} more kinds"));
    }
    named.join(", ")
}

/// Records that are not understood beside others that are, by their kinds.
pub(crate) fn count_unknown_kinds(transcript: &Transcript) -> BTreeMap<String, usize> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for entry in &transcript.entries {
        if let Body::Opaque(opaque) = &entry.body
            && opaque.is_puzzling()
        {
            *counts.entry(one_line(opaque.name(), MAX_KIND_CHARS)).or_default() += 1;
        }
    }
    counts
}

pub(crate) fn name_kind(kind: &str) -> String {
    let name = one_line(kind, MAX_KIND_CHARS);
    if name.is_empty() { "records that name no kind".to_owned() } else { format!("`{name}`") }
}

/// Counts the kinds of the first records.
#[derive(Default)]
struct KindCounter {
    counts: BTreeMap<String, usize>,
    n_entries: usize,
}

impl Sink for KindCounter {
    fn learn(&mut self, _fact: Fact) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn put(&mut self, entry: Entry) -> ControlFlow<()> {
        const MAX_ENTRIES: usize = 200;
        // Rejected records are counted by their reason.
        if let Body::Opaque(opaque) = &entry.body
            && *opaque != Opaque::Rejected
        {
            *self.counts.entry(name_kind(opaque.name())).or_default() += 1;
        }
        self.n_entries += 1;
        if self.n_entries < MAX_ENTRIES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn retract(&mut self, _from: EntryKey) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn reject(&mut self, rejected: RejectedRecord) -> ControlFlow<()> {
        *self.counts.entry(rejected.reason.to_owned()).or_default() += 1;
        ControlFlow::Continue(())
    }
}
