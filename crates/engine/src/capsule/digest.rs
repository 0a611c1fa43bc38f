//! SHA-256 of what passes by.

use std::io::{self, Read, Write};

use sha2::{Digest, Sha256};

use crate::own::sha256::to_hex;

/// Counts and hashes what is read or written through it.
pub(super) struct Hashing<S> {
    stream: S,
    digest: Sha256,
    n_bytes: u64,
}

impl<S> Hashing<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, digest: Sha256::new(), n_bytes: 0 }
    }

    pub(super) fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    /// How many bytes passed, their digest, and the stream.
    pub(super) fn finish(self) -> (u64, String, S) {
        (self.n_bytes, to_hex(&self.digest.finalize()), self.stream)
    }

    fn note(&mut self, bytes: &[u8]) {
        self.digest.update(bytes);
        self.n_bytes += bytes.len() as u64;
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        self.note(&buffer[..count]);
        Ok(count)
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.stream.write(bytes)?;
        self.note(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::own::sha256::hex_sha256;

    #[test]
    fn what_passes_by_is_counted_and_hashed() {
        let mut hashing = Hashing::new(&b"abc"[..]);
        io::copy(&mut hashing, &mut io::sink()).unwrap();
        let (n_bytes, digest, _) = hashing.finish();
        assert_eq!((n_bytes, digest), (3, hex_sha256(b"abc")));
    }
}
