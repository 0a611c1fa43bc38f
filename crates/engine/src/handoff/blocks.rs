//! Blocks of ours in files that others write, too: put there, looked at, taken out again.

use std::io;
use std::path::Path;

use carryover_core::render::block;

use crate::own::files;
use crate::own::fingerprint::Fingerprint;
use crate::write::disk::Disk;
use crate::write::journal::Block;

/// An instruction file that is longer is not one.
const MAX_BYTES: u64 = 4 << 20;

/// The text of a file; none where there is no such file.
pub(crate) fn read_text(path: &Path) -> io::Result<Option<String>> {
    let Some(bytes) = files::read_bounded(path, MAX_BYTES)? else { return Ok(None) };
    let text = String::from_utf8(bytes);
    text.map(Some).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not text"))
}

/// Whether the block is what we left there; one that is gone is nobody's.
pub(crate) fn is_unchanged(left: &Block) -> io::Result<bool> {
    let Some(text) = read_text(&left.file)? else { return Ok(true) };
    let found = block::find(&text).map_err(invalid_data)?;
    Ok(found.is_none_or(|place| Fingerprint::from_bytes(text[place].as_bytes()) == left.left))
}

/// How much was removed with a block.
pub(crate) enum BlockRemoval {
    /// There was none any more.
    Nothing,
    Block,
    /// The whole file, which was made for it.
    File,
}

/// Takes the block out; a file that was made for it goes, too, unless somebody else has written there.
pub(crate) fn remove_from_file(disk: &mut dyn Disk, left: &Block, project: &Path) -> io::Result<BlockRemoval> {
    let Some(text) = read_text(&left.file)? else { return Ok(BlockRemoval::Nothing) };
    if block::find(&text).map_err(invalid_data)?.is_none() {
        return Ok(BlockRemoval::Nothing);
    }
    let rest = block::remove(&text).map_err(invalid_data)?;
    if left.rest == Some(Fingerprint::from_bytes(rest.as_bytes())) {
        disk.remove_file(&left.file)?;
        return Ok(BlockRemoval::File);
    }
    disk.replace_shared(&left.file, rest.as_bytes(), project)?;
    Ok(BlockRemoval::Block)
}

/// Whether the file was made for the block and holds nothing else, so that it goes with it.
pub(crate) fn goes_with_file(left: &Block) -> bool {
    let rest = read_text(&left.file).ok().flatten().and_then(|text| block::remove(&text).ok());
    rest.is_some_and(|rest| left.rest == Some(Fingerprint::from_bytes(rest.as_bytes())))
}

pub(crate) fn invalid_data(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
