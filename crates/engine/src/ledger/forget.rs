//! Forgetting: what is told to go is gone, from the tables, the index, the log and the disk.

use std::io;
use std::path::PathBuf;

use carryover_core::time::Timestamp;
use rusqlite::{ErrorCode, params};

use super::kept_session::KeptSession;
use super::{Ledger, LedgerError, handoffs, io_error, list_set_aside, restore, tombstone};
use crate::context::Context;
use crate::handoff::published::Published;
use crate::recording;
use crate::sessions::project::ProjectMatcher;
use crate::sessions::{catalog, glance};
use crate::write::disk::RealDisk;
use crate::write::journal::{self, Journal, SessionRef};

/// What is to be forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forget {
    Session(Box<KeptSession>),
    /// All sessions of a project.
    Project(PathBuf),
    /// All sessions that were last used before then.
    Before(Timestamp),
    All,
}

/// What is gone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Forgotten {
    pub sessions: Vec<KeptSession>,
    /// Ledgers that could not be read, which may have held it, too.
    pub set_aside: Vec<PathBuf>,
    /// By how much less room the ledger takes.
    pub freed_bytes: u64,
}

/// Lets go of the words of sessions that are forgotten.
type ForgetFn = fn(&Context, &[KeptSession]) -> io::Result<()>;

/// What else in our own folder holds words of sessions.
const TEXT_HOLDERS: &[ForgetFn] =
    &[forget_journal_titles, forget_listings, forget_handoffs, recording::forget_session_recordings];

/// Rows that name a session by its agent and id.
const NAMING_ROWS: &[&str] = &[
    "DELETE FROM handoff WHERE agent = ?1 AND session = ?2",
    "DELETE FROM hook_event WHERE agent = ?1 AND session = ?2",
    "DELETE FROM lineage WHERE (source_agent = ?1 AND source = ?2) OR (target_agent = ?1 AND target = ?2)",
];

impl Ledger {
    /// The sessions that would be forgotten.
    pub fn sessions_to_forget(&self, what: &Forget) -> Result<Vec<KeptSession>, LedgerError> {
        let order = "ORDER BY s.updated_at DESC, s.id";
        match what {
            Forget::Session(session) => Ok(vec![(**session).clone()]),
            Forget::All => self.query_sessions(order, &[]),
            Forget::Before(at) => {
                let rest = format!("WHERE coalesce(s.updated_at, s.ingested_at) < ?1 {order}");
                self.query_sessions(&rest, &[&at.millis()])
            }
            Forget::Project(project) => {
                let here = self.sessions_of_project(project)?;
                let mut sessions = self.query_sessions(order, &[])?;
                sessions.retain(|session| here.contains(&session.row));
                Ok(sessions)
            }
        }
    }

    /// Forgets, and makes sure that the bytes are gone. What a store still holds is not taken in again.
    pub fn forget(&mut self, context: &Context, what: &Forget) -> Result<Forgotten, LedgerError> {
        let before = self.disk_bytes();
        let sessions = self.sessions_to_forget(what)?;
        let published = self.published_digests()?;
        self.erase_sessions(&sessions, Some(context.env.now))?;
        self.erase_records(what)?;
        let left = self.published_digests()?;
        handoffs::remove_published(context, published.difference(&left)).map_err(io_error(&context.home))?;
        forget_published(context, what).map_err(io_error(&context.home))?;
        recording::forget_recordings(context, what).map_err(io_error(&context.home))?;
        for holder in TEXT_HOLDERS {
            holder(context, &sessions).map_err(io_error(&context.home))?;
        }
        let set_aside = list_set_aside(context);
        for path in &set_aside {
            fs_err::remove_file(path).map_err(io_error(path))?;
        }
        restore::sweep_left(context).map_err(io_error(&context.home))?;
        self.wipe_disk()?;
        let freed_bytes = before.saturating_sub(self.disk_bytes());
        Ok(Forgotten { sessions, set_aside, freed_bytes })
    }

