//! Files of instructions in which a pointer to the handoff stands for every agent, not only for the one that goes on.

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PointerFile {
    pub name: &'static str,
    pub readers: PointerReaders,
}

/// Who reads it, which decides whether it is made where it is missing: no agent may read less because of us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointerReaders {
    /// Most agents. Some of them pass over `Importing` where this one is there, so it is not made beside one.
    Most,
    /// An agent that passes over the common file where this one is there, but takes in a file that it names with `@`.
    Importing,
    /// This agent alone, which reads no other.
    Only(&'static str),
}

/// The common file first.
pub const POINTER_FILES: &[PointerFile] = &[
    PointerFile { name: "AGENTS.md", readers: PointerReaders::Most },
    PointerFile { name: "CLAUDE.md", readers: PointerReaders::Importing },
    PointerFile { name: "GEMINI.md", readers: PointerReaders::Only("gemini-cli") },
];
