//! Sessions in files that the client exported.

use serde_json::value::RawValue;

use super::pile::Pile;
use super::stored_session::{Found, Head, Named, Raw, Session, StoredSession, Weight};
use super::wire::{WireExport, WireExported, WireNamed};
use crate::formats::ids;

/// A file that the client exported.
pub(super) struct Exported {
    session: Session,
    messages: Vec<(Named, Vec<Named>)>,
}

impl Exported {
    /// Reads it; `None` where it is no such file.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let export: WireExport<'_> = serde_json::from_str(without_status(text)).ok()?;
        let session = Session::of(export.info);
        let message = |(index, message): (usize, &WireExported<'_>)| {
            let part = |(at, part): (usize, &&RawValue)| named(part, &format!("{index}.{at}"));
            let parts = message.parts.iter().enumerate().map(part).collect();
            (named(message.info, &format!("message {index}")), parts)
        };
        let messages = export.messages.iter().enumerate().map(message).collect();
        Some(Self { session, messages })
    }
}

/// An export without the line that the client says before it, which older ones did not keep apart.
pub(super) fn without_status(text: &str) -> &str {
    let status = text.strip_prefix("Exporting session: ").and_then(|rest| rest.split_once('\n'));
    status.map_or(text, |(_, export)| export)
}

fn named(raw: &RawValue, otherwise: &str) -> Named {
    let id = serde_json::from_str::<WireNamed>(raw.get()).map_or_else(|_| otherwise.to_owned(), |named| named.id);
    Named { id, raw: Raw::Text(raw.get().to_owned()) }
}

impl StoredSession for Exported {
    fn session(&self) -> rusqlite::Result<Option<Session>> {
        Ok(Some(self.session.clone()))
    }

    fn heads(&self) -> rusqlite::Result<Vec<Head>> {
        let head = |(message, parts): &(Named, Vec<Named>)| {
            let texts = parts.iter().chain([message]).filter_map(|named| match &named.raw {
                Raw::Text(text) => Some(text.as_bytes()),
                Raw::Bad(_) => None,
            });
            Head { message: message.clone(), stamp: texts.fold(ids::digest(&message.id), ids::digest_on) }
        };
        Ok(self.messages.iter().map(head).collect())
    }

    fn parts(&self, id: &str, pile: &mut Pile) -> rusqlite::Result<Option<Weight>> {
        let found = self.messages.iter().find(|(message, _)| message.id == id);
        if let Some((_, parts)) = found {
            pile.extend(parts);
        }
        Ok(None)
    }

    fn message(&self, digest: u64) -> rusqlite::Result<Option<Found>> {
        let found = self.messages.iter().find(|(message, _)| ids::digest(&message.id) == digest);
        let found = found.map(|(message, parts)| {
            let mut pile = Pile::default();
            pile.extend(parts);
            Found { message: message.clone(), parts: pile }
        });
        Ok(found)
    }
}
