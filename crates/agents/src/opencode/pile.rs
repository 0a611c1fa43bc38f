//! The parts of messages in one piece of text: a session has more of them than a string for each is good for.

use std::ops::Range;

use super::kept::{Named, Raw};

/// Parts of messages that follow one another.
#[derive(Debug, Default)]
pub(super) struct Pile {
    text: String,
    parts: Vec<Place>,
}

/// Where a part stands in the text of its pile.
#[derive(Debug)]
struct Place {
    id: Range<usize>,
    record: Result<Range<usize>, &'static str>,
}

/// One part of a message: its name, and its record or what is wrong with it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<'a> {
    pub id: &'a str,
    pub record: Result<&'a str, &'static str>,
}

impl Pile {
    pub(super) fn push(&mut self, part: Part<'_>) {
        let id = self.append(part.id);
        let record = part.record.map(|record| self.append(record));
        self.parts.push(Place { id, record });
    }

    fn append(&mut self, text: &str) -> Range<usize> {
        let start = self.text.len();
        self.text.push_str(text);
        start..self.text.len()
    }

    /// How many parts are in it.
    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// How much text is in it.
    pub(super) fn size(&self) -> usize {
        self.text.len()
    }

    /// Empties it for the next parts; the memory of one that grew beyond this is given back.
    pub(super) fn clear(&mut self, keep: usize) {
        self.parts.clear();
        self.text.clear();
        self.text.shrink_to(keep);
    }

    pub(super) fn parts(&self, range: Range<usize>) -> impl Iterator<Item = Part<'_>> {
        let part = |place: &Place| Part {
            id: &self.text[place.id.clone()],
            record: place.record.clone().map(|record| &self.text[record]),
        };
        self.parts[range].iter().map(part)
    }
}

impl Named {
    pub(super) fn as_part(&self) -> Part<'_> {
        let record = match &self.raw {
            Raw::Text(text) => Ok(text.as_str()),
            Raw::Bad(reason) => Err(*reason),
        };
        Part { id: &self.id, record }
    }
}
