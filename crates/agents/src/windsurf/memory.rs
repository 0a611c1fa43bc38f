//! Files that tell the model something, as they are documented.

use crate::{FrontMatter, Memory, MemoryFile, Reach};

pub(super) const MEMORY: Memory = Memory {
    files: &[
        MemoryFile::in_project("AGENTS.md").read_below(),
        MemoryFile::in_project(".windsurfrules"),
        MemoryFile::in_project(".windsurf/rules/*.md")
            .with_front_matter(FrontMatter::Trigger)
            .read_in(Reach::Repository)
            .read_below(),
        MemoryFile::in_home(".codeium/windsurf/memories/global_rules.md"),
    ],
    ..Memory::NONE
};