    /// Takes sessions out of all tables and the index; a tombstone stays where a time for it is given.
    pub(super) fn erase_sessions(
        &mut self,
        sessions: &[KeptSession],
        buried_at: Option<Timestamp>,
    ) -> Result<(), LedgerError> {
        let transaction = self.connection.transaction()?;
        for session in sessions {
            transaction
                .prepare_cached("DELETE FROM words WHERE rowid IN (SELECT id FROM entry WHERE session = ?1)")?
                .execute([session.row])?;
            transaction.prepare_cached("DELETE FROM session WHERE id = ?1")?.execute([session.row])?;
            let named = params![session.agent, session.id.0];
            for sql in NAMING_ROWS {
                transaction.prepare_cached(sql)?.execute(named)?;
            }
            if let Some(at) = buried_at {
                tombstone::put(&transaction, &session.agent, &session.id.0, at)?;
            }
        }
        Ok(transaction.commit()?)
    }

    /// Takes out what was published and told in a project or a time; what names a session goes with the session.
    fn erase_records(&mut self, what: &Forget) -> Result<(), LedgerError> {
        match what {
            Forget::Session(_) => {}
            Forget::All => {
                self.connection.execute_batch("DELETE FROM handoff; DELETE FROM hook_event; DELETE FROM lineage")?;
            }
            Forget::Before(at) => {
                self.connection.execute("DELETE FROM handoff WHERE at < ?1", [at.millis()])?;
                self.connection.execute("DELETE FROM hook_event WHERE at < ?1", [at.millis()])?;
            }
            Forget::Project(project) => {
                for own in self.handoff_projects(project)? {
                    self.connection.execute("DELETE FROM handoff WHERE project = ?1", [own])?;
                }
                for folder in self.hook_folders(project)? {
                    self.connection.execute("DELETE FROM hook_event WHERE folder = ?1", [folder])?;
                }
            }
        }
        Ok(())
    }

    /// Rewrites the index and the file without what was deleted, and empties the log.
    fn wipe_disk(&self) -> Result<(), LedgerError> {
        // The index only notes that something is deleted; its words go when it is written anew.
        self.connection.execute_batch("INSERT INTO words (words) VALUES ('optimize')")?;
        let rewritten = self.connection.execute_batch("VACUUM");
        let is_busy = |error: &rusqlite::Error| error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy);
        match rewritten {
            Err(error) if is_busy(&error) => Err(LedgerError::Busy { path: self.path.clone() }),
            rewritten => rewritten.map_err(LedgerError::from).and_then(|()| self.empty_log()),
        }
    }

    fn empty_log(&self) -> Result<(), LedgerError> {
        let busy: i64 = self.connection.query_row("PRAGMA wal_checkpoint (TRUNCATE)", [], |row| row.get(0))?;
        if busy == 0 {
            return Ok(());
        }
        Err(LedgerError::Busy { path: self.path.clone() })
    }
}

/// The journals of resumes name the titles of what was carried.
fn forget_journal_titles(context: &Context, sessions: &[KeptSession]) -> io::Result<()> {
    let is_named =
        |named: &SessionRef| sessions.iter().any(|session| session.agent == named.agent && session.id == named.session);
    let names_it = |journal: &Journal| is_named(&journal.source) || is_named(&journal.target);
    for journal in journal::read_all(context).into_iter().filter(|journal| journal.title.is_some()) {
        if names_it(&journal) {
            journal::write(&mut RealDisk, context, &Journal { title: None, ..journal })?;
        }
    }
    Ok(())
}

/// Handoffs that were published quote the session.
pub(super) fn forget_handoffs(context: &Context, sessions: &[KeptSession]) -> io::Result<()> {
    let is_named = |record: &Published| {
        sessions.iter().any(|session| session.agent == record.agent && session.id == record.session)
    };
    Published::load_all(context).into_iter().filter(is_named).try_for_each(|record| record.withdraw(context, true))
}

/// Handoffs of sessions that the ledger may not have, where all of a project or of everything is to be forgotten.
fn forget_published(context: &Context, what: &Forget) -> io::Result<()> {
    let mut records = Published::load_all(context);
    match what {
        Forget::Session(_) => records.clear(),
        Forget::All => {}
        Forget::Before(at) => records.retain(|record| record.updated_at.unwrap_or(record.published_at) < *at),
        Forget::Project(project) => {
            let mut here = ProjectMatcher::new(project);
            records.retain(|record| here.matches(&record.project));
        }
    }
    records.iter().try_for_each(|record| record.withdraw(context, true))
}

/// What is remembered for listings holds titles and prompts, and is made anew from the stores.
fn forget_listings(context: &Context, _sessions: &[KeptSession]) -> io::Result<()> {
    catalog::discard_listing(context)?;
    glance::discard_glances(context)
}
