//! Files that tell the model something, as they are documented.

use crate::{Memory, MemoryFile};

pub(super) const MEMORY: Memory = Memory {
    files: &[
        MemoryFile::in_project("AGENTS.md").read_above(),
        MemoryFile::in_project("CLAUDE.md").unless(&["AGENTS.md"]).read_above(),
        MemoryFile::in_store("AGENTS.md"),
    ],
    import: None,
};
