//! Files that tell the model something, as they are documented. `chat.useAgentsMdFile` is on unless it is switched off.

use crate::{Memory, MemoryFile};

pub(super) const MEMORY: Memory = Memory {
    files: &[
        MemoryFile::in_project(".github/copilot-instructions.md"),
        MemoryFile::in_project("AGENTS.md"),
        MemoryFile::in_project(".github/instructions/*.instructions.md").when("where its `applyTo` fits"),
        MemoryFile::in_project("CLAUDE.md").when("where `chat.useClaudeMdFile` is on"),
    ],
    import: None,
};
