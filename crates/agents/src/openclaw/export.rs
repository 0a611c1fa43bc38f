//! A branch of a session as the client exports it with `sessions export-trajectory`: `session-branch.json`.

use std::cell::Cell;

use carryover_core::transcript::EntryKey;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::raw::RawRecord;
use super::record::{self, SkimmedRecord};
use super::stored_session::{PositionedHead, RecordCallback, RecordHead, Session, StoredSession, make_key};
use crate::ExportedSession;
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
pub(super) struct ExportStorage {
    session: Session,
    /// Handed over once.
    heads: Cell<Vec<RecordHead>>,
    records: Vec<(EntryKey, RawRecord<'static>)>,
}

impl ExportStorage {
    /// Reads it; `None` where it is no such file.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let export: WireExport<'_> = serde_json::from_str(text).ok()?;
        let mut session = Session::default();
        session.apply_first_event(&RawRecord::Text(export.header.get().into()));
        let (mut heads, mut records) = (Vec::new(), Vec::new());
        for (raw, number) in std::iter::once(&export.header).chain(&export.entries).zip(0..) {
            let stamp = ids::digest_name(raw.get());
            let raw = RawRecord::Text(raw.get().to_owned().into());
            let SkimmedRecord { mut link, name, content: said } = record::skim_record(&raw);
            let key = make_key(ids::digest_name(&name.unwrap_or_else(|| link.name_by_number(number))), &raw);
            heads.push(RecordHead { key, place: number, stamp, link, said });
            records.push((key, raw));
        }
        Some(Self { session, heads: Cell::new(heads), records })
    }
}

/// Writes a session as such a file: a piece for each record. What cannot be read stands as the text that it is.
pub(super) fn write_pieces(kept: &dyn StoredSession) -> rusqlite::Result<Option<ExportedSession>> {
    let Some(session) = kept.read_session()? else { return Ok(None) };
    let mut records = kept.read_texts()?.into_iter().map(json_text).peekable();
    let first = records.peek().and_then(|first| serde_json::from_str::<Map<String, Value>>(first).ok());
    let first = first.filter(|fields| fields.get("type").is_some_and(|kind| kind == "session"));
    // By its first words a file of this kind is known.
    let mut header = Map::from_iter([("type".to_owned(), Value::from("session"))]);
    match first {
        Some(fields) => {
            header.extend(fields);
            records.next();
        }
        None => drop(header.insert("id".to_owned(), session.id.into())),
    }
    let mut pieces = vec![format!("{{\"header\":{},\"entries\":[", Value::Object(header)).into_bytes()];
    for (index, record) in records.enumerate() {
        pieces.push(format!("{}{record}", if index == 0 { "" } else { "," }).into_bytes());
    }
    pieces.push(b"]}".to_vec());
    Ok(Some(ExportedSession { name: "session-branch.json", pieces, stands_alone: false }))
}

fn json_text(raw: RawRecord<'_>) -> String {
    match raw {
        RawRecord::Text(text) if serde_json::from_str::<&RawValue>(&text).is_ok() => text.into_owned(),
        RawRecord::Text(text) => json!({ "unreadable": text }).to_string(),
        RawRecord::Unreadable(reason) => json!({ "unreadable": reason }).to_string(),
    }
}

/// Whether the first bytes are those of an export.
pub(super) fn is_export(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let beginning: String = text.chars().filter(|letter| !letter.is_whitespace()).take(40).collect();
    beginning.starts_with("{\"header\":{\"type\":\"session\"")
}

impl StoredSession for ExportStorage {
    fn read_session(&self) -> rusqlite::Result<Option<Session>> {
        Ok(Some(self.session.clone()))
    }

    fn read_heads(&self) -> rusqlite::Result<Vec<RecordHead>> {
        Ok(self.heads.take())
    }

    fn read_texts(&self) -> rusqlite::Result<Vec<RawRecord<'static>>> {
        Ok(self.records.iter().map(|(_, raw)| raw.clone()).collect())
    }

    fn parse_records(&self, records: &[PositionedHead<'_>], take: &mut RecordCallback<'_>) -> rusqlite::Result<()> {
        let skipped = records.first().map_or(self.records.len(), |(head, _)| usize::try_from(head.place).unwrap_or(0));
        let mut is_named = false;
        for ((_, raw), (head, fate)) in self.records.iter().skip(skipped).zip(records) {
            if take(record::parse_record(raw, head.key, fate, &mut is_named)).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn read_record(&self, key: EntryKey) -> rusqlite::Result<Option<RawRecord<'static>>> {
        let found = self.records.iter().find(|(known, _)| known.offset == key.offset);
        Ok(found.map(|(_, raw)| raw.clone()))
    }
}
