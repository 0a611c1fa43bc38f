//! From a session to what is to be written: its live context, whole, with meanings and origins.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use carryover_agents::{Agent, AgentError, CarriedEntry, Source};
use carryover_core::live::{self, LiveItem};
use carryover_core::transcript::{
    Action, Body, Call, CallId, Entry, EntryKey, Header, Opaque, Origin, Outcome, Part, Status, Transcript,
};

use crate::context::Context;
use crate::own::fingerprint::Fingerprint;
use crate::sessions::lineage;
use crate::sessions::list::ListedSession;
use crate::sessions::read;
use crate::sessions::rewritten::AbandonedEntries;
use crate::sessions::unread::Unread;
use crate::write::journal;

/// An answer that the client would give has no record; this far behind its call it meets nothing else.
const ANSWER_PART: u16 = 1_000;
/// Sources that are mixed keep their files apart by this much.
const FILES_PER_SOURCE: u16 = 256;

/// A session that entries are taken from.
pub(crate) struct SourceSession {
    pub(crate) agent: &'static dyn Agent,
    pub(crate) source: Source,
    pub(crate) header: Header,
}

/// An entry, and where it was taken from.
#[derive(Debug, Clone)]
pub(crate) struct SourceEntry {
    pub(crate) entry: Entry,
    /// Index of its source.
    pub(crate) from: usize,
    /// Set where it is what the client would have answered; its key is then that of its call.
    pub(crate) answer: Option<String>,
}

/// A session, ready to be fitted; what is left of it is then to be completed.
pub(crate) struct AssembledSession {
    pub(crate) header: Header,
    pub(crate) carried: Vec<CarriedEntry>,
    /// Where each of `carried` came from.
    pub(crate) origins: Vec<journal::Origin>,
    pub(crate) sources: Vec<SourceSession>,
    pub(crate) n_messages: usize,
    /// The most tokens that the session's model was given at once, as its client counted them.
    pub(crate) largest_input: u64,
    pub(crate) unread: Unread,
}

