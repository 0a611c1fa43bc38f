//! Files that tell the model something, by its bundled documentation: those of its workspace, which is a folder of its own.

use crate::{Memory, MemoryFile};

pub(super) const MEMORY: Memory = Memory {
    files: &[
        MemoryFile::in_project("AGENTS.md").when("where the project is its workspace"),
        MemoryFile::in_store("workspace/AGENTS.md"),
        MemoryFile::in_store("workspace/SOUL.md"),
        MemoryFile::in_store("workspace/IDENTITY.md"),
        MemoryFile::in_store("workspace/USER.md"),
        MemoryFile::in_store("workspace/BOOTSTRAP.md").when("at its first run"),
        MemoryFile::in_store("workspace/MEMORY.md"),
        MemoryFile::in_store("workspace/memory/*.md"),
    ],
    ..Memory::NONE
};
