//! The way back: originals instead of translations of translations.
//!
//! A session that we wrote ourselves is taken apart by its journal. It is all or nothing: if one of the sources is gone
//! or has changed, the session is carried as it stands, which is whole, too.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use carryover_agents::{Agent, Bookmark, Sink, Source, captured};
use carryover_core::transcript::{Entry, EntryKey, Fact, Header, RejectedRecord};

use crate::carry::assemble::{SourceEntry, SourceSession, client_answer, fingerprint_entry};
use crate::context::Context;
use crate::own::fingerprint::Fingerprint;
use crate::sessions::rewritten::AbandonedEntries;
use crate::write::journal::{self, Ancestor, Journal, Lineage, Origin, SourceFile, State};
use crate::write::readback::{LiveRecords, add_digest};

/// Enough of a file's beginning to notice that it is another one.
const HEAD_BYTES: u64 = 4_096;

/// Where entries were taken from, as the journal keeps it; a file that cannot be looked at leaves no trace.
pub(crate) fn collect_ancestors(sources: &[SourceSession]) -> Vec<Ancestor> {
    let taken_from = |path: &std::path::PathBuf| {
        let length = fs_err::metadata(path).ok()?.len();
        let (_, head) = Fingerprint::from_file(path, Some(HEAD_BYTES.min(length))).ok()?;
        Some(SourceFile { path: path.clone(), length, head })
    };
    let ancestor = |from: &SourceSession| Ancestor {
        agent: from.agent.facts().id.to_owned(),
        path: from.source.path.clone(),
        key: from.source.key.clone(),
        files: from.header.files.iter().filter_map(taken_from).collect(),
    };
    sources.iter().map(ancestor).collect()
}

/// Replaces what we wrote by what it was written from. `sources[0]` is the session itself; others are added.
pub(crate) fn restore_originals(
    agents: &[&'static dyn Agent],
    context: &Context,
    sources: &mut Vec<SourceSession>,
    taken: Vec<SourceEntry>,
    abandoned: &AbandonedEntries<'_>,
) -> Vec<SourceEntry> {
    let Some((ours, lineage)) = find_written_part(context, &sources[0]) else { return taken };
    let steps = LineageWalk::new(&lineage, ours, &taken, abandoned).into_steps(&taken);
    match fetch_originals(agents, &lineage, &steps) {
        Some((found, originals)) => {
            let first = sources.len();
            sources.extend(found);
            build_entries(taken, &lineage, &steps, &originals, first)
        }
        None => taken,
    }
}

/// The part of a session that we wrote.
#[derive(Clone, Copy)]
struct WrittenPart {
    file: u16,
    /// How many of its bytes; `None` where records have names, and the lineage tells which.
    size: Option<u64>,
}

/// The part of a session that we wrote, and where it came from.
///
/// It is the session's own file, or that of the session which it was forked from by reference; where a file holds
/// several sessions, it is the session itself.
fn find_written_part(context: &Context, from: &SourceSession) -> Option<(WrittenPart, Lineage)> {
    let header = &from.header;
    let ours = |journal: &Journal| {
        let is_itself = || (journal.target.session == header.session).then_some(0);
        let in_file = || header.files.iter().position(|file| *file == journal.session_file).or_else(is_itself);
        let file = if journal.session_key.is_some() { is_itself()? } else { in_file()? };
        let done = journal.state == State::Done && journal.target.agent == from.agent.facts().id;
        done.then_some(file)
    };
    let (file, journal) =
        journal::read_all(context).into_iter().find_map(|journal| Some((ours(&journal)?, journal)))?;
    if journal.session_key.is_some() {
        let lineage = Lineage::load(context, &journal.id).filter(|lineage| !lineage.written.is_empty())?;
        return Some((WrittenPart { file: 0, size: None }, lineage));
    }
    let left = journal.files.iter().find(|left| left.path == journal.session_file)?;
    let now = Fingerprint::from_file(header.files.get(file)?, Some(left.size)).ok()?;
    if now != (left.size, left.digest) {
        return None;
    }
    let ours = WrittenPart { file: u16::try_from(file).ok()?, size: Some(left.size) };
    Some((ours, Lineage::load(context, &journal.id)?))
}

/// One step of putting the context together.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// The entry of the session itself, by index.
    Keep(usize),
    /// The origin, by index.
    Original(usize),
}

