//! Reading a session: whole, or as far as its beginning tells what it is.

use std::ops::{ControlFlow, Range};

use carryover_agents::formats::jsonl;
use carryover_agents::{Agent, AgentError, Bookmark, Sink, Source};
use carryover_core::transcript::{Body, Entry, EntryKey, Fact, Header, Rejected, Transcript, TranscriptBuilder};

use crate::sessions::list::Listed;

/// Reads a session; entries that are not live are reduced to their positions unless everything is to be kept.
pub fn transcript(listed: &Listed, keep_everything: bool) -> Result<Transcript, AgentError> {
    of_source(listed.agent, &listed.found.source, keep_everything)
}

fn of_source(agent: &dyn Agent, source: &Source, keep_everything: bool) -> Result<Transcript, AgentError> {
    let mut builder = TranscriptBuilder::new(agent.facts().id);
    if keep_everything {
        builder = builder.keeping_everything();
    }
    let end = agent.read(source, &Bookmark::Start, &mut builder)?;
    let mut transcript = builder.finish();
    transcript.rejected.extend(torn_record(source, &end));
    Ok(transcript)
}

/// What stands behind the last whole line of a log: its client is still at it, or was stopped in the midst of it.
pub(crate) fn torn_record(source: &Source, end: &Bookmark) -> Option<Rejected> {
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
    Some(Rejected { key, reason: "it is not whole: its client is at it, or was stopped" })
}

/// What the beginning of a session tells.
#[derive(Default)]
pub(crate) struct Beginning {
    pub(crate) header: Header,
    /// Something in it is understood.
    pub(crate) known: bool,
    n_entries: usize,
}

/// Reads the beginning of a session and no more: a loose file may be large, and is read whole when it is carried.
pub(crate) fn beginning(agent: &dyn Agent, source: &Source) -> Result<Beginning, AgentError> {
    let mut beginning = Beginning::default();
    agent.read(source, &Bookmark::Start, &mut beginning)?;
    Ok(beginning)
}

impl Sink for Beginning {
    fn learn(&mut self, fact: Fact) -> ControlFlow<()> {
        self.header.learn(fact);
        ControlFlow::Continue(())
    }

    fn put(&mut self, entry: Entry) -> ControlFlow<()> {
        const ENOUGH: usize = 200;
        if let Some(at) = entry.at {
            self.header.saw(at);
        }
        self.known |= !matches!(entry.body, Body::Opaque(_));
        self.n_entries += 1;
        if self.n_entries < ENOUGH { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn retract(&mut self, _from: EntryKey) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn reject(&mut self, _rejected: Rejected) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
