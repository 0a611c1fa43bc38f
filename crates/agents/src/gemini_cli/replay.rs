//! Replaying a log that rewrites its past.
//!
//! The log says what the conversation is: a message is added or replaced, everything behind one is taken back, or the
//! whole is set anew. What is no longer part of it stays in the order of things, but not as context: behind a
//! compaction, behind a rewind, or as a withdrawn record that is known by its place.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use carryover_core::transcript::{Body, CallId, Entry, EntryKey, Opaque, Origin, Part, text_of};

use super::boilerplate::SUMMARY_REPLY;
use super::failure;
use super::record::Message;

/// One record in the order of things. A copy shares what it holds.
#[derive(Debug, Clone)]
struct ReplayItem {
    /// The id of a message that is part of the conversation.
    id: Option<Rc<str>>,
    entries: Rc<Vec<Entry>>,
}

impl ReplayItem {
    /// An item that is part of no conversation.
    fn without_id(entries: Vec<Entry>) -> Self {
        Self { id: None, entries: Rc::new(entries) }
    }
}

/// The conversation in the making.
#[derive(Debug, Default)]
pub(super) struct Replay {
    items: Vec<ReplayItem>,
    /// Where the messages of the conversation are.
    current: BTreeMap<Rc<str>, usize>,
    /// Whether what is gone is kept whole.
    keeps_past: bool,
    /// The conversation from before everything was set to nothing.
    emptied: Option<Box<EmptiedReplay>>,
}

/// A client that resumes a session in the minute in which it began writes its beginning into the same file once more, and
/// only then what it resumed: for a moment there is nothing, and then all of it again.
#[derive(Debug)]
struct EmptiedReplay {
    items: Vec<ReplayItem>,
    current: BTreeMap<Rc<str>, usize>,
}

impl Replay {
    pub(super) fn new(keeps_past: bool) -> Self {
        Self { keeps_past, ..Self::default() }
    }

    /// A record that is no message.
    pub(super) fn add_note(&mut self, entry: Entry) {
        let item = ReplayItem::without_id(vec![entry]);
        if let Some(emptied) = &mut self.emptied {
            emptied.items.push(item.clone());
        }
        self.items.push(item);
    }

    /// A message: new, or in the place of the one with its id.
    pub(super) fn add_message(&mut self, message: Message) {
        self.emptied = None;
        match self.current.get(message.id.as_str()).copied() {
            // Behind the last message there are notes only: it may as well stand where it was written last.
            Some(index) if self.items[index + 1..].iter().all(|item| item.id.is_none()) => {
                self.items.remove(index);
                self.push_message(message);
            }
            Some(index) => self.items[index].entries = Rc::new(message.entries),
            None => self.push_message(message),
        }
    }

    fn push_message(&mut self, message: Message) {
        let id: Rc<str> = message.id.into();
        self.current.insert(Rc::clone(&id), self.items.len());
        self.items.push(ReplayItem { id: Some(id), entries: Rc::new(message.entries) });
    }

    /// Takes back the message with an id and all behind it; one that is not known takes back everything.
    pub(super) fn rewind_to(&mut self, id: &str, line: Entry) {
        self.emptied = None;
        let from = self.current.get(id).copied().unwrap_or(0);
        let gone: BTreeSet<usize> = self.current.values().copied().filter(|index| *index >= from).collect();
        let marks = self.rewind_turns(&gone, &line, false).unwrap_or_else(|| {
            self.withdraw_all(&gone);
            vec![line]
        });
        self.items.push(ReplayItem::without_id(marks));
    }

