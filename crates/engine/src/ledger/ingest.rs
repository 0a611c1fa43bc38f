//! Taking a session in: its entries from where the last reading ended, and its bytes; whole or not at all.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;

use carryover_agents::formats::sqlite::companion_path;
use carryover_agents::{Agent, AgentError, Bookmark, FoundSession, Sink, Source};
use carryover_core::time::Timestamp;
use carryover_core::transcript::surplus::Surplus;
use carryover_core::transcript::{Entry, EntryKey, Fact, Header, Origin, RejectedRecord};
use rusqlite::{CachedStatement, Connection, OptionalExtension, TransactionBehavior, params};

use super::archive::{Archiver, FileRole, KeptChange, PackedFile};
use super::entry_text::entry_text;
use super::stored_text::Packer;
use super::sync::expiry_time;
use super::{Ledger, LedgerError, tombstone};
use crate::context::Context;
use crate::own::files::Stamp;
use crate::own::fingerprint::Fingerprint;
use crate::sessions::list::ListedSession;
use crate::sessions::read;

/// A file of many sessions changes with each of them; one that was used so long before the file's last change is not the
/// one that changed.
const SETTLED_AFTER_MS: i64 = 3_600_000;

/// What taking a session in came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ingested {
    /// Something new was kept.
    Changed,
    /// It is as it was.
    Unchanged,
    /// It was forgotten, and stays so.
    Forgotten,
    /// It was last used before what the retention allows.
    Expired,
}

/// What is known of a session from earlier.
struct Known {
    id: i64,
    stamp: Option<String>,
    bookmark: Bookmark,
    is_gone: bool,
}

impl Ledger {
    /// Takes in what is new in one session: for whoever brings all up to date, and for who has seen this one change. One
    /// that has not changed costs a look at its file and writes nothing. Its words are found after `index_pending`.
    pub fn take_in(&mut self, context: &Context, session: &ListedSession) -> Result<Ingested, LedgerError> {
        let (agent, found) = (session.agent, &session.found);
        if expiry_time(context).is_some_and(|expiry| found.updated_at < Some(expiry)) {
            return Ok(Ingested::Expired);
        }
        // Nobody else writes while this ledger is open, so what is seen here stays so.
        if tombstone::is_forgotten(&self.connection, agent.facts().id, &found.id.0)? {
            return Ok(Ingested::Forgotten);
        }
        let stamp = SourceStamp::new(found)?;
        let known = find_known(&self.connection, agent, found)?;
        if let Some(known) = known.as_ref().filter(|known| stamp.is_settled(known.stamp.as_deref(), found)) {
            if known.is_gone {
                self.connection.execute("UPDATE session SET gone_at = NULL WHERE id = ?1", [known.id])?;
            }
            return Ok(Ingested::Unchanged);
        }
        self.ingest_session(context, session, &stamp, known)
    }

    /// Keeps entries and bytes, in one transaction.
    fn ingest_session(
        &mut self,
        context: &Context,
        session: &ListedSession,
        stamp: &SourceStamp,
        known: Option<Known>,
    ) -> Result<Ingested, LedgerError> {
        let (agent, found) = (session.agent, &session.found);
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let id = put_session(&transaction, session, context.env.now)?;
        let is_new = known.is_none();
        let from = known.map_or(Bookmark::Start, |known| known.bookmark);
        let mut packer = Packer::new()?;
        // Of a session that cannot be read its bytes are kept all the same.
        let (exported, mut failed) = match agent.export_session(&found.source) {
            Ok(exported) => (exported, None),
            Err(error) => (None, Some(error)),
        };
        let has_files = exported.is_none() && failed.is_none();
        let mut archiver = Archiver { connection: &transaction, session: id, is_rewritten: false };
        let own = match &exported {
            Some(document) => archiver.keep_document(&found.source.path, document)?,
            None if has_files && !is_new => archiver.keep_file(&found.source.path, FileRole::Own, None)?,
            None => KeptChange::None,
        };
        // A log that was written anew in its midst looks to its reader as if it had grown.
        let is_replaced = has_files && own == KeptChange::Replaced;
        transaction.execute_batch("SAVEPOINT reading")?;
        let (own_file, read) = std::thread::scope(|scope| {
            // Of a file that is new, packing has nothing to wait for.
            let packing = (has_files && is_new).then(|| scope.spawn(|| PackedFile::from_path(&found.source.path)));
            let read = read_entries(&transaction, &mut packer, id, session, &from, is_replaced);
            (packing.and_then(|packing| packing.join().ok().flatten()), read)
        });
        let reading = match read {
            Ok(reading) => reading,
            Err(LedgerError::Agent(error)) => {
                transaction.execute_batch("ROLLBACK TO reading")?;
                failed.get_or_insert(error);
                Reading { header: Header::default(), end: from, is_rewritten: false }
            }
            Err(error) => return Err(error),
        };
        transaction.execute_batch("RELEASE reading")?;
        if has_files {
            let is_rewritten = reading.is_rewritten && !is_replaced;
            let archiver = Archiver { connection: &transaction, session: id, is_rewritten };
            archive_files(archiver, session, &reading.header, own_file.as_ref())?;
        } else if exported.is_some() {
            let archiver = Archiver { connection: &transaction, session: id, is_rewritten: false };
            archive_child_documents(archiver, session)?;
        }
        // A database that its client was at work in can be read the next time, though nothing changes.
        let is_passing = matches!(failed, Some(AgentError::Database { .. }));
        let stamp = (!is_passing).then_some(stamp);
        finish_session(&transaction, id, &reading.header, reading.end, stamp)?;
        transaction.commit()?;
        failed.map_or(Ok(Ingested::Changed), |error| Err(error.into()))
    }
}

