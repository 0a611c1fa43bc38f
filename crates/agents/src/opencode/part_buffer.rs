//! The parts of messages in one piece of text: a session has more of them than a string for each is good for.

use std::ops::Range;

use serde_json::StreamDeserializer;
use serde_json::de::StrRead;

use super::stored_session::{NamedRecord, RawRecord};
use super::wire::WirePart;

/// Parts of messages that follow one another.
#[derive(Debug, Default)]
pub(super) struct PartBuffer {
    names: String,
    /// The records, one right behind the other.
    text: String,
    parts: Vec<PartRange>,
}

/// Where a part stands in its pile.
#[derive(Debug)]
struct PartRange {
    id: Range<usize>,
    record: Result<Range<usize>, &'static str>,
}

/// One part of a message: its name, and its record or what is wrong with it.
#[derive(Debug, Clone, Copy)]
pub(super) struct RawPart<'a> {
    pub id: &'a str,
    pub record: Result<&'a str, &'static str>,
    /// The record and all that stands behind it in its pile.
    rest: &'a str,
}

impl<'a> RawPart<'a> {
    pub(super) fn new(id: &'a str, record: Result<&'a str, &'static str>) -> Self {
        Self { id, record, rest: record.unwrap_or_default() }
    }
}

impl PartBuffer {
    pub(super) fn push(&mut self, part: RawPart<'_>) {
        let id = append_text(&mut self.names, part.id);
        let record = part.record.map(|record| append_text(&mut self.text, record));
        self.parts.push(PartRange { id, record });
    }

    pub(super) fn extend(&mut self, parts: &[NamedRecord]) {
        for part in parts {
            self.push(part.as_part());
        }
    }

    /// How many parts are in it.
    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// How much text is in it.
    pub(super) fn text_len(&self) -> usize {
        self.text.len()
    }

    /// Empties it for the next parts; the memory of one that grew beyond this is given back.
    pub(super) fn clear(&mut self, keep: usize) {
        self.parts.clear();
        self.names.clear();
        self.text.clear();
        self.text.shrink_to(keep);
    }

    pub(super) fn parts(&self, range: Range<usize>) -> impl ExactSizeIterator<Item = RawPart<'_>> {
        let part = |place: &PartRange| RawPart {
            id: &self.names[place.id.clone()],
            record: place.record.clone().map(|record| &self.text[record]),
            rest: place.record.as_ref().map_or("", |record| &self.text[record.start..]),
        };
        self.parts[range].iter().map(part)
    }
}

fn append_text(to: &mut String, text: &str) -> Range<usize> {
    let start = to.len();
    to.push_str(text);
    start..to.len()
}

/// Parses the parts of a pile one after another. The parser goes on from one to the next, so that the memory in which it
/// unescapes texts is not made anew for each.
#[derive(Default)]
pub(super) struct PartParser<'a> {
    /// It, how far it has come, and how much of the pile is left from there.
    stream: Option<(StreamDeserializer<'a, StrRead<'a>, WirePart<'a>>, usize, usize)>,
}

impl<'a> PartParser<'a> {
    pub(super) fn parse(&mut self, part: RawPart<'a>) -> serde_json::Result<WirePart<'a>> {
        let record = part.record.unwrap_or_default();
        let going = self.stream.take().filter(|(.., left)| *left == part.rest.len());
        let (mut stream, at, left) =
            going.unwrap_or_else(|| (serde_json::Deserializer::from_str(part.rest).into_iter(), 0, part.rest.len()));
        if let Some(Ok(parsed)) = stream.next()
            && stream.byte_offset() == at + record.len()
        {
            self.stream = Some((stream, at + record.len(), left - record.len()));
            return Ok(parsed);
        }
        // It is not right, or not by itself: it may have ended before, or have taken what is not its own.
        serde_json::from_str(record)
    }
}

impl NamedRecord {
    pub(super) fn as_part(&self) -> RawPart<'_> {
        let record = match &self.raw {
            RawRecord::Text(text) => Ok(text.as_str()),
            RawRecord::Unreadable(reason) => Err(*reason),
        };
        RawPart::new(&self.id, record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record is what it is by itself, whatever stands before and behind it.
    #[test]
    fn a_record_takes_nothing_from_its_neighbours() {
        let records = [
            r#"{"type":"text","text":"one\n\"two\""}"#,
            r#"{"type":"text","text":"cut "#,
            r#"","text":"three"}"#,
            r#"{"type":"text","text":"four"} {}"#,
            "{\"type\":\"text\",\"text\":\"five\\t\"}\n",
            " {\"type\":\"text\"}",
            "",
            "7",
            r#"{"type":"text","text":7}"#,
            r#"{"type":"text","text":"\ud800"}"#,
            r#"{"type":"text","#,
            r#""text":"six"}"#,
            r#"{"type":"text","text":"seven \\ eight"}"#,
            r#"{"type":"text","text":"nine"}"#,
        ];
        let mut pile = PartBuffer::default();
        for record in records {
            pile.push(RawPart::new("", Ok(record)));
        }
        let told = |part: serde_json::Result<WirePart<'_>>| {
            part.map(|part| part.text.map(|text| text.to_string())).map_err(|error| error.to_string())
        };
        let mut parser = PartParser::default();
        for (part, record) in pile.parts(0..pile.len()).zip(records) {
            assert_eq!(told(parser.parse(part)), told(serde_json::from_str(record)), "{record}");
        }
    }
}
