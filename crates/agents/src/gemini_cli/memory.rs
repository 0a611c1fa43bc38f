//! Files that tell the model something. Those below are documented; the rest was found in the first request of 0.61.0.

use crate::{ImportPlaces, Memory, MemoryFile, Reach};

pub(super) const MEMORY: Memory = Memory {
    files: &[
        MemoryFile::in_project("GEMINI.md").read_in(Reach::Repository).read_below(),
        MemoryFile::in_project("AGENTS.md").when("where `context.fileName` in its settings names it"),
        MemoryFile::in_store("GEMINI.md"),
    ],
    import: Some("@./"),
    imports_from: ImportPlaces::Repository,
    ..Memory::NONE
};
