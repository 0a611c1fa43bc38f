//! Codex CLI.

use std::ops::ControlFlow;
use std::path::Path;

use carryover_core::transcript::{Action, Call, Entry, EntryKey, Header};

use crate::{Agent, AgentError, Base, Bookmark, Facts, Found, ModelWindow, PathRule, Sink, Source, Store};

/// Codex CLI, 0.20 to 0.166.
pub struct Codex;

static FACTS: Facts = Facts {
    id: "codex",
    name: "Codex CLI",
    aliases: &["codex-cli"],
    binaries: &["codex"],
    packages: &["@openai/codex"],
    stores: &[
        PathRule { on: &[], base: Base::Variable("CODEX_HOME"), path: &[] },
        PathRule { on: &[], base: Base::Home, path: &[".codex"] },
    ],
    instruction_files: &["AGENTS.md"],
    versions_seen: ("0.20.0", "0.166.0"),
    windows: &[ModelWindow { prefix: "gpt-", tokens: 258_400 }],
    windows_as_of: "2026-11-15",
    default_window: 258_400,
};

impl Agent for Codex {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn recognise(&self, _path: &Path, _head: &[u8]) -> Option<Source> {
        None
    }

    fn discover(&self, _store: &Store, _found: &mut dyn FnMut(Found) -> ControlFlow<()>) -> Result<(), AgentError> {
        Ok(())
    }

    fn read(&self, _source: &Source, from: &Bookmark, _sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
        Ok(*from)
    }

    fn reload(&self, _header: &Header, _key: EntryKey) -> Result<Vec<Entry>, AgentError> {
        Ok(Vec::new())
    }

    fn record(&self, _header: &Header, _key: EntryKey) -> Result<String, AgentError> {
        Ok(String::new())
    }

    fn action(&self, _call: &Call, _outcome: Option<&str>) -> Action {
        Action::Other
    }
}
