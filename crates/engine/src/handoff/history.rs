//! A session read for the distiller: the branch in force from its beginning, calls with their meaning and their end.

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;

use carryover_agents::{Agent, AgentError, Bookmark, Sink, Source};
use carryover_core::distill::{CallEnd, CallEvent, Event, History, QueuedPrompt, Step, with_replacements};
use carryover_core::live;
use carryover_core::render::find_embedded_prompt;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Action, Answer, Body, Call, CallId, Entry, EntryKey, Fact, Header, Note, Origin, Outcome, Part, QueueChange,
    RUN_BY_HAND_PREFIX, RejectedRecord, Status, StepChange, Transcript, TranscriptBuilder, into_text, text_cow,
};

use crate::handoff::project_dir;
use crate::handoff::token_counts::reply_tokens;
use crate::sessions::drift::count_unknown_kinds;
use crate::sessions::list::ListedSession;
use crate::sessions::read::torn_record;

/// How much of an outcome a brief needs, in bytes: errors stand at the end, what it is about at the beginning.
const MAX_OUTCOME_BYTES: usize = 8 * 1024;

/// Reads a session for a brief.
pub fn read_session(session: &ListedSession) -> Result<History, AgentError> {
    read_titled(session.agent, &session.found.source, session.found.title.clone())
}

/// Reads a session that is in no listing, for a brief.
pub fn read_source(agent: &'static dyn Agent, source: &Source) -> Result<History, AgentError> {
    read_titled(agent, source, None)
}

fn read_titled(agent: &'static dyn Agent, source: &Source, title: Option<String>) -> Result<History, AgentError> {
    let builder = TranscriptBuilder::new(agent.facts().id).keeping_everything();
    let mut sink = ClippingSink { builder, agent, handoff_prompt: None, handed_tasks: BTreeMap::new() };
    let end = agent.read_session(source, &Bookmark::Start, &mut sink)?;
    let mut transcript = sink.builder.finish();
    transcript.rejected.extend(torn_record(source, &end));
    for entry in &mut transcript.entries {
        if let (Body::Prompt(parts), Some(task)) = (&mut entry.body, sink.handed_tasks.remove(&entry.key)) {
            *parts = vec![Part::Text(task)];
        }
    }
    transcript.header.title = title.or(transcript.header.title);
    Ok(build_history(agent, transcript))
}

/// Clips what comes back from calls on its way into the transcript.
struct ClippingSink {
    builder: TranscriptBuilder,
    agent: &'static dyn Agent,
    /// The latest prompt, where it sends the agent to the file of a handoff.
    handoff_prompt: Option<HandoffPrompt>,
    /// Prompts that did, with what they come to.
    handed_tasks: BTreeMap<EntryKey, String>,
}

/// A prompt that sends the agent to the file of a handoff.
struct HandoffPrompt {
    key: EntryKey,
    prompt: String,
    /// The latest call that opens the file: nothing else that comes back is what the user was handed.
    call: Option<CallId>,
}

impl ClippingSink {
    /// Puts the task of an earlier session in the place of the handoff that this one was begun with. Otherwise the next
    /// agent would be told our own words as the user's, and not what all of it is for.
    fn replace_handoff(&mut self, entry: &mut Entry) {
        match &mut entry.body {
            Body::Prompt(parts) if entry.origin == Origin::User => {
                let text = text_cow(parts);
                let is_asked = project_dir::names_resume(&text);
                self.handoff_prompt =
                    is_asked.then(|| HandoffPrompt { key: entry.key, prompt: text.to_string(), call: None });
                if let Some(taken) = find_embedded_prompt(&text) {
                    self.handoff_prompt = None;
                    parts.retain(|part| !matches!(part, Part::Text(_)));
                    parts.push(Part::Text(taken.whole));
                }
            }
            Body::Call(call) => {
                if let Some(asked) =
                    self.handoff_prompt.as_mut().filter(|_| project_dir::names_resume(call.input.as_str()))
                {
                    asked.call = Some(call.id.clone());
                }
            }
            Body::Outcome(outcome) => self.note_task(outcome),
            _ => {}
        }
    }

