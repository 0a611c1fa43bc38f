//! Ink, an agent that does not exist: the least that an agent with JSON lines needs, to be copied by who adds one
//! (`CONTRIBUTING.md`). A session is a log of JSON lines; the first names it.

mod dialect;
mod discover;
mod read;
mod record;
mod tests;
mod wire;

use carryover_agents::{Agent, Facts, Memory, MemoryFile, PathBase, PathRule};

pub(crate) struct Ink;

static FACTS: Facts = Facts {
    id: "ink",
    name: "Ink",
    binaries: &["ink"],
    start: &["ink", "{prompt}"],
    packages: &["@example/ink"],
    stores: &[
        PathRule { on: &[], base: PathBase::Variable("INK_HOME"), path: &[] },
        PathRule { on: &[], base: PathBase::Home, path: &[".ink"] },
    ],
    session_patterns: &[&["sessions", "*.jsonl"]],
    memory: Memory { files: &[MemoryFile::in_project("AGENTS.md")], ..Memory::NONE },
    versions_seen: ("1.0.0", "1.0.0"),
    windows_checked_on: "2026-11-15",
    ..Facts::USUAL
};

impl Agent for Ink {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }
}
