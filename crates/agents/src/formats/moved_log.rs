//! A log of JSON lines that moves as a whole, and where in it which line stands afterwards.

use std::collections::BTreeMap;

use serde_json::Value;

use super::session_lines::WrittenFile;
use crate::{CarriedEntry, Loss, NOT_CONVERSATION, Origins, WrittenEntry};

/// The lines in their new place.
#[derive(Default)]
pub(crate) struct MovedLog {
    bytes: Vec<u8>,
    /// Where lines stand now, by where they stood.
    places: BTreeMap<u64, u64>,
    n_unread: usize,
    n_left: usize,
}

impl MovedLog {
    /// Moves every line that is an object, unless the change says that it stays behind. What cannot be read here is never
    /// copied: clients read more than we do (half of a surrogate pair, numbers without end, any depth), and nobody has looked
    /// at what it says.
    pub(crate) fn from_lines(bytes: &[u8], change: impl FnMut(&mut Value) -> bool) -> Self {
        Self::from_lines_of_records(bytes, |_| Vec::new(), change)
    }

    /// The same where a line may hold several records: `find_records` tells where in it they begin.
    pub(crate) fn from_lines_of_records(
        bytes: &[u8],
        find_records: fn(&[u8]) -> Vec<u64>,
        mut change: impl FnMut(&mut Value) -> bool,
    ) -> Self {
        let mut log = Self::default();
        let mut offset = 0;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let is_whole = line.ends_with(b"\n");
            let start = offset;
            offset += line.len() as u64;
            match serde_json::from_slice::<Value>(line) {
                Ok(mut record) if record.is_object() => {
                    if !change(&mut record) {
                        log.n_left += 1;
                        continue;
                    }
                    let now = log.bytes.len();
                    log.places.insert(start, now as u64);
                    log.append(&record);
                    log.note_inside(find_records(line), start, find_records(&log.bytes[now..]), now as u64);
                }
                // What is cut at the end its client would read no more than we do.
                _ => log.n_unread += usize::from(is_whole && !line.trim_ascii().is_empty()),
            }
        }
        log
    }

    /// Notes where the records in a line stand now, where all of them are still in it.
    fn note_inside(&mut self, then: Vec<u64>, start: u64, now: Vec<u64>, here: u64) {
        if then.len() == now.len() {
            self.places.extend(then.into_iter().zip(now).map(|(then, now)| (start + then, here + now)));
        }
    }

    pub(crate) fn append(&mut self, record: &Value) {
        self.bytes.extend_from_slice(record.to_string().as_bytes());
        self.bytes.push(b'\n');
    }

    /// Where entries of the log's own file stand now; none where one of them stayed behind.
    pub(crate) fn find_origins(&self, entries: &[CarriedEntry], file: u16) -> Option<Origins> {
        let own = entries.iter().enumerate().filter(|(_, carried)| carried.entry.key.file == file);
        let place = |(entry, carried): (usize, &CarriedEntry)| {
            let offset = *self.places.get(&carried.entry.key.offset)?;
            Some(WrittenEntry { entry, offset })
        };
        own.map(place).collect()
    }

    /// What stayed behind.
    pub(crate) fn list_losses(&self) -> Vec<Loss> {
        let unread = Loss { what: "lines", count: self.n_unread, reason: NOT_CONVERSATION };
        let left = Loss { what: "records", count: self.n_left, reason: NOT_CONVERSATION };
        [unread, left].into_iter().filter(|loss| loss.count > 0).collect()
    }

    /// The file of a session that these lines are all of; none where something that was said stayed behind.
    pub(crate) fn into_written(self, entries: &[CarriedEntry]) -> Option<WrittenFile> {
        let (origins, losses) = (self.find_origins(entries, 0)?, self.list_losses());
        Some(WrittenFile { bytes: self.bytes, origins, losses, translated: 0 })
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Puts a new name in the place of an old one, wherever it is a whole string.
pub(crate) fn rename(value: &mut Value, old: &str, new: &str) {
    match value {
        Value::String(text) if text == old => new.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, old, new)),
        Value::Object(fields) => fields.values_mut().for_each(|field| rename(field, old, new)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use carryover_core::transcript::Body;

    use super::*;

    #[test]
    fn lines_move_with_their_places_and_a_cut_end_stays_behind() {
        let text = "{\"id\":\"a\",\"words\":\"a b\"}\n\n{\"stays\":1}\n{\"of\":[\"a\"]}\n{\"cut\":";
        let log = MovedLog::from_lines(text.as_bytes(), |record| {
            rename(record, "a", "longer");
            record.get("stays").is_none()
        });
        assert_eq!(log.places, BTreeMap::from([(0, 0), (38, 30)]));
        assert_eq!(log.list_losses().iter().map(|loss| loss.count).collect::<Vec<_>>(), [1]);
        let moved = String::from_utf8(log.into_bytes()).unwrap();
        assert_eq!(moved, "{\"id\":\"longer\",\"words\":\"a b\"}\n{\"of\":[\"longer\"]}\n");
    }

    #[test]
    fn what_cannot_be_read_as_a_record_is_not_copied() {
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(300), "]".repeat(300));
        let other = ["{\"a\":\"\\ud800\"}", "{\"a\":1e999}", &deep, "no json", "5", "[]", "\"text\"", "null"];
        let text = other.join("\n") + "\n{\"id\":1}\n";
        let log = MovedLog::from_lines(text.as_bytes(), |_| true);
        assert_eq!(log.list_losses()[0].count, other.len());
        assert_eq!(log.into_bytes(), b"{\"id\":1}\n");
    }

    #[test]
    fn a_log_of_which_something_that_was_said_stays_behind_is_no_whole() {
        let entries = [0, 9].map(|offset| crate::write_fixtures::said(offset, Body::Reply(Vec::new())));
        let move_all = |stays: u64| MovedLog::from_lines(b"{\"id\":0}\n{\"id\":1}\n", |record| record["id"] != stays);
        let written = move_all(7).into_written(&entries).unwrap();
        assert_eq!(written.origins.iter().map(|written| written.offset).collect::<Vec<_>>(), [0, 9]);
        assert!(move_all(0).into_written(&entries).is_none() && move_all(1).into_written(&entries).is_none());
        assert!(move_all(1).into_written(&entries[..1]).is_some());
    }
}
