//! Walking through a tar stream of somebody else's: its entries one by one, of few kinds, within bounds.

use std::io::{self, Read};

use tar::EntryType;

use super::CapsuleError;
use super::member_path::check_path;
use super::metered::{Metered, explain_read};

/// Names that do not fit into an entry's head are entries before it.
const MAX_LONG_NAME_BYTES: u64 = 8 << 10;

/// What an entry is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EntryKind {
    File,
    Folder,
    Link(Vec<u8>),
}

/// One entry; its content can be read while it is visited.
pub(super) struct TarEntry<'a> {
    pub(super) path: &'a [u8],
    pub(super) kind: EntryKind,
    pub(super) mode: u32,
    pub(super) modified_seconds: u64,
    pub(super) size: u64,
    pub(super) content: &'a mut dyn Read,
}

/// The stream that is walked through, by its name and by what it may give.
pub(super) struct TarStream<'a, R> {
    pub(super) stream: R,
    pub(super) name: &'a str,
    /// How many bytes it is packed.
    pub(super) packed: u64,
    /// How many bytes it may unpack to.
    pub(super) limit: u64,
    pub(super) max_entries: u64,
}

/// Visits every entry, in order.
pub(super) fn walk_tar<R: Read>(
    stream: TarStream<'_, R>,
    visit: &mut dyn FnMut(TarEntry<'_>) -> Result<(), CapsuleError>,
) -> Result<(), CapsuleError> {
    let TarStream { stream, name, packed, limit, max_entries } = stream;
    let unreadable = |error: io::Error| explain_read(error, name, packed);
    let mut archive = tar::Archive::new(Metered::new(stream, limit));
    let mut names = LongNames::default();
    let mut n_entries = 0;
    for entry in archive.entries().map_err(unreadable)?.raw(true) {
        let mut entry = entry.map_err(unreadable)?;
        n_entries += 1;
        // A long name is an entry of its own.
        if n_entries > max_entries.saturating_mul(3) {
            return Err(CapsuleError::refused(name.as_bytes(), "holds more files than a capsule may"));
        }
        if names.take_in(&mut entry).map_err(unreadable)? {
            continue;
        }
        let header = entry.header().clone();
        let path = names.path.take().unwrap_or_else(|| header.path_bytes().into_owned());
        let link = names.link.take().or_else(|| header.link_name_bytes().map(std::borrow::Cow::into_owned));
        let kind = read_kind(&path, header.entry_type(), link)?;
        let path = if kind == EntryKind::Folder { path.strip_suffix(b"/").unwrap_or(&path) } else { &path };
        check_path(path).map_err(|reason| CapsuleError::refused(path, reason))?;
        let size = header.size().map_err(unreadable)?;
        if size > limit {
            return Err(CapsuleError::Bomb { packed, limit });
        }
        if kind != EntryKind::File && size > 0 {
            return Err(CapsuleError::refused(path, "has a content, and is no file"));
        }
        let modified_seconds = header.mtime().unwrap_or(0);
        let mode = header.mode().map_err(unreadable)?;
        visit(TarEntry { path, kind, mode, modified_seconds, size, content: &mut entry })?;
    }
    check_end(archive.into_inner(), name, &unreadable)
}

/// Behind the end, nothing but padding.
fn check_end(
    mut rest: impl Read,
    name: &str,
    unreadable: &dyn Fn(io::Error) -> CapsuleError,
) -> Result<(), CapsuleError> {
    let mut buffer = [0; 4096];
    loop {
        match rest.read(&mut buffer).map_err(unreadable)? {
            0 => return Ok(()),
            count if buffer[..count].iter().all(|byte| *byte == 0) => {}
            _ => return Err(CapsuleError::refused(name.as_bytes(), "has something behind its end")),
        }
    }
}

fn read_kind(path: &[u8], kind: EntryType, link: Option<Vec<u8>>) -> Result<EntryKind, CapsuleError> {
    match kind {
        EntryType::Regular => Ok(EntryKind::File),
        EntryType::Directory => Ok(EntryKind::Folder),
        EntryType::Symlink => Ok(EntryKind::Link(link.unwrap_or_default())),
        EntryType::Link => Err(CapsuleError::refused(path, "is a hard link")),
        EntryType::Char | EntryType::Block | EntryType::Fifo => Err(CapsuleError::refused(path, "is a device")),
        _ => Err(CapsuleError::refused(path, "is of a kind that capsules do not have")),
    }
}

/// Names that wait for their entry.
#[derive(Default)]
struct LongNames {
    path: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
}

impl LongNames {
    /// Takes in an entry that is a name; false where it is anything else.
    fn take_in<R: Read>(&mut self, entry: &mut tar::Entry<'_, R>) -> io::Result<bool> {
        let kind = entry.header().entry_type();
        let place = match kind {
            EntryType::GNULongName => &mut self.path,
            EntryType::GNULongLink => &mut self.link,
            _ => return Ok(false),
        };
        if entry.size() > MAX_LONG_NAME_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut name = Vec::new();
        entry.take(MAX_LONG_NAME_BYTES).read_to_end(&mut name)?;
        if name.last() == Some(&0) {
            name.pop();
        }
        *place = Some(name);
        Ok(true)
    }
}