    /// Notes the task in what was read, where that is the handoff that the user sent the agent to.
    fn note_task(&mut self, outcome: &Outcome) {
        let Some(asked) = self.handoff_prompt.take_if(|asked| asked.call.as_ref() == Some(&outcome.call)) else {
            return;
        };
        let Some(taken) = find_embedded_prompt(&text_cow(&outcome.parts)) else {
            // The tool refused, or showed a part: another call may follow.
            self.handoff_prompt = Some(asked);
            return;
        };
        let HandoffPrompt { key, prompt, .. } = asked;
        let task = if project_dir::is_pointer(&prompt) { taken.task } else { format!("{}\n\n{prompt}", taken.task) };
        self.handed_tasks.insert(key, task);
    }
}

impl Sink for ClippingSink {
    fn learn(&mut self, fact: Fact) -> ControlFlow<()> {
        self.builder.learn(fact)
    }

    fn put(&mut self, mut entry: Entry) -> ControlFlow<()> {
        if entry.side {
            entry.reduce();
        } else {
            self.replace_handoff(&mut entry);
        }
        match &mut entry.body {
            Body::Outcome(outcome) => {
                self.agent.strip_harness_text(outcome);
                let text = into_text(std::mem::take(&mut outcome.parts));
                outcome.parts = vec![Part::Text(clip_middle(text, MAX_OUTCOME_BYTES))];
            }
            Body::Prompt(parts) if entry.origin != Origin::User => {
                let text = into_text(std::mem::take(parts));
                *parts = vec![Part::Text(clip_middle(text, MAX_OUTCOME_BYTES))];
            }
            // That the model thought is told, what it thought is not.
            Body::Reasoning(reasoning) => reasoning.text = String::new(),
            _ => {}
        }
        self.builder.put(entry)
    }

    fn retract(&mut self, from: EntryKey) -> ControlFlow<()> {
        self.builder.retract(from)
    }

    fn reject(&mut self, rejected: RejectedRecord) -> ControlFlow<()> {
        self.builder.reject(rejected)
    }
}

/// The beginning and the end of a text, with a mark between them.
fn clip_middle(text: String, limit: usize) -> String {
    if text.len() <= limit {
        return text;
    }
    let head = text.floor_char_boundary(limit / 4);
    let tail = text.ceil_char_boundary(text.len() - limit / 4 * 3);
    format!("{}\n[… {} bytes …]\n{}", &text[..head], tail - head, &text[tail..])
}

/// A history in the making.
struct HistoryBuilder<'a> {
    agent: &'a dyn Agent,
    header: &'a Header,
    history: History,
    /// Calls that have no outcome yet, by their ids, as indices of steps.
    waiting: BTreeMap<CallId, VecDeque<usize>>,
    /// Calls whose outcome's record tells more than the outcome.
    unresolved: BTreeMap<usize, Call>,
}

fn build_history(agent: &dyn Agent, mut transcript: Transcript) -> History {
    let order = live::full_history(&transcript);
    let (n_messages, reply_tokens) = (transcript.n_messages_in(&order), reply_tokens(&transcript.entries));
    let queue = PromptQueue::from_transcript(&transcript);
    let header = std::mem::take(&mut transcript.header);
    let rejected = std::mem::take(&mut transcript.rejected);
    let unknown_kinds = count_unknown_kinds(&transcript);
    let (history, waiting, untold) = (History::default(), BTreeMap::new(), BTreeMap::new());
    let mut telling = HistoryBuilder { agent, header: &header, history, waiting, unresolved: untold };
    let mut compacted = None;
    for index in order {
        let entry = &mut transcript.entries[index];
        if matches!(entry.body, Body::Compacted(_)) {
            compacted = Some(entry.key.record());
        }
        // Some compactions write the messages from before once more, which would be said twice and at another time.
        if compacted == Some(entry.key.record()) && telling.has_message(&entry.body) {
            continue;
        }
        let (key, at, origin) = (entry.key, entry.at, entry.origin);
        let body = std::mem::replace(&mut entry.body, Body::reduced("taken"));
        if let Some(event) = telling.convert_body(body, key, at, origin) {
            telling.history.steps.push(Step { key, at, event });
        }
    }
    let mut history = telling.history;
    for taken in queue.taken {
        insert_taken_prompt(&mut history, taken);
    }
    history.queued = queue.waiting.into_iter().filter(|queued| !was_prompted(&history, queued)).collect();
    history.header = header;
    history.rejected = rejected;
    history.unknown_kinds = unknown_kinds;
    (history.n_messages, history.reply_tokens) = (n_messages, reply_tokens);
    history
}

