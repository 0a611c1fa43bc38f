//! Reading a session.

use std::ops::{ControlFlow, Range};
use std::path::Path;

use carryover_core::transcript::{Closing, Entry, EntryKey, Fact, Header, SessionId, TitleRank};

use super::OpenClaw;
use super::branch::{self, BranchPosition};
use super::database_storage::DatabaseStorage;
use super::export::{self, ExportStorage};
use super::file_storage::FileStorage;
use super::raw::RawRecord;
use super::record;
use super::stored_session::{PositionedHead, RecordHead, Session, StoredSession};
use crate::formats::tree::bodies;
use crate::formats::{file, ids, in_database, jsonl, sqlite};
use crate::{AgentError, Bookmark, ExportedSession, Reader, Sink, Source};

/// The client's own answer to a call that has no outcome.
pub(super) const MISSING_RESULT: &str =
    "[openclaw] missing tool result in session history; inserted synthetic error result for transcript repair.";

impl Reader for OpenClaw {
    fn read_session(&self, source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
        let mut begun = false;
        with_storage(source, &mut |kept, path| {
            if begun && sink.retract_all().is_break() {
                return Ok(Some(*from));
            }
            let is_first = !begun && *from == Bookmark::Start;
            let from = if begun { &Bookmark::Start } else { from };
            begun = true;
            let Some(session) = kept.read_session()? else { return Ok(None) };
            SessionReader { storage: kept, session: &session, path, sink: &mut *sink, is_first }
                .read_from(from)
                .map(Some)
        })
    }

    fn export_session(&self, source: &Source) -> Result<Option<ExportedSession>, AgentError> {
        with_storage(source, &mut |kept, _| Ok(export::write_pieces(kept)?.map(Some)))
    }

    fn reload_entries(&self, header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
        with_storage(&in_database::header_source(header), &mut |kept, _| {
            let Some(raw) = kept.read_record(key)? else { return Ok(None) };
            let heads = kept.read_heads()?;
            let fates = find_positions(&heads);
            let found = heads.iter().zip(&fates).find(|(head, _)| head.key.offset == key.offset);
            Ok(found.map(|(head, fate)| record::parse_record(&raw, head.key, fate, &mut false).entries))
        })
        .map_err(|error| in_database::moved_error(error, key))
    }

    fn read_record(&self, header: &Header, key: EntryKey) -> Result<String, AgentError> {
        let found = with_storage(&in_database::header_source(header), &mut |kept, _| kept.read_record(key))
            .map_err(|error| in_database::moved_error(error, key))?;
        match found {
            RawRecord::Text(text) => Ok(text.into_owned()),
            RawRecord::Unreadable(_) => {
                Err(AgentError::Moved { path: in_database::header_source(header).path, offset: key.offset })
            }
        }
    }
}

/// Looks something up in what holds a session; `None` means that it is not there.
type StorageCallback<'a, T> = dyn FnMut(&dyn StoredSession, &Path) -> rusqlite::Result<Option<T>> + 'a;

/// Opens what holds a session.
fn with_storage<T>(source: &Source, look: &mut StorageCallback<'_, T>) -> Result<T, AgentError> {
    let (path, key) = in_database::split_source(source);
    let refuse = |reason| AgentError::NotASession { agent: "openclaw", path: path.clone(), reason };
    let head = jsonl::read_head(&path, 1024)?;
    if !sqlite::is_database(&head) {
        let kept: Box<dyn StoredSession> = if export::is_export(&head) {
            let text = file::read_text(&path, file::MAX_DOCUMENT_BYTES)?;
            Box::new(ExportStorage::parse(&text).ok_or_else(|| refuse("it is no whole export"))?)
        } else {
            Box::new(FileStorage::open(&path)?)
        };
        let found = look(&*kept, &path).map_err(|source| AgentError::Database { path: path.clone(), source })?;
        return found.ok_or_else(|| refuse("it cannot be read"));
    }
    let found =
        sqlite::read_database(&path, &mut |connection| match DatabaseStorage::open(connection, key.as_deref())? {
            Some(rows) => look(&rows, &path),
            None => Ok(None),
        })?;
    found.ok_or_else(|| refuse("no such session is in it"))
}

fn find_positions(heads: &[RecordHead]) -> Vec<BranchPosition> {
    branch::find_positions(&heads.iter().map(|head| &head.link).collect::<Vec<_>>())
}

/// Hands a session over.
struct SessionReader<'a> {
    storage: &'a dyn StoredSession,
    session: &'a Session,
    path: &'a Path,
    sink: &'a mut dyn Sink,
    /// The sink knows nothing yet.
    is_first: bool,
}