/// Whether a session is kept as it is now.
pub(super) fn is_taken_in(
    connection: &Connection,
    agent: &dyn Agent,
    found: &FoundSession,
) -> Result<bool, LedgerError> {
    let stamp = SourceStamp::new(found)?;
    let known = find_known(connection, agent, found)?;
    Ok(known.is_some_and(|known| stamp.is_settled(known.stamp.as_deref(), found)))
}

fn find_known(connection: &Connection, agent: &dyn Agent, found: &FoundSession) -> rusqlite::Result<Option<Known>> {
    let sql = "SELECT id, stamp, bookmark, gone_at, path, key FROM session WHERE agent = ?1 AND session = ?2";
    let row = connection.prepare_cached(sql)?.query_row(params![agent.facts().id, found.id.0], |row| {
        let bookmark: Option<String> = row.get(2)?;
        let bookmark = bookmark.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let is_there = (row.get::<_, String>(4)?, row.get::<_, Option<String>>(5)?)
            == (found.source.path.to_string_lossy().into_owned(), found.source.key.clone());
        let stamp = row.get::<_, Option<String>>(1)?.filter(|_| is_there);
        Ok(Known { id: row.get(0)?, stamp, bookmark, is_gone: row.get::<_, Option<i64>>(3)?.is_some() })
    });
    row.optional()
}

fn put_session(connection: &Connection, session: &ListedSession, now: Timestamp) -> rusqlite::Result<i64> {
    let (found, source) = (&session.found, &session.found.source);
    let sql = "INSERT INTO session
            (agent, session, store, path, key, title, project, branch, model, started_at, updated_at, ingested_at)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
        ON CONFLICT (agent, session) DO UPDATE SET
            store = excluded.store, path = excluded.path, key = excluded.key, gone_at = NULL,
            title = coalesce(excluded.title, title), project = coalesce(excluded.project, project),
            branch = coalesce(excluded.branch, branch), model = coalesce(excluded.model, model),
            started_at = coalesce(excluded.started_at, started_at),
            updated_at = coalesce(excluded.updated_at, updated_at), ingested_at = excluded.ingested_at
        RETURNING id";
    let values = params![
        session.agent.facts().id,
        found.id.0,
        session.store.root.to_string_lossy(),
        source.path.to_string_lossy(),
        source.key,
        found.title,
        found.project.as_ref().map(|project| project.to_string_lossy()),
        found.branch,
        found.model,
        found.started_at.map(Timestamp::millis),
        found.updated_at.map(Timestamp::millis),
        now.millis(),
    ];
    connection.prepare_cached(sql)?.query_row(values, |row| row.get(0))
}

/// A reading of a session.
struct Reading {
    header: Header,
    end: Bookmark,
    /// Something of what was read earlier is no longer so.
    is_rewritten: bool,
}

fn read_entries(
    connection: &Connection,
    packer: &mut Packer,
    id: i64,
    session: &ListedSession,
    from: &Bookmark,
    is_replaced: bool,
) -> Result<Reading, LedgerError> {
    let mut sink = EntrySink {
        connection,
        put: connection.prepare_cached(PUT_ENTRY)?,
        packer,
        agent: session.agent,
        session: id,
        header: Header::default(),
        is_rewritten: false,
        surplus: Surplus::default(),
        failed: None,
    };
    if is_replaced {
        // What could not be kept is met again below.
        let _ = sink.retract_all();
    }
    let from = if is_replaced { &Bookmark::Start } else { from };
    let end = session.agent.read_session(&session.found.source, from, &mut sink);
    if let Some(failed) = sink.failed {
        return Err(failed);
    }
    let (header, is_rewritten) = (sink.header, sink.is_rewritten);
    if is_rewritten {
        connection.execute("UPDATE session SET revision = revision + 1 WHERE id = ?1", [id])?;
    }
    Ok(Reading { header, end: end?, is_rewritten })
}

