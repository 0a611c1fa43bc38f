//! The zip form of a capsule.

use std::cell::Cell;
use std::io::{self, Read, Seek, SeekFrom, Write};

use zip::read::ZipFile;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use super::{Member, ReadSeek, Visit, Walk, check_length};
use crate::capsule::manifest::{MANIFEST, SNAPSHOT};
use crate::capsule::member_path::check_path;
use crate::capsule::metered::explain_read;
use crate::capsule::{CapsuleError, limits};

/// The list of members at the end of a zip becomes several times as much memory, and nothing in it limits its length.
const MAX_LIST_BYTES: u64 = 16 << 20;

/// From here on, a length takes more than four bytes.
const LARGE_BYTES: u64 = u32::MAX as u64;

/// A stream that ends in an error once more was read than its budget allows.
struct Budgeted<'a> {
    stream: &'a mut dyn ReadSeek,
    left: &'a Cell<u64>,
}

impl Read for Budgeted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        let left = self.left.get().checked_sub(count as u64);
        self.left.set(left.ok_or(io::ErrorKind::InvalidData)?);
        Ok(count)
    }
}

impl Seek for Budgeted<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.stream.seek(to)
    }
}

/// Visits every member, the manifest first: whoever packs a folder anew puts it anywhere.
pub(super) fn walk_zip(stream: &mut dyn ReadSeek, packed: u64, visit: Visit<'_>) -> Result<(), CapsuleError> {
    let left = Cell::new(MAX_LIST_BYTES);
    let mut archive =
        ZipArchive::new(Budgeted { stream, left: &left }).map_err(|error| explain_zip(error, MANIFEST))?;
    left.set(u64::MAX);
    for index in order_members(&mut archive, packed)? {
        let mut member = archive.by_index(index).map_err(|error| explain_zip(error, "a member"))?;
        let name = read_name(&member)?;
        let size = member.size();
        if visit(&name, size, &mut (&mut member).take(size))? == Walk::Stop {
            break;
        }
    }
    Ok(())
}

/// The members in the order of their visits, once every one of them may be in a capsule.
fn order_members(archive: &mut ZipArchive<Budgeted<'_>>, packed: u64) -> Result<Vec<usize>, CapsuleError> {
    if archive.len() > limits::MAX_MEMBERS {
        return Err(CapsuleError::refused(b"it", "holds more files than a capsule may"));
    }
    let limit = limits::max_unpacked(packed);
    let (mut first, mut order, mut total) = (None, Vec::new(), 0_u64);
    for index in 0..archive.len() {
        let member = archive.by_index_raw(index).map_err(|error| explain_zip(error, "a member"))?;
        // Folders have entries of their own, if somebody else packed them.
        if member.is_dir() {
            continue;
        }
        let name = read_name(&member)?;
        if member.is_symlink() {
            return Err(CapsuleError::refused(name.as_bytes(), "is no file"));
        }
        check_path(name.as_bytes()).map_err(|reason| CapsuleError::refused(name.as_bytes(), reason))?;
        check_length(&name, member.size())?;
        total = total.saturating_add(member.size());
        if total > limit {
            return Err(CapsuleError::Bomb { packed, limit });
        }
        if name == MANIFEST { first = Some(index) } else { order.push(index) }
    }
    let first = first.ok_or_else(|| CapsuleError::NoCapsule("the zip has no manifest.json at its top".into()))?;
    order.insert(0, first);
    Ok(order)
}

fn read_name<R: Read>(member: &ZipFile<'_, R>) -> Result<String, CapsuleError> {
    let name = member.name().map_err(|_| CapsuleError::refused(member.name_raw(), "has no text as name"))?;
    Ok(name.into_owned())
}

fn explain_zip(error: ZipError, name: &str) -> CapsuleError {
    match error {
        ZipError::Io(error) => explain_read(error, name, 0),
        ZipError::UnsupportedArchive(_) => {
            CapsuleError::refused(name.as_bytes(), "is packed or locked in a way that capsules are not")
        }
        _ => CapsuleError::damaged("the zip", "cannot be unpacked"),
    }
}

/// Writes members as a zip. Its times are those of no day, so that the same session gives the same bytes.
pub(super) fn write_zip<W: Write + Seek>(members: &[Member], out: W) -> io::Result<W> {
    let mut archive = ZipWriter::new(out);
    for member in members {
        // The snapshot is packed already.
        let method = if member.name == SNAPSHOT { CompressionMethod::Stored } else { CompressionMethod::Deflated };
        let options = SimpleFileOptions::default()
            .compression_method(method)
            .last_modified_time(DateTime::default())
            .large_file(member.content.len() >= LARGE_BYTES)
            .unix_permissions(0o600);
        archive.start_file(member.name.as_str(), options)?;
        io::copy(&mut member.content.open()?, &mut archive)?;
    }
    Ok(archive.finish()?)
}
