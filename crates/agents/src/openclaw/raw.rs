//! The text of a record, as it is kept: plain, or packed.

use std::borrow::Cow;
use std::io::Read;

use crate::formats::jsonl::MAX_RECORD_BYTES;

/// A text that may be too long or no text.
#[derive(Debug, Clone)]
pub(super) enum RawRecord<'a> {
    Text(Cow<'a, str>),
    Unreadable(&'static str),
}

impl<'a> RawRecord<'a> {
    pub(super) fn from_utf8(bytes: &'a [u8]) -> Self {
        match simdutf8::basic::from_utf8(bytes) {
            Ok(text) => Self::Text(text.into()),
            Err(_) => Self::Unreadable("not UTF-8"),
        }
    }

    pub(super) fn into_owned(self) -> RawRecord<'static> {
        match self {
            Self::Text(text) => RawRecord::Text(text.into_owned().into()),
            Self::Unreadable(reason) => RawRecord::Unreadable(reason),
        }
    }

    pub(super) fn byte_len(&self) -> u64 {
        match self {
            Self::Text(text) => text.len() as u64,
            Self::Unreadable(_) => 0,
        }
    }
}

/// Unpacks records: making what that needs costs more than unpacking one.
#[derive(Default)]
pub(super) struct Unpacker {
    unpacker: Option<zstd::bulk::Decompressor<'static>>,
    text: Vec<u8>,
}

impl Unpacker {
    pub(super) fn unpack(&mut self, bytes: &[u8]) -> RawRecord<'_> {
        if self.unpack_at_once(bytes).is_none() {
            self.text.clear();
            let limit = MAX_RECORD_BYTES as u64 + 1;
            let decoder = zstd::stream::read::Decoder::new(bytes);
            match decoder.and_then(|decoder| decoder.take(limit).read_to_end(&mut self.text)) {
                Ok(_) if self.text.len() > MAX_RECORD_BYTES => {
                    return RawRecord::Unreadable("the record is longer than 64 MiB");
                }
                Ok(_) => {}
                Err(_) => return RawRecord::Unreadable("the record cannot be unpacked"),
            }
        }
        RawRecord::from_utf8(&self.text)
    }

    /// Unpacks a record that is not too long in one go; `None` leaves it to who can tell what is wrong.
    fn unpack_at_once(&mut self, bytes: &[u8]) -> Option<usize> {
        let told = zstd::zstd_safe::get_frame_content_size(bytes).ok().flatten();
        let room = told.map_or(Some(bytes.len() * 16), |told| usize::try_from(told).ok())?;
        let unpacker = match &mut self.unpacker {
            Some(unpacker) => unpacker,
            none => none.insert(zstd::bulk::Decompressor::new().ok()?),
        };
        self.text.clear();
        self.text.reserve(room.min(MAX_RECORD_BYTES));
        unpacker.decompress_to_buffer(bytes, &mut self.text).ok()
    }
}
