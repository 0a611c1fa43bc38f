//! Text as it stands in a row: plain where it is short, packed where that saves something.

use rusqlite::types::{ToSqlOutput, ValueRef};

use super::LedgerError;

/// Shorter texts grow when they are packed.
const MIN_PACKED_BYTES: usize = 160;
/// Quick: what is kept is read far less often than written.
const LEVEL: i32 = 1;
/// More than any text or chunk of ours unpacks to.
const MAX_UNPACKED_BYTES: usize = 4 << 20;

/// Packs texts and chunks, one after the other: what it works with is used again for each.
pub(super) struct Packer(zstd::bulk::Compressor<'static>);

impl Packer {
    pub(super) fn new() -> Result<Self, LedgerError> {
        zstd::bulk::Compressor::new(LEVEL).map(Self).map_err(LedgerError::NotPacked)
    }

    /// A text for its column.
    pub(super) fn pack_text<'t>(&mut self, text: &'t str) -> Result<ToSqlOutput<'t>, LedgerError> {
        if text.len() < MIN_PACKED_BYTES {
            return Ok(ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())));
        }
        Ok(ToSqlOutput::Owned(self.pack_bytes(text.as_bytes())?.into()))
    }

    /// One chunk.
    pub(super) fn pack_bytes(&mut self, bytes: &[u8]) -> Result<Vec<u8>, LedgerError> {
        self.0.compress(bytes).map_err(LedgerError::NotPacked)
    }
}

pub(super) fn unpack_bytes(bytes: &[u8]) -> Result<Vec<u8>, LedgerError> {
    zstd::bulk::decompress(bytes, MAX_UNPACKED_BYTES).map_err(LedgerError::Damaged)
}

/// The text of a column.
pub(super) fn unpack_text(value: ValueRef<'_>) -> Result<String, LedgerError> {
    let bytes = match value {
        ValueRef::Text(bytes) => bytes.to_vec(),
        ValueRef::Blob(bytes) => unpack_bytes(bytes)?,
        _ => Vec::new(),
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
