//! A session as a document of its own: what is known of it as a whole, and its records as they are kept.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::session::{RawRecord, RecordHead, Session, StoredSession};
use crate::ExportedSession;

/// By what a document begins with it is known.
const BEGINNING: &str = "{\"cursor\":{";

#[derive(Deserialize)]
struct WireDocument<'a> {
    cursor: Session,
    #[serde(borrow)]
    records: Vec<WireExported<'a>>,
}

#[derive(Deserialize)]
struct WireExported<'a> {
    head: RecordHead,
    #[serde(borrow)]
    record: Option<&'a RawValue>,
}

/// Whether the first bytes are those of such a document.
pub(super) fn is_export(head: &[u8]) -> bool {
    head.trim_ascii_start().starts_with(BEGINNING.as_bytes())
}

/// Writes a session: a piece for each record, and one for what stands around them.
pub(super) fn write_pieces(stored: &dyn StoredSession) -> rusqlite::Result<ExportedSession> {
    let session = serde_json::to_value(stored.session()).unwrap_or_default();
    let mut pieces = vec![format!("{{\"cursor\":{session},\"records\":[").into_bytes()];
    for (index, head) in stored.heads().iter().enumerate() {
        let record = match stored.read_text(head)? {
            // What is no JSON stands as the text that it is.
            RawRecord::Text(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
            RawRecord::Empty => Value::Null,
            RawRecord::Unreadable(reason) => Value::String(reason.to_owned()),
        };
        let record = json!({ "head": head, "record": record });
        pieces.push(format!("{}{record}", if index == 0 { "" } else { "," }).into_bytes());
    }
    pieces.push(b"]}".to_vec());
    Ok(ExportedSession { name: "session.json", pieces, stands_alone: false })
}

/// A document that was read.
pub(super) struct ExportedDocument {
    session: Session,
    heads: Vec<RecordHead>,
    texts: Vec<RawRecord>,
}

impl ExportedDocument {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let document: WireDocument<'_> = serde_json::from_str(text).ok()?;
        let text =
            |record: Option<&RawValue>| record.map_or(RawRecord::Empty, |raw| RawRecord::Text(raw.get().to_owned()));
        let records = document.records.into_iter().map(|one| (one.head, text(one.record)));
        let (heads, texts) = records.unzip();
        Some(Self { session: document.cursor, heads, texts })
    }
}

impl StoredSession for ExportedDocument {
    fn session(&self) -> &Session {
        &self.session
    }

    fn heads(&self) -> &[RecordHead] {
        &self.heads
    }

    fn read_text(&self, head: &RecordHead) -> rusqlite::Result<RawRecord> {
        let found = self.heads.iter().position(|other| other.name == head.name);
        Ok(found.map_or(RawRecord::Empty, |index| self.texts[index].clone()))
    }
}
