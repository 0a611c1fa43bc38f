//! A session told for the distiller: the branch in force from its beginning, calls with their meaning and their end.

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;

use carryover_agents::{Agent, AgentError, Bookmark, Sink, Source};
use carryover_core::distill::{Deed, Ended, Heard, MANY_MESSAGES, Step, Story, with_replacements};
use carryover_core::live;
use carryover_core::parts::start;
use carryover_core::render::taken_over;
use carryover_core::transcript::{
    Action, Body, Call, CallId, Entry, EntryKey, Fact, Header, Origin, Outcome, Part, Rejected, Status, StepChange,
    Transcript, TranscriptBuilder, into_text, text_in,
};

use crate::kept;
use crate::listening::Listening;
use crate::session::Listed;

/// How much of an outcome a brief needs: errors stand at the end, what it is about at the beginning.
const ENOUGH: usize = 8 * 1024;

/// A session told, and its words understood on the way.
pub struct Telling {
    pub story: Story,
    pub heard: Heard,
}

/// Reads a session for a brief. Long outputs are clipped while they are read, so that a session of any size fits, and
/// words are understood on the way; what is masked in them is to be masked in the story as well.
pub fn telling(session: &Listed, redact: bool) -> Result<Telling, AgentError> {
    told(session, Reading { limit: ENOUGH, hears: Some(redact) })
}

/// Reads a session with everything in it, for renderings that hold all of it.
pub fn whole_story(session: &Listed) -> Result<Story, AgentError> {
    Ok(told(session, Reading { limit: usize::MAX, hears: None })?.story)
}

/// Reads a session that is in no listing; its words are understood where that is asked for.
pub fn of_source(agent: &'static dyn Agent, source: &Source, hears: Option<bool>) -> Result<Telling, AgentError> {
    read(agent, source, None, Reading { limit: ENOUGH, hears })
}

fn told(session: &Listed, reading: Reading) -> Result<Telling, AgentError> {
    read(session.agent, &session.found.source, session.found.title.clone(), reading)
}

/// What is made of a session that is read.
#[derive(Clone, Copy)]
struct Reading {
    /// How many bytes of an outcome are kept.
    limit: usize,
    /// Whether words are understood, and whether they are masked before.
    hears: Option<bool>,
}

fn read(
    agent: &'static dyn Agent,
    source: &Source,
    title: Option<String>,
    reading: Reading,
) -> Result<Telling, AgentError> {
    let builder = TranscriptBuilder::new(agent.facts().id).keeping_everything();
    let mut sink = Clipping {
        builder,
        agent,
        limit: reading.limit,
        hears: reading.hears.is_some(),
        messages: 0,
        asked: None,
        begun: BTreeMap::new(),
    };
    agent.read(source, &Bookmark::Start, &mut sink)?;
    let mut transcript = sink.builder.finish();
    for entry in &mut transcript.entries {
        if let (Body::Prompt(parts), Some(task)) = (&mut entry.body, sink.begun.remove(&entry.key)) {
            *parts = vec![Part::Text(task)];
        }
    }
    transcript.header.title = title.or(transcript.header.title);
    let (story, heard) = match reading.hears {
        Some(redact) => Listening::to(&mut transcript).finish(redact, || tell(agent, transcript)),
        None => (tell(agent, transcript), Heard::default()),
    };
    Ok(Telling { story, heard })
}

/// Clips what comes back from calls on its way into the transcript.
struct Clipping {
    builder: TranscriptBuilder,
    agent: &'static dyn Agent,
    /// How many bytes of an outcome are kept.
    limit: usize,
    /// Whether words are to be understood, and how many messages there are so far.
    hears: bool,
    messages: usize,
    /// The latest prompt, where it sends the agent to the file of a handoff.
    asked: Option<Asked>,
    /// Prompts that did, with what they come to.
    begun: BTreeMap<EntryKey, String>,
}

/// A prompt that sends the agent to the file of a handoff.
struct Asked {
    key: EntryKey,
    prompt: String,
    /// The latest call that opens the file: nothing else that comes back is what the user was handed.
    call: Option<CallId>,
}

impl Clipping {
    /// Puts the task of an earlier session in the place of the handoff that this one was begun with. Otherwise the next
    /// agent would be told our own words as the user's, and not what all of it is for.
    fn unfold(&mut self, entry: &mut Entry) {
        match &mut entry.body {
            Body::Prompt(parts) if entry.origin == Origin::User => {
                let text = text_in(parts);
                let is_asked = kept::names_resume(&text);
                self.asked = is_asked.then(|| Asked { key: entry.key, prompt: text.to_string(), call: None });
                if let Some(taken) = taken_over(&text) {
                    self.asked = None;
                    parts.retain(|part| !matches!(part, Part::Text(_)));
                    parts.push(Part::Text(taken.whole));
                }
            }
            Body::Call(call) => {
                if let Some(asked) = self.asked.as_mut().filter(|_| kept::names_resume(call.input.as_str())) {
                    asked.call = Some(call.id.clone());
                }
            }
            Body::Outcome(outcome) => self.begin(outcome),
            _ => {}
        }
    }

    /// What was read, where it is the handoff that the user sent the agent to.
    fn begin(&mut self, outcome: &Outcome) {
        let Some(asked) = self.asked.take_if(|asked| asked.call.as_ref() == Some(&outcome.call)) else { return };
        let Some(taken) = taken_over(&text_in(&outcome.parts)) else {
            // The tool refused, or showed a part: another call may follow.
            self.asked = Some(asked);
            return;
        };
        let Asked { key, prompt, .. } = asked;
        let task = if kept::is_pointer(&prompt) { taken.task } else { format!("{}\n\n{prompt}", taken.task) };
        self.begun.insert(key, task);
    }

