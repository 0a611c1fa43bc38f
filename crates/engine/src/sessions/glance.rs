//! Facts about a session that a listing shows and discovery does not find: they cost reading it, and are remembered.

mod cache;

use std::ops::ControlFlow;

use carryover_agents::{Agent, AgentError, Bookmark, FoundSession, Sink};
use carryover_core::live::full_history;
use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Body, Entry, EntryKey, Fact, Origin, RejectedRecord, Transcript, TranscriptBuilder, text_cow,
};
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::own::files::Stamp;
use crate::sessions::list::ListedSession;
use crate::sessions::standing_limit::LimitTracker;

pub(crate) use self::cache::discard_glances;
pub use self::cache::{GlanceCache, remember_messages};

/// So much of a prompt is kept.
const PROMPT_CHARS: usize = 300;
/// Prompts without words, pictures say, are passed over, but not for ever: each may cost a look into the file.
const MAX_PROMPTS_TRIED: usize = 8;
/// Sessions from this size on wait until the others were read.
const READ_LATER_FROM_BYTES: u64 = 8 << 20;
/// Larger ones are not read for a listing: they would cost more than somebody waits, each time.
const MAX_LISTING_BYTES: u64 = 64 << 20;

/// In a larger one, something was said.
const MAX_SILENT_BYTES: u64 = 1 << 20;

/// A session at a glance.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Glance {
    /// As a person counts them (`Transcript::n_messages`).
    pub messages: u64,
    /// The user's first words that were not taken back, one line, clipped.
    pub first_prompt: Option<String>,
    /// The user's last words, likewise.
    pub last_prompt: Option<String>,
    /// The limit that it stopped at; none where something was said since.
    pub limit: Option<LimitStop>,
}

/// A rate or usage limit that stands at the end of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitStop {
    /// When it ends, where the client wrote that down.
    pub resets_at: Option<Timestamp>,
}

/// A glance, and in which state of its file it was taken.
#[derive(Debug, Clone)]
pub struct StampedGlance {
    pub glance: Glance,
    stamp: Option<Stamp>,
}

/// Reads a session for a glance; `None` where nobody waits for it any more.
pub fn read_glance(
    session: &ListedSession,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Option<StampedGlance>, AgentError> {
    // Taken first: what is written while we read makes the glance an old one.
    let stamp = cache::stamp_source(&session.found.source).ok();
    let mut reading = GlanceReading::new(session.agent, is_cancelled);
    session.agent.read_session(&session.found.source, &Bookmark::Start, &mut reading)?;
    if reading.is_cancelled || is_cancelled() {
        return Ok(None);
    }
    Ok(Some(StampedGlance { glance: reading.finish(session.agent), stamp }))
}

/// Tells what is remembered of sessions and reads the others, in their order but the big ones last, until it is enough.
/// Numbers of messages are filled in; what was read is remembered.
pub fn look_at_sessions(
    context: &Context,
    sessions: &mut [ListedSession],
    is_enough: &dyn Fn() -> bool,
) -> Vec<Option<Glance>> {
    let mut cache = GlanceCache::load(context);
    let mut glances: Vec<Option<Glance>> = sessions.iter().map(|session| cache.find(&session.found.source)).collect();
    let is_readable = |found: &FoundSession| !found.drifted && found.bytes <= MAX_LISTING_BYTES;
    let is_unknown = |index: &usize| glances[*index].is_none() && is_readable(&sessions[*index].found);
    let mut unknown: Vec<usize> = (0..sessions.len()).filter(is_unknown).collect();
    unknown.sort_by_key(|index| sessions[*index].found.bytes >= READ_LATER_FROM_BYTES);
    for index in unknown {
        if is_enough() {
            break;
        }
        // One that cannot be read has no figures; whoever opens it is told why.
        if let Ok(Some(read)) = read_glance(&sessions[index], is_enough) {
            cache.remember(&sessions[index].found.source, &read);
            glances[index] = Some(read.glance);
        }
    }
    for (session, glance) in sessions.iter_mut().zip(&glances) {
        let found = &mut session.found;
        let counted = || glance.as_ref().map(|glance| glance.messages);
        found.messages = found.messages.or_else(counted).or_else(|| cache.find_messages(&found.source));
    }
    // Losing it costs time only.
    cache.save(context).ok();
    glances
}

/// Fills in the numbers of messages that are remembered.
pub fn fill_messages(context: &Context, sessions: &mut [ListedSession]) {
    look_at_sessions(context, sessions, &|| true);
}

/// Whether nothing was said in a session. One that cannot be read, or is too large for that, is none of these.
pub(crate) fn is_silent(context: &Context, session: &ListedSession) -> bool {
    if session.found.drifted || session.found.bytes > MAX_SILENT_BYTES {
        return false;
    }
    let mut looked_at = [session.clone()];
    let glance = look_at_sessions(context, &mut looked_at, &|| false).pop().flatten();
    glance.is_some_and(|glance| glance.messages == 0)
}

/// Takes a session's entries as `TranscriptBuilder` does, and looks for a limit on the way.
struct GlanceReading<'c> {
    builder: TranscriptBuilder,
    limit: LimitTracker,
    ask_cancelled: &'c dyn Fn() -> bool,
    is_cancelled: bool,
    n_taken: u32,
}

