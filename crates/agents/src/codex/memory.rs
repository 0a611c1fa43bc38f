//! Files that tell the model something, as 0.166 does it: one a folder, from the root of the repository down.

use crate::{Memory, MemoryFile, Reach};

pub(super) const MEMORY: Memory = Memory {
    files: &[
        MemoryFile::in_project("AGENTS.md").unless(&["AGENTS.override.md"]).read_in(Reach::Repository),
        MemoryFile::in_project("AGENTS.override.md").read_in(Reach::Repository),
        MemoryFile::in_store("AGENTS.override.md"),
        MemoryFile::in_store("AGENTS.md").unless(&["AGENTS.override.md"]),
    ],
    ..Memory::NONE
};
