//! A branch of a session as the client exports it with `sessions export-trajectory`: `session-branch.json`.

use carryover_core::transcript::EntryKey;
use serde_json::value::RawValue;

use super::kept::{Head, Kept, Raw, Session, Take, key, link};
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
    records: Vec<(Head, Raw)>,
}

impl Exported {
    /// Reads it; `None` where it is no such file.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let export: WireExport<'_> = serde_json::from_str(text).ok()?;
        let mut session = Session::default();
        session.begin(&Raw::Text(export.header.get().to_owned()));
        let records = std::iter::once(&export.header).chain(&export.entries).zip(0..);
        let records = records.map(|(raw, number)| {
            let stamp = ids::digest(raw.get());
            let raw = Raw::Text(raw.get().to_owned());
            let (link, name) = link(&raw, number);
            (Head { key: key(ids::digest(&name), &raw), place: number, stamp, link }, raw)
        });
        Some(Self { session, records: records.collect() })
    }
}

/// Whether the first bytes are those of an export.
pub(super) fn is_export(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let beginning: String = text.chars().filter(|letter| !letter.is_whitespace()).take(40).collect();
    beginning.starts_with("{\"header\":{\"type\":\"session\"")
}

impl Kept for Exported {
    fn session(&self) -> rusqlite::Result<Option<Session>> {
        Ok(Some(self.session.clone()))
    }

    fn heads(&self) -> rusqlite::Result<Vec<Head>> {
        Ok(self.records.iter().map(|(head, _)| head.clone()).collect())
    }

    fn each(&self, heads: &[Head], take: &mut Take<'_>) -> rusqlite::Result<()> {
        let skipped = self.records.len().saturating_sub(heads.len());
        for (_, raw) in &self.records[skipped..] {
            if take(raw.clone()).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn record(&self, key: EntryKey) -> rusqlite::Result<Option<Raw>> {
        let found = self.records.iter().find(|(head, _)| head.key.offset == key.offset);
        Ok(found.map(|(_, raw)| raw.clone()))
    }
}
