//! Recordings as they are read.

use std::cmp::Reverse;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

use flate2::read::{MultiGzDecoder, ZlibDecoder};

use super::body::{self, BodyRecord};
use super::exchange::{Exchange, RequestHead};
use super::manifest::Manifest;
use super::recorder::EXCHANGES;
use crate::context::Context;

/// A line of heads that is longer is none.
const MAX_LINE_BYTES: u64 = 4 << 20;
/// A request that is said to be longer, once unpacked, is none.
const MAX_DECODED_BYTES: u64 = 256 << 20;

/// A recording on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    pub folder: PathBuf,
    pub manifest: Manifest,
}

/// An exchange of a recording.
#[derive(Debug, Clone, Copy)]
pub struct RecordedExchange<'a> {
    recording: &'a Recording,
    pub exchange: &'a Exchange,
}

/// All recordings, the newest first. Folders that hold none are passed by.
pub fn list_recordings(context: &Context) -> io::Result<Vec<Recording>> {
    let mut found = Vec::new();
    for folder in list_folders(&super::folder(context))? {
        if let Ok(Some(manifest)) = Manifest::load(&folder) {
            found.push(Recording { folder, manifest });
        }
    }
    found.sort_by_key(|recording| Reverse((recording.manifest.started_at, recording.manifest.id.clone())));
    Ok(found)
}

/// The folders in the folder of recordings.
pub(super) fn list_folders(parent: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs_err::read_dir(parent) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut folders = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            folders.push(entry.path());
        }
    }
    Ok(folders)
}

/// The recordings that a name means: an id, the beginning of one, or the session that it belongs to; the newest first.
pub fn find_recording(context: &Context, name: &str) -> io::Result<Vec<Recording>> {
    let mut found = list_recordings(context)?;
    let is_meant = |recording: &Recording| {
        let manifest = &recording.manifest;
        manifest.id.starts_with(name) || manifest.sessions.iter().any(|session| session.id.starts_with(name))
    };
    found.retain(is_meant);
    Ok(found)
}

impl Recording {
    /// The recording in a folder.
    pub fn open(folder: &Path) -> io::Result<Option<Self>> {
        Ok(Manifest::load(folder)?.map(|manifest| Self { folder: folder.to_owned(), manifest }))
    }

    /// Its exchanges in the order in which they began. A line that is not whole was being written, and is none.
    pub fn exchanges(&self) -> io::Result<Vec<Exchange>> {
        let file = match fs_err::File::open(self.folder.join(EXCHANGES)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            file => file?,
        };
        let mut reader = io::BufReader::new(file);
        let mut exchanges: Vec<Exchange> = Vec::new();
        loop {
            let mut line = Vec::new();
            if reader.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
                exchanges.sort_by_key(|exchange| exchange.number);
                return Ok(exchanges);
            }
            exchanges.extend(serde_json::from_slice::<Exchange>(&line));
        }
    }

    /// One of its exchanges, with its bodies in reach.
    pub fn with_exchange<'a>(&'a self, exchange: &'a Exchange) -> RecordedExchange<'a> {
        RecordedExchange { recording: self, exchange }
    }

    /// The room that it takes on disk.
    pub fn disk_bytes(&self) -> u64 {
        let size = |path: &Path| fs_err::metadata(path).map_or(0, |metadata| metadata.len());
        let bodies = fs_err::read_dir(self.folder.join(body::FOLDER)).into_iter().flatten().flatten();
        bodies.map(|entry| size(&entry.path())).sum::<u64>() + size(&self.folder.join(EXCHANGES))
    }
}

impl RecordedExchange<'_> {
    /// The bytes of the request's body, as they were sent.
    pub fn request_bytes(&self) -> io::Result<Vec<u8>> {
        self.read(self.exchange.request_body.as_ref())
    }

    /// The bytes of the answer's body, as they came.
    pub fn response_bytes(&self) -> io::Result<Vec<u8>> {
        self.read(self.exchange.response_body.as_ref())
    }

    /// The request's body, unpacked where the client packed it.
    pub fn decoded_request(&self) -> io::Result<Vec<u8>> {
        decode(&self.exchange.request, self.request_bytes()?)
    }

    fn read(&self, record: Option<&BodyRecord>) -> io::Result<Vec<u8>> {
        record.map_or_else(|| Ok(Vec::new()), |record| body::read_body(&self.recording.folder, record))
    }
}

fn decode(head: &RequestHead, bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    let encoding = head.header("content-encoding").map(|name| name.trim().to_ascii_lowercase());
    match encoding.as_deref() {
        None | Some("" | "identity") => Ok(bytes),
        Some("zstd") => read_bounded(zstd::Decoder::new(bytes.as_slice())?),
        Some("gzip" | "x-gzip") => read_bounded(MultiGzDecoder::new(bytes.as_slice())),
        Some("deflate") => read_bounded(ZlibDecoder::new(bytes.as_slice())),
        Some(other) => Err(io::Error::new(io::ErrorKind::Unsupported, format!("a request is packed as {other}"))),
    }
}

fn read_bounded(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if reader.take(MAX_DECODED_BYTES + 1).read_to_end(&mut bytes)? as u64 > MAX_DECODED_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a request is too long once it is unpacked"));
    }
    Ok(bytes)
}
