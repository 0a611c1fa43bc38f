//! A transcript as people and programs read it.
//!
//! Everything in it is other people's text: renderings for people go through `plain`, JSON escapes it.

mod diff;
mod ending;
mod entries;
mod json;
mod markdown;
mod text;
mod usage;

use std::borrow::Cow;
use std::collections::BTreeSet;

use carryover_agents::{Agent, AgentError};
use carryover_core::distill::with_replacements;
use carryover_core::live::{self, LiveItem};
use carryover_core::tokens;
use carryover_core::transcript::{Body, Call, Entry, EntryKey, EntryRef, Part, Transcript};

use self::diff::DiffLine;

pub(crate) use ending::Ending;
pub(crate) use json::view_document;
pub(crate) use markdown::write_markdown;
pub(crate) use text::write_text;
pub(crate) use usage::{LimitRow, TokensRow};

/// How much of a change is shown where not everything is.
const MAX_DIFF_LINES: usize = 40;

/// A transcript with what is shown of it.
pub(crate) struct View {
    pub(crate) agent: &'static dyn Agent,
    pub(crate) transcript: Transcript,
    pub(crate) items: Vec<Item>,
    /// Everything is shown, long outputs too.
    pub(crate) full: bool,
    /// Only some entries are shown, and not the session that they are of.
    pub(crate) is_excerpt: bool,
    /// The entries that the model would see next, shown or not.
    live: Vec<usize>,
    /// How it ended, and where it was carried from and to.
    pub(crate) ending: Ending,
}

/// One thing that is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Item {
    /// The entry at this index, and whether the model would see it next.
    Entry { index: usize, live: bool },
    /// The client's answer to the call at this index, which never got an outcome.
    Answer { call: usize, text: &'static str },
}

impl View {
    /// The context that the agent's model would see on its next turn.
    pub(crate) fn new_live(agent: &'static dyn Agent, mut transcript: Transcript) -> Result<Self, AgentError> {
        let order = live::context_order(&transcript);
        for index in &order {
            reload_entry(agent, &mut transcript, *index)?;
        }
        let items = live::close_calls(&transcript, &order).into_iter().map(|alive| match alive {
            LiveItem::Entry(index) => Item::Entry { index, live: true },
            LiveItem::Answer { call, text } => Item::Answer { call, text },
        });
        Ok(Self::new(agent, items.collect(), transcript, false))
    }

    /// Everything that the store holds, in its order. The transcript must have been read with everything kept.
    pub(crate) fn new_full(agent: &'static dyn Agent, transcript: Transcript) -> Self {
        let alive: BTreeSet<usize> = live::resolve_context(&transcript)
            .into_iter()
            .filter_map(|alive| match alive {
                LiveItem::Entry(index) => Some(index),
                LiveItem::Answer { .. } => None,
            })
            .collect();
        let items = (0..transcript.entries.len()).map(|index| Item::Entry { index, live: alive.contains(&index) });
        Self::new(agent, items.collect(), transcript, true)
    }

    fn new(agent: &'static dyn Agent, items: Vec<Item>, transcript: Transcript, full: bool) -> Self {
        let live = items.iter().filter_map(|item| match item {
            Item::Entry { index, live: true } => Some(*index),
            _ => None,
        });
        Self { agent, live: live.collect(), items, transcript, full, is_excerpt: false, ending: Ending::default() }
    }

    /// Leaves out all but some entries.
    pub(crate) fn keep_entries(&mut self, entries: &[EntryRef]) {
        let Self { items, transcript, .. } = self;
        let is_named = |index: usize| entries.iter().any(|entry| entry.points_to(transcript.entries[index].key));
        items.retain(|item| matches!(item, Item::Entry { index, .. } if is_named(*index)));
        self.is_excerpt = true;
    }

    /// The tokens of the live context, estimated.
    pub(crate) fn count_tokens(&self) -> u64 {
        let live = self.live.iter().map(|index| &self.transcript.entries[*index].body);
        live.map(|body| tokens::estimate_bytes(body.text_len()) + count_images(body) * tokens::PER_IMAGE).sum()
    }

    /// The messages of the session that the live context holds.
    fn n_live_messages(&self) -> usize {
        self.transcript.n_messages_in(&self.live)
    }

    /// What a call changes in files, as a diff; long ones are cut where not everything is shown.
    fn call_diff(&self, call: &Call) -> Vec<DiffLine> {
        let mut action = self.agent.action(call, None);
        if diff::lacks_hunks(&action) {
            // The call names parts of lines, and its outcome the lines; where it failed, there is only the call.
            let told = self.outcome_key(call).and_then(|key| self.agent.read_record(&self.transcript.header, key).ok());
            let told = told.map(|record| self.agent.action(call, Some(&record)));
            action = told.filter(|told| !diff::lacks_hunks(told)).unwrap_or(action);
        }
        let action = with_replacements(action, &call.input);
        diff::diff_lines(&action, if self.full { usize::MAX } else { MAX_DIFF_LINES })
    }

    fn outcome_key(&self, call: &Call) -> Option<EntryKey> {
        let is_its = |entry: &&Entry| matches!(&entry.body, Body::Outcome(outcome) if outcome.call == call.id);
        self.transcript.entries.iter().find(is_its).map(|entry| entry.key)
    }

    /// The call's meaning in a few words: what it did and to what.
    fn call_subject(&self, call: &Call) -> String {
        let action = self.agent.action(call, None);
        match action.subject() {
            Cow::Borrowed("") => call.input.as_str().to_owned(),
            subject => subject.into_owned(),
        }
    }
}

fn count_images(body: &Body) -> u64 {
    body.parts().iter().filter(|part| matches!(part, Part::Blob(blob) if blob.is_image())).count() as u64
}

/// Reads an entry again that was reduced to its position, or whose text was taken back.
fn reload_entry(agent: &dyn Agent, transcript: &mut Transcript, index: usize) -> Result<(), AgentError> {
    let Entry { key, body, .. } = &transcript.entries[index];
    if !matches!(body, Body::Opaque(_)) {
        return Ok(());
    }
    let key = *key;
    let whole = agent.reload_entries(&transcript.header, key)?;
    if let Some(entry) = whole.into_iter().find(|entry| entry.key == key) {
        transcript.entries[index].body = entry.body;
    }
    Ok(())
}