/// An entry that is told again is the same row: its revision counts how often it has changed.
const PUT_ENTRY: &str = "INSERT INTO entry
        (session, file, offset, part, length, kind, origin, at, side, digest, text, indexed)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
    ON CONFLICT (session, file, offset, part) DO UPDATE SET
        revision = revision + (digest IS NOT excluded.digest OR kind <> excluded.kind),
        indexed = CASE WHEN digest IS excluded.digest THEN indexed ELSE 0 END,
        length = excluded.length, kind = excluded.kind, origin = excluded.origin, at = excluded.at,
        side = excluded.side, digest = excluded.digest, text = excluded.text, retracted = 0";

/// Keeps what a reader tells.
struct EntrySink<'a> {
    connection: &'a Connection,
    put: CachedStatement<'a>,
    packer: &'a mut Packer,
    agent: &'static dyn Agent,
    session: i64,
    header: Header,
    is_rewritten: bool,
    surplus: Surplus,
    failed: Option<LedgerError>,
}

impl EntrySink<'_> {
    fn put_entry(&mut self, entry: &Entry) -> Result<(), LedgerError> {
        let text = entry_text(self.agent, entry);
        let digest = text.as_deref().map(|text| Fingerprint::from_bytes(text.as_bytes()).to_bits().cast_signed());
        let packed = text.as_deref().map(|text| self.packer.pack_text(text)).transpose();
        let EntryKey { file, offset, part, length } = entry.key;
        self.put.execute(params![
            self.session,
            file,
            ordered_offset(offset),
            part,
            length,
            entry.body.whole_kind(),
            origin_name(entry.origin),
            entry.at.map(Timestamp::millis),
            entry.side,
            digest,
            packed?,
            text.is_none(),
        ])?;
        Ok(())
    }

    fn retract_from(&mut self, from: EntryKey) -> Result<(), LedgerError> {
        let sql = "UPDATE entry SET retracted = 1 WHERE session = ?1
                   AND (file, offset, part, length) >= (?2, ?3, ?4, ?5)";
        let EntryKey { file, offset, part, length } = from;
        let values = params![self.session, file, ordered_offset(offset), part, length];
        self.is_rewritten |= self.connection.prepare_cached(sql)?.execute(values)? > 0;
        Ok(())
    }

    /// Stops the reading where something could not be kept.
    fn go_on(&mut self, result: Result<(), LedgerError>) -> ControlFlow<()> {
        match result {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed.get_or_insert(error);
                ControlFlow::Break(())
            }
        }
    }
}

impl Sink for EntrySink<'_> {
    fn learn(&mut self, fact: Fact) -> ControlFlow<()> {
        self.header.learn(fact);
        ControlFlow::Continue(())
    }

    fn put(&mut self, entry: Entry) -> ControlFlow<()> {
        if let Some(at) = entry.at {
            self.header.note_time(at);
        }
        if self.surplus.is_surplus(&entry) {
            return ControlFlow::Continue(());
        }
        let result = self.put_entry(&entry);
        self.go_on(result)
    }

    fn retract(&mut self, from: EntryKey) -> ControlFlow<()> {
        let result = self.retract_from(from);
        self.go_on(result)
    }

    /// Its bytes are in the archive.
    fn reject(&mut self, _rejected: RejectedRecord) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// The order of offsets is that of unsigned numbers, and the database's that of signed ones.
pub(super) fn ordered_offset(offset: u64) -> i64 {
    (offset ^ (1 << 63)).cast_signed()
}

/// The offset that was kept in that way.
pub(super) fn plain_offset(kept: i64) -> u64 {
    kept.cast_unsigned() ^ (1 << 63)
}

fn origin_name(origin: Origin) -> &'static str {
    match origin {
        Origin::User => "user",
        Origin::Agent => "agent",
        Origin::Harness => "harness",
        Origin::Hook => "hook",
    }
}

