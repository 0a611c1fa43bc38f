//! Files that tell the model something, as it was seen: of two names, the second only where the first is nowhere.

use crate::{Memory, MemoryFile, Reach};

pub(super) const MEMORY: Memory = Memory {
    files: &[
        MemoryFile::in_project("AGENTS.md").read_in(Reach::RepositoryElseAll),
        MemoryFile::in_project("CLAUDE.md").unless_anywhere(&["AGENTS.md"]).read_in(Reach::RepositoryElseAll),
        MemoryFile::in_home(".config/opencode/AGENTS.md"),
        MemoryFile::in_home(".claude/CLAUDE.md").unless(&[".config/opencode/AGENTS.md"]),
    ],
    ..Memory::NONE
};