/// Reads a session and takes its live context apart, originals instead of translations where there are any.
pub(crate) fn assemble_session(
    agents: &[&'static dyn Agent],
    context: &Context,
    session: &ListedSession,
) -> Result<AssembledSession, AgentError> {
    let mut transcript = read::full_transcript(session, false)?;
    let n_messages = transcript.n_messages();
    let unread = Unread::from_transcript(&transcript);
    let inputs = transcript.entries.iter().filter(|entry| !entry.side).filter_map(Entry::usage);
    let largest_input = inputs.map(|usage| usage.tokens.input).max().unwrap_or(0);
    let taken = live_entries(session.agent, &mut transcript)?;
    let header = transcript.header.clone();
    let mut sources = vec![SourceSession {
        agent: session.agent,
        source: session.found.source.clone(),
        header: std::mem::take(&mut transcript.header),
    }];
    let abandoned = AbandonedEntries::from_rest(&transcript.entries);
    let taken = drop_unpaired(lineage::restore_originals(agents, context, &mut sources, taken, &abandoned));
    let origins = taken.iter().map(journal_origin).collect();
    let carried = carry_entries(taken, &sources);
    Ok(AssembledSession { header, carried, origins, sources, n_messages, largest_input, unread })
}

/// The live context, with what had been reduced loaded again.
fn live_entries(agent: &dyn Agent, transcript: &mut Transcript) -> Result<Vec<SourceEntry>, AgentError> {
    let order = live::context_order(transcript);
    reload_reduced(agent, transcript, &order)?;
    let alive = live::close_calls(transcript, &order);
    let mut answers: Vec<SourceEntry> = Vec::new();
    for alive in alive.iter().rev() {
        if let LiveItem::Answer { call, text } = alive {
            answers.extend(client_answer(&transcript.entries[*call], text, 0));
        }
    }
    let taken = alive.iter().filter_map(|alive| match alive {
        LiveItem::Entry(index) => {
            Some(SourceEntry { entry: take_entry(&mut transcript.entries[*index]), from: 0, answer: None })
        }
        LiveItem::Answer { .. } => answers.pop(),
    });
    Ok(taken.collect())
}

/// Moves an entry out: a session may be large, and nobody needs it twice.
fn take_entry(entry: &mut Entry) -> Entry {
    let body = std::mem::replace(&mut entry.body, Body::reduced("taken"));
    Entry { body, ..entry.clone() }
}

fn reload_reduced(agent: &dyn Agent, transcript: &mut Transcript, order: &[usize]) -> Result<(), AgentError> {
    let is_reduced = |index: &usize| matches!(transcript.entries[*index].body, Body::Opaque(Opaque::Reduced(_)));
    let reduced: BTreeMap<EntryKey, usize> =
        order.iter().copied().filter(is_reduced).map(|index| (transcript.entries[index].key, index)).collect();
    let mut done = BTreeSet::new();
    for key in reduced.keys().filter(|key| done.insert(key.record())) {
        for entry in agent.reload_entries(&transcript.header, *key)? {
            if let Some(index) = reduced.get(&entry.key) {
                transcript.entries[*index] = entry;
            }
        }
    }
    Ok(())
}

/// The outcome that the client would give to a call that has none.
pub(crate) fn client_answer(call: &Entry, text: &str, from: usize) -> Option<SourceEntry> {
    let Body::Call(asked) = &call.body else { return None };
    let parts = vec![Part::Text(text.to_owned())];
    let outcome = Outcome { call: asked.id.clone(), status: Status::Interrupted, exit_code: None, parts };
    let entry = Entry {
        key: call.key,
        at: call.at,
        origin: Origin::Agent,
        side: false,
        node: call.node,
        body: Body::Outcome(Box::new(outcome)),
    };
    Some(SourceEntry { entry, from, answer: Some(text.to_owned()) })
}

/// Leaves out calls without an outcome and outcomes without a call: no API takes them.
fn drop_unpaired(taken: Vec<SourceEntry>) -> Vec<SourceEntry> {
    let paired = live::pair_calls(taken.iter().map(|taken| &taken.entry.body));
    let single = |body: &Body| !matches!(body, Body::Call(_) | Body::Outcome(_));
    let kept = taken.into_iter().zip(paired).filter(|(taken, paired)| *paired || single(&taken.entry.body));
    kept.map(|(taken, _)| taken).collect()
}

fn journal_origin(taken: &SourceEntry) -> journal::Origin {
    journal::Origin {
        from: taken.from,
        key: taken.entry.key,
        check: fingerprint_entry(&taken.entry),
        answer: taken.answer.clone(),
        at: Vec::new(),
    }
}

/// A digest of what an entry says, by which it is known again.
pub(crate) fn fingerprint_entry(entry: &Entry) -> Fingerprint {
    let digest = Fingerprint::from_bytes(entry.body.kind().as_bytes());
    match &entry.body {
        Body::Call(call) => digest
            .extend_with(call.id.0.as_bytes())
            .extend_with(call.tool.as_bytes())
            .extend_with(call.input.as_str().as_bytes()),
        Body::Reasoning(reasoning) => digest.extend_with(reasoning.text.as_bytes()),
        body => body.parts().iter().fold(digest, |digest, part| match part {
            Part::Text(text) => digest.extend_with(text.as_bytes()),
            Part::Blob(blob) => digest.extend_with(blob.media_type.as_bytes()),
        }),
    }
}

fn carry_entries(taken: Vec<SourceEntry>, sources: &[SourceSession]) -> Vec<CarriedEntry> {
    let mut meanings = CallActions::from_entries(&taken);
    let mut carried = Vec::with_capacity(taken.len());
    for SourceEntry { mut entry, from, answer } in taken {
        let source = &sources[from];
        let action = match &entry.body {
            Body::Call(call) => meanings.find_action(source, from, call),
            _ => Action::Other,
        };
        entry.key = unique_key(entry.key, from, answer.is_some());
        carried.push(CarriedEntry { entry, agent: source.agent.facts().id, action, native: None, clipped: false });
    }
    carried
}

/// A key that no entry of another source has.
fn unique_key(key: EntryKey, from: usize, answer: bool) -> EntryKey {
    let shift = u16::try_from(from).unwrap_or(u16::MAX).saturating_mul(FILES_PER_SOURCE);
    let part = if answer { key.part.saturating_add(ANSWER_PART) } else { key.part };
    EntryKey { file: key.file.saturating_add(shift), part, ..key }
}

/// The actions of calls; for some agents, the outcome's record tells more than the call.
struct CallActions {
    /// In their order: some models give the same id to call after call.
    outcomes: BTreeMap<(usize, CallId), VecDeque<EntryKey>>,
}

impl CallActions {
    fn from_entries(taken: &[SourceEntry]) -> Self {
        let mut outcomes = BTreeMap::new();
        for taken in taken.iter().filter(|taken| taken.answer.is_none()) {
            if let Body::Outcome(outcome) = &taken.entry.body {
                outcomes
                    .entry((taken.from, outcome.call.clone()))
                    .or_insert_with(VecDeque::new)
                    .push_back(taken.entry.key);
            }
        }
        Self { outcomes }
    }

    fn find_action(&mut self, source: &SourceSession, from: usize, call: &Call) -> Action {
        let key = self.outcomes.get_mut(&(from, call.id.clone())).and_then(VecDeque::pop_front);
        let action = source.agent.action(call, None);
        // Only edits need more, and reading every record again would be dear.
        if !matches!(action, Action::Edit(_) | Action::Write { .. }) {
            return action;
        }
        match key.and_then(|key| source.agent.read_record(&source.header, key).ok()) {
            Some(record) => source.agent.action(call, Some(&record)),
            None => action,
        }
    }
}
