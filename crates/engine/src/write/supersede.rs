//! Parts of an earlier write that a later one has put something in the place of: they are that one's to take back.

use std::io;
use std::path::PathBuf;

use crate::context::Context;
use crate::handoff::pointer::Pointer;
use crate::write::disk::Disk;
use crate::write::journal::{self, Journal, State};

/// A file, or one of the pointers in a file.
type Place = (PathBuf, Option<Pointer>);

/// Parts of earlier writes in the same places are now this one's, with what was made for them. A pointer in another place
/// is still the earlier one's to take back.
pub(crate) fn supersede_earlier(disk: &mut dyn Disk, context: &Context, journal: &mut Journal) -> io::Result<()> {
    let now = places(journal);
    for mut earlier in journal::read_all(context) {
        let is_here = earlier.id != journal.id && earlier.state == State::Done && !earlier.is_standing();
        if !is_here || !places(&earlier).iter().any(|place| now.contains(place)) {
            continue;
        }
        earlier.blocks.retain(|block| !now.contains(&(block.file.clone(), Some(block.pointer))));
        earlier.files.retain(|left| !now.contains(&(left.path.clone(), None)));
        let folders = std::mem::take(&mut earlier.folders);
        let (kept, passed_on): (Vec<_>, Vec<_>) = folders.into_iter().partition(|folder| earlier.has_files_in(folder));
        earlier.folders = kept;
        let line = earlier.ignored.take();
        if !passed_on.is_empty() || line.is_some() {
            journal.folders.extend(passed_on);
            journal.ignored = journal.ignored.take().or(line);
            journal::write(disk, context, journal)?;
        }
        if places(&earlier).is_empty() {
            earlier.state = State::Undone;
        }
        journal::write(disk, context, &earlier)?;
    }
    Ok(())
}

fn places(journal: &Journal) -> Vec<Place> {
    let blocks = journal.blocks.iter().map(|block| (block.file.clone(), Some(block.pointer)));
    journal.files.iter().map(|left| (left.path.clone(), None)).chain(blocks).collect()
}