    /// Starts the threads that will understand what is said, where that is much: they are slow to start.
    fn count(&mut self, entry: &Entry) {
        self.messages += usize::from(matches!(entry.body, Body::Prompt(_) | Body::Reply(_)));
        if self.messages == MANY_MESSAGES {
            start();
        }
    }
}

impl Sink for Clipping {
    fn learn(&mut self, fact: Fact) -> ControlFlow<()> {
        self.builder.learn(fact)
    }

    fn put(&mut self, _revision: u64, mut entry: Entry) -> ControlFlow<()> {
        if entry.side {
            entry.reduce();
        } else if self.hears {
            self.unfold(&mut entry);
            self.count(&entry);
        }
        if let Body::Outcome(outcome) = &mut entry.body {
            self.agent.strip(outcome);
            let text = into_text(std::mem::take(&mut outcome.parts));
            outcome.parts = vec![Part::Text(clipped(text, self.limit))];
        }
        self.builder.put(entry)
    }

    fn retract(&mut self, from: EntryKey) -> ControlFlow<()> {
        self.builder.retract(from)
    }

    fn reject(&mut self, rejected: Rejected) -> ControlFlow<()> {
        self.builder.reject(rejected)
    }
}

/// The beginning and the end of a text, with a mark between them.
fn clipped(text: String, limit: usize) -> String {
    if text.len() <= limit {
        return text;
    }
    let head = text.floor_char_boundary(limit / 4);
    let tail = text.ceil_char_boundary(text.len() - limit / 4 * 3);
    format!("{}\n[… {} bytes …]\n{}", &text[..head], tail - head, &text[tail..])
}

fn tell(agent: &dyn Agent, mut transcript: Transcript) -> Story {
    let order = live::history(&transcript);
    let mut story = Story::default();
    let mut waiting: BTreeMap<CallId, VecDeque<usize>> = BTreeMap::new();
    let mut unnamed: BTreeMap<usize, Call> = BTreeMap::new();
    for index in order {
        let entry = &mut transcript.entries[index];
        let (key, at, origin) = (entry.key, entry.at, entry.origin);
        let deed = match std::mem::replace(&mut entry.body, Body::Opaque("taken".into())) {
            Body::Prompt(parts) => Some(prompt(parts, origin)),
            Body::Reply(parts) => Some(Deed::Reply { text: into_text(parts) }),
            Body::Reasoning(reasoning) => Some(Deed::Reasoning { text: reasoning.text }),
            Body::Summary(parts) => Some(Deed::Summary { text: into_text(parts) }),
            Body::Failure(failure) => Some(Deed::Failure(*failure)),
            Body::Call(call) => {
                waiting.entry(call.id.clone()).or_default().push_back(story.steps.len());
                let action = with_replacements(agent.action(&call, None), &call.input);
                if matches!(action, Action::Step(StepChange::Add { .. })) {
                    unnamed.insert(story.steps.len(), (*call).clone());
                }
                Some(Deed::Call { tool: call.tool, action, ended: None })
            }
            Body::Outcome(outcome) => {
                let call = waiting.get_mut(&outcome.call).and_then(VecDeque::pop_front);
                if let Some(added) = call.and_then(|call| unnamed.remove(&call)) {
                    name_step(&mut story, call, named(agent, &transcript.header, &added, key, &outcome));
                }
                let text = into_text(outcome.parts);
                let end = Ended { key, at, status: outcome.status, exit_code: outcome.exit_code, text };
                end_call(&mut story, call, end);
                None
            }
            Body::Compacted(_) => {
                story.live_from = story.steps.len();
                None
            }
            Body::Rewound { .. } | Body::Note(_) | Body::Opaque(_) => None,
        };
        story.steps.extend(deed.map(|deed| Step { key, at, deed }));
    }
    story.header = transcript.header;
    story
}

fn prompt(parts: Vec<Part>, origin: Origin) -> Deed {
    let is_image = |part: &&Part| matches!(part, Part::Blob(blob) if blob.is_image());
    let images = parts.iter().filter(is_image).count();
    let text = into_text(parts);
    if origin == Origin::User { Deed::Prompt { text, images } } else { Deed::Attached { text } }
}

/// A new step of a plan as its outcome's record names it: calls that change it later use that name. No other call
/// needs its record, and reading all of them again would be dear.
fn named(agent: &dyn Agent, header: &Header, call: &Call, key: EntryKey, outcome: &Outcome) -> Option<Action> {
    if outcome.status != Status::Done {
        return None;
    }
    agent.record(header, key).ok().map(|record| agent.action(call, Some(&record)))
}

fn name_step(story: &mut Story, call: Option<usize>, named: Option<Action>) {
    if let (Some(Step { deed: Deed::Call { action, .. }, .. }), Some(named)) =
        (call.and_then(|call| story.steps.get_mut(call)), named)
    {
        *action = named;
    }
}

fn end_call(story: &mut Story, call: Option<usize>, end: Ended) {
    if let Some(Step { deed: Deed::Call { ended, .. }, .. }) = call.and_then(|call| story.steps.get_mut(call)) {
        *ended = Some(end);
    }
}