    /// The conversation is this list from here on.
    pub(super) fn set_messages(&mut self, list: Vec<Message>, line: Entry) {
        let mut list = drop_duplicates(list);
        mark_summary(&mut list);
        self.track_restart(&list, &line);
        let places: Vec<Option<usize>> =
            list.iter().map(|message| self.current.get(message.id.as_str()).copied()).collect();
        let in_order = places.iter().flatten().is_sorted();
        let stays: BTreeSet<usize> = places.iter().flatten().copied().collect();
        let gone = self.current.values().copied().filter(|index| !stays.contains(index));
        // Messages that the client only shows are never part of such a list.
        let (gone, shown): (BTreeSet<usize>, BTreeSet<usize>) =
            gone.partition(|index| has_conversation(&self.items[*index].entries));
        let tail = gone.first().is_some_and(|first| stays.last().is_none_or(|last| last < first));
        let shortened = tail && in_order && places.iter().all(Option::is_some);
        let known = stays.iter().any(|index| has_conversation(&self.items[*index].entries));
        if !shortened && (!in_order || (!gone.is_empty() && !known)) {
            return self.start_over(list, &line);
        }
        self.withdraw_all(&shown);
        let marks = if tail { self.rewind_turns(&gone, &line, true) } else { None };
        let marks = marks.unwrap_or_else(|| {
            self.withdraw_all(&gone);
            vec![line]
        });
        self.merge_list(list, &places, marks);
    }

    /// The conversation from before everything was emptied comes back where the list has it again.
    fn track_restart(&mut self, list: &[Message], line: &Entry) {
        let mut said = list.iter().filter(|message| has_conversation(&message.entries)).peekable();
        if said.peek().is_none() {
            let emptied = self.emptied.get_or_insert_with(|| {
                Box::new(EmptiedReplay { items: self.items.clone(), current: self.current.clone() })
            });
            emptied.items.push(ReplayItem::without_id(vec![line.clone()]));
        } else if let Some(emptied) = self.emptied.take()
            && said.any(|message| emptied.current.contains_key(message.id.as_str()))
        {
            let EmptiedReplay { items, current } = *emptied;
            (self.items, self.current) = (items, current);
        }
    }

    /// A compaction, or something as thorough: nothing that was said before is still there under its name.
    fn start_over(&mut self, list: Vec<Message>, line: &Entry) {
        for item in &mut self.items {
            item.id = None;
            if !self.keeps_past {
                Rc::make_mut(&mut item.entries).iter_mut().for_each(Entry::reduce);
            }
        }
        self.current.clear();
        self.items.push(ReplayItem::without_id(vec![Entry { body: Body::Compacted(Box::default()), ..line.clone() }]));
        self.push_messages(list);
    }

    fn push_messages(&mut self, list: Vec<Message>) {
        for message in list {
            self.push_message(message);
        }
    }

    /// Takes back the last turns, if it is turns: then they stay as they are, and a mark behind them says so.
    fn rewind_turns(&mut self, gone: &BTreeSet<usize>, line: &Entry, failed: bool) -> Option<Vec<Entry>> {
        let first = self.items[*gone.first()?].entries.first()?;
        if !is_prompt(first) {
            return None;
        }
        let prompts = gone.iter().flat_map(|index| self.items[*index].entries.iter()).filter(|entry| is_prompt(entry));
        let turns = u32::try_from(prompts.count()).unwrap_or(u32::MAX);
        for index in gone {
            if let Some(id) = self.items[*index].id.take() {
                self.current.remove(&id);
            }
        }
        let rewound = Entry { body: Body::Rewound { turns }, ..line.clone() };
        if !failed {
            return Some(vec![rewound]);
        }
        let failure = Entry { body: Body::Failure(Box::new(failure::withdrawn_turn())), ..line.clone() };
        Some(vec![failure, Entry { key: EntryKey { part: 1, ..line.key }, ..rewound }])
    }

    fn withdraw_all(&mut self, gone: &BTreeSet<usize>) {
        for index in gone {
            self.withdraw_item(*index);
        }
    }

