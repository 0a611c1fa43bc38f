//! Files that tell the model something, as it was seen: of two names, the second only where the first is missing.

use crate::{Memory, MemoryFile};

pub(super) const MEMORY: Memory = Memory {
    files: &[
        MemoryFile::in_project("AGENTS.md").read_above(),
        MemoryFile::in_project("CLAUDE.md").unless(&["AGENTS.md"]).read_above(),
        MemoryFile::in_home(".config/opencode/AGENTS.md"),
        MemoryFile::in_home(".claude/CLAUDE.md").unless(&[".config/opencode/AGENTS.md"]),
    ],
    import: None,
};
