//! The bytes that an agent wrote, in packed chunks: appended as a file grows, and never twice.
//!
//! A file that was written anew is noticed by the digests of its chunks. Those that are the same stay; the others are
//! replaced in a new revision, and the ones before are kept for a while.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_agents::formats::{file, ordered_pool};
use carryover_agents::{AgentError, ExportedSession};
use rusqlite::{Connection, OptionalExtension, params};

use super::LedgerError;
use super::stored_text::{Packer, unpack_bytes};
use crate::own::files::Stamp;

const CHUNK_BYTES: usize = 256 << 10;
/// Pieces of a document are put together until they are so many bytes.
const DOCUMENT_CHUNK_BYTES: usize = 64 << 10;
/// A piece may be longer than that, and a chunk by so much.
const MAX_CHUNK_BYTES: usize = 1 << 20;
/// Larger files beside a session are not its words.
const MAX_BESIDE_BYTES: u64 = 256 << 20;
/// A file that is packed while it is read is held in memory, packed.
const MAX_HELD_BYTES: u64 = 256 << 20;
/// How many earlier revisions of a file are kept.
const KEPT_REVISIONS: i64 = 2;

/// What a file is to its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileRole {
    /// The session itself.
    Own,
    /// Another session's, which this one goes on from.
    Base,
    /// A sub-agent's.
    Child,
    /// Whatever else is in the session's folder.
    Beside,
    /// The session taken out of a file of many, as a document.
    Document,
    /// The same, which could take the file's place.
    LoneDocument,
}

impl FileRole {
    const ALL: [Self; 6] = [Self::Own, Self::Base, Self::Child, Self::Beside, Self::Document, Self::LoneDocument];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Base => "base",
            Self::Child => "child",
            Self::Beside => "beside",
            Self::Document => "document",
            Self::LoneDocument => "lone document",
        }
    }

    fn by_name(name: &str) -> Self {
        Self::ALL.into_iter().find(|role| role.name() == name).unwrap_or(Self::Beside)
    }
}

/// What keeping a file came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeptChange {
    None,
    /// It is new, or has grown at its end.
    Added,
    /// What was kept of it is not there any more.
    Replaced,
}

/// A file that is kept.
pub(super) struct KeptFile {
    id: i64,
    pub(super) path: PathBuf,
    pub(super) role: FileRole,
    /// The session that it is of, where that is another one.
    pub(super) owner: Option<String>,
    pub(super) modified_ms: i64,
    pub(super) is_private: bool,
}

impl KeptFile {
    /// Whether the session itself is in it.
    pub(super) fn is_session(&self) -> bool {
        matches!(self.role, FileRole::Own | FileRole::Document | FileRole::LoneDocument)
    }
}

/// The files that are kept of a session.
pub(super) fn list_files(connection: &Connection, session: i64) -> rusqlite::Result<Vec<KeptFile>> {
    let sql = "SELECT id, path, role, owner, modified, private FROM file WHERE session = ?1 ORDER BY id";
    let mut query = connection.prepare_cached(sql)?;
    let files = query.query_map([session], |row| {
        Ok(KeptFile {
            id: row.get(0)?,
            path: row.get::<_, String>(1)?.into(),
            role: FileRole::by_name(&row.get::<_, String>(2)?),
            owner: row.get(3)?,
            modified_ms: row.get(4)?,
            is_private: row.get(5)?,
        })
    })?;
    files.collect()
}

/// The bytes of a file as it last was.
pub(super) fn read_bytes(connection: &Connection, file: &KeptFile) -> Result<Vec<u8>, LedgerError> {
    let mut query =
        connection.prepare_cached("SELECT bytes FROM chunk WHERE file = ?1 AND until IS NULL ORDER BY seq")?;
    let mut rows = query.query([file.id])?;
    let mut bytes = Vec::new();
    while let Some(row) = rows.next()? {
        bytes.extend(unpack_bytes(row.get_ref(0)?.as_blob().unwrap_or_default())?);
    }
    Ok(bytes)
}

