//! Files that tell the model something: all that are there were found in the request.

use crate::{Memory, MemoryFile};

pub(super) const MEMORY: Memory = Memory {
    files: &[
        MemoryFile::in_project("AGENTS.md"),
        MemoryFile::in_project(".github/copilot-instructions.md"),
        MemoryFile::in_project("CLAUDE.md"),
        MemoryFile::in_project("GEMINI.md"),
        MemoryFile::in_project(".github/instructions/**/*.instructions.md").when("where its `applyTo` fits"),
        MemoryFile::in_store("copilot-instructions.md"),
        MemoryFile::in_store("instructions/*.instructions.md"),
    ],
    import: None,
};
