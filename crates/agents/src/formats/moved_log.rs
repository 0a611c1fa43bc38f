//! A log of JSON lines that moves as a whole, and where in it which line stands afterwards.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{CarriedEntry, Origins, WrittenEntry};

/// The lines in their new place.
#[derive(Default)]
pub(crate) struct MovedLog {
    bytes: Vec<u8>,
    /// Where lines stand now, by where they stood.
    places: BTreeMap<u64, u64>,
}

impl MovedLog {
    /// Moves every line that is whole, unless the change says that it stays behind; those that are no JSON stay as they are.
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
                Ok(mut record) => {
                    if change(&mut record) {
                        let now = log.bytes.len();
                        log.places.insert(start, now as u64);
                        log.append(&record);
                        let inside = find_records(line).into_iter().zip(find_records(&log.bytes[now..]));
                        log.places.extend(inside.map(|(then, there)| (start + then, now as u64 + there)));
                    }
                }
                Err(_) if is_whole => log.bytes.extend_from_slice(line),
                // Its client was stopped in the midst of it, and would read it no more than we do.
                Err(_) => {}
            }
        }
        log
    }

    pub(crate) fn append(&mut self, record: &Value) {
        self.bytes.extend_from_slice(record.to_string().as_bytes());
        self.bytes.push(b'\n');
    }

    /// Where entries of the log's own file stand now.
    pub(crate) fn find_origins(&self, entries: &[CarriedEntry], file: u16) -> Origins {
        let place = |(entry, carried): (usize, &CarriedEntry)| {
            let key = carried.entry.key;
            let offset = self.places.get(&key.offset).filter(|_| key.file == file)?;
            Some(WrittenEntry { entry, offset: *offset })
        };
        entries.iter().enumerate().filter_map(place).collect()
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
    use super::*;

    #[test]
    fn lines_move_with_their_places_and_a_cut_end_stays_behind() {
        let text = "{\"id\":\"a\",\"words\":\"a b\"}\nno json\n{\"stays\":1}\n{\"of\":[\"a\"]}\n{\"cut\":";
        let log = MovedLog::from_lines(text.as_bytes(), |record| {
            rename(record, "a", "longer");
            record.get("stays").is_none()
        });
        assert_eq!(log.places, BTreeMap::from([(0, 0), (45, 38)]));
        let moved = String::from_utf8(log.into_bytes()).unwrap();
        assert_eq!(moved, "{\"id\":\"longer\",\"words\":\"a b\"}\nno json\n{\"of\":[\"longer\"]}\n");
    }
}
