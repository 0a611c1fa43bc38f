//! Files that tell the model something. Folders above and below, and imports, are documented; the rest was seen.

use crate::{Memory, MemoryFile};

pub(super) const MEMORY: Memory = Memory {
    files: &[
        MemoryFile::in_project("GEMINI.md").read_above().read_below(),
        MemoryFile::in_project("AGENTS.md").when("where `context.fileName` in its settings names it"),
        MemoryFile::in_store("GEMINI.md"),
    ],
    import: Some("@./"),
};
