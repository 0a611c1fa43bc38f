//! The store of clients before 2026.7.2: one file for each session, and an index of them beside it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::transcript::EntryKey;
use carryover_core::transcript::surplus::Surplus;

use super::raw::RawRecord;
use super::record::{self, SkimmedRecord};
use super::stored_session::{PositionedHead, RecordCallback, RecordHead, Session, StoredSession, time_from_millis};
use super::wire::WireEntry;
use crate::AgentError;
use crate::formats::file::{self, MAX_INDEX_BYTES};
use crate::formats::jsonl::Line;
use crate::formats::{ids, jsonl};

/// The index of a folder of sessions.
pub(super) const INDEX_NAME: &str = "sessions.json";

/// A session in a file of its own.
pub(super) struct FileStorage {
    path: PathBuf,
    session: Session,
    /// Handed over once.
    heads: Cell<Vec<RecordHead>>,
}

impl FileStorage {
    /// Looks through a file, up to its last whole line.
    pub(super) fn open(path: &Path) -> Result<Self, AgentError> {
        let mut heads: Vec<RecordHead> = Vec::new();
        let mut surplus = Surplus::default();
        jsonl::scan_records(path, 0, parse_head, |mut head| {
            if head.said.is_rejected() && surplus.is_one_too_many() {
                return ControlFlow::Continue(());
            }
            head.place += heads.last().map_or(0, |last| last.place);
            head.link.name_by_number(head.place);
            heads.push(head);
            ControlFlow::Continue(())
        })?;
        Ok(Self { path: path.to_owned(), session: load_session(path)?, heads: Cell::new(heads) })
    }

    fn read_raw(&self, key: EntryKey) -> RawRecord<'static> {
        if u64::from(key.length) > jsonl::MAX_RECORD_BYTES as u64 {
            return RawRecord::Unreadable("the record is longer than 64 MiB");
        }
        match jsonl::read_record_at(&self.path, key.offset, u64::from(key.length)) {
            Ok(text) => RawRecord::Text(text.into()),
            Err(_) => RawRecord::Unreadable("not UTF-8"),
        }
    }
}

/// A line that counts: one at the end that is not whole is still being written.
fn parse_head(line: Line<'_>) -> Option<RecordHead> {
    let is_whole = || serde_json::from_slice::<serde::de::IgnoredAny>(line.bytes).is_ok();
    let raw = match line {
        _ if line.is_too_long() => RawRecord::Unreadable("the record is longer than 64 MiB"),
        _ if line.unterminated && !is_whole() => return None,
        _ => RawRecord::from_utf8(line.bytes),
    };
    let length = u32::try_from(line.length).unwrap_or(u32::MAX);
    let key = EntryKey { file: 0, offset: line.offset, part: 0, length };
    let stamp = ids::digest_name(if let RawRecord::Text(text) = &raw { text } else { "" });
    let SkimmedRecord { link, content: said, .. } = record::skim_record(&raw);
    Some(RecordHead { key, place: 1, stamp, link, said })
}

/// Reads a session's facts from its first line and the index.
pub(super) fn load_session(path: &Path) -> Result<Session, AgentError> {
    let head = jsonl::read_head(path, 16 << 10)?;
    let mut session = Session::default();
    if let Some(first) = jsonl::whole_lines(&head).next().or(Some(&head[..])) {
        session.apply_first_event(&RawRecord::from_utf8(first));
    }
    if session.id.is_empty() {
        session.id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    }
    let index = path.parent().map(|folder| read_index(&folder.join(INDEX_NAME))).unwrap_or_default();
    if let Some(entry) = index.get(&session.id) {
        session.label.clone_from(&entry.label);
        session.name.clone_from(&entry.display_name);
        session.model.clone_from(&entry.model);
        #[expect(clippy::cast_possible_truncation, reason = "a time in milliseconds")]
        let updated = entry.updated_at.and_then(|at| time_from_millis(at as i64));
        session.updated = updated;
        session.parent.clone_from(&entry.spawned_by);
    }
    Ok(session)
}

/// The sessions that an index knows, by their ids; one that cannot be read knows none.
pub(super) fn read_index(path: &Path) -> BTreeMap<String, WireEntry> {
    let text = file::read_text(path, MAX_INDEX_BYTES).ok();
    let entries: BTreeMap<String, serde_json::Value> =
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let entries = entries.into_values().filter_map(|entry| serde_json::from_value::<WireEntry>(entry).ok());
    entries.filter_map(|entry| Some((entry.session_id.clone()?, entry))).collect()
}

impl StoredSession for FileStorage {
    fn read_session(&self) -> rusqlite::Result<Option<Session>> {
        // The sub-agents of older clients are not told apart from other sessions by what the files say.
        let parent = None;
        Ok(Some(Session { parent, ..self.session.clone() }))
    }

    fn read_heads(&self) -> rusqlite::Result<Vec<RecordHead>> {
        Ok(self.heads.take())
    }

    fn read_texts(&self) -> rusqlite::Result<Vec<RawRecord<'static>>> {
        Ok(self.heads.take().iter().map(|head| self.read_raw(head.key)).collect())
    }

    fn parse_records(&self, records: &[PositionedHead<'_>], take: &mut RecordCallback<'_>) -> rusqlite::Result<()> {
        let mut is_named = false;
        for (head, fate) in records {
            if take(record::parse_record(&self.read_raw(head.key), head.key, fate, &mut is_named)).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn read_record(&self, key: EntryKey) -> rusqlite::Result<Option<RawRecord<'static>>> {
        Ok(Some(self.read_raw(key)))
    }
}
