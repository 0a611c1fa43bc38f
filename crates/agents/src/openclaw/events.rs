//! Events of a database, taken from their rows in batches, so that they can be unpacked and read on other threads.

use std::cell::RefCell;
use std::ops::Range;

use rusqlite::types::ValueRef;
use rusqlite::{Row, Rows};

use super::raw::{Raw, Unpacker};

/// How many bytes make a batch; unpacked, they are a few times as many.
const BATCH: usize = 256 << 10;

thread_local! {
    /// One for all batches of a thread.
    static UNPACKER: RefCell<Unpacker> = RefCell::default();
}

/// Some events, as they stand in their rows.
pub(super) struct Batch {
    bytes: Vec<u8>,
    events: Vec<Event>,
}

struct Event {
    seq: i64,
    created: i64,
    form: Form<Range<usize>>,
}

/// What an event is kept as.
enum Form<B> {
    Plain(B),
    Packed(B),
    Bad(&'static str),
}

impl Batch {
    /// The next events of a query for their numbers, their times and their two forms.
    pub(super) fn next(rows: &mut Rows<'_>) -> rusqlite::Result<Option<Self>> {
        let mut batch = Self { bytes: Vec::with_capacity(BATCH + BATCH / 4), events: Vec::new() };
        while batch.bytes.len() < BATCH
            && let Some(row) = rows.next()?
        {
            let form = match form(row, 2)? {
                Form::Plain(bytes) => Form::Plain(batch.put(bytes)),
                Form::Packed(bytes) => Form::Packed(batch.put(bytes)),
                Form::Bad(reason) => Form::Bad(reason),
            };
            batch.events.push(Event { seq: number(row, 0)?, created: number(row, 1)?, form });
        }
        Ok(Some(batch).filter(|batch| !batch.events.is_empty()))
    }

    fn put(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        start..self.bytes.len()
    }

    /// Tells each event with its number and its time.
    pub(super) fn each(&self, mut tell: impl FnMut(i64, i64, &Raw<'_>)) {
        UNPACKER.with_borrow_mut(|unpacker| {
            for event in &self.events {
                let raw = match &event.form {
                    Form::Plain(place) => Raw::utf8(&self.bytes[place.clone()]),
                    Form::Packed(place) => unpacker.unpack(&self.bytes[place.clone()]),
                    Form::Bad(reason) => Raw::Bad(reason),
                };
                tell(event.seq, event.created, &raw);
            }
        });
    }
}

/// One event, from a row that has its two forms from a column on.
pub(super) fn event(row: &Row<'_>, index: usize, unpacker: &mut Unpacker) -> rusqlite::Result<Raw<'static>> {
    Ok(match form(row, index)? {
        Form::Plain(bytes) => Raw::utf8(bytes).into_owned(),
        Form::Packed(bytes) => unpacker.unpack(bytes).into_owned(),
        Form::Bad(reason) => Raw::Bad(reason),
    })
}

fn form<'a>(row: &'a Row<'_>, index: usize) -> rusqlite::Result<Form<&'a [u8]>> {
    Ok(match (row.get_ref(index)?, row.get_ref(index + 1)?) {
        (ValueRef::Text(bytes) | ValueRef::Blob(bytes), _) => Form::Plain(bytes),
        (_, ValueRef::Blob(bytes)) => Form::Packed(bytes),
        (ValueRef::Null, ValueRef::Null) => Form::Bad("the record is longer than 64 MiB, or not there"),
        _ => Form::Bad("not a JSON object"),
    })
}

/// A text, whatever its column holds; an empty one is none.
pub(super) fn text(row: &Row<'_>, index: usize) -> rusqlite::Result<Option<String>> {
    Ok(match row.get_ref(index)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Some(String::from_utf8_lossy(bytes).into_owned()).filter(|text| !text.is_empty())
        }
        _ => None,
    })
}

pub(super) fn number(row: &Row<'_>, index: usize) -> rusqlite::Result<i64> {
    Ok(match row.get_ref(index)? {
        ValueRef::Integer(number) => number,
        #[expect(clippy::cast_possible_truncation, reason = "times are whole numbers, held within range")]
        ValueRef::Real(number) => number as i64,
        _ => 0,
    })
}
