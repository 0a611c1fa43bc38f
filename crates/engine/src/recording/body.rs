//! Bodies on disk: compressed, and a request only by its difference from one before.
//!
//! An agent sends all of its conversation with every request. Each request is compressed with an earlier one as what it
//! may refer to; such chains are short, so that one body is read without reading all.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::own::private;
use crate::own::sha256::{hex_sha256, to_hex};

/// Where bodies are, below the recording.
pub(super) const FOLDER: &str = "bodies";

/// A request of more bytes is neither compressed by another nor another by it.
pub(super) const MAX_CHAINED_BYTES: usize = 8 << 20;
/// So many bodies are read at most for one.
const MAX_CHAIN: u32 = 8;
/// Few requests take turns: the session's own, those of sub-agents, titles.
const KEPT_BASES: usize = 3;
/// Quick: the network must not wait for it.
const LEVEL: i32 = 3;
/// A body that is said to be longer is none.
const MAX_READ_BYTES: u64 = 1 << 30;

/// A body, as the line of its exchange tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BodyRecord {
    /// The file's name in `bodies`.
    pub file: String,
    /// Its length as it was sent.
    pub bytes: u64,
    /// Of what was sent.
    pub sha256: String,
    /// The body that must be read first, where it is told as a difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Box<Self>>,
}

impl BodyRecord {
    fn chain_length(&self) -> u32 {
        1 + self.base.as_ref().map_or(0, |base| base.chain_length())
    }
}

/// Requests that the next one may be told by.
#[derive(Default)]
pub(super) struct Bases {
    kept: Vec<(BodyRecord, Vec<u8>)>,
}

impl Bases {
    /// The one that begins most like this.
    fn find(&self, bytes: &[u8]) -> Option<&(BodyRecord, Vec<u8>)> {
        let short_enough = self.kept.iter().filter(|(record, _)| record.chain_length() < MAX_CHAIN);
        short_enough.max_by_key(|(_, base)| common_prefix(base, bytes))
    }

    fn keep(&mut self, record: BodyRecord, bytes: Vec<u8>) {
        // The one that this was told by has had its successor.
        let base = record.base.as_ref().map(|base| base.file.clone());
        self.kept.retain(|(kept, _)| Some(&kept.file) != base.as_ref());
        if self.kept.len() == KEPT_BASES {
            self.kept.remove(0);
        }
        self.kept.push((record, bytes));
    }
}

fn common_prefix(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}

/// A body on its way to disk.
pub(super) struct BodyWriter {
    folder: PathBuf,
    file: String,
    bytes: u64,
    digest: Sha256,
    state: State,
}

enum State {
    /// Held until it is whole.
    Held(Vec<u8>),
    Streamed(Box<zstd::Encoder<'static, File>>),
}

impl BodyWriter {
    /// A body that is told by another one where that is shorter.
    pub(super) fn chained(recording: &Path, number: u64) -> Self {
        Self::new(recording, format!("{number:06}.request.zst"), State::Held(Vec::new()))
    }

    /// A body that is written as it comes.
    pub(super) fn streamed(recording: &Path, number: u64) -> io::Result<Self> {
        let file = format!("{number:06}.response.zst");
        let encoder = open_encoder(&recording.join(FOLDER).join(&file))?;
        Ok(Self::new(recording, file, State::Streamed(Box::new(encoder))))
    }

    fn new(recording: &Path, file: String, state: State) -> Self {
        Self { folder: recording.join(FOLDER), file, bytes: 0, digest: Sha256::new(), state }
    }

    pub(super) fn write(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.bytes += chunk.len() as u64;
        self.digest.update(chunk);
        match &mut self.state {
            State::Streamed(encoder) => encoder.write_all(chunk),
            State::Held(held) if held.len() + chunk.len() <= MAX_CHAINED_BYTES => {
                held.extend_from_slice(chunk);
                Ok(())
            }
            State::Held(held) => {
                let mut encoder = open_encoder(&self.folder.join(&self.file))?;
                encoder.write_all(held)?;
                encoder.write_all(chunk)?;
                self.state = State::Streamed(Box::new(encoder));
                Ok(())
            }
        }
    }

    /// Brings the body to disk; an empty one is none.
    pub(super) fn finish(self, bases: &mut Bases) -> io::Result<Option<BodyRecord>> {
        if self.bytes == 0 {
            return Ok(None);
        }
        let sha256 = to_hex(&self.digest.finalize());
        let mut record = BodyRecord { file: self.file, bytes: self.bytes, sha256, base: None };
        match self.state {
            State::Streamed(encoder) => encoder.finish()?.sync_data()?,
            State::Held(bytes) => {
                let base = bases.find(&bytes);
                write_chained(&self.folder.join(&record.file), &bytes, base.map(|(_, bytes)| bytes.as_slice()))?;
                record.base = base.map(|(record, _)| Box::new(record.clone()));
                bases.keep(record.clone(), bytes);
            }
        }
        Ok(Some(record))
    }
}

fn open_encoder(path: &Path) -> io::Result<zstd::Encoder<'static, File>> {
    zstd::Encoder::new(private::open_file(path)?, LEVEL)
}

fn write_chained(path: &Path, bytes: &[u8], base: Option<&[u8]>) -> io::Result<()> {
    let file = private::open_file(path)?;
    let mut encoder = zstd::Encoder::with_ref_prefix(file, LEVEL, base.unwrap_or_default())?;
    encoder.set_pledged_src_size(Some(bytes.len() as u64))?;
    if let Some(base) = base {
        encoder.window_log(window_log(base.len() + bytes.len()))?;
        encoder.long_distance_matching(true)?;
    }
    encoder.write_all(bytes)?;
    encoder.finish()?.sync_data()
}

/// The power of two that holds so many bytes.
fn window_log(bytes: usize) -> u32 {
    bytes.next_power_of_two().trailing_zeros().clamp(17, 25)
}

/// Reads a body as it was sent, and sees that it is.
pub(super) fn read_body(recording: &Path, record: &BodyRecord) -> io::Result<Vec<u8>> {
    let is_plain = !record.file.contains(['/', '\\']) && !record.file.starts_with('.');
    if !is_plain || record.bytes > MAX_READ_BYTES || record.chain_length() > MAX_CHAIN {
        return Err(damaged(record));
    }
    let base = record.base.as_ref().map(|base| read_body(recording, base)).transpose()?.unwrap_or_default();
    let file = fs_err::File::open(recording.join(FOLDER).join(&record.file))?;
    let decoder = zstd::Decoder::with_ref_prefix(io::BufReader::new(file), &base)?;
    let mut bytes = Vec::new();
    decoder.take(record.bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != record.bytes || hex_sha256(&bytes) != record.sha256 {
        return Err(damaged(record));
    }
    Ok(bytes)
}

fn damaged(record: &BodyRecord) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the recorded body {} is damaged", record.file))
}
