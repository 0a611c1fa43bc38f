//! The conversation that a session's object holds: turns in their order, with the places of their entries.
//!
//! A request is a record; its place is its number, for the log that holds it writes on every part of it.

use std::collections::BTreeMap;

use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Body, Entry, EntryKey, Fact, Note, Opaque, Origin, QueueChange, StartSetting, TitleRank, text_of,
};

use super::failure;
use super::session_file::SessionState;
use super::turn::{self, Said, Surroundings, time_from_millis};
use super::wire::{WireMetadata, WireRequest, WireSession, parse_leniently};

/// One record of a session: its beginning, a request, or the queue at its end.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Record {
    pub facts: Vec<Fact>,
    pub entries: Vec<Entry>,
    /// It is not what it was in any version that we know.
    pub is_rejected: bool,
}

impl Record {
    fn from_said(number: usize, length: usize, said: Vec<Said>) -> Self {
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        let entry = |(part, said): (usize, Said)| {
            let part = u16::try_from(part).unwrap_or(u16::MAX);
            let key = EntryKey { file: 0, offset: number as u64, part, length };
            Entry { key, at: said.at, origin: said.origin, side: said.side, node: None, body: said.body }
        };
        Self { entries: said.into_iter().enumerate().map(entry).collect(), ..Self::default() }
    }
}

/// The key of the first entry of a record.
pub(super) fn record_key(number: usize) -> EntryKey {
    EntryKey { file: 0, offset: number as u64, part: 0, length: 0 }
}

/// The records of a session.
pub(super) fn read_records(state: &SessionState) -> Vec<Record> {
    let mut records = vec![read_beginning(state)];
    let mut requests: Vec<Option<WireRequest>> = state.requests.iter().map(|text| parse_leniently(text)).collect();
    let summaries = collect_summaries(&requests);
    let removed: Vec<bool> = requests.iter().map(|request| request.as_ref().is_some_and(is_removed)).collect();
    let mut removed_turns = 0;
    for index in 0..requests.len() {
        let (number, length) = (index + 1, state.requests[index].len());
        let Some(request) = requests[index].take() else {
            let body = Body::Opaque(Opaque::Rejected);
            let said = Said { at: None, origin: Origin::Harness, side: false, body };
            records.push(Record { is_rejected: true, ..Record::from_said(number, length, vec![said]) });
            continue;
        };
        let mut facts = read_facts(&request);
        if !removed[index] {
            facts.push(Fact::TurnOpen(failure::is_open(&request)));
        }
        let next = requests.get(number).and_then(|next| metadata(next.as_ref()));
        let next_results = next.and_then(|next| next.tool_call_results.as_ref());
        let mut said = turn::read_turn(request, &Surroundings { summaries: &summaries, next_results });
        if removed[index] {
            removed_turns += take_back(&mut said);
            if !removed.get(number).copied().unwrap_or_default() && removed_turns > 0 {
                let body = Body::Rewound { turns: std::mem::take(&mut removed_turns) };
                said.push(Said { at: None, origin: Origin::Harness, side: false, body });
            }
        }
        records.push(Record { facts, ..Record::from_said(number, length, said) });
    }
    records.push(read_queue(&state.session, state.requests.len() + 1));
    records
}

fn metadata(request: Option<&WireRequest>) -> Option<&WireMetadata> {
    request?.result.as_ref()?.metadata.as_ref()
}

/// What the session says of itself before anybody speaks.
fn read_beginning(state: &SessionState) -> Record {
    let session = &state.session;
    let at = session.creation_date.map(time_from_millis);
    let body = if state.is_known { Body::known("session") } else { Body::unknown("session") };
    let unknown = state.unknown_kinds.iter().map(|kind| Body::unknown(kind.clone()));
    let said = |body| Said { at, origin: Origin::Harness, side: false, body };
    let mut record = Record::from_said(0, 0, [body].into_iter().chain(unknown).map(said).collect());
    record.facts.extend(at.map(Fact::StartedAt));
    let titles = [(TitleRank::Generated, &session.computed_title), (TitleRank::Given, &session.custom_title)];
    for (rank, title) in titles {
        let title = title.as_deref().map(|title| one_line(title, 200)).filter(|title| !title.is_empty());
        record.facts.extend(title.map(|title| Fact::Title(rank, title)));
    }
    record
}

fn read_facts(request: &WireRequest) -> Vec<Fact> {
    let mut facts = Vec::new();
    let kept = metadata(Some(request));
    let of_round = kept.and_then(|kept| kept.tool_call_rounds.last()?.model_id.clone());
    let resolved = kept.and_then(|kept| kept.resolved_model.clone()).or(of_round);
    let chosen = request.model_id.as_deref().map(|model| model.strip_prefix("copilot/").unwrap_or(model).to_owned());
    facts.extend(resolved.or(chosen).filter(|model| !model.is_empty()).map(Fact::Model));
    let mode = request.mode_info.as_ref().and_then(|mode| mode.mode_id.clone().or(mode.kind.clone()));
    facts.extend(mode.map(|mode| Fact::StartSetting(StartSetting::PermissionMode(mode))));
    facts
}

/// The title that the words of a prompt make, where there is no other.
pub(super) fn title_from_prompt(entry: &Entry) -> Option<Fact> {
    let Body::Prompt(parts) = &entry.body else { return None };
    let title = one_line(&text_of(parts), 200);
    (entry.origin == Origin::User && !title.is_empty()).then_some(Fact::Title(TitleRank::FirstPrompt, title))
}

/// A request that the next one that is sent takes back.
fn is_removed(request: &WireRequest) -> bool {
    let removal = request.should_be_removed_on_send.as_ref();
    request.is_hidden == Some(true) || removal.is_some_and(|removal| removal.after_undo_stop.is_none())
}

/// How many turns of the user's a request that is taken back has. Without one, there is nothing that a rewind could go by,
/// and what was said in it is known by its place only.
fn take_back(said: &mut [Said]) -> u32 {
    if said.iter().any(|said| said.origin == Origin::User && matches!(said.body, Body::Prompt(_))) {
        return 1;
    }
    for said in said {
        said.body = Body::known(format!("withdrawn/{}", said.body.kind()));
    }
    0
}

/// The last summary of each turn, by the round that it reaches to: it may be one of an earlier turn.
fn collect_summaries(requests: &[Option<WireRequest>]) -> BTreeMap<String, String> {
    let told = requests.iter().filter_map(|request| metadata(request.as_ref()));
    let last = told.filter_map(|metadata| metadata.summaries.last().or(metadata.summary.as_ref()));
    last.map(|summary| (summary.tool_call_round_id.clone(), summary.text.clone())).collect()
}

/// The prompts that wait for the agent.
fn read_queue(session: &WireSession, number: usize) -> Record {
    let mut said = Vec::new();
    for pending in &session.pending_requests {
        let at: Option<Timestamp> = pending.request.timestamp.map(time_from_millis);
        let words =
            pending.request.message.as_ref().and_then(|message| message.text()).filter(|words| !words.is_empty());
        let body = words.map(|words| Body::Note(Note::Queue(QueueChange::Added(words.to_owned()))));
        said.extend(body.map(|body| Said { at, origin: Origin::User, side: false, body }));
    }
    Record::from_said(number, 0, said)
}
