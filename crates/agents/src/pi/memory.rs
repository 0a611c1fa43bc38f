//! Files that tell the model something, as 0.87.1 does it: one a folder.

use crate::{Memory, MemoryFile, Reach};

pub(super) const MEMORY: Memory = Memory {
    files: &[
        MemoryFile::in_project("AGENTS.md").read_in(Reach::All),
        MemoryFile::in_project("CLAUDE.md").unless(&["AGENTS.md"]).read_in(Reach::All),
        MemoryFile::in_store("SYSTEM.md"),
        MemoryFile::in_store("APPEND_SYSTEM.md"),
        MemoryFile::in_store("AGENTS.md"),
        MemoryFile::in_store("CLAUDE.md").unless(&["AGENTS.md"]),
    ],
    ..Memory::NONE
};
