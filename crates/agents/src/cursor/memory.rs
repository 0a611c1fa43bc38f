//! Files that tell the model something, as the vendor's own SDK reads them.

use crate::{Memory, MemoryFile};

const WHEN_ENABLED: &str = "where other clients' rules are enabled in its settings";

pub(super) const MEMORY: Memory = Memory {
    files: &[
        MemoryFile::in_project("AGENTS.md").read_above().read_below(),
        MemoryFile::in_project(".cursorrules"),
        MemoryFile::in_project(".cursor/rules/**/*.mdc")
            .when("where its front matter says so")
            .read_above()
            .read_below(),
        MemoryFile::in_project("CLAUDE.md").when(WHEN_ENABLED),
        MemoryFile::in_project("CLAUDE.local.md").when(WHEN_ENABLED).private(),
        MemoryFile::in_home(".cursor/rules/**/*.mdc"),
    ],
    import: None,
};
