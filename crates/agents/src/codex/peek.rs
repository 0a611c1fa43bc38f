//! A glance at the beginning of a record, by which noise is told from conversation without parsing it.
//!
//! Most bytes of a rollout are display events that repeat what the conversation holds. The glance reads the
//! envelope's fields up to the payload's own `type`, and gives up where anything is spelt in another way.

/// The fields at the beginning of a record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RecordPeek<'a> {
    pub(super) timestamp: Option<&'a str>,
    pub(super) ordinal: Option<u64>,
    /// Only where a payload follows: the bare records of the first versions have a `type` too.
    pub(super) kind: Option<&'a str>,
    /// The payload's own kind.
    pub(super) payload_kind: Option<&'a str>,
}

impl<'a> RecordPeek<'a> {
    pub(super) fn from_line(line: &'a [u8]) -> Self {
        let mut peek = Self::default();
        // Giving up midway is no error: the fields that were met stay.
        let mut cursor = Cursor { rest: line };
        peek.read_fields(&mut cursor);
        peek
    }

    fn read_fields(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        let mut kind = None;
        cursor.expect_byte(b'{')?;
        loop {
            let key = cursor.read_string()?;
            cursor.expect_byte(b':')?;
            match key {
                "timestamp" => self.timestamp = Some(cursor.read_string()?),
                "type" => kind = Some(cursor.read_string()?),
                "ordinal" => self.ordinal = Some(cursor.read_number()?),
                "payload" => {
                    self.kind = kind;
                    cursor.expect_byte(b'{')?;
                    if cursor.read_string()? == "type" {
                        cursor.expect_byte(b':')?;
                        self.payload_kind = Some(cursor.read_string()?);
                    }
                    return Some(());
                }
                _ => return None,
            }
            cursor.expect_byte(b',')?;
        }
    }
}

struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    fn expect_byte(&mut self, byte: u8) -> Option<()> {
        self.rest = self.rest.trim_ascii_start().strip_prefix(&[byte])?;
        Some(())
    }

    /// A string without escapes.
    fn read_string(&mut self) -> Option<&'a str> {
        self.expect_byte(b'"')?;
        let end = memchr::memchr2(b'"', b'\\', self.rest)?;
        if self.rest[end] == b'\\' {
            return None;
        }
        let text = std::str::from_utf8(&self.rest[..end]).ok()?;
        self.rest = &self.rest[end + 1..];
        Some(text)
    }

    fn read_number(&mut self) -> Option<u64> {
        self.rest = self.rest.trim_ascii_start();
        let end = self.rest.iter().position(|byte| !byte.is_ascii_digit())?;
        let number = std::str::from_utf8(&self.rest[..end]).ok()?.parse().ok()?;
        self.rest = &self.rest[end..];
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_payloads_kind_is_seen_without_parsing() {
        let line = br#"{"timestamp":"T","ordinal":12,"type":"event_msg","payload":{"type":"item_completed","x":"#;
        let expected = RecordPeek {
            timestamp: Some("T"),
            ordinal: Some(12),
            kind: Some("event_msg"),
            payload_kind: Some("item_completed"),
        };
        assert_eq!(RecordPeek::from_line(line), expected);
        let spaced = br#"{"timestamp": "T", "type": "world_state", "payload": {"full": true}, "ordinal": 3}"#;
        assert_eq!(
            RecordPeek::from_line(spaced),
            RecordPeek { timestamp: Some("T"), kind: Some("world_state"), ..RecordPeek::default() }
        );
        assert_eq!(RecordPeek::from_line(b"").kind, None);
        assert_eq!(RecordPeek::from_line(br#"{"id":"x"}"#), RecordPeek::default());
    }
}