/// Keeps the files of one session.
pub(super) struct Archiver<'a> {
    pub(super) connection: &'a Connection,
    pub(super) session: i64,
    /// Its reader has found that the session was written anew.
    pub(super) is_rewritten: bool,
}

/// A chunk that is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
struct KeptChunk {
    size: usize,
    digest: u64,
}

/// The row of a file, as it was before.
struct KnownFile {
    revision: i64,
    size: u64,
    modified_ms: i64,
}

impl Archiver<'_> {
    /// The paths that are kept in a role already.
    pub(super) fn known_paths(&self, role: FileRole) -> Result<Vec<PathBuf>, LedgerError> {
        let mut query = self.connection.prepare_cached("SELECT path FROM file WHERE session = ?1 AND role = ?2")?;
        let paths = query.query_map(params![self.session, role.name()], |row| Ok(row.get::<_, String>(0)?.into()))?;
        Ok(paths.collect::<rusqlite::Result<_>>()?)
    }

    /// Keeps what is new in a file. One that cannot be opened stays as it was kept.
    pub(super) fn keep_file(
        &mut self,
        path: &Path,
        role: FileRole,
        owner: Option<&str>,
    ) -> Result<KeptChange, LedgerError> {
        let opened = Stamp::from_path(path).and_then(|stamp| Ok((stamp, file::open_regular(path)?)));
        let Ok((stamp, mut open)) = opened else { return Ok(KeptChange::None) };
        // A name that is no text could not be told again, and what only lies beside a session may be anything.
        if path.to_str().is_none() || (role == FileRole::Beside && stamp.size > MAX_BESIDE_BYTES) {
            return Ok(KeptChange::None);
        }
        let is_private = is_private(&open);
        let known = self.find_file(path)?;
        let is_same = |known: &KnownFile| (known.size, known.modified_ms) == (stamp.size, stamp.mtime_ms);
        if known.as_ref().is_some_and(|known| is_same(known) && !(self.is_rewritten && role == FileRole::Own)) {
            return Ok(KeptChange::None);
        }
        let file = self.put_file(path, role, owner, stamp, is_private)?;
        let kept = self.list_chunks(file)?;
        let grew_from = known.filter(|known| known.size < stamp.size && !self.is_rewritten);
        if let Some(known) = grew_from
            && has_same_ends(&mut open, &kept).unwrap_or(false)
        {
            self.append_chunks(open, file, known.revision, &kept)?;
            return Ok(KeptChange::Added);
        }
        open.rewind().map_err(source_error)?;
        let chunks = FileChunks { open: Some(open) };
        self.replace_chunks(file, &kept, chunks)
    }

    /// Keeps a session's own file of which nothing was kept before.
    pub(super) fn keep_packed(&self, path: &Path, packed: &PackedFile) -> Result<(), LedgerError> {
        let file = self.put_file(path, FileRole::Own, None, packed.stamp, packed.is_private)?;
        for (seq, (chunk, bytes)) in packed.chunks.iter().enumerate() {
            self.put_chunk(file, seq, 0, *chunk, bytes)?;
        }
        Ok(())
    }

    /// Keeps a session that is a document of its own making.
    pub(super) fn keep_document(&mut self, path: &Path, exported: &ExportedSession) -> Result<KeptChange, LedgerError> {
        let role = if exported.stands_alone { FileRole::LoneDocument } else { FileRole::Document };
        // The name is what it would be called as a file of its own; the place is that of the file that it was in.
        let place = if exported.stands_alone { path.to_owned() } else { path.join(exported.name) };
        self.put_document(path, &place, role, exported)
    }

    /// Keeps a sub-agent's conversation that is in the same file of many, in which it has a name.
    pub(super) fn keep_child_document(
        &mut self,
        path: &Path,
        child: &Path,
        exported: &ExportedSession,
    ) -> Result<KeptChange, LedgerError> {
        self.put_document(path, &child.join(exported.name), FileRole::Child, exported)
    }

    fn put_document(
        &mut self,
        path: &Path,
        place: &Path,
        role: FileRole,
        exported: &ExportedSession,
    ) -> Result<KeptChange, LedgerError> {
        let size = exported.pieces.iter().map(|piece| piece.len() as u64).sum();
        let mtime_ms = Stamp::from_path(path).map_or(0, |stamp| stamp.mtime_ms);
        let is_private = file::open_regular(path).is_ok_and(|open| is_private(&open));
        let file = self.put_file(place, role, None, Stamp { size, mtime_ms }, is_private)?;
        let kept = self.list_chunks(file)?;
        self.replace_chunks(file, &kept, DocumentChunks { pieces: exported.pieces.iter(), rest: &[] })
    }

    fn find_file(&self, path: &Path) -> rusqlite::Result<Option<KnownFile>> {
        let sql = "SELECT revision, size, modified FROM file WHERE session = ?1 AND path = ?2";
        let known =
            self.connection.prepare_cached(sql)?.query_row(params![self.session, path.to_string_lossy()], |row| {
                Ok(KnownFile { revision: row.get(0)?, size: row.get(1)?, modified_ms: row.get(2)? })
            });
        known.optional()
    }

    fn put_file(
        &self,
        path: &Path,
        role: FileRole,
        owner: Option<&str>,
        stamp: Stamp,
        is_private: bool,
    ) -> rusqlite::Result<i64> {
        let sql = "INSERT INTO file (session, path, role, owner, size, modified, private)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (session, path) DO UPDATE SET
            role = excluded.role, owner = coalesce(excluded.owner, owner), size = excluded.size,
            modified = excluded.modified, private = excluded.private RETURNING id";
        let path = path.to_string_lossy();
        let values = params![self.session, path, role.name(), owner, stamp.size, stamp.mtime_ms, is_private];
        self.connection.prepare_cached(sql)?.query_row(values, |row| row.get(0))
    }

    fn list_chunks(&self, file: i64) -> rusqlite::Result<Vec<KeptChunk>> {
        let sql = "SELECT size, digest FROM chunk WHERE file = ?1 AND until IS NULL ORDER BY seq";
        let mut query = self.connection.prepare_cached(sql)?;
        let chunks = query.query_map([file], |row| {
            Ok(KeptChunk { size: row.get(0)?, digest: row.get::<_, i64>(1)?.cast_unsigned() })
        })?;
        chunks.collect()
    }

    /// A file that has grown: the last chunk was not full, and takes up what follows.
    fn append_chunks(
        &mut self,
        mut open: fs_err::File,
        file: i64,
        revision: i64,
        kept: &[KeptChunk],
    ) -> Result<(), LedgerError> {
        let is_full = kept.last().is_none_or(|last| last.size >= CHUNK_BYTES);
        let whole = if is_full { kept.len() } else { kept.len() - 1 };
        let offset: usize = kept[..whole].iter().map(|chunk| chunk.size).sum();
        let last = "DELETE FROM chunk WHERE file = ?1 AND seq >= ?2 AND until IS NULL";
        self.connection.prepare_cached(last)?.execute(params![file, whole])?;
        open.seek(SeekFrom::Start(offset as u64)).map_err(source_error)?;
        pack_chunks(FileChunks { open: Some(open) }, &[], whole, |seq, chunk, packed| {
            self.put_chunk(file, seq, revision, chunk, &packed.unwrap_or_default())
        })?;
        Ok(())
    }

    /// Compares chunk by chunk; those that differ become a new revision.
    fn replace_chunks(
        &mut self,
        file: i64,
        kept: &[KeptChunk],
        chunks: impl Chunks,
    ) -> Result<KeptChange, LedgerError> {
        let mut revision = None;
        let end = pack_chunks(chunks, kept, 0, |seq, chunk, packed| {
            let Some(packed) = packed else { return Ok(()) };
            let revision = self.begin_revision(file, &mut revision, kept)?;
            self.end_chunks(file, seq, Some(seq), revision)?;
            self.put_chunk(file, seq, revision, chunk, &packed)
        })?;
        if end < kept.len() {
            let revision = self.begin_revision(file, &mut revision, kept)?;
            self.end_chunks(file, end, None, revision)?;
        }
        Ok(match revision {
            None => KeptChange::None,
            Some(_) if kept.is_empty() => KeptChange::Added,
            Some(_) => KeptChange::Replaced,
        })
    }

    /// The number of the new revision; the first content of a file is its first.
    fn begin_revision(&self, file: i64, begun: &mut Option<i64>, kept: &[KeptChunk]) -> rusqlite::Result<i64> {
        if let Some(revision) = begun {
            return Ok(*revision);
        }
        let sql = "UPDATE file SET revision = revision + ?2 WHERE id = ?1 RETURNING revision";
        let step = i64::from(!kept.is_empty());
        let revision: i64 = self.connection.prepare_cached(sql)?.query_row(params![file, step], |row| row.get(0))?;
        let old = "DELETE FROM chunk WHERE file = ?1 AND until <= ?2";
        self.connection.prepare_cached(old)?.execute(params![file, revision - KEPT_REVISIONS])?;
        *begun = Some(revision);
        Ok(revision)
    }

    fn end_chunks(&self, file: i64, from: usize, to: Option<usize>, revision: i64) -> rusqlite::Result<()> {
        let sql =
            "UPDATE chunk SET until = ?4 WHERE file = ?1 AND seq >= ?2 AND seq <= coalesce(?3, seq) AND until IS NULL";
        self.connection.prepare_cached(sql)?.execute(params![file, from, to, revision])?;
        Ok(())
    }

    fn put_chunk(
        &self,
        file: i64,
        seq: usize,
        revision: i64,
        chunk: KeptChunk,
        packed: &[u8],
    ) -> Result<(), LedgerError> {
        let sql = "INSERT INTO chunk (file, seq, revision, size, digest, bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let values = params![file, seq, revision, chunk.size, chunk.digest.cast_signed(), packed];
        self.connection.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }
}