impl SessionReader<'_> {
    fn read_from(mut self, from: &Bookmark) -> rusqlite::Result<Bookmark> {
        let mut heads = self.storage.read_heads()?;
        let fates = find_positions(&heads);
        let mut digest = ids::digest_name(&format!("{} {}", self.session.id, self.session.generation));
        let digests: Vec<u64> = std::iter::once(digest)
            .chain(heads.iter().zip(&fates).map(|(head, fate)| {
                digest = fate.extend_digest(ids::extend_digest(digest, &head.stamp.to_le_bytes()));
                digest
            }))
            .collect();
        let mark = |count: usize| Bookmark::Rows { count: count as u64, digest: digests[count] };
        let start = match self.find_start(from, &digests) {
            ControlFlow::Continue(start) => start,
            ControlFlow::Break(()) => return Ok(*from),
        };
        if self.send_first_facts().is_break() {
            return Ok(mark(start));
        }
        let present = self.find_live_start(&heads, &fates).max(start);
        let mut index = start;
        if self.skim_past(&mut heads, &fates, start..present, &mut index)?.is_continue() {
            let records: Vec<PositionedHead<'_>> = heads.iter().zip(&fates).skip(present).collect();
            self.storage.parse_records(&records, &mut |parsed| {
                parsed.hand_over(self.sink)?;
                index += 1;
                ControlFlow::Continue(())
            })?;
        }
        Ok(mark(index))
    }

    /// Where the part that may still be live begins: at the last record that begins the context anew, where the past is
    /// not wanted. What such a record keeps from before it is read again when it is needed.
    fn find_live_start(&self, heads: &[RecordHead], fates: &[BranchPosition]) -> usize {
        let begins = |(head, fate): PositionedHead<'_>| fate.node.is_some() && head.said.is_barrier();
        let last = if self.sink.wants_full_history() { None } else { heads.iter().zip(fates).rposition(begins) };
        last.unwrap_or(0)
    }

    /// Hands over what was there before, by kinds and places.
    fn skim_past(
        &mut self,
        heads: &mut [RecordHead],
        fates: &[BranchPosition],
        past: Range<usize>,
        index: &mut usize,
    ) -> rusqlite::Result<ControlFlow<()>> {
        let mut is_named = false;
        for at in past {
            let head = &mut heads[at];
            let said = std::mem::take(&mut head.said);
            let mut parsed = if said.may_name && !is_named {
                // The one record whose words are wanted: they name the session.
                self.read_whole((head, &fates[at]), &mut is_named)?
                    .unwrap_or_else(|| said.into_parsed(head.key, &fates[at]))
            } else {
                said.into_parsed(head.key, &fates[at])
            };
            parsed.entries.iter_mut().for_each(Entry::reduce);
            if parsed.hand_over(self.sink).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            *index += 1;
        }
        Ok(ControlFlow::Continue(()))
    }

    /// One record, read whole.
    fn read_whole(
        &self,
        record: PositionedHead<'_>,
        is_named: &mut bool,
    ) -> rusqlite::Result<Option<record::ParsedRecord>> {
        let raw = self.storage.read_record(record.0.key)?;
        Ok(raw.map(|raw| record::parse_record(&raw, record.0.key, record.1, is_named)))
    }

    /// Where to start: after what was read, or anew where any of that is not what it was.
    fn find_start(&mut self, from: &Bookmark, digests: &[u64]) -> ControlFlow<(), usize> {
        let count = match *from {
            Bookmark::Start => return ControlFlow::Continue(0),
            Bookmark::Rows { count, digest } => {
                let count = usize::try_from(count).unwrap_or(usize::MAX);
                digests.get(count).filter(|now| **now == digest).map(|_| count)
            }
            Bookmark::Appended { .. } => None,
        };
        match count {
            Some(count) => ControlFlow::Continue(count),
            None => self.sink.retract_all().map_continue(|()| 0),
        }
    }

    fn send_first_facts(&mut self) -> ControlFlow<()> {
        let session = self.session;
        self.sink.learn(Fact::Session(SessionId(session.id.clone())))?;
        self.sink.learn(Fact::Closing(Closing::Answer(MISSING_RESULT)))?;
        let mut facts = Vec::new();
        if self.is_first {
            facts.push(Fact::File(self.path.to_owned()));
            facts.extend(session.children.iter().map(|child| Fact::Child(self.path.join(child))));
            facts.extend(session.model.clone().map(Fact::Model));
        }
        facts.extend(session.started.map(Fact::StartedAt));
        facts.extend(session.project.clone().map(Fact::Project));
        facts.extend(bodies::title_fact(TitleRank::Generated, session.name.as_deref()));
        facts.extend(bodies::title_fact(TitleRank::Given, session.label.as_deref()));
        facts.extend(session.version.clone().map(Fact::ClientVersion));
        facts.extend(session.parent.clone().map(|parent| Fact::Parent(SessionId(parent))));
        facts.into_iter().try_for_each(|fact| self.sink.learn(fact))
    }
}
