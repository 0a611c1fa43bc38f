//! Files that tell the model something, as they were found in the first request of 0.24.4.

use crate::{FrontMatter, ImportPlaces, Memory, MemoryFile, Reach};

pub(super) const MEMORY: Memory = Memory {
    files: &[
        MemoryFile::in_project("QWEN.md").read_in(Reach::BelowHome),
        MemoryFile::in_project("AGENTS.md").read_in(Reach::BelowHome),
        MemoryFile::in_project(".qwen/rules/**/*.md").with_front_matter(FrontMatter::Paths).read_in(Reach::Root),
        MemoryFile::in_home(".qwen/QWEN.md"),
        MemoryFile::in_home(".qwen/AGENTS.md"),
        MemoryFile::in_home(".qwen/rules/**/*.md").with_front_matter(FrontMatter::Paths),
    ],
    import: Some("@./"),
    imports_from: ImportPlaces::Repository,
    ..Memory::NONE
};
