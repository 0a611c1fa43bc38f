//! Files that tell the model something. All were found in the first request of 2.1.325, from a folder below the root of a
//! repository; those below are documented.

use std::path::Path;

use super::slug::make_slug;
use crate::{FrontMatter, ImportPlaces, Memory, MemoryFile, Reach};

pub(super) const MEMORY: Memory = Memory {
    files: &[
        MemoryFile::in_project("CLAUDE.md").read_in(Reach::All).read_below(),
        MemoryFile::in_project(".claude/CLAUDE.md").read_in(Reach::All),
        MemoryFile::in_project(".claude/rules/**/*.md").with_front_matter(FrontMatter::Paths).read_in(Reach::All),
        MemoryFile::in_project("CLAUDE.local.md").private().read_in(Reach::All),
        MemoryFile::in_project("AGENTS.md")
            .when("by 2.1.325, not by 2.1.197 and older")
            .unless_anywhere(&["CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"])
            .read_in(Reach::All),
        MemoryFile::in_store("CLAUDE.md"),
        MemoryFile::in_store("rules/**/*.md").with_front_matter(FrontMatter::Paths),
        MemoryFile::in_store("projects/{project}/memory/MEMORY.md").alone(),
    ],
    import: Some("@"),
    imports_from: ImportPlaces::Work,
    project_folder: Some(|root: &Path| make_slug(&root.display().to_string())),
};
