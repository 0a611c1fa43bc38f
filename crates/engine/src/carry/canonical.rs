//! A session as a canonical transcript (UASF): the branch in force, whole, with what other agents need to go on in it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use carryover_agents::Agent;
use carryover_core::live::{self, Alive};
use carryover_core::render::Uasf;
use carryover_core::render::uasf::{Meaning, Queued, Told, uasf};
use carryover_core::transcript::{
    Action, Body, Call, CallId, Entry, EntryKey, Note, Origin, Status, StepChange, Transcript, text_in,
};

use super::assemble::answered;
use super::blob::{self, Losses};
use super::resume::ResumeError;
use crate::handoff::history::Queue;
use crate::handoff::refuse_unasked;
use crate::sessions::list::Listed;
use crate::sessions::read;
use crate::sessions::unread::Unread;

/// A canonical transcript, and what is not in it.
pub struct Canonical {
    pub uasf: Uasf,
    pub unread: Unread,
    pub warnings: Vec<String>,
}

/// Reads a session whole and tells it.
pub fn canonical(session: &Listed) -> Result<Canonical, ResumeError> {
    let mut transcript = read::transcript(session, true)?;
    transcript.header.title = session.found.title.clone().or(transcript.header.title);
    let unread = Unread::of_transcript(session.agent, &transcript);
    let order = order(&transcript);
    let queue = Queue::of(&transcript);
    let has_prompt = |(alive, _): &(Alive, bool)| is_prompt(&transcript, *alive);
    refuse_unasked(session, order.iter().any(has_prompt), order.is_empty(), !queue.waiting.is_empty(), &unread)?;
    let mut aside = queued(queue, &transcript);
    aside.extend(snapshots(session.agent, &transcript));
    aside.sort_by_key(|(key, _)| *key);
    let mut aside = VecDeque::from(aside);
    let mut losses = Losses::default();
    let mut meanings = meanings(session.agent, &transcript, &order);
    let mut told = Vec::with_capacity(order.len() + aside.len());
    for (alive, past) in order {
        let Some(mut entry) = entry(&transcript, alive) else { continue };
        // A note stands before the first thing that was recorded after it.
        while let Some((_, note)) = aside.pop_front_if(|(key, _)| *key < entry.key) {
            told.push(note);
        }
        blob::load(&mut entry.body, &transcript.header, &mut losses);
        let meaning = if matches!(entry.body, Body::Call(_)) { meanings.remove(&entry.key) } else { None };
        told.push(Told::Entry { entry, past, meaning });
    }
    told.extend(aside.into_iter().map(|(_, note)| note));
    let lost = losses.into_vec();
    let warnings = lost.iter().map(|loss| format!("{} {} are not in it: {}", loss.count, loss.what, loss.reason));
    Ok(Canonical { uasf: uasf(&transcript.header, told), unread, warnings: warnings.collect() })
}

/// The context in the order in which the model sees it, and between it what else happened on the branch in force; with
/// whether a compaction took it out of the context.
fn order(transcript: &Transcript) -> Vec<(Alive, bool)> {
    let live = live::resolve(transcript);
    let history = live::history(transcript);
    let is_live: BTreeSet<usize> = live.iter().filter_map(|alive| index_of(*alive)).collect();
    let places: BTreeMap<usize, usize> = history.iter().enumerate().map(|(place, index)| (*index, place)).collect();
    let is_compaction = |index: &usize| matches!(transcript.entries[*index].body, Body::Compacted(_));
    let compacted = history.iter().rposition(is_compaction).unwrap_or(0);
    let mut between = history.iter().enumerate().filter(|(_, index)| !is_live.contains(index)).peekable();
    let is_past = |place: usize, index: usize| {
        let entry = &transcript.entries[index];
        place < compacted && entry.origin != Origin::Harness && !matches!(entry.body, Body::Failure(_))
    };
    let mut order = Vec::with_capacity(history.len() + live.len());
    for alive in live {
        let place = index_of(alive).and_then(|index| places.get(&index)).copied().unwrap_or(0);
        while let Some((place, index)) = between.next_if(|(other, _)| *other < place) {
            order.push((Alive::Entry(*index), is_past(place, *index)));
        }
        order.push((alive, false));
    }
    order.extend(between.map(|(place, index)| (Alive::Entry(*index), is_past(place, *index))));
    order.retain(|(alive, _)| index_of(*alive).is_none_or(|index| !is_compaction(&index)));
    order
}

