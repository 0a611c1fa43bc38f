//! Ink, an agent that does not exist: the least that an agent with JSON lines needs, to be copied by who adds one
//! (`CONTRIBUTING.md`). A session is a log of JSON lines; the first names it.

mod dialect;
mod discover;
mod read;
mod record;
mod tests;
mod wire;

use std::ops::ControlFlow;
use std::path::Path;

use carryover_core::transcript::{Action, Call, Entry, EntryKey, Header};

use carryover_agents::{Agent, AgentError, Base, Bookmark, Facts, Found, Limits, PathRule, Sink, Source, Store};

pub(crate) struct Ink;

static FACTS: Facts = Facts {
    id: "ink",
    name: "Ink",
    aliases: &[],
    binaries: &["ink"],
    start: &["ink", "{prompt}"],
    packages: &["@example/ink"],
    stores: &[
        PathRule { on: &[], base: Base::Variable("INK_HOME"), path: &[] },
        PathRule { on: &[], base: Base::Home, path: &[".ink"] },
    ],
    tracks: &[&["sessions", "*.jsonl"]],
    limits: Limits::Worded,
    keeps_plan_mode: false,
    settings: &[],
    instruction_files: &["AGENTS.md"],
    versions_seen: ("1.0.0", "1.0.0"),
    windows: &[],
    windows_as_of: "2026-11-15",
    default_window: 128_000,
    resume_budget: carryover_agents::UNKNOWN_RESUME_BUDGET,
};

impl Agent for Ink {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<Source> {
        let is_ours = head.starts_with(br#"{"type":"session","ink":"#);
        is_ours.then(|| Source { path: path.to_path_buf(), key: None })
    }

    fn discover(&self, store: &Store, found: &mut dyn FnMut(Found) -> ControlFlow<()>) -> Result<(), AgentError> {
        discover::discover(store, found)
    }

    fn read(&self, source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
        read::read(source, from, sink)
    }

    fn reload(&self, header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
        read::reload(header, key)
    }

    fn record(&self, header: &Header, key: EntryKey) -> Result<String, AgentError> {
        read::read_record(header, key)
    }

    fn action(&self, call: &Call, _outcome: Option<&str>) -> Action {
        dialect::action(call)
    }
}
