//! Files that tell the model something: none but those that its configuration names.

use crate::{Memory, MemoryFile};

const WHEN_LISTED: &str = "where `read` in .aider.conf.yml names it";

pub(super) const MEMORY: Memory = Memory {
    files: &[
        MemoryFile::in_project("CONVENTIONS.md").when(WHEN_LISTED),
        MemoryFile::in_project("AGENTS.md").when(WHEN_LISTED),
    ],
    ..Memory::NONE
};