/// Packs content in lanes and hands it over in its order, counted from a number on; what is kept already comes without
/// its bytes. Tells the number behind the last.
fn pack_chunks(
    mut chunks: impl Chunks,
    kept: &[KeptChunk],
    first: usize,
    mut take: impl FnMut(usize, KeptChunk, Option<Vec<u8>>) -> Result<(), LedgerError>,
) -> Result<usize, LedgerError> {
    let (mut seen, mut end) = (first, first);
    let (mut unread, mut untaken) = (Ok(()), Ok(()));
    let next = || {
        let bytes = chunks.next_chunk().unwrap_or_else(|error| {
            unread = Err(source_error(error));
            None
        })?;
        seen += 1;
        Some((seen - 1, bytes))
    };
    let work = |(seq, bytes): (usize, Vec<u8>)| {
        let chunk = KeptChunk { size: bytes.len(), digest: digest_bytes(&bytes) };
        let pack = || Packer::new()?.pack_bytes(&bytes);
        let packed = (kept.get(seq) != Some(&chunk)).then(pack).transpose();
        (seq, chunk, packed)
    };
    ordered_pool::map_ordered(next, work, |(seq, chunk, packed)| {
        untaken = packed.and_then(|packed| take(seq, chunk, packed));
        end = seq + 1;
        if untaken.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    unread.and(untaken).map(|()| end)
}

/// The error for a file of an agent's that could not be read.
fn source_error(error: io::Error) -> LedgerError {
    LedgerError::Agent(AgentError::Io(error))
}

/// A file that was packed while its session was read.
pub(super) struct PackedFile {
    stamp: Stamp,
    is_private: bool,
    chunks: Vec<(KeptChunk, Vec<u8>)>,
}

impl PackedFile {
    /// Packs a file of which nothing is kept yet. None where it cannot be read, or is too large to be held.
    pub(super) fn from_path(path: &Path) -> Option<Self> {
        let stamp = Stamp::from_path(path).ok().filter(|stamp| stamp.size <= MAX_HELD_BYTES)?;
        let open = path.to_str().and_then(|_| file::open_regular(path).ok())?;
        let is_private = is_private(&open);
        let mut source = FileChunks { open: Some(open) };
        let mut packer = Packer::new().ok()?;
        let mut chunks = Vec::new();
        while let Some(bytes) = source.next_chunk().ok()? {
            let chunk = KeptChunk { size: bytes.len(), digest: digest_bytes(&bytes) };
            // It was given room for the worst case.
            let mut stored = packer.pack_bytes(&bytes).ok()?;
            stored.shrink_to_fit();
            chunks.push((chunk, stored));
        }
        Some(Self { stamp, is_private, chunks })
    }
}

/// Content, a chunk at a time.
trait Chunks {
    fn next_chunk(&mut self) -> io::Result<Option<Vec<u8>>>;
}

struct FileChunks {
    open: Option<fs_err::File>,
}

impl Chunks for FileChunks {
    fn next_chunk(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Some(open) = &mut self.open else { return Ok(None) };
        let mut bytes = Vec::with_capacity(CHUNK_BYTES);
        open.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut bytes)?;
        if bytes.len() < CHUNK_BYTES {
            self.open = None;
        }
        Ok((!bytes.is_empty()).then_some(bytes))
    }
}

struct DocumentChunks<'a> {
    pieces: std::slice::Iter<'a, Vec<u8>>,
    /// What is left of a long piece.
    rest: &'a [u8],
}

