//! A session as it is kept: events of a database, or the lines of an older client's file.

use std::ops::ControlFlow;
use std::path::PathBuf;

use carryover_core::time::Timestamp;
use carryover_core::transcript::EntryKey;

use super::branch::{Fate, Link};
use super::raw::Raw;
use super::record::{Parsed, Said};
use crate::formats::tree::wire::Record;
use crate::formats::tree::words::PassedOver;

/// A session as a whole.
#[derive(Debug, Clone, Default)]
pub(super) struct Session {
    pub id: String,
    /// What the user called it.
    pub label: Option<String>,
    /// What the client called it.
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
    pub(super) fn begin(&mut self, raw: &Raw<'_>) {
        let Raw::Text(text) = raw else { return };
        let Ok(record) = serde_json::from_str::<Record<'_, PassedOver>>(text) else { return };
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
pub(super) struct Head {
    pub key: EntryKey,
    /// Its number in the order of the records.
    pub place: i64,
    pub stamp: u64,
    pub link: Link,
    pub said: Said,
}

/// A record whose fate is known.
pub(super) type Fated<'a> = (&'a Head, &'a Fate);

/// Where a session can be looked up.
pub(super) trait StoredSession {
    fn session(&self) -> rusqlite::Result<Option<Session>>;
    /// All records in their order.
    fn heads(&self) -> rusqlite::Result<Vec<Head>>;
    /// What some records that follow one another say, up to the end of the session.
    fn each(&self, records: &[Fated<'_>], take: &mut Take<'_>) -> rusqlite::Result<()>;
    fn record(&self, key: EntryKey) -> rusqlite::Result<Option<Raw<'static>>>;
}

/// Takes records one after another.
pub(super) type Take<'a> = dyn FnMut(Parsed) -> ControlFlow<()> + 'a;

pub(super) fn key(offset: u64, raw: &Raw<'_>) -> EntryKey {
    EntryKey { file: 0, offset, part: 0, length: u32::try_from(raw.length()).unwrap_or(u32::MAX) }
}

pub(super) fn time(millis: i64) -> Option<Timestamp> {
    (millis > 0).then(|| Timestamp::from_millis(millis))
}