    /// Leaves of a message what it was and where.
    fn withdraw_item(&mut self, index: usize) {
        let item = &mut self.items[index];
        if let Some(id) = item.id.take() {
            self.current.remove(&id);
        }
        for entry in Rc::make_mut(&mut item.entries) {
            if !matches!(entry.body, Body::Opaque(_) | Body::Note(_) | Body::Failure(_)) {
                entry.body = Body::known(format!("withdrawn/{}", entry.body.kind()));
            }
        }
    }

    /// Brings a list together with the messages that are known already; new ones come behind those that they follow.
    fn merge_list(&mut self, list: Vec<Message>, places: &[Option<usize>], marks: Vec<Entry>) {
        let first = places.iter().flatten().next().copied();
        let final_place = places.iter().flatten().next_back().copied();
        let mut follow: BTreeMap<Option<usize>, Vec<Message>> = BTreeMap::new();
        let mut updates: BTreeMap<usize, Message> = BTreeMap::new();
        let mut behind = None;
        for (message, place) in list.into_iter().zip(places) {
            match place {
                Some(index) => {
                    behind = Some(*index);
                    updates.insert(*index, message);
                }
                None => follow.entry(behind).or_default().push(message),
            }
        }
        let tail = follow.remove(&final_place);
        let old = std::mem::take(&mut self.items);
        self.current.clear();
        for (index, mut item) in old.into_iter().enumerate() {
            if Some(index) == first {
                self.push_messages(follow.remove(&None).unwrap_or_default());
            }
            if let Some(message) = updates.remove(&index)
                && !has_same_content(&item.entries, &message.entries)
            {
                item.entries = Rc::new(message.entries);
            }
            if let Some(id) = &item.id {
                self.current.insert(Rc::clone(id), self.items.len());
            }
            self.items.push(item);
            self.push_messages(follow.remove(&Some(index)).unwrap_or_default());
        }
        self.items.push(ReplayItem::without_id(marks));
        self.push_messages(tail.unwrap_or_default());
    }

    /// The keys and kinds of the entries that a sink would hold by now.
    pub(super) fn fingerprints(&self) -> Vec<EntryFingerprint> {
        let mut again = RepeatedOutcomes::default();
        let entries = self.items.iter().flat_map(|item| item.entries.iter());
        entries.map(|entry| EntryFingerprint { key: entry.key, kind: again.kind_of(entry) }).collect()
    }

    /// The entries in their order.
    pub(super) fn finish(self) -> Vec<Entry> {
        let mut again = RepeatedOutcomes::default();
        let mut entries = Vec::new();
        // The conversation from before it was emptied is wanted no more.
        drop(self.emptied);
        for mut entry in self.items.into_iter().flat_map(|item| Rc::unwrap_or_clone(item.entries)) {
            if let Some(repeated) = again.find_repeated(&entry) {
                entry.body = Body::Opaque(repeated);
            }
            entries.push(entry);
        }
        entries
    }
}

/// An entry as far as a change of it matters: another record has another key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EntryFingerprint {
    pub key: EntryKey,
    kind: Opaque,
}

/// The client writes what a call gave back twice: with the call, and in the record that the model was sent. The calls
/// that have an outcome by now, turn by turn.
#[derive(Default)]
struct RepeatedOutcomes(Vec<BTreeSet<CallId>>);

impl RepeatedOutcomes {
    /// What is left of an outcome that is told once more.
    fn find_repeated(&mut self, entry: &Entry) -> Option<Opaque> {
        match &entry.body {
            _ if is_prompt(entry) => self.0.push(BTreeSet::new()),
            Body::Outcome(outcome) if self.0.iter().any(|turn| turn.contains(&outcome.call)) => {
                return Some(Opaque::Known("outcome/again".into()));
            }
            Body::Outcome(outcome) => match self.0.last_mut() {
                Some(turn) => drop(turn.insert(outcome.call.clone())),
                None => self.0.push(BTreeSet::from([outcome.call.clone()])),
            },
            // Outcomes that were taken back may come once more.
            Body::Rewound { turns } => self.0.truncate(self.0.len().saturating_sub(*turns as usize)),
            Body::Compacted(_) => self.0.clear(),
            _ => {}
        }
        None
    }

