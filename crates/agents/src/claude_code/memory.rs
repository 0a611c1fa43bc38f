//! Files that tell the model something. All but the last were found in the first request of 2.1, imports in that of
//! 2.1.325; folders above are documented.

use crate::{Memory, MemoryFile};

pub(super) const MEMORY: Memory = Memory {
    files: &[
        MemoryFile::in_project("CLAUDE.md").read_above().read_below(),
        MemoryFile::in_project(".claude/CLAUDE.md"),
        MemoryFile::in_project("CLAUDE.local.md").private(),
        MemoryFile::in_project(".claude/rules/*.md"),
        MemoryFile::in_project("AGENTS.md").when("by 2.1.325, not by 2.1.197 and older").unless(&["CLAUDE.md"]),
        MemoryFile::in_store("CLAUDE.md"),
    ],
    import: Some("@"),
};
