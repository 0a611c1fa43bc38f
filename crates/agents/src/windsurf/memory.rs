//! Files that tell the model something, as they are documented.

use crate::{Memory, MemoryFile};

pub(super) const MEMORY: Memory = Memory {
    files: &[
        MemoryFile::in_project("AGENTS.md").read_below(),
        MemoryFile::in_project(".windsurfrules"),
        MemoryFile::in_project(".windsurf/rules/*.md").when("where its front matter says so").read_above().read_below(),
        MemoryFile::in_home(".codeium/windsurf/memories/global_rules.md"),
    ],
    import: None,
};
