//! A session as a canonical transcript (UASF): the branch in force, whole, with what other agents need to go on in it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use carryover_agents::Agent;
use carryover_core::live::{self, LiveItem};
use carryover_core::render::Uasf;
use carryover_core::render::uasf::{CallMeaning, Queued, UasfItem, write_uasf};
use carryover_core::transcript::{
    Action, Body, Call, CallId, Entry, EntryKey, Note, Origin, Status, StepChange, Transcript, text_cow,
};

use super::assemble::client_answer;
use super::blob::{self, Losses};
use super::resume::ResumeError;
use crate::handoff::history::PromptQueue;
use crate::handoff::refuse_unasked;
use crate::sessions::list::ListedSession;
use crate::sessions::read;
use crate::sessions::unread::Unread;

/// A canonical transcript, and what is not in it.
pub struct CanonicalTranscript {
    pub uasf: Uasf,
    pub unread: Unread,
    pub warnings: Vec<String>,
}

/// Reads a session whole and tells it.
pub fn build_canonical(session: &ListedSession) -> Result<CanonicalTranscript, ResumeError> {
    tell_transcript(session, read::full_transcript(session, true)?)
}

/// Tells a session that was read whole already.
pub(crate) fn tell_transcript(
    session: &ListedSession,
    mut transcript: Transcript,
) -> Result<CanonicalTranscript, ResumeError> {
    transcript.header.title = session.found.title.clone().or(transcript.header.title);
    let unread = Unread::from_transcript(&transcript);
    let order = order_entries(&transcript);
    let queue = PromptQueue::from_transcript(&transcript);
    let has_prompt = |(alive, _): &(LiveItem, bool)| is_prompt(&transcript, *alive);
    refuse_unasked(session, order.iter().any(has_prompt), order.is_empty(), !queue.waiting.is_empty(), &unread)?;
    let mut aside = queued_prompts(queue, &transcript);
    aside.extend(file_snapshots(session.agent, &transcript));
    aside.sort_by_key(|(key, _)| *key);
    let mut aside = VecDeque::from(aside);
    let mut losses = Losses::default();
    let mut meanings = collect_meanings(session.agent, &transcript, &order);
    let mut told = Vec::with_capacity(order.len() + aside.len());
    for (alive, past) in order {
        let Some(mut entry) = clone_entry(&transcript, alive) else { continue };
        // A note stands before the first thing that was recorded after it.
        while let Some((_, note)) = aside.pop_front_if(|(key, _)| *key < entry.key) {
            told.push(note);
        }
        blob::load_all(&mut entry.body, &transcript.header, &mut losses);
        let meaning = if matches!(entry.body, Body::Call(_)) { meanings.remove(&entry.key) } else { None };
        told.push(UasfItem::Entry { entry, past, meaning });
    }
    told.extend(aside.into_iter().map(|(_, note)| note));
    let lost = losses.into_vec();
    let warnings = lost.iter().map(|loss| format!("{} {} are not in it: {}", loss.count, loss.what, loss.reason));
    Ok(CanonicalTranscript { uasf: write_uasf(&transcript.header, told), unread, warnings: warnings.collect() })
}

/// The context in the order in which the model sees it, and between it what else happened on the branch in force; with
/// whether a compaction took it out of the context.
fn order_entries(transcript: &Transcript) -> Vec<(LiveItem, bool)> {
    let live = live::resolve_context(transcript);
    let history = live::full_history(transcript);
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
            order.push((LiveItem::Entry(*index), is_past(place, *index)));
        }
        order.push((alive, false));
    }
    order.extend(between.map(|(place, index)| (LiveItem::Entry(*index), is_past(place, *index))));
    order.retain(|(alive, _)| index_of(*alive).is_none_or(|index| !is_compaction(&index)));
    order
}

fn index_of(alive: LiveItem) -> Option<usize> {
    match alive {
        LiveItem::Entry(index) => Some(index),
        LiveItem::Answer { .. } => None,
    }
}

fn is_prompt(transcript: &Transcript, alive: LiveItem) -> bool {
    index_of(alive).is_some_and(|index| matches!(transcript.entries[index].body, Body::Prompt(_)))
}

fn clone_entry(transcript: &Transcript, alive: LiveItem) -> Option<Entry> {
    match alive {
        LiveItem::Entry(index) => transcript.entries.get(index).cloned(),
        LiveItem::Answer { call, text } => {
            client_answer(transcript.entries.get(call)?, text, 0).map(|taken| taken.entry)
        }
    }
}

/// The meanings of calls, by their places; for some, the record of what came back tells more.
fn collect_meanings(
    agent: &dyn Agent,
    transcript: &Transcript,
    order: &[(LiveItem, bool)],
) -> BTreeMap<EntryKey, CallMeaning> {
    let mut waiting: BTreeMap<&CallId, VecDeque<(EntryKey, &Call)>> = BTreeMap::new();
    let mut meanings = BTreeMap::new();
    for entry in order.iter().filter_map(|(alive, _)| index_of(*alive)).map(|index| &transcript.entries[index]) {
        match &entry.body {
            Body::Call(call) => {
                waiting.entry(&call.id).or_default().push_back((entry.key, &**call));
                let action = agent.action(call, None);
                meanings.insert(entry.key, CallMeaning { action, fuller_action: None, answers: Vec::new() });
            }
            Body::Outcome(outcome) => {
                let Some((key, call)) = waiting.get_mut(&outcome.call).and_then(VecDeque::pop_front) else { continue };
                let Some(meaning) = meanings.get_mut(&key).filter(|meaning| is_known_later(&meaning.action)) else {
                    continue;
                };
                let Ok(record) = agent.read_record(&transcript.header, entry.key) else { continue };
                let fuller = agent.action(call, Some(&record));
                if outcome.status == Status::Done {
                    meaning.answers = agent.answers(call, &record);
                }
                meaning.fuller_action = Some(fuller).filter(|fuller| *fuller != meaning.action);
            }
            _ => {}
        }
    }
    meanings
}

/// Whether more may be known of it from what came back.
fn is_known_later(action: &Action) -> bool {
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
fn queued_prompts(queue: PromptQueue, transcript: &Transcript) -> Vec<(EntryKey, UasfItem)> {
    let said: BTreeSet<String> = transcript
        .entries
        .iter()
        .filter_map(|entry| match &entry.body {
            Body::Prompt(parts) if entry.origin == Origin::User && !entry.side => {
                Some(text_cow(parts).trim().to_owned())
            }
            _ => None,
        })
        .collect();
    let waiting = queue.waiting.into_iter().map(|prompt| (prompt, Queued::Waiting));
    let taken = queue.taken.into_iter().map(|prompt| (prompt, Queued::Taken));
    let unsaid = waiting.chain(taken).filter(|(prompt, _)| !said.contains(prompt.text.trim()));
    unsaid.map(|(prompt, queued)| (prompt.key, UasfItem::Queued { at: prompt.at, text: prompt.text, queued })).collect()
}

/// File states that the store still holds, each once.
fn file_snapshots(agent: &dyn Agent, transcript: &Transcript) -> Vec<(EntryKey, UasfItem)> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    let is_snapshot = |entry: &&Entry| matches!(entry.body, Body::Note(Note::Snapshot)) && !entry.side;
    for entry in transcript.entries.iter().filter(is_snapshot) {
        for state in agent.file_states(&transcript.header, entry.key) {
            if seen.insert((state.path.clone(), state.name)) {
                let (path, content) = (state.path, state.content);
                found.push((entry.key, UasfItem::Snapshot { at: entry.at, path, content }));
            }
        }
    }
    found
}
