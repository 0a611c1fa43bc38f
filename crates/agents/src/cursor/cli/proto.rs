//! Protocol buffers, read field by field from bytes that nobody vouches for. Unknown fields are passed over, and what is cut
//! short ends the message.

/// A field of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldValue<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The fields of a message, with their numbers.
pub(super) fn fields(bytes: &[u8]) -> Fields<'_> {
    Fields { rest: bytes }
}

pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Fields<'a> {
    type Item = (u64, FieldValue<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let tag = self.take_varint()?;
            let value = match tag & 7 {
                0 => Some(FieldValue::Number(self.take_varint()?)),
                1 => self.take_bytes(8).map(|_| None)?,
                2 => {
                    let length = usize::try_from(self.take_varint()?).ok()?;
                    Some(FieldValue::Bytes(self.take_bytes(length)?))
                }
                5 => self.take_bytes(4).map(|_| None)?,
                // Groups are not used by anybody any more.
                _ => return None,
            };
            if let Some(value) = value {
                return Some((tag >> 3, value));
            }
        }
    }
}

impl<'a> Fields<'a> {
    fn take_varint(&mut self) -> Option<u64> {
        const MAX_BYTES: usize = 10;
        let length = self.rest.iter().take(MAX_BYTES).position(|byte| byte & 0x80 == 0)? + 1;
        let value =
            self.take_bytes(length)?.iter().rev().fold(0_u64, |value, byte| value << 7 | u64::from(byte & 0x7f));
        Some(value)
    }

    fn take_bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }
}

/// The first field of a number that holds bytes.
pub(super) fn find_bytes(message: &[u8], number: u64) -> Option<&[u8]> {
    list_bytes(message, number).next()
}

/// All fields of a number that hold bytes.
pub(super) fn list_bytes(message: &[u8], number: u64) -> impl Iterator<Item = &[u8]> {
    fields(message).filter_map(move |(of, value)| match value {
        FieldValue::Bytes(bytes) if of == number => Some(bytes),
        _ => None,
    })
}

pub(super) fn find_text(message: &[u8], number: u64) -> Option<&str> {
    std::str::from_utf8(find_bytes(message, number)?).ok()
}

pub(super) fn find_number(message: &[u8], number: u64) -> Option<u64> {
    fields(message).find_map(|(of, value)| match value {
        FieldValue::Number(value) if of == number => Some(value),
        _ => None,
    })
}

/// A message in the making.
#[derive(Debug, Default)]
pub(in crate::cursor) struct FieldWriter {
    pub(in crate::cursor) bytes: Vec<u8>,
}

impl FieldWriter {
    pub(in crate::cursor) fn write_number(&mut self, number: u64, value: u64) {
        self.write_varint(number << 3);
        self.write_varint(value);
    }

    pub(in crate::cursor) fn write_bytes(&mut self, number: u64, value: &[u8]) {
        self.write_varint(number << 3 | 2);
        self.write_varint(value.len() as u64);
        self.bytes.extend_from_slice(value);
    }

    #[expect(clippy::cast_possible_truncation, reason = "seven bits")]
    fn write_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut message = FieldWriter::default();
        message.write_number(26, 1_794_700_000_000);
        message.write_bytes(1, b"abc");
        message.write_bytes(1, b"");
        assert_eq!(find_number(&message.bytes, 26), Some(1_794_700_000_000));
        assert_eq!(list_bytes(&message.bytes, 1).collect::<Vec<_>>(), [&b"abc"[..], b""]);
        assert_eq!(find_text(&message.bytes, 2), None);
    }

    #[test]
    fn fields_of_other_kinds_are_passed_over() {
        let bytes = [&[0x09][..], &[1; 8], &[0x15], &[2; 4], &[0x1a, 1, b'x']].concat();
        assert_eq!(fields(&bytes).collect::<Vec<_>>(), [(3, FieldValue::Bytes(b"x"))]);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(fields(&bytes).count() <= bytes.len());
        }
    }
}
