//! Claude Code.

use std::ops::ControlFlow;
use std::path::Path;

use carryover_core::transcript::{Action, Call, Entry, EntryKey, Header};

use crate::{Agent, AgentError, Base, Bookmark, Facts, Found, ModelWindow, PathRule, Sink, Source, Store};

/// Claude Code, 1.0 to 2.1.
pub struct ClaudeCode;

static FACTS: Facts = Facts {
    id: "claude-code",
    name: "Claude Code",
    aliases: &["claude", "cc"],
    binaries: &["claude"],
    packages: &["@anthropic-ai/claude-code"],
    stores: &[
        PathRule { on: &[], base: Base::Variable("CLAUDE_CONFIG_DIR"), path: &[] },
        PathRule { on: &[], base: Base::Home, path: &[".claude"] },
    ],
    instruction_files: &["CLAUDE.md"],
    versions_seen: ("1.0.128", "2.1.325"),
    windows: &[ModelWindow { prefix: "claude-", tokens: 200_000 }],
    windows_as_of: "2026-11-15",
    default_window: 200_000,
};

impl Agent for ClaudeCode {
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
