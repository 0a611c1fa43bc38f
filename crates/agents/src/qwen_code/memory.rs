//! Files that tell the model something, as 0.24 does it; imports are documented.

use crate::{Memory, MemoryFile};

pub(super) const MEMORY: Memory = Memory {
    files: &[
        MemoryFile::in_project("QWEN.md"),
        MemoryFile::in_project("AGENTS.md"),
        MemoryFile::in_home(".qwen/QWEN.md"),
    ],
    import: Some("@./"),
};
