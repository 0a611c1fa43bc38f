//! Opening a log, compressed or not, at any offset of what it says.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::formats::file;

/// How many times its own size a compressed log may hold; talk becomes a tenth, a hundredth at the very best.
const MAX_UNPACK_RATIO: u64 = 256;

/// Any compressed log may hold this much.
const MIN_UNPACK_LIMIT_BYTES: u64 = 16 << 20;

/// A log that is open.
pub(super) struct OpenLog {
    pub(super) reader: Box<dyn Read + Send>,
    path: PathBuf,
}

impl OpenLog {
    /// Opens a log at an offset of its decompressed bytes.
    pub(super) fn open_at(path: &Path, from: u64) -> io::Result<Self> {
        let mut file = file::open_regular(path)?;
        if !is_compressed(path) {
            file.seek(SeekFrom::Start(from))?;
        }
        // The bare file fills a buffer that was not cleared before; our own errors name it, once.
        let (file, _) = file.into_parts();
        if !is_compressed(path) {
            return Ok(Self { reader: Box::new(file), path: path.to_owned() });
        }
        let room = file.metadata()?.len().saturating_mul(MAX_UNPACK_RATIO).max(MIN_UNPACK_LIMIT_BYTES);
        let decoder = zstd::stream::read::Decoder::new(file).map_err(|error| with_path(&error, path))?;
        let mut opened = Self { reader: Box::new(LimitedDecoder { decoder, bytes_left: room }), path: path.to_owned() };
        let skipped = io::copy(&mut opened.reader.by_ref().take(from), &mut io::sink());
        skipped.map(|_| opened).map_err(|error| with_path(&error, path))
    }

    /// Reads on for some bytes, and tells how many there were.
    pub(super) fn read_more(&mut self, bytes: u64, into: &mut Vec<u8>) -> io::Result<usize> {
        let read = self.reader.by_ref().take(bytes).read_to_end(into);
        read.map_err(|error| with_path(&error, &self.path))
    }
}

/// A compressed log, read as far as its size can explain.
struct LimitedDecoder<R> {
    decoder: R,
    bytes_left: u64,
}

impl<R: Read> Read for LimitedDecoder<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(into)?;
        self.bytes_left = self.bytes_left.checked_sub(read as u64).ok_or_else(|| {
            let reason = format!("it unpacks to more than {MAX_UNPACK_RATIO} times its size and is not read");
            io::Error::new(io::ErrorKind::InvalidData, reason)
        })?;
        Ok(read)
    }
}

/// An error that tells which file it is about.
pub(super) fn with_path(error: &io::Error, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

pub fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zst")
}
