//! A share: a capsule behind one line that says until when it may be opened, encrypted as a whole.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use carryover_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::crypt::{CryptError, Encrypted, Key, Lock};
use crate::capsule::staging::StagingFolder;
use crate::capsule::{CapsuleError, SealedCapsule};
use crate::context::Context;
use crate::own::files;

const SCHEMA: &str = "carryover.share-head/1";
/// How the name of a share ends.
pub const FILE_END: &str = ".carryover";
/// In our own folder: a share that is being opened.
const FOLDER: &str = "opening";
/// The same for one that is on its way to a place.
const SENDING_FOLDER: &str = "sharing";
/// The line is a few words.
const MAX_HEAD_BYTES: usize = 4_096;

#[derive(Debug, thiserror::Error)]
pub enum ShareError {
    #[error(transparent)]
    Crypt(#[from] CryptError),
    #[error(transparent)]
    Capsule(#[from] CapsuleError),
    #[error("it could be opened until {0}")]
    Expired(String),
    #[error("it was made by a newer carryover ({0})")]
    Newer(String),
    #[error("it was decrypted, and holds no capsule")]
    NoShare,
    #[error(transparent)]
    Io(#[from] io::Error),
}

#[derive(Serialize, Deserialize)]
struct Head {
    schema: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
}

/// Encrypts a capsule into a new file, in one step.
pub fn write_share(
    sealed: &SealedCapsule,
    lock: &Lock,
    expires_at: Option<Timestamp>,
    path: &Path,
) -> Result<u64, ShareError> {
    let folder = files::parent_folder(path)?;
    let mut file = files::create_temporary(folder)?;
    let mut writer = lock.encrypt_into(io::BufWriter::new(file.as_file_mut()))?;
    writer.write_all(&encode_head(expires_at)?)?;
    sealed.write_archive(writer)?.finish()?.flush()?;
    file.as_file().sync_all()?;
    let bytes = file.as_file().metadata()?.len();
    file.persist_noclobber(path).map_err(|failed| match failed.error.kind() {
        io::ErrorKind::AlreadyExists => ShareError::Capsule(CapsuleError::Exists(path.to_owned())),
        _ => failed.error.into(),
    })?;
    files::sync_folder(folder)?;
    Ok(bytes)
}

/// A share in a folder of ours, on its way to a place or from one. It goes with whoever holds it.
pub struct StagedShare {
    pub path: PathBuf,
    pub bytes: u64,
    _folder: StagingFolder,
}

/// Encrypts a capsule into a folder of ours.
pub fn stage_share(
    context: &Context,
    sealed: &SealedCapsule,
    lock: &Lock,
    expires_at: Option<Timestamp>,
) -> Result<StagedShare, ShareError> {
    let folder = StagingFolder::create(context, SENDING_FOLDER)?;
    let path = folder.path().join("share");
    let bytes = write_share(sealed, lock, expires_at, &path)?;
    Ok(StagedShare { path, bytes, _folder: folder })
}

/// Takes a share into a folder of ours as it arrives.
pub fn receive_share<E: From<io::Error>>(
    context: &Context,
    receive: impl FnOnce(&mut dyn Write) -> Result<u64, E>,
) -> Result<StagedShare, E> {
    let folder = StagingFolder::create(context, FOLDER)?;
    let path = folder.path().join("share");
    let mut file = io::BufWriter::new(fs_err::File::create(&path)?);
    let bytes = receive(&mut file)?;
    file.flush()?;
    Ok(StagedShare { path, bytes, _folder: folder })
}

/// A share that was decrypted into our own folder. The capsule goes with it.
pub struct OpenedShare {
    pub capsule: PathBuf,
    _folder: StagingFolder,
}

/// Decrypts a share. Nothing of it can be had before all of it has proven true.
pub fn open_share(context: &Context, path: &Path, key: &Key) -> Result<OpenedShare, ShareError> {
    let file = fs_err::File::open(path)?;
    // Encrypting only adds to what it is given.
    let limit = file.metadata()?.len();
    let encrypted = Encrypted::read(file)?;
    let folder = StagingFolder::create(context, FOLDER)?;
    let capsule = folder.path().join("capsule.tar.zst");
    let mut out = HeadSplitter::new(io::BufWriter::new(fs_err::File::create(&capsule)?));
    encrypted.decrypt(key, &mut out, limit)?;
    out.flush()?;
    check_head(&out.head, context.env.now)?;
    Ok(OpenedShare { capsule, _folder: folder })
}

/// Whether a passphrase opens a share; keys do, where not.
pub fn is_locked_by_passphrase(path: &Path) -> Result<bool, ShareError> {
    Ok(Encrypted::read(fs_err::File::open(path)?)?.is_locked_by_passphrase())
}

fn encode_head(expires_at: Option<Timestamp>) -> io::Result<Vec<u8>> {
    let head = Head { schema: SCHEMA.to_owned(), expires_at: expires_at.map(|at| at.to_string()) };
    let mut line = serde_json::to_vec(&head)?;
    line.push(b'\n');
    Ok(line)
}

fn check_head(line: &[u8], now: Timestamp) -> Result<(), ShareError> {
    let head: Head = serde_json::from_slice(line).map_err(|_| ShareError::NoShare)?;
    if head.schema != SCHEMA {
        return Err(ShareError::Newer(carryover_core::plain::one_line(&head.schema, 60)));
    }
    let Some(text) = head.expires_at else { return Ok(()) };
    let until = Timestamp::parse(&text).ok_or(ShareError::NoShare)?;
    if until < now { Err(ShareError::Expired(until.to_string())) } else { Ok(()) }
}

/// Keeps the first line back and passes the rest on.
struct HeadSplitter<W> {
    head: Vec<u8>,
    is_past_head: bool,
    rest: W,
}

impl<W: Write> HeadSplitter<W> {
    fn new(rest: W) -> Self {
        Self { head: Vec::new(), is_past_head: false, rest }
    }
}

impl<W: Write> Write for HeadSplitter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_past_head {
            return self.rest.write(bytes);
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        self.head.extend_from_slice(&bytes[..end.unwrap_or(bytes.len())]);
        if self.head.len() > MAX_HEAD_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it was decrypted, and holds no capsule"));
        }
        self.is_past_head = end.is_some();
        Ok(end.map_or(bytes.len(), |end| end + 1))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.rest.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn head_is_split_off_wherever_the_pieces_end() {
        let bytes = [encode_head(None).unwrap(), b"the\ncapsule".to_vec()].concat();
        for size in 1..bytes.len() {
            let mut out = HeadSplitter::new(Vec::new());
            bytes.chunks(size).for_each(|piece| out.write_all(piece).unwrap());
            assert!(check_head(&out.head, at("2026-11-18T00:00:00Z")).is_ok());
            assert_eq!(out.rest, b"the\ncapsule");
        }
        assert!(HeadSplitter::new(Vec::new()).write_all(&[b'x'; MAX_HEAD_BYTES + 1]).is_err());
    }

    #[test]
    fn share_opens_until_its_time_and_not_after_it() {
        let line = encode_head(Some(at("2026-11-18T12:00:00Z"))).unwrap();
        let line = line.strip_suffix(b"\n").unwrap();
        assert!(check_head(line, at("2026-11-18T12:00:00Z")).is_ok());
        assert!(matches!(check_head(line, at("2026-11-18T12:00:01Z")), Err(ShareError::Expired(_))));
        assert!(matches!(
            check_head(b"{\"schema\":\"carryover.share-head/9\"}", at("2026-11-18T12:00:00Z")),
            Err(ShareError::Newer(_))
        ));
        assert!(matches!(check_head(b"PK", at("2026-11-18T12:00:00Z")), Err(ShareError::NoShare)));
    }
}
