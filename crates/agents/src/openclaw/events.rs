//! Events of a database, taken from their rows in batches, so that they can be unpacked and read on other threads.

use std::cell::RefCell;
use std::ops::Range;

use rusqlite::types::ValueRef;
use rusqlite::{Row, Rows};

use super::raw::{RawRecord, Unpacker};

/// How many bytes make a batch; unpacked, they are a few times as many.
const BATCH_BYTES: usize = 256 << 10;

thread_local! {
    /// One for all batches of a thread.
    static UNPACKER: RefCell<Unpacker> = RefCell::default();
}

/// Some events, as they stand in their rows.
pub(super) struct EventBatch {
    bytes: Vec<u8>,
    events: Vec<StoredEvent>,
}

struct StoredEvent {
    seq: i64,
    created: i64,
    form: EventForm<Range<usize>>,
}

/// The form in which an event is stored.
enum EventForm<B> {
    Plain(B),
    Packed(B),
    Bad(&'static str),
}

impl EventBatch {
    /// The next events of a query for their numbers, their times and their two forms.
    pub(super) fn read_next(rows: &mut Rows<'_>) -> rusqlite::Result<Option<Self>> {
        let mut batch = Self { bytes: Vec::with_capacity(BATCH_BYTES + BATCH_BYTES / 4), events: Vec::new() };
        while batch.bytes.len() < BATCH_BYTES
            && let Some(row) = rows.next()?
        {
            let form = match read_form(row, 2)? {
                EventForm::Plain(bytes) => EventForm::Plain(batch.push_bytes(bytes)),
                EventForm::Packed(bytes) => EventForm::Packed(batch.push_bytes(bytes)),
                EventForm::Bad(reason) => EventForm::Bad(reason),
            };
            batch.events.push(StoredEvent { seq: integer_column(row, 0)?, created: integer_column(row, 1)?, form });
        }
        Ok(Some(batch).filter(|batch| !batch.events.is_empty()))
    }

    fn push_bytes(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        start..self.bytes.len()
    }

    /// Tells each event with its number and its time.
    pub(super) fn for_each_event(&self, mut tell: impl FnMut(i64, i64, &RawRecord<'_>)) {
        UNPACKER.with_borrow_mut(|unpacker| {
            for event in &self.events {
                let raw = match &event.form {
                    EventForm::Plain(place) => RawRecord::from_utf8(&self.bytes[place.clone()]),
                    EventForm::Packed(place) => unpacker.unpack(&self.bytes[place.clone()]),
                    EventForm::Bad(reason) => RawRecord::Unreadable(reason),
                };
                tell(event.seq, event.created, &raw);
            }
        });
    }
}

/// One event, from a row that has its two forms from a column on.
pub(super) fn read_event(row: &Row<'_>, index: usize, unpacker: &mut Unpacker) -> rusqlite::Result<RawRecord<'static>> {
    Ok(match read_form(row, index)? {
        EventForm::Plain(bytes) => RawRecord::from_utf8(bytes).into_owned(),
        EventForm::Packed(bytes) => unpacker.unpack(bytes).into_owned(),
        EventForm::Bad(reason) => RawRecord::Unreadable(reason),
    })
}

fn read_form<'a>(row: &'a Row<'_>, index: usize) -> rusqlite::Result<EventForm<&'a [u8]>> {
    Ok(match (row.get_ref(index)?, row.get_ref(index + 1)?) {
        (ValueRef::Text(bytes) | ValueRef::Blob(bytes), _) => EventForm::Plain(bytes),
        (_, ValueRef::Blob(bytes)) => EventForm::Packed(bytes),
        (ValueRef::Null, ValueRef::Null) => EventForm::Bad("the record is longer than 64 MiB, or not there"),
        _ => EventForm::Bad("not a JSON object"),
    })
}

/// A text, whatever its column holds; an empty one is none.
pub(super) fn text_column(row: &Row<'_>, index: usize) -> rusqlite::Result<Option<String>> {
    Ok(match row.get_ref(index)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Some(String::from_utf8_lossy(bytes).into_owned()).filter(|text| !text.is_empty())
        }
        _ => None,
    })
}

pub(super) fn integer_column(row: &Row<'_>, index: usize) -> rusqlite::Result<i64> {
    Ok(match row.get_ref(index)? {
        ValueRef::Integer(number) => number,
        #[expect(clippy::cast_possible_truncation, reason = "times are whole numbers, held within range")]
        ValueRef::Real(number) => number as i64,
        _ => 0,
    })
}
