//! Reading a session: whole, or as far as its beginning tells what it is.

use std::ops::{ControlFlow, Range};

use carryover_agents::formats::jsonl;
use carryover_agents::{Agent, AgentError, Bookmark, Sink, Source};
use carryover_core::transcript::{Body, Entry, EntryKey, Fact, Header, RejectedRecord, Transcript, TranscriptBuilder};

use crate::sessions::list::ListedSession;

/// Reads a session; entries that are not live are reduced to their positions unless everything is to be kept.
pub fn full_transcript(listed: &ListedSession, keep_everything: bool) -> Result<Transcript, AgentError> {
    transcript_from_source(listed.agent, &listed.found.source, keep_everything)
}

fn transcript_from_source(agent: &dyn Agent, source: &Source, keep_everything: bool) -> Result<Transcript, AgentError> {
    let mut builder = TranscriptBuilder::new(agent.facts().id);
    if keep_everything {
        builder = builder.keeping_everything();
    }
    let end = agent.read_session(source, &Bookmark::Start, &mut builder)?;
    let mut transcript = builder.finish();
    transcript.rejected.extend(torn_record(source, &end));
    Ok(transcript)
}

/// The rest behind the last whole line of a log: its client is still at it, or was stopped in the midst of it.
pub(crate) fn torn_record(source: &Source, end: &Bookmark) -> Option<RejectedRecord> {
    if source.path.extension().is_none_or(|extension| extension != "jsonl") {
        return None;
    }
    let rest = match *end {
        Bookmark::Appended { offset, .. } => jsonl::find_unread_end(&source.path, offset),
        // Who counts records does not tell where the last one ended.
        Bookmark::Rows { .. } | Bookmark::Start => jsonl::find_unfinished_line(&source.path),
    };
    let Range { start: offset, end } = rest.ok()??;
    let length = u32::try_from(end - offset).unwrap_or(u32::MAX);
    let key = EntryKey { file: 0, offset, part: 0, length };
    Some(RejectedRecord { key, reason: "it is not whole: its client is at it, or was stopped" })
}

/// Facts from the beginning of a session.
#[derive(Default)]
pub(crate) struct SessionStart {
    pub(crate) header: Header,
    /// Something in it is understood.
    pub(crate) is_known: bool,
    n_entries: usize,
}

/// Reads the beginning of a session and no more: a loose file may be large, and is read whole when it is carried.
pub(crate) fn session_start(agent: &dyn Agent, source: &Source) -> Result<SessionStart, AgentError> {
    let mut beginning = SessionStart::default();
    agent.read_session(source, &Bookmark::Start, &mut beginning)?;
    Ok(beginning)
}

impl Sink for SessionStart {
    fn learn(&mut self, fact: Fact) -> ControlFlow<()> {
        self.header.learn(fact);
        ControlFlow::Continue(())
    }

    fn put(&mut self, entry: Entry) -> ControlFlow<()> {
        const MAX_ENTRIES: usize = 200;
        if let Some(at) = entry.at {
            self.header.note_time(at);
        }
        self.is_known |= !matches!(entry.body, Body::Opaque(_));
        self.n_entries += 1;
        if self.n_entries < MAX_ENTRIES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn retract(&mut self, _from: EntryKey) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn reject(&mut self, _rejected: RejectedRecord) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