/// Goes through the live entries of a session that we wrote.
struct LineageWalk<'a> {
    lineage: &'a Lineage,
    ours: WrittenPart,
    /// The digests of the records now, where they have names.
    now: LiveRecords,
    /// Among them what we wrote and the client wrote again.
    abandoned: &'a AbandonedEntries<'a>,
    /// Origins by the place of the record that holds them.
    at: BTreeMap<u64, Vec<usize>>,
    steps: Vec<Step>,
    /// Entries that we wrote, but not from an origin; an outline, say.
    pending: Vec<usize>,
    done: BTreeSet<usize>,
    /// The next origin, if the one before it was the last thing that came.
    next: Option<usize>,
}

impl<'a> LineageWalk<'a> {
    fn new(
        lineage: &'a Lineage,
        ours: WrittenPart,
        taken: &[SourceEntry],
        abandoned: &'a AbandonedEntries<'a>,
    ) -> Self {
        let mut now = LiveRecords::new();
        if ours.size.is_none() {
            taken.iter().filter(|taken| taken.answer.is_none()).for_each(|taken| add_digest(&mut now, &taken.entry));
        }
        let mut at: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (index, origin) in lineage.origins.iter().enumerate() {
            for offset in &origin.at {
                at.entry(*offset).or_default().push(index);
            }
        }
        let (steps, pending, done) = (Vec::new(), Vec::new(), BTreeSet::new());
        Self { lineage, ours, now, abandoned, at, steps, pending, done, next: Some(0) }
    }

    /// Whether we wrote the record at this place.
    fn is_ours(&self, key: EntryKey) -> bool {
        let EntryKey { file, offset, .. } = key;
        let is_written = match self.ours.size {
            Some(size) => offset < size,
            None => self.lineage.written.get(&offset).is_some_and(|then| self.now.get(&offset) == Some(then)),
        };
        file == self.ours.file && is_written
    }

    /// The place at which we wrote an entry, if we did: its own, or that of the first writing.
    fn written_at(&self, taken: &SourceEntry) -> Option<u64> {
        if taken.answer.is_some() {
            return None;
        }
        let own = Some(taken.entry.key).filter(|key| self.is_ours(*key));
        let first = || self.abandoned.find_first_writing(&taken.entry).filter(|key| self.is_ours(*key));
        own.or_else(first).map(|key| key.offset)
    }

    fn into_steps(mut self, taken: &[SourceEntry]) -> Vec<Step> {
        let mut ended = false;
        for (index, taken) in taken.iter().enumerate() {
            let offset = self.written_at(taken);
            let origins = offset.and_then(|offset| self.at.get(&offset).cloned());
            match origins {
                Some(origins) => origins.into_iter().for_each(|origin| self.push_original(origin)),
                None if offset.is_some() => self.pending.push(index),
                None => {
                    if !ended {
                        self.end_written();
                        ended = true;
                    }
                    self.steps.push(Step::Keep(index));
                }
            }
        }
        if !ended {
            self.end_written();
        }
        self.flush_pending();
        self.steps
    }

    fn push_original(&mut self, origin: usize) {
        if !self.done.insert(origin) {
            return;
        }
        self.fill_gap(origin);
        self.flush_pending();
        self.steps.push(Step::Original(origin));
        self.next = Some(origin + 1);
    }

    /// Puts in what was not written between two neighbours that are both alive: reasoning that only its own agent can
    /// use, or the older part that an outline stood for.
    fn fill_gap(&mut self, until: usize) {
        let Some(next) = self.next.take().filter(|next| *next < until) else { return };
        let unwritten = self.lineage.origins[next..until].iter().all(|origin| origin.at.is_empty());
        // At the very beginning, what was left out was left for an outline; if that is gone, so is the older part.
        let outlined = next > 0 || !self.pending.is_empty();
        if unwritten && outlined {
            self.pending.clear();
            self.done.extend(next..until);
            self.steps.extend((next..until).map(Step::Original));
        }
    }

    /// Ends the part that we wrote.
    fn end_written(&mut self) {
        if !self.steps.is_empty() {
            self.fill_gap(self.lineage.origins.len());
        }
        self.flush_pending();
        self.next = None;
    }

    fn flush_pending(&mut self) {
        self.steps.extend(self.pending.drain(..).map(Step::Keep));
    }
}

/// Entries by the index of their origin.
type Originals = BTreeMap<usize, Entry>;