impl Chunks for DocumentChunks<'_> {
    fn next_chunk(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        while bytes.len() < DOCUMENT_CHUNK_BYTES {
            if self.rest.is_empty() {
                let Some(piece) = self.pieces.next() else { break };
                self.rest = piece;
            }
            let (taken, rest) = self.rest.split_at(self.rest.len().min(MAX_CHUNK_BYTES));
            bytes.extend_from_slice(taken);
            self.rest = rest;
        }
        Ok((!bytes.is_empty()).then_some(bytes))
    }
}

/// Whether a file still begins and ends, where it ended, as it is kept: it was appended to, then.
fn has_same_ends(open: &mut fs_err::File, kept: &[KeptChunk]) -> io::Result<bool> {
    let (Some(first), Some(last)) = (kept.first(), kept.last()) else { return Ok(false) };
    let total: usize = kept.iter().map(|chunk| chunk.size).sum();
    let mut is_same = |chunk: &KeptChunk, offset: usize| -> io::Result<bool> {
        let mut bytes = vec![0; chunk.size];
        open.seek(SeekFrom::Start(offset as u64))?;
        open.read_exact(&mut bytes)?;
        Ok(digest_bytes(&bytes) == chunk.digest)
    };
    Ok(is_same(first, 0)? && is_same(last, total - last.size)?)
}

/// A digest by which a change is noticed, eight bytes at a time; nothing depends on it being hard to forge.
fn digest_bytes(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |digest: u64, word: u64| (digest.rotate_left(23) ^ word).wrapping_mul(FACTOR);
    let (words, rest) = bytes.as_chunks::<8>();
    let digest = words.iter().fold(bytes.len() as u64, |digest, word| mix(digest, u64::from_le_bytes(*word)));
    let digest = rest.iter().fold(digest, |digest, byte| mix(digest, u64::from(*byte)));
    digest ^ (digest >> 29)
}

#[cfg(unix)]
fn is_private(open: &fs_err::File) -> bool {
    use std::os::unix::fs::PermissionsExt;
    const OTHERS: u32 = 0o077;
    open.metadata().is_ok_and(|metadata| metadata.permissions().mode() & OTHERS == 0)
}

#[cfg(not(unix))]
fn is_private(_open: &fs_err::File) -> bool {
    true
}
