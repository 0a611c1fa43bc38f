//! A session as it is kept: events of a database, or the lines of an older client's file.

use std::ops::ControlFlow;
use std::path::PathBuf;

use carryover_core::time::Timestamp;
use carryover_core::transcript::EntryKey;

use super::branch::{BranchPosition, RecordLink};
use super::raw::RawRecord;
use super::record::{ParsedRecord, RecordContent};
use crate::formats::tree::wire::Record;
use crate::formats::tree::words::SkippedText;

/// A session as a whole.
#[derive(Debug, Clone, Default)]
pub(super) struct Session {
    pub id: String,
    /// The user's name for it.
    pub label: Option<String>,
    /// The client's name for it.
    pub name: Option<String>,
    pub project: Option<PathBuf>,
    pub version: Option<String>,
    pub model: Option<String>,
    pub started: Option<Timestamp>,
    pub updated: Option<Timestamp>,
    /// The session whose sub-agent this is.
    pub parent: Option<String>,
    /// The sessions of its sub-agents.
    pub children: Vec<String>,
    /// Changes when the client rewrites what it had written.
    pub generation: String,
}

impl Session {
    /// Takes over what the first event says.
    pub(super) fn apply_first_event(&mut self, raw: &RawRecord<'_>) {
        let RawRecord::Text(text) = raw else { return };
        let Ok(record) = serde_json::from_str::<Record<'_, SkippedText>>(text) else { return };
        if &*record.kind != "session" {
            return;
        }
        self.project = record.cwd.as_deref().filter(|cwd| !cwd.is_empty()).map(PathBuf::from);
        self.started = record.timestamp.as_deref().and_then(Timestamp::parse).or(self.started);
        if self.id.is_empty() {
            record.id.as_deref().unwrap_or_default().clone_into(&mut self.id);
        }
    }
}

/// A record without its words, and a digest by which a change is noticed.
pub(super) struct RecordHead {
    pub key: EntryKey,
    /// Its number in the order of the records.
    pub place: i64,
    pub stamp: u64,
    pub link: RecordLink,
    pub said: RecordContent,
}

/// A record whose fate is known.
pub(super) type PositionedHead<'a> = (&'a RecordHead, &'a BranchPosition);

/// Where a session can be looked up.
pub(super) trait StoredSession {
    fn read_session(&self) -> rusqlite::Result<Option<Session>>;
    /// All records in their order.
    fn read_heads(&self) -> rusqlite::Result<Vec<RecordHead>>;
    /// The text of every record, in their order.
    fn read_texts(&self) -> rusqlite::Result<Vec<RawRecord<'static>>>;
    /// Parses records that follow one another, up to the end of the session.
    fn parse_records(&self, records: &[PositionedHead<'_>], take: &mut RecordCallback<'_>) -> rusqlite::Result<()>;
    fn read_record(&self, key: EntryKey) -> rusqlite::Result<Option<RawRecord<'static>>>;
}

/// Takes records one after another.
pub(super) type RecordCallback<'a> = dyn FnMut(ParsedRecord) -> ControlFlow<()> + 'a;

pub(super) fn make_key(offset: u64, raw: &RawRecord<'_>) -> EntryKey {
    EntryKey { file: 0, offset, part: 0, length: u32::try_from(raw.byte_len()).unwrap_or(u32::MAX) }
}

pub(super) fn time_from_millis(millis: i64) -> Option<Timestamp> {
    (millis > 0).then(|| Timestamp::from_millis(millis))
}
