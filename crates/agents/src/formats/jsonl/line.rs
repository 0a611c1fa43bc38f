//! One line of a log, with its place.

use carryover_core::transcript::EntryKey;

/// A line without its line feed.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    pub offset: u64,
    /// Empty where the line is longer than we hold in memory.
    pub bytes: &'a [u8],
    pub length: u64,
    /// The file ends here without a line feed: the line may still be growing.
    pub unterminated: bool,
}

impl<'a> Line<'a> {
    /// A line that is known to be whole.
    pub fn from_bytes(offset: u64, bytes: &'a [u8]) -> Self {
        Self { offset, bytes, length: bytes.len() as u64, unterminated: false }
    }

    /// The key of the first entry that the line makes.
    pub fn key(&self, file: u16) -> EntryKey {
        EntryKey { file, offset: self.offset, part: 0, length: u32::try_from(self.length).unwrap_or(u32::MAX) }
    }

    /// Longer than `MAX_RECORD_BYTES`: known by its place only.
    pub fn is_too_long(&self) -> bool {
        self.bytes.is_empty() && self.length > 0
    }

    pub fn is_blank(&self) -> bool {
        !self.is_too_long() && self.bytes.trim_ascii().is_empty()
    }

    /// Whether it is no record: blank, or a value without anything in it. Millions of those fit into a small file, and
    /// each would cost as much memory as one that says something.
    pub fn is_empty_value(&self) -> bool {
        let empty: [&[u8]; 3] = [b"{}", b"[]", b"null"];
        self.is_blank() || empty.contains(&self.bytes.trim_ascii())
    }
}