impl HistoryBuilder<'_> {
    fn convert_body(&mut self, body: Body, key: EntryKey, at: Option<Timestamp>, origin: Origin) -> Option<Event> {
        match body {
            Body::Prompt(parts) => self.convert_prompt(parts, origin, key, at),
            Body::Reply(parts) => Some(Event::Reply { text: into_text(parts) }),
            Body::Reasoning(reasoning) => Some(Event::Reasoning { text: reasoning.text }),
            Body::Summary(parts) => Some(Event::Summary { text: into_text(parts) }),
            Body::Failure(failure) => Some(Event::Failure(*failure)),
            Body::Call(call) => Some(self.begin_call(*call, origin == Origin::Harness)),
            Body::Outcome(outcome) => {
                self.end_call(*outcome, key, at);
                None
            }
            Body::Compacted(_) => {
                self.history.live_from = self.history.steps.len();
                None
            }
            Body::Rewound { .. } | Body::Note(_) | Body::Opaque(_) => None,
        }
    }

    fn convert_prompt(
        &mut self,
        parts: Vec<Part>,
        origin: Origin,
        key: EntryKey,
        at: Option<Timestamp>,
    ) -> Option<Event> {
        let is_image = |part: &&Part| matches!(part, Part::Blob(blob) if blob.is_image());
        let images = parts.iter().filter(is_image).count();
        let text = into_text(parts);
        if origin == Origin::User {
            return Some(parse_manual_run(&text).unwrap_or(Event::Prompt { text, images }));
        }
        // Text attached to a command that the user ran is its output.
        if let Some(Step { event: Event::Call(call), .. }) = self.history.steps.last_mut()
            && call.unasked
            && call.end.is_none()
        {
            call.end = Some(CallEnd { key, at, status: Status::Done, exit_code: None, text: strip_tags(&text) });
            return None;
        }
        Some(Event::Attached { text })
    }

    fn has_message(&self, body: &Body) -> bool {
        let (Body::Prompt(parts) | Body::Reply(parts)) = body else { return false };
        let again = text_cow(parts);
        let said = |event: &Event| match event {
            Event::Prompt { text, .. } | Event::Reply { text } => text.trim() == again.trim(),
            _ => false,
        };
        self.history.steps.iter().any(|step| said(&step.event))
    }

    fn begin_call(&mut self, call: Call, unasked: bool) -> Event {
        let step = self.history.steps.len();
        self.waiting.entry(call.id.clone()).or_default().push_back(step);
        let action = with_replacements(self.agent.action(&call, None), &call.input);
        if matches!(action, Action::Step(StepChange::Add { .. }) | Action::Ask(_) | Action::Propose { .. }) {
            self.unresolved.insert(step, call.clone());
        }
        Event::Call(Box::new(CallEvent {
            tool: call.tool,
            action,
            end: None,
            answers: Vec::new(),
            refusal: None,
            unasked,
        }))
    }

    fn end_call(&mut self, outcome: Outcome, key: EntryKey, at: Option<Timestamp>) {
        let Some(step) = self.waiting.get_mut(&outcome.call).and_then(VecDeque::pop_front) else { return };
        let told = self.unresolved.remove(&step).filter(|_| outcome.status == Status::Done);
        let told = told.and_then(|call| self.read_outcome(&call, key));
        let Some(Step { event: Event::Call(call), .. }) = self.history.steps.get_mut(step) else { return };
        if let Some((action, answers)) = told {
            (call.action, call.answers) = (action, answers);
        }
        if outcome.status.is_failure() {
            call.refusal = self.agent.refusal(&outcome);
        }
        let (status, exit_code) = (outcome.status, outcome.exit_code);
        call.end = Some(CallEnd { key, at, status, exit_code, text: into_text(outcome.parts) });
    }

    /// Facts in the record of an outcome: how a new step of a plan is named, what was answered. No other call
    /// needs its record, and reading all of them again would be dear.
    fn read_outcome(&self, call: &Call, key: EntryKey) -> Option<(Action, Vec<Answer>)> {
        let record = self.agent.read_record(self.header, key).ok()?;
        Some((self.agent.action(call, Some(&record)), self.agent.answers(call, &record)))
    }
}