/// Keeps the session's own files: once more its first, where its reader has found it to be another, and what is around it.
fn archive_files(
    mut archiver: Archiver<'_>,
    session: &ListedSession,
    header: &Header,
    packed: Option<&PackedFile>,
) -> Result<(), LedgerError> {
    let (agent, source) = (session.agent, &session.found.source);
    match packed {
        Some(packed) => archiver.keep_packed(&source.path, packed)?,
        // One that has not changed costs a look at its time.
        None => drop(archiver.keep_file(&source.path, FileRole::Own, None)?),
    }
    let bases = header.files.iter().filter(|path| **path != source.path);
    for base in bases.cloned().chain(archiver.known_paths(FileRole::Base)?) {
        let owner = read::session_start(agent, &Source::file(&base)).ok();
        let owner = owner.map(|start| start.header.session.0).filter(|owner| !owner.is_empty());
        archiver.keep_file(&base, FileRole::Base, owner.as_deref())?;
    }
    let children: Vec<PathBuf> =
        header.children.iter().cloned().chain(archiver.known_paths(FileRole::Child)?).collect();
    for child in &children {
        archiver.keep_file(child, FileRole::Child, None)?;
    }
    for beside in agent.companion_files(source) {
        if beside != source.path && !children.contains(&beside) {
            archiver.keep_file(&beside, FileRole::Beside, None)?;
        }
    }
    Ok(())
}

/// Keeps the conversations of sub-agents, and of theirs, that are in the same file of many as the session.
fn archive_child_documents(mut archiver: Archiver<'_>, session: &ListedSession) -> Result<(), LedgerError> {
    let (agent, source) = (session.agent, &session.found.source);
    // Only a reading from the start tells them all.
    let children_of = |source: &Source| read::session_start(agent, source).map(|start| start.header.children);
    let mut open = children_of(source).unwrap_or_default();
    let mut seen = BTreeSet::new();
    while let Some(child) = open.pop() {
        if !child.starts_with(&source.path) || !seen.insert(child.clone()) {
            continue;
        }
        // One that cannot be read is no reason to lose the session.
        let own = Source::file(&child);
        if let Ok(Some(document)) = agent.export_session(&own) {
            archiver.keep_child_document(&source.path, &child, &document)?;
            open.extend(children_of(&own).unwrap_or_default());
        }
    }
    Ok(())
}

fn finish_session(
    connection: &Connection,
    id: i64,
    header: &Header,
    end: Bookmark,
    stamp: Option<&SourceStamp>,
) -> Result<(), LedgerError> {
    let sql = "UPDATE session SET bookmark = ?2, stamp = ?3, title = coalesce(title, ?4),
            project = coalesce(project, ?5), updated_at = coalesce(updated_at, ?6) WHERE id = ?1";
    let bookmark = serde_json::to_string(&end).map_err(|error| LedgerError::NotPacked(error.into()))?;
    connection.prepare_cached(sql)?.execute(params![
        id,
        bookmark,
        stamp.map(|stamp| &stamp.text),
        header.title,
        header.project.as_ref().map(|project| project.to_string_lossy()),
        header.updated_at.map(Timestamp::millis),
    ])?;
    Ok(())
}

/// By what it is known that a session has not changed.
struct SourceStamp {
    text: String,
    /// What the listing tells of the session itself, where it shares its file.
    own: String,
    modified_ms: i64,
}

impl SourceStamp {
    fn new(found: &FoundSession) -> Result<Self, LedgerError> {
        let path = &found.source.path;
        let file = Stamp::from_path(path).map_err(AgentError::from)?;
        let log = Stamp::from_path(&companion_path(path, "-wal")).ok();
        let modified_ms = log.map_or(file.mtime_ms, |log| log.mtime_ms.max(file.mtime_ms));
        let updated = found.updated_at.map(Timestamp::millis);
        let own = format!("{:?} {} {:?}", updated, found.bytes, found.title);
        let log = log.map_or_else(String::new, |log| format!("{} {}", log.size, log.mtime_ms));
        let text = format!("{} {} {log}\n{own}", file.size, file.mtime_ms);
        Ok(Self { text, own, modified_ms })
    }

    /// Whether nothing has happened since a stamp was taken.
    fn is_settled(&self, earlier: Option<&str>, found: &FoundSession) -> bool {
        let Some(earlier) = earlier else { return false };
        let is_same = earlier == self.text;
        let is_old = || {
            let updated = found.updated_at.map_or(i64::MAX, Timestamp::millis);
            updated < self.modified_ms.saturating_sub(SETTLED_AFTER_MS)
        };
        let own = earlier.split_once('\n').map(|(_, own)| own);
        is_same || (found.source.key.is_some() && own == Some(self.own.as_str()) && is_old())
    }
}
