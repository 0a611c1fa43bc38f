//! How much was packed into how little: what packs better than whoever opens it would believe is made longer.

use std::io::{self, Write};

use super::limits;

/// So many times shorter becomes at the most what was packed already, and believably.
const PACKED_AGAIN: u64 = 8;

/// The head of a frame that unpackers of zstd skip.
const SKIPPED_MAGIC: [u8; 4] = [0x50, 0x2a, 0x4d, 0x18];

/// Counts what is written through it.
pub(super) struct Counting<W> {
    stream: W,
    n_bytes: u64,
}

impl<W> Counting<W> {
    pub(super) fn new(stream: W) -> Self {
        Self { stream, n_bytes: 0 }
    }

    /// How many bytes passed, and the stream.
    pub(super) fn finish(self) -> (u64, W) {
        (self.n_bytes, self.stream)
    }
}

impl<W: Write> Write for Counting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.stream.write(bytes)?;
        self.n_bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Writes so much behind what was packed that it may unpack to what it does: nothing, nearly always.
pub(super) fn pad_packed(packed: u64, unpacked: u64, out: &mut impl Write) -> io::Result<()> {
    // What was packed may become a part of its length once more, in what it is packed into.
    if unpacked <= limits::max_unpacked(packed / PACKED_AGAIN) {
        return Ok(());
    }
    let length = limits::min_packed(unpacked);
    let length = u32::try_from(length).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    out.write_all(&SKIPPED_MAGIC)?;
    out.write_all(&length.to_le_bytes())?;
    // Numbers that look like chance, the same each time: what this is packed into does not pack it away again.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut piece = Vec::with_capacity(64 << 10);
    let mut left = length as usize;
    while left > 0 {
        piece.clear();
        while piece.len() < left.min(64 << 10) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            piece.extend_from_slice(&state.to_le_bytes());
        }
        piece.truncate(left);
        out.write_all(&piece)?;
        left -= piece.len();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_packs_too_well_is_longer_and_unpacks_to_the_same() {
        for unpacked in [1_u64 << 10, 40 << 20, 64 << 20] {
            let mut packer = zstd::Encoder::new(Counting::new(Vec::new()), 3).unwrap();
            io::copy(&mut io::Read::take(io::repeat(0), unpacked), &mut packer).unwrap();
            let (packed_bytes, mut bytes) = packer.finish().unwrap().finish();
            pad_packed(packed_bytes, unpacked, &mut bytes).unwrap();
            assert!(unpacked <= limits::max_unpacked(bytes.len() as u64), "{unpacked}");
            assert_eq!(bytes.len() as u64 > packed_bytes, unpacked > 16 << 20);
            let again = zstd::encode_all(&bytes[..], 1).unwrap().len() as u64;
            assert!(unpacked <= limits::max_unpacked(again), "{unpacked} {again}");
            let mut unpacker = zstd::Decoder::new(&bytes[..]).unwrap();
            assert_eq!(io::copy(&mut unpacker, &mut io::sink()).unwrap(), unpacked);
            assert!(zstd::encode_all(&bytes[..], 1).unwrap().len() * 10 > bytes.len() * 9 || unpacked < 16 << 20);
        }
    }
}
