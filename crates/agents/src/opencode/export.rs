//! Sessions in files that the client exported.

use serde_json::value::RawValue;

use super::part_buffer::PartBuffer;
use super::stored_session::{
    FoundMessage, Message, MessageHead, NamedRecord, PartsSummary, RawRecord, Session, StoredSession,
};
use super::wire::{WireExport, WireExported, WireNamed};
use crate::ExportedSession;
use crate::formats::ids;

/// A file that the client exported.
pub(super) struct ExportStorage {
    session: Session,
    /// What it says of the session as a whole.
    info: String,
    messages: Vec<(NamedRecord, Vec<NamedRecord>)>,
}

impl ExportStorage {
    /// Reads it; `None` where it is no such file.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let export: WireExport<'_> = serde_json::from_str(strip_status_line(text)).ok()?;
        let info = export.info.get().to_owned();
        let session = Session::from_wire(serde_json::from_str(export.info.get()).ok()?);
        let message = |(index, message): (usize, &WireExported<'_>)| {
            let part = |(at, part): (usize, &&RawValue)| named_record(part, &format!("{index}.{at}"));
            let parts = message.parts.iter().enumerate().map(part).collect();
            (named_record(message.info, &format!("message {index}")), parts)
        };
        let messages = export.messages.iter().enumerate().map(message).collect();
        Some(Self { session, info, messages })
    }
}

/// An export without the line that the client says before it, which older ones did not keep apart.
pub(super) fn strip_status_line(text: &str) -> &str {
    let status = text.strip_prefix("Exporting session: ").and_then(|rest| rest.split_once('\n'));
    status.map_or(text, |(_, export)| export)
}

/// Writes a session as such a file: a piece for each message, and one for what stands around them.
pub(super) fn write_pieces(kept: &dyn StoredSession) -> rusqlite::Result<Option<ExportedSession>> {
    let Some(info) = kept.session_record()? else { return Ok(None) };
    let mut pieces = vec![format!("{{\"info\":{info},\"messages\":[").into_bytes()];
    for (index, head) in kept.read_heads()?.iter().enumerate() {
        let mut parts = PartBuffer::default();
        kept.read_parts(&head.message.id, &mut parts)?;
        let record = Message::new(&head.message, &parts, 0..parts.len()).to_lenient_record();
        pieces.push(format!("{}{record}", if index == 0 { "" } else { "," }).into_bytes());
    }
    pieces.push(b"]}".to_vec());
    Ok(Some(ExportedSession { name: "session.json", pieces, stands_alone: false }))
}

fn named_record(raw: &RawValue, otherwise: &str) -> NamedRecord {
    let id = serde_json::from_str::<WireNamed>(raw.get()).map_or_else(|_| otherwise.to_owned(), |named| named.id);
    NamedRecord { id, raw: RawRecord::Text(raw.get().to_owned()) }
}

impl StoredSession for ExportStorage {
    fn read_session(&self) -> rusqlite::Result<Option<Session>> {
        Ok(Some(self.session.clone()))
    }

    fn session_record(&self) -> rusqlite::Result<Option<String>> {
        Ok(Some(self.info.clone()))
    }

    fn read_heads(&self) -> rusqlite::Result<Vec<MessageHead>> {
        let head = |(message, parts): &(NamedRecord, Vec<NamedRecord>)| {
            let texts = parts.iter().chain([message]).filter_map(|named| match &named.raw {
                RawRecord::Text(text) => Some(text.as_bytes()),
                RawRecord::Unreadable(_) => None,
            });
            MessageHead {
                message: message.clone(),
                stamp: texts.fold(ids::digest_name(&message.id), ids::extend_digest),
            }
        };
        Ok(self.messages.iter().map(head).collect())
    }

    fn read_parts(&self, id: &str, pile: &mut PartBuffer) -> rusqlite::Result<Option<PartsSummary>> {
        let found = self.messages.iter().find(|(message, _)| message.id == id);
        if let Some((_, parts)) = found {
            pile.extend(parts);
        }
        Ok(None)
    }

    fn find_message(&self, digest: u64) -> rusqlite::Result<Option<FoundMessage>> {
        let found = self.messages.iter().find(|(message, _)| ids::digest_name(&message.id) == digest);
        let found = found.map(|(message, parts)| {
            let mut pile = PartBuffer::default();
            pile.extend(parts);
            FoundMessage { message: message.clone(), parts: pile }
        });
        Ok(found)
    }
}
