//! Files that tell the model something. Folders above and below are documented; the rest was seen,
//! imports by 0.61.0.

use crate::{Memory, MemoryFile};

pub(super) const MEMORY: Memory = Memory {
    files: &[
        MemoryFile::in_project("GEMINI.md").read_above().read_below(),
        MemoryFile::in_project("AGENTS.md").when("where `context.fileName` in its settings names it"),
        MemoryFile::in_store("GEMINI.md"),
    ],
    import: Some("@./"),
};
