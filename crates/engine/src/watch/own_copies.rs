//! Sessions that we wrote ourselves: nobody uses one before it was gone on with.

use std::collections::{BTreeMap, BTreeSet};

use carryover_agents::FoundSession;
use carryover_core::time::Timestamp;
use carryover_core::transcript::SessionId;

use crate::context::Context;
use crate::own::files::Stamp;
use crate::write::journal::{self, Journal, State};
use crate::write::undo;

type Name = (String, SessionId);

/// The copies that the journals tell of. They are read again when one was added or changed.
#[derive(Default)]
pub(crate) struct OwnCopies {
    folder: Option<Stamp>,
    journals: BTreeMap<Name, Journal>,
    /// Somebody went on in these: they stay what they are.
    used: BTreeSet<Name>,
    /// Copies in files of many sessions, with the time of their last change when they were found to be as written:
    /// comparing them costs reading them.
    compared: BTreeMap<Name, Option<Timestamp>>,
}

impl OwnCopies {
    /// Whether a session is a copy of ours that is as we wrote it.
    pub(crate) fn is_untouched(&mut self, context: &Context, agent: &str, found: &FoundSession, size: u64) -> bool {
        self.refresh(context);
        let name = (agent.to_owned(), found.id.clone());
        let Some(journal) = self.journals.get(&name).filter(|_| !self.used.contains(&name)) else { return false };
        let is_untouched = match journal.files.iter().find(|written| written.path == journal.session_file) {
            // Whoever registers it with its client changes it, and that is we.
            _ if journal.state == State::Writing => return true,
            Some(written) if found.source.key.is_none() => written.size == size,
            _ => self.compared.get(&name) == Some(&found.updated_at) || undo::is_unused(journal),
        };
        if is_untouched {
            self.compared.insert(name, found.updated_at);
        } else {
            self.used.insert(name);
        }
        is_untouched
    }

    fn refresh(&mut self, context: &Context) {
        let folder = Stamp::from_path(&journal::folder_path(context)).ok();
        if folder == self.folder {
            return;
        }
        self.folder = folder;
        self.journals.clear();
        // The newest comes first and counts.
        for journal in journal::read_all(context) {
            if journal.state != State::Undone && journal.blocks.is_empty() {
                let name = (journal.target.agent.clone(), journal.target.session.clone());
                self.journals.entry(name).or_insert(journal);
            }
        }
    }
}