/// Reads the originals, each of their sessions once. `None` where one of them is not what it was.
fn fetch_originals(
    agents: &[&'static dyn Agent],
    lineage: &Lineage,
    steps: &[Step],
) -> Option<(Vec<SourceSession>, Originals)> {
    let mut wanted: Vec<BTreeMap<EntryKey, Vec<usize>>> = vec![BTreeMap::new(); lineage.ancestors.len()];
    for step in steps {
        if let Step::Original(index) = step {
            let origin = &lineage.origins[*index];
            wanted[origin.from].entry(origin.key).or_default().push(*index);
        }
    }
    let mut entries = BTreeMap::new();
    let mut found = Vec::new();
    for (ancestor, wanted) in lineage.ancestors.iter().zip(wanted) {
        let (from, some) = read_ancestor(agents, ancestor, &wanted)?;
        found.push(from);
        for (key, indices) in wanted {
            for index in indices {
                let entry = some.get(&key)?;
                is_same(entry, &lineage.origins[index]).then(|| entries.insert(index, entry.clone()))?;
            }
        }
    }
    Some((found, entries))
}

/// An answer is checked by its text, which is not in the source; its call is there or it is not.
fn is_same(entry: &Entry, origin: &Origin) -> bool {
    origin.answer.is_some() || fingerprint_entry(entry) == origin.check
}

fn read_ancestor(
    agents: &[&'static dyn Agent],
    ancestor: &Ancestor,
    wanted: &BTreeMap<EntryKey, Vec<usize>>,
) -> Option<(SourceSession, BTreeMap<EntryKey, Entry>)> {
    let agent = match captured::recognise_file(&ancestor.path) {
        Some(reader) => reader,
        None => *agents.iter().find(|agent| agent.facts().id == ancestor.agent)?,
    };
    let source = Source { path: ancestor.path.clone(), key: ancestor.key.clone() };
    let mut picked = EntryPicker { header: Header::default(), wanted, entries: BTreeMap::new() };
    // A source that nothing is wanted from any more may be gone.
    if !wanted.is_empty() {
        // A file of many sessions changes with each of them; the entries themselves are compared anyway.
        (ancestor.key.is_some() || ancestor.files.iter().all(is_unchanged)).then_some(())?;
        agent.read_session(&source, &Bookmark::Start, &mut picked).ok()?;
    }
    picked.header.agent = agent.facts().id;
    Some((SourceSession { agent, source, header: picked.header }, picked.entries))
}

fn is_unchanged(file: &SourceFile) -> bool {
    let long = fs_err::metadata(&file.path).is_ok_and(|metadata| metadata.len() >= file.length);
    let head = Fingerprint::from_file(&file.path, Some(HEAD_BYTES.min(file.length)));
    long && head.is_ok_and(|(_, head)| head == file.head)
}

/// Keeps the entries that are wanted, and no others.
struct EntryPicker<'a> {
    header: Header,
    wanted: &'a BTreeMap<EntryKey, Vec<usize>>,
    entries: BTreeMap<EntryKey, Entry>,
}

impl Sink for EntryPicker<'_> {
    fn learn(&mut self, fact: Fact) -> ControlFlow<()> {
        self.header.learn(fact);
        ControlFlow::Continue(())
    }

    fn put(&mut self, entry: Entry) -> ControlFlow<()> {
        if self.wanted.contains_key(&entry.key) {
            self.entries.insert(entry.key, entry);
        }
        ControlFlow::Continue(())
    }

    fn retract(&mut self, from: EntryKey) -> ControlFlow<()> {
        self.entries.retain(|key, _| *key < from);
        ControlFlow::Continue(())
    }

    fn reject(&mut self, _rejected: RejectedRecord) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

fn build_entries(
    taken: Vec<SourceEntry>,
    lineage: &Lineage,
    steps: &[Step],
    originals: &Originals,
    first: usize,
) -> Vec<SourceEntry> {
    let mut own: Vec<Option<SourceEntry>> = taken.into_iter().map(Some).collect();
    let mut built = Vec::with_capacity(steps.len());
    for step in steps {
        match step {
            Step::Keep(index) => built.extend(own[*index].take()),
            Step::Original(index) => {
                let origin = &lineage.origins[*index];
                let from = first + origin.from;
                let entry = originals.get(index);
                built.extend(entry.and_then(|entry| match &origin.answer {
                    Some(text) => client_answer(entry, text, from),
                    None => Some(SourceEntry { entry: entry.clone(), from, answer: None }),
                }));
            }
        }
    }
    built
}