/// A command that the user ran by hand.
fn parse_manual_run(prompt: &str) -> Option<Event> {
    let command = prompt.strip_prefix(RUN_BY_HAND_PREFIX)?.trim().to_owned();
    let action = Action::Run { command, workdir: None };
    let (tool, answers) = (RUN_BY_HAND_PREFIX.trim().to_owned(), Vec::new());
    Some(Event::Call(Box::new(CallEvent { tool, action, end: None, answers, refusal: None, unasked: true })))
}

/// A text without the tags that a client puts around an output.
fn strip_tags(text: &str) -> String {
    let is_tag = |part: &str| part.len() < 40 && part.chars().all(|c| c.is_ascii_lowercase() || matches!(c, '-' | '/'));
    let mut out = String::with_capacity(text.len());
    for (at, piece) in text.split('<').enumerate() {
        if let Some((_, rest)) = piece.split_once('>').filter(|(tag, _)| at > 0 && is_tag(tag)) {
            out.push_str(rest);
        } else {
            out.push_str(if at > 0 { "<" } else { "" });
            out.push_str(piece);
        }
    }
    out
}

/// The prompts that the user typed while the agent worked.
#[derive(Default)]
pub(crate) struct PromptQueue {
    /// Those that the agent never saw.
    pub(crate) waiting: VecDeque<QueuedPrompt>,
    pub(crate) taken: Vec<QueuedPrompt>,
}

impl PromptQueue {
    pub(crate) fn from_transcript(transcript: &Transcript) -> Self {
        let mut queue = Self::default();
        for entry in transcript.entries.iter().filter(|entry| !entry.side) {
            let Body::Note(Note::Queue(change)) = &entry.body else { continue };
            match change {
                QueueChange::Added(text) => {
                    queue.waiting.push_back(QueuedPrompt { key: entry.key, at: entry.at, text: text.clone() });
                }
                QueueChange::Taken => queue.taken.extend(queue.waiting.pop_front()),
                QueueChange::Removed(text) => {
                    let at = queue.waiting.iter().position(|queued| queued.text == *text).unwrap_or(0);
                    queue.taken.extend(queue.waiting.remove(at));
                }
                QueueChange::Cleared => queue.waiting.clear(),
            }
        }
        queue
    }
}

/// Puts a prompt that was taken from the queue where it was typed: some clients record it nowhere else.
fn insert_taken_prompt(history: &mut History, taken: QueuedPrompt) {
    if taken.text.trim().is_empty() || was_prompted(history, &taken) {
        return;
    }
    let place = history.steps.iter().position(|step| step.key > taken.key).unwrap_or(history.steps.len());
    let event = Event::Prompt { text: taken.text, images: 0 };
    history.steps.insert(place, Step { key: taken.key, at: taken.at, event });
    history.live_from += usize::from(place < history.live_from);
}

/// Whether a prompt that seems to wait was given to the agent after all.
fn was_prompted(history: &History, queued: &QueuedPrompt) -> bool {
    let later = history.steps.iter().rev().take_while(|step| step.key > queued.key);
    let same = |event: &Event| matches!(event, Event::Prompt { text, .. } if text.trim() == queued.text.trim());
    later.into_iter().any(|step| same(&step.event))
}
