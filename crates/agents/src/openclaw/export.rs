//! A branch of a session as the client exports it with `sessions export-trajectory`: `session-branch.json`.

use std::cell::Cell;

use carryover_core::transcript::EntryKey;
use serde_json::value::RawValue;

use super::raw::Raw;
use super::record::{self, Passed};
use super::stored_session::{Fated, Head, Session, StoredSession, Take, key};
use crate::formats::ids;

/// The file.
#[derive(serde::Deserialize)]
struct WireExport<'a> {
    #[serde(borrow)]
    header: &'a RawValue,
    #[serde(borrow)]
    entries: Vec<&'a RawValue>,
}

/// An exported session.
pub(super) struct Exported {
    session: Session,
    /// Handed over once.
    heads: Cell<Vec<Head>>,
    records: Vec<(EntryKey, Raw<'static>)>,
}

impl Exported {
    /// Reads it; `None` where it is no such file.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let export: WireExport<'_> = serde_json::from_str(text).ok()?;
        let mut session = Session::default();
        session.begin(&Raw::Text(export.header.get().into()));
        let (mut heads, mut records) = (Vec::new(), Vec::new());
        for (raw, number) in std::iter::once(&export.header).chain(&export.entries).zip(0..) {
            let stamp = ids::digest(raw.get());
            let raw = Raw::Text(raw.get().to_owned().into());
            let Passed { mut link, name, said } = record::pass_over(&raw);
            let key = key(ids::digest(&name.unwrap_or_else(|| link.name_by(number))), &raw);
            heads.push(Head { key, place: number, stamp, link, said });
            records.push((key, raw));
        }
        Some(Self { session, heads: Cell::new(heads), records })
    }
}

/// Whether the first bytes are those of an export.
pub(super) fn is_export(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let beginning: String = text.chars().filter(|letter| !letter.is_whitespace()).take(40).collect();
    beginning.starts_with("{\"header\":{\"type\":\"session\"")
}

impl StoredSession for Exported {
    fn session(&self) -> rusqlite::Result<Option<Session>> {
        Ok(Some(self.session.clone()))
    }

    fn heads(&self) -> rusqlite::Result<Vec<Head>> {
        Ok(self.heads.take())
    }

    fn each(&self, records: &[Fated<'_>], take: &mut Take<'_>) -> rusqlite::Result<()> {
        let skipped = records.first().map_or(self.records.len(), |(head, _)| usize::try_from(head.place).unwrap_or(0));
        let mut is_named = false;
        for ((_, raw), (head, fate)) in self.records.iter().skip(skipped).zip(records) {
            if take(record::parse(raw, head.key, fate, &mut is_named)).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn record(&self, key: EntryKey) -> rusqlite::Result<Option<Raw<'static>>> {
        let found = self.records.iter().find(|(known, _)| known.offset == key.offset);
        Ok(found.map(|(_, raw)| raw.clone()))
    }
}
