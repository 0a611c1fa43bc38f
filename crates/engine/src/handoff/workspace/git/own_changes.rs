//! Uncommitted paths in which nothing differs but what we wrote ourselves: our block in a file of instructions, our line in
//! the list of what git ignores. They are not the user's work, and no brief counts them.

use std::path::{Path, PathBuf};

use carryover_core::render::block;

use super::query::GitQuery;
use crate::context::Context;
use crate::handoff::blocks::read_text;
use crate::handoff::{gitignore, pointer};
use crate::own::fingerprint::Fingerprint;
use crate::sessions::project::resolve_path;
use crate::write::journal::{self, Block, IgnoreLine, State};

/// The parts of ours that stand in files of others.
pub(super) struct OwnParts {
    blocks: Vec<Block>,
    lines: Vec<IgnoreLine>,
}

impl OwnParts {
    pub(super) fn load(context: &Context) -> Self {
        let mut own = Self { blocks: Vec::new(), lines: Vec::new() };
        for journal in journal::read_all(context).into_iter().filter(|journal| journal.state == State::Done) {
            own.blocks.extend(journal.blocks);
            own.lines.extend(journal.ignored);
        }
        own
    }

    /// The path in a line of `git status`, where nothing else has changed in that file.
    pub(super) fn find_own_path<'s>(&self, asker: &GitQuery<'_>, project: &Path, status: &'s str) -> Option<&'s str> {
        let path = status.get(3..)?;
        let file = resolve_path(&project.join(path));
        let text = || read_text(&file).ok().flatten();
        let committed = || asker.ask(&["cat-file", "blob", &format!("HEAD:./{path}")]);
        let is_own = if let Some(left) = self.blocks.iter().find(|left| left.file == file) {
            is_only_block(&text()?, committed().as_deref(), left)
        } else {
            let left = self.lines.iter().find(|left| is_file(&left.file, &file))?;
            gitignore::without_line(&text()?, left).is_some_and(|rest| is_same(&rest, &committed().unwrap_or_default()))
        };
        is_own.then_some(path)
    }
}

fn is_file(path: &PathBuf, file: &Path) -> bool {
    path == file || resolve_path(path) == file
}

/// Whether a file differs from what is committed by a block of pointers alone; one that is not committed, whether it was
/// made for the block.
fn is_only_block(text: &str, committed: Option<&str>, left: &Block) -> bool {
    let Some(rest) = without_pointers(text) else { return false };
    match committed {
        Some(committed) => is_same(&rest, &without_pointers(committed).unwrap_or_else(|| committed.to_owned())),
        None => left.rest == Some(Fingerprint::from_bytes(rest.as_bytes())),
    }
}

/// The text without our block, where that holds pointers and nothing else.
fn without_pointers(text: &str) -> Option<String> {
    let place = block::find(text).ok()??;
    if !pointer::is_of_pointers(&text[place]) {
        return None;
    }
    block::remove(text).ok()
}

/// Whether two texts say the same; git may end lines otherwise than the file.
fn is_same(one: &str, other: &str) -> bool {
    one == other || one.replace("\r\n", "\n") == other.replace("\r\n", "\n")
}
