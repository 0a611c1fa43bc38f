//! Images of prompts. A bubble names a file for each; ours are in a folder of the session's own.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{Blob, BlobLocation};
use serde_json::{Value, json};

use crate::WriteOp;
use crate::formats::losses::is_common_image;

/// An image that a bubble names.
pub(super) struct ImageFile {
    id: String,
    path: PathBuf,
    bytes: Vec<u8>,
    width: u32,
    height: u32,
}

impl ImageFile {
    /// An image of a kind that the editor shows; one whose size cannot be told is none.
    pub(super) fn from_blob(blob: &Blob, folder: &Path, id: String) -> Option<Self> {
        let BlobLocation::Inline(data) = &blob.location else { return None };
        let bytes = STANDARD.decode(data.as_bytes()).ok().filter(|_| is_common_image(blob))?;
        let (width, height) = measure(&bytes)?;
        let ending = blob.media_type.strip_prefix("image/")?.replace("jpeg", "jpg");
        Some(Self { path: folder.join(format!("image-{id}.{ending}")), id, bytes, width, height })
    }

    /// How the bubble names it.
    pub(super) fn selection(&self, at: Timestamp) -> Value {
        json!({
            "uuid": self.id, "path": self.path, "dimension": { "width": self.width, "height": self.height },
            "loadedAt": at.millis(), "addedWithoutMention": false,
        })
    }

    pub(super) fn into_op(self, now: Timestamp) -> WriteOp {
        WriteOp::Create { path: self.path, bytes: self.bytes, private: true, modified: now }
    }
}

/// Width and height of an image, by its first bytes.
fn measure(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some((big(bytes, 16, 4)?, big(bytes, 20, 4)?)),
        [b'G', b'I', b'F', ..] => Some((little(bytes, 6, 2)?, little(bytes, 8, 2)?)),
        [0xff, 0xd8, ..] => measure_jpeg(bytes),
        [b'R', b'I', b'F', b'F', ..] => measure_webp(bytes),
        _ => None,
    }
}

/// In a JPEG, the frame tells it, behind any number of other segments.
fn measure_jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        let [0xff, kind] = *bytes.get(at..at + 2)? else { return None };
        let is_frame = matches!(kind, 0xc0..=0xcf) && !matches!(kind, 0xc4 | 0xc8 | 0xcc);
        if is_frame {
            return Some((big(bytes, at + 7, 2)?, big(bytes, at + 5, 2)?));
        }
        at += 2 + usize::try_from(big(bytes, at + 2, 2)?).ok()?;
    }
}

/// A WebP is of three kinds.
fn measure_webp(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8X" => Some((little(bytes, 24, 3)? + 1, little(bytes, 27, 3)? + 1)),
        b"VP8L" => {
            let packed = little(bytes, 21, 4)?;
            Some(((packed & 0x3fff) + 1, (packed >> 14 & 0x3fff) + 1))
        }
        b"VP8 " => Some((little(bytes, 26, 2)? & 0x3fff, little(bytes, 28, 2)? & 0x3fff)),
        _ => None,
    }
}

fn big(bytes: &[u8], at: usize, length: usize) -> Option<u32> {
    Some(bytes.get(at..at + length)?.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

fn little(bytes: &[u8], at: usize, length: usize) -> Option<u32> {
    Some(bytes.get(at..at + length)?.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_image_tells_its_size() {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend([0, 0, 1, 2, 0, 0, 0, 7]);
        assert_eq!(measure(&png), Some((258, 7)));
        assert_eq!(measure(b"GIF89a\x02\x01\x07\0"), Some((258, 7)));
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc2\0\x0b\x08\0\x07\x01\x02\x03";
        assert_eq!(measure(jpeg), Some((258, 7)));
        let webp = |rest: &[u8]| [b"RIFF\0\0\0\0WEBP", rest].concat();
        assert_eq!(measure(&webp(b"VP8X\x0a\0\0\0\0\0\0\0\x01\x01\0\x06\0\0")), Some((258, 7)));
        assert_eq!(measure(&webp(b"VP8L\x05\0\0\0\x2f\x01\x81\x01\0")), Some((258, 7)));
        assert_eq!(measure(&webp(b"VP8 \x05\0\0\0abc\x9d\x01\x2a\x02\x01\x07\0")), Some((258, 7)));
        for cut in 0..png.len() {
            assert_eq!(measure(&png[..cut]), None);
        }
        assert_eq!(measure(b"\xff\xd8\xff\xe0\xff\xff"), None);
        assert_eq!(measure(b"text"), None);
    }
}