fn index_of(alive: Alive) -> Option<usize> {
    match alive {
        Alive::Entry(index) => Some(index),
        Alive::Answer { .. } => None,
    }
}

fn is_prompt(transcript: &Transcript, alive: Alive) -> bool {
    index_of(alive).is_some_and(|index| matches!(transcript.entries[index].body, Body::Prompt(_)))
}

fn entry(transcript: &Transcript, alive: Alive) -> Option<Entry> {
    match alive {
        Alive::Entry(index) => transcript.entries.get(index).cloned(),
        Alive::Answer { call, text } => answered(transcript.entries.get(call)?, text, 0).map(|taken| taken.entry),
    }
}

/// What calls mean, by their places; for some, the record of what came back tells more.
fn meanings(agent: &dyn Agent, transcript: &Transcript, order: &[(Alive, bool)]) -> BTreeMap<EntryKey, Meaning> {
    let mut waiting: BTreeMap<&CallId, VecDeque<(EntryKey, &Call)>> = BTreeMap::new();
    let mut meanings = BTreeMap::new();
    for entry in order.iter().filter_map(|(alive, _)| index_of(*alive)).map(|index| &transcript.entries[index]) {
        match &entry.body {
            Body::Call(call) => {
                waiting.entry(&call.id).or_default().push_back((entry.key, &**call));
                let action = agent.action(call, None);
                meanings.insert(entry.key, Meaning { action, fuller: None, answers: Vec::new() });
            }
            Body::Outcome(outcome) => {
                let Some((key, call)) = waiting.get_mut(&outcome.call).and_then(VecDeque::pop_front) else { continue };
                let Some(meaning) = meanings.get_mut(&key).filter(|meaning| is_told_later(&meaning.action)) else {
                    continue;
                };
                let Ok(record) = agent.record(&transcript.header, entry.key) else { continue };
                let fuller = agent.action(call, Some(&record));
                if outcome.status == Status::Done {
                    meaning.answers = agent.answers(call, &record);
                }
                meaning.fuller = Some(fuller).filter(|fuller| *fuller != meaning.action);
            }
            _ => {}
        }
    }
    meanings
}

/// Whether more may be known of it from what came back.
fn is_told_later(action: &Action) -> bool {
    matches!(
        action,
        Action::Edit(_)
            | Action::Write { .. }
            | Action::Step(StepChange::Add { .. })
            | Action::Ask(_)
            | Action::Propose { .. }
    )
}

/// Prompts that were typed ahead and are recorded nowhere else.
fn queued(queue: Queue, transcript: &Transcript) -> Vec<(EntryKey, Told)> {
    let said: BTreeSet<String> = transcript
        .entries
        .iter()
        .filter_map(|entry| match &entry.body {
            Body::Prompt(parts) if entry.origin == Origin::User && !entry.side => {
                Some(text_in(parts).trim().to_owned())
            }
            _ => None,
        })
        .collect();
    let waiting = queue.waiting.into_iter().map(|prompt| (prompt, Queued::Waiting));
    let taken = queue.taken.into_iter().map(|prompt| (prompt, Queued::Taken));
    let unsaid = waiting.chain(taken).filter(|(prompt, _)| !said.contains(prompt.text.trim()));
    unsaid.map(|(prompt, queued)| (prompt.key, Told::Queued { at: prompt.at, text: prompt.text, queued })).collect()
}

/// What the store still holds of files as they once were; each state once.
fn snapshots(agent: &dyn Agent, transcript: &Transcript) -> Vec<(EntryKey, Told)> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    let is_snapshot = |entry: &&Entry| matches!(entry.body, Body::Note(Note::Snapshot)) && !entry.side;
    for entry in transcript.entries.iter().filter(is_snapshot) {
        for state in agent.file_states(&transcript.header, entry.key) {
            if seen.insert((state.path.clone(), state.name)) {
                let (path, content) = (state.path, state.content);
                found.push((entry.key, Told::Snapshot { at: entry.at, path, content }));
            }
        }
    }
    found
}