impl<'c> GlanceReading<'c> {
    fn new(agent: &dyn Agent, ask_cancelled: &'c dyn Fn() -> bool) -> Self {
        let facts = agent.facts();
        Self {
            builder: TranscriptBuilder::new(facts.id),
            limit: LimitTracker::new(facts.limits),
            ask_cancelled,
            is_cancelled: false,
            n_taken: 0,
        }
    }

    fn finish(self, agent: &dyn Agent) -> Glance {
        let transcript = self.builder.finish();
        let history = full_history(&transcript);
        let is_prompt = |index: &&usize| {
            let entry = &transcript.entries[**index];
            entry.body.whole_kind() == "prompt" && entry.origin == Origin::User
        };
        let prompts: Vec<usize> = history.iter().filter(is_prompt).copied().collect();
        let text = |index: &usize| prompt_line(agent, &transcript, *index);
        Glance {
            messages: transcript.n_messages_in(&history) as u64,
            first_prompt: prompts.iter().take(MAX_PROMPTS_TRIED).find_map(text),
            last_prompt: prompts.iter().rev().take(MAX_PROMPTS_TRIED).find_map(text),
            limit: self.limit.standing.map(|standing| LimitStop { resets_at: standing.resets_at }),
        }
    }
}

/// The words of a prompt; one from before a compaction is read again.
fn prompt_line(agent: &dyn Agent, transcript: &Transcript, index: usize) -> Option<String> {
    let entry = &transcript.entries[index];
    let reloaded;
    let entry = if matches!(entry.body, Body::Prompt(_)) {
        entry
    } else {
        reloaded = agent.reload_entries(&transcript.header, entry.key).ok()?;
        reloaded.iter().find(|again| again.key == entry.key)?
    };
    let line = one_line(&text_cow(entry.body.parts()), PROMPT_CHARS);
    (!line.is_empty()).then_some(line)
}

impl Sink for GlanceReading<'_> {
    fn wants_full_history(&self) -> bool {
        false
    }

    fn learn(&mut self, fact: Fact) -> ControlFlow<()> {
        self.builder.learn(fact)
    }

    fn put(&mut self, entry: Entry) -> ControlFlow<()> {
        const ENTRIES_BETWEEN_QUESTIONS: u32 = 64;
        self.n_taken = self.n_taken.wrapping_add(1);
        if self.n_taken.is_multiple_of(ENTRIES_BETWEEN_QUESTIONS) && (self.ask_cancelled)() {
            self.is_cancelled = true;
        }
        if self.is_cancelled {
            return ControlFlow::Break(());
        }
        self.limit.take(&entry);
        self.builder.put(entry)
    }

    fn retract(&mut self, from: EntryKey) -> ControlFlow<()> {
        self.limit.retract(from);
        self.builder.retract(from)
    }

    fn reject(&mut self, rejected: RejectedRecord) -> ControlFlow<()> {
        self.builder.reject(rejected)
    }
}
