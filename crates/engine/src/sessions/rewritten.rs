//! Entries that a client wrote a second time when it went on with a session.
//!
//! One that has to take a prompt of several parts apart gives new names to everything from there on, and writes it all
//! again: the first writing is on no live branch any more. The times stay, and so does what is said.

use std::collections::BTreeMap;

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Entry, EntryKey, Part};

use crate::carry::assemble::fingerprint_entry;

/// The entries of a session that are no longer live, by their times.
pub(crate) struct AbandonedEntries<'a> {
    by_time: BTreeMap<Timestamp, Vec<&'a Entry>>,
}

impl<'a> AbandonedEntries<'a> {
    /// From what is left of a session once its live entries were taken out.
    pub(crate) fn from_rest(entries: &'a [Entry]) -> Self {
        let mut by_time: BTreeMap<Timestamp, Vec<&Entry>> = BTreeMap::new();
        for entry in entries {
            if let Some(at) = entry.at.filter(|_| !matches!(entry.body, Body::Opaque(_))) {
                by_time.entry(at).or_default().push(entry);
            }
        }
        Self { by_time }
    }

    /// The place of the entry that a live one says again.
    pub(super) fn find_first_writing(&self, live: &Entry) -> Option<EntryKey> {
        let then = self.by_time.get(&live.at?)?;
        then.iter().find(|first| is_said_again(first, live)).map(|first| first.key)
    }
}

fn is_said_again(first: &Entry, again: &Entry) -> bool {
    match (&first.body, &again.body) {
        // Each of its parts may have become a prompt.
        (Body::Prompt(first), Body::Prompt(again)) => {
            again.iter().all(|part| first.iter().any(|first| is_same_part(first, part)))
        }
        _ => fingerprint_entry(first) == fingerprint_entry(again),
    }
}

/// Images are known by their kind: the second one lies elsewhere in the file.
fn is_same_part(first: &Part, again: &Part) -> bool {
    match (first, again) {
        (Part::Text(first), Part::Text(again)) => first == again,
        (Part::Blob(first), Part::Blob(again)) => first.media_type == again.media_type,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use carryover_core::transcript::{Blob, BlobLocation, Origin};

    use super::*;

    fn prompt_at(offset: u64, seconds: i64, parts: Vec<Part>) -> Entry {
        let key = EntryKey { file: 0, offset, part: 0, length: 1 };
        let at = Some(Timestamp::from_millis(seconds * 1_000));
        Entry { key, at, origin: Origin::User, side: false, node: None, body: Body::Prompt(parts) }
    }

    fn text(text: &str) -> Part {
        Part::Text(text.to_owned())
    }

    fn image(offset: u64) -> Part {
        let location = BlobLocation::Encoded { file: 0, offset, length: 4 };
        Part::Blob(Blob { media_type: "image/png".to_owned(), name: None, location })
    }

    #[test]
    fn each_part_of_a_prompt_that_was_taken_apart_leads_to_the_prompt() {
        let rest = [prompt_at(10, 1, vec![text("look"), image(12)])];
        let abandoned = AbandonedEntries::from_rest(&rest);
        for part in [text("look"), image(92)] {
            assert_eq!(abandoned.find_first_writing(&prompt_at(90, 1, vec![part])), Some(rest[0].key));
        }
    }

    #[test]
    fn who_says_the_same_at_another_time_says_something_new() {
        let rest = [prompt_at(10, 1, vec![text("yes")])];
        let abandoned = AbandonedEntries::from_rest(&rest);
        assert_eq!(abandoned.find_first_writing(&prompt_at(90, 2, vec![text("yes")])), None);
        assert_eq!(abandoned.find_first_writing(&prompt_at(90, 1, vec![text("no")])), None);
        assert_eq!(abandoned.find_first_writing(&prompt_at(90, 1, vec![text("yes")])), Some(rest[0].key));
    }
}
