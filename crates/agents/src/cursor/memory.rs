//! Files that tell the model something, as the vendor's own SDK reads them.

use crate::{FrontMatter, Memory, MemoryFile, Reach};

const WHEN_ENABLED: &str = "where other clients' rules are enabled in its settings";

pub(super) const MEMORY: Memory = Memory {
    files: &[
        MemoryFile::in_project("AGENTS.md").read_in(Reach::Repository).read_below(),
        MemoryFile::in_project(".cursorrules"),
        MemoryFile::in_project(".cursor/rules/**/*.mdc")
            .with_front_matter(FrontMatter::AlwaysApply)
            .read_in(Reach::Repository)
            .read_below(),
        MemoryFile::in_project("CLAUDE.md").when(WHEN_ENABLED),
        MemoryFile::in_project("CLAUDE.local.md").when(WHEN_ENABLED).private(),
        MemoryFile::in_home(".cursor/rules/**/*.mdc").with_front_matter(FrontMatter::AlwaysApply),
    ],
    ..Memory::NONE
};
