//! Blocks of ours in files that others write, too: put there, looked at, taken out again.

use std::io;
use std::path::Path;

use carryover_core::render::block;

use crate::context::Context;
use crate::handoff::pointer::{self, Pointer};
use crate::own::files;
use crate::own::fingerprint::Fingerprint;
use crate::write::disk::Disk;
use crate::write::journal::{self, Block, State};

/// An instruction file that is longer is not one.
const MAX_BYTES: u64 = 4 << 20;

/// The text of a file; none where there is no such file.
pub(crate) fn read_text(path: &Path) -> io::Result<Option<String>> {
    let Some(bytes) = files::read_bounded(path, MAX_BYTES)? else { return Ok(None) };
    let text = String::from_utf8(bytes);
    text.map(Some).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not text"))
}

/// Whether the block is what we left there, or has one more pointer of ours since; one that is gone is nobody's.
pub(crate) fn is_unchanged(left: &Block) -> io::Result<bool> {
    let Some(text) = read_text(&left.file)? else { return Ok(true) };
    let found = block::find(&text).map_err(invalid_data)?;
    Ok(found.is_none_or(|place| is_ours(&text[place], left)))
}

/// Whether nobody else has written in a block.
fn is_ours(block: &str, left: &Block) -> bool {
    Fingerprint::from_bytes(block.as_bytes()) == left.left || pointer::is_of_pointers(block)
}

/// The part of ours in a file's new text, as a journal keeps it; `made` is what a new file begins with.
pub(crate) fn describe(
    context: &Context,
    file: &Path,
    text: &str,
    pointer: Pointer,
    made: Option<&str>,
) -> io::Result<Block> {
    let place = block::find(text).map_err(invalid_data)?.unwrap_or_default();
    // A file that was made for an earlier pointer is still ours to remove.
    let earlier = journal::read_all(context).into_iter().filter(|earlier| earlier.state == State::Done);
    let mut blocks = earlier.flat_map(|earlier| earlier.blocks);
    let made = made.map(|made| Fingerprint::from_bytes(made.as_bytes()));
    let rest = made.or_else(|| blocks.find(|block| block.file == file).and_then(|block| block.rest));
    Ok(Block { file: file.to_owned(), left: Fingerprint::from_bytes(text[place].as_bytes()), rest, pointer })
}

/// How much was removed with a block.
pub(crate) enum BlockRemoval {
    /// There was none any more.
    Nothing,
    Block,
    /// The whole file, which was made for it.
    File,
}

/// The text without our part: a pointer, or the block as a whole where it is none of pointers.
fn without_part(text: &str, left: &Block) -> io::Result<String> {
    let place = block::find(text).map_err(invalid_data)?;
    let is_of_pointers = place.is_some_and(|place| pointer::is_of_pointers(&text[place]));
    if is_of_pointers { pointer::remove(text, left.pointer) } else { block::remove(text).map_err(invalid_data) }
}

/// Takes our part out; a file that was made for it goes, too, unless somebody else has written there.
pub(crate) fn remove_from_file(disk: &mut dyn Disk, left: &Block, project: &Path) -> io::Result<BlockRemoval> {
    let Some(text) = read_text(&left.file)? else { return Ok(BlockRemoval::Nothing) };
    if block::find(&text).map_err(invalid_data)?.is_none() {
        return Ok(BlockRemoval::Nothing);
    }
    let rest = without_part(&text, left)?;
    if rest == text {
        return Ok(BlockRemoval::Nothing);
    }
    if left.rest == Some(Fingerprint::from_bytes(rest.as_bytes())) {
        disk.remove_file(&left.file)?;
        return Ok(BlockRemoval::File);
    }
    disk.replace_shared(&left.file, rest.as_bytes(), project)?;
    Ok(BlockRemoval::Block)
}

/// Whether the file was made for the block and holds nothing else, so that it goes with it.
pub(crate) fn goes_with_file(left: &Block) -> bool {
    let rest = read_text(&left.file).ok().flatten().and_then(|text| without_part(&text, left).ok());
    rest.is_some_and(|rest| left.rest == Some(Fingerprint::from_bytes(rest.as_bytes())))
}

pub(crate) fn invalid_data(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