    /// What would be left of an entry without its text.
    fn kind_of(&mut self, entry: &Entry) -> Opaque {
        self.find_repeated(entry).unwrap_or_else(|| match &entry.body {
            Body::Opaque(opaque) => opaque.clone(),
            body => Opaque::Reduced(body.kind()),
        })
    }
}

/// The last of several messages with one id, where the first stood.
fn drop_duplicates(list: Vec<Message>) -> Vec<Message> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut kept: Vec<Message> = Vec::with_capacity(list.len());
    for message in list {
        if let Some(index) = places.get(&message.id) {
            kept[*index] = message;
        } else {
            places.insert(message.id.clone(), kept.len());
            kept.push(message);
        }
    }
    kept
}

/// A list that begins with a text and the model's fixed answer to it is what a compaction left.
fn mark_summary(list: &mut [Message]) {
    let Some(first) = list.iter().position(|message| has_conversation(&message.entries)) else { return };
    let [summary, answer, ..] = &mut list[first..] else { return };
    let acknowledged = matches!(answer.entries.as_slice(),
        [Entry { body: Body::Reply(parts), .. }] if text_of(parts) == SUMMARY_REPLY);
    let [Entry { body: Body::Prompt(parts), origin, .. }] = summary.entries.as_mut_slice() else { return };
    if acknowledged {
        *origin = Origin::Agent;
        summary.entries[0].body = Body::Summary(std::mem::take(parts));
        answer.entries[0].origin = Origin::Harness;
    }
}

fn is_prompt(entry: &Entry) -> bool {
    entry.origin == Origin::User && matches!(entry.body, Body::Prompt(_))
}

/// Whether a message holds more than the client's own words.
fn has_conversation(entries: &[Entry]) -> bool {
    let context = |body: &Body| !matches!(body, Body::Opaque(_) | Body::Note(_) | Body::Failure(_));
    entries.iter().any(|entry| entry.origin != Origin::Harness && context(&entry.body))
}

/// Whether a message that is written again says what it said before. When a client resumes, it writes everything
/// again, with less of what it shows; the first writing is then the better one.
fn has_same_content(old: &[Entry], new: &[Entry]) -> bool {
    if !has_conversation(old) && !has_conversation(new) {
        return true;
    }
    let said = |entries| <[Entry]>::iter(entries).filter_map(comparable_words);
    let before: BTreeMap<&CallId, Cow<'_, str>> = outcome_texts(old).collect();
    // The last of several outcomes of one call counts.
    let now: BTreeMap<&CallId, Cow<'_, str>> = outcome_texts(new).collect();
    said(old).eq(said(new)) && now.iter().all(|(call, text)| before.get(call) == Some(text))
}

fn outcome_texts(entries: &[Entry]) -> impl Iterator<Item = (&CallId, Cow<'_, str>)> {
    entries.iter().filter_map(|entry| match &entry.body {
        Body::Outcome(outcome) => Some((&outcome.call, join_parts(&outcome.parts))),
        _ => None,
    })
}

/// An entry's words, in a form that can be compared; reasoning is never sent, so it does not count.
fn comparable_words(entry: &Entry) -> Option<Cow<'_, str>> {
    match &entry.body {
        Body::Prompt(parts) | Body::Summary(parts) | Body::Reply(parts) => Some(join_parts(parts)),
        Body::Call(call) => Some(format!("{} {} {}", call.id.0, call.tool, call.input.to_value()).into()),
        _ => None,
    }
}

fn join_parts(parts: &[Part]) -> Cow<'_, str> {
    let mut pieces = parts.iter().map(|part| match part {
        Part::Text(text) => text.as_str(),
        Part::Blob(blob) => blob.media_type.as_str(),
    });
    let first = pieces.next().unwrap_or_default();
    pieces.fold(Cow::Borrowed(first), |joined, piece| joined + piece)
}
