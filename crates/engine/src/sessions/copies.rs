//! Where a session was carried from, and where it was carried to, by the journals.

use std::collections::BTreeMap;
use std::path::PathBuf;

use carryover_agents::{Agent, ResumeCommand, Source};
use carryover_core::time::Timestamp;
use carryover_core::transcript::SessionId;

use crate::carry::own;
use crate::context::Context;
pub use crate::write::journal::SessionRef;
use crate::write::journal::{self, Journal, State};
use crate::write::undo;

/// A session that was written from another one and is not taken back.
#[derive(Debug, Clone)]
pub struct CarriedCopy {
    /// By which `undo` knows it.
    pub undo_id: String,
    pub at: Timestamp,
    pub source: SessionRef,
    /// The source as it is told: a file that was read, by what it calls itself.
    pub told_source: SessionRef,
    pub target: SessionRef,
    /// The folder that it goes on in.
    pub project: PathBuf,
    journal: Journal,
}

/// What became of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyState {
    /// It is as it was written.
    Unused,
    /// Somebody went on in it.
    GoneOnWith,
    /// It is no longer where it was written.
    Gone,
}

/// All copies that are known, to be asked by session.
#[derive(Debug, Default)]
pub struct Copies {
    newest_first: Vec<CarriedCopy>,
    by_source: BTreeMap<(String, SessionId), Vec<usize>>,
    by_target: BTreeMap<(String, SessionId), usize>,
}

impl Copies {
    /// Reads the journals.
    pub fn load(context: &Context) -> Self {
        let mut known = Self::default();
        // One that was brought back is itself, and one that was saved is no session.
        let is_copy = |journal: &Journal| {
            let others = [journal::SAVED_CONVERSATION, journal::RESTORED_WORKSPACE];
            let is_session = !journal.target.session.0.is_empty() && !others.contains(&journal.target.agent.as_str());
            journal.source.agent != journal::FROM_LEDGER && is_session
        };
        let sessions =
            |journal: &Journal| journal.state == State::Done && journal.blocks.is_empty() && is_copy(journal);
        for journal in journal::read_all(context).into_iter().filter(sessions) {
            let index = known.newest_first.len();
            known.by_source.entry(name_key(&journal.source)).or_default().push(index);
            known.by_target.entry(name_key(&journal.target)).or_insert(index);
            known.newest_first.push(CarriedCopy::from(journal));
        }
        known
    }

    /// All of them, the newest first.
    pub fn all(&self) -> &[CarriedCopy] {
        &self.newest_first
    }

    /// The copy that this session is, which names where it came from.
    pub fn origin_of(&self, agent: &str, session: &SessionId) -> Option<&CarriedCopy> {
        self.by_target.get(&(agent.to_owned(), session.clone())).map(|index| &self.newest_first[*index])
    }

    /// The copies that were made of this session, newest first.
    pub fn copies_of(&self, agent: &str, session: &SessionId) -> impl Iterator<Item = &CarriedCopy> {
        let made = self.by_source.get(&(agent.to_owned(), session.clone())).map_or(&[][..], Vec::as_slice);
        made.iter().map(|index| &self.newest_first[*index])
    }
}

impl CarriedCopy {
    /// The command by which the target's own client goes on with it.
    pub fn resume_command(&self, context: &Context, target: &dyn Agent) -> Option<ResumeCommand> {
        let source = Source { path: self.journal.session_file.clone(), key: self.journal.session_key.clone() };
        own::command_for(context, target, &source, &self.target.session, Some(self.project.clone()))
    }

    /// Looks at the copy itself, which costs reading it.
    pub fn look_up_state(&self) -> CopyState {
        match undo::is_gone(&self.journal) {
            true => CopyState::Gone,
            false if undo::is_unused(&self.journal) => CopyState::Unused,
            false => CopyState::GoneOnWith,
        }
    }
}

impl From<Journal> for CarriedCopy {
    fn from(journal: Journal) -> Self {
        let named = journal.source_name.clone().filter(|name| !name.0.is_empty());
        let session = named.unwrap_or_else(|| journal.source.session.clone());
        Self {
            told_source: SessionRef { agent: journal.source.agent.clone(), session },
            undo_id: journal.id.clone(),
            at: journal.at,
            source: journal.source.clone(),
            target: journal.target.clone(),
            project: journal.project.clone(),
            journal,
        }
    }
}

fn name_key(named: &SessionRef) -> (String, SessionId) {
    (named.agent.clone(), named.session.clone())
}
