//! Files that tell the model something: all that are there were found in the request of 1.0.102. It also takes in what
//! some of them name, but by rules that are not known.

use crate::{FrontMatter, Memory, MemoryFile, Reach};

const RULE: FrontMatter = FrontMatter::ApplyToOrAlways;

pub(super) const MEMORY: Memory = Memory {
    files: &[
        MemoryFile::in_project("AGENTS.md").read_in(Reach::Repository),
        MemoryFile::in_project(".github/copilot-instructions.md").read_in(Reach::Repository),
        MemoryFile::in_project("CLAUDE.md").read_in(Reach::Repository),
        MemoryFile::in_project("GEMINI.md").read_in(Reach::Repository),
        MemoryFile::in_project(".github/instructions/**/*.instructions.md")
            .with_front_matter(RULE)
            .read_in(Reach::RootAndHere),
        MemoryFile::in_project(".claude/rules/**/*.md")
            .with_front_matter(FrontMatter::Paths)
            .read_in(Reach::RootAndHere),
        MemoryFile::in_store("copilot-instructions.md"),
        MemoryFile::in_store("instructions/**/*.instructions.md").with_front_matter(RULE),
    ],
    ..Memory::NONE
};
