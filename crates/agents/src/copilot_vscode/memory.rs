//! Files that tell the model something, as they are documented. `chat.useAgentsMdFile` is on unless it is switched off.

use crate::{FrontMatter, Memory, MemoryFile};

pub(super) const MEMORY: Memory = Memory {
    files: &[
        MemoryFile::in_project(".github/copilot-instructions.md"),
        MemoryFile::in_project("AGENTS.md"),
        MemoryFile::in_project(".github/instructions/*.instructions.md").with_front_matter(FrontMatter::ApplyTo),
        MemoryFile::in_project("CLAUDE.md").when("where `chat.useClaudeMdFile` is on"),
    ],
    ..Memory::NONE
};
