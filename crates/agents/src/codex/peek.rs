//! A glance at the beginning of a record, by which noise is told from conversation without parsing it.
//!
//! Most bytes of a rollout are display events that repeat what the conversation holds. The glance reads the
//! envelope's fields up to the payload's own `type`, and gives up where anything is spelt in another way.

/// What the beginning of a record tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Peek<'a> {
    pub(super) timestamp: Option<&'a str>,
    pub(super) ordinal: Option<u64>,
    /// Only where a payload follows: the bare records of the first versions have a `type` too.
    pub(super) kind: Option<&'a str>,
    /// The payload's own kind.
    pub(super) inner: Option<&'a str>,
}

impl<'a> Peek<'a> {
    pub(super) fn at(line: &'a [u8]) -> Self {
        let mut peek = Self::default();
        // Giving up midway is no error: the fields that were met stay.
        let mut cursor = Cursor { rest: line };
        peek.fill(&mut cursor);
        peek
    }

    fn fill(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        let mut kind = None;
        cursor.expect(b'{')?;
        loop {
            let key = cursor.string()?;
            cursor.expect(b':')?;
            match key {
                "timestamp" => self.timestamp = Some(cursor.string()?),
                "type" => kind = Some(cursor.string()?),
                "ordinal" => self.ordinal = Some(cursor.number()?),
                "payload" => {
                    self.kind = kind;
                    cursor.expect(b'{')?;
                    if cursor.string()? == "type" {
                        cursor.expect(b':')?;
                        self.inner = Some(cursor.string()?);
                    }
                    return Some(());
                }
                _ => return None,
            }
            cursor.expect(b',')?;
        }
    }
}

struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    fn expect(&mut self, byte: u8) -> Option<()> {
        self.rest = self.rest.trim_ascii_start().strip_prefix(&[byte])?;
        Some(())
    }

    /// A string without escapes.
    fn string(&mut self) -> Option<&'a str> {
        self.expect(b'"')?;
        let end = memchr::memchr2(b'"', b'\\', self.rest)?;
        if self.rest[end] == b'\\' {
            return None;
        }
        let text = std::str::from_utf8(&self.rest[..end]).ok()?;
        self.rest = &self.rest[end + 1..];
        Some(text)
    }

    fn number(&mut self) -> Option<u64> {
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
        let expected =
            Peek { timestamp: Some("T"), ordinal: Some(12), kind: Some("event_msg"), inner: Some("item_completed") };
        assert_eq!(Peek::at(line), expected);
        let spaced = br#"{"timestamp": "T", "type": "world_state", "payload": {"full": true}, "ordinal": 3}"#;
        assert_eq!(Peek::at(spaced), Peek { timestamp: Some("T"), kind: Some("world_state"), ..Peek::default() });
        assert_eq!(Peek::at(b"").kind, None);
        assert_eq!(Peek::at(br#"{"id":"x"}"#), Peek::default());
    }
}
