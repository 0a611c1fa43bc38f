//! `OpenClaw`.
//!
//! Sessions are events in a database of each of the user's agents; before 2026.7.2 they were files of the same records.
//! What the client writes, and what makes it load a foreign session, is in `README.md` beside this file.

mod branch;
mod dialect;
mod discover;
mod events;
mod export;
mod lines;
mod outcome;
mod page;
mod raw;
mod read;
mod record;
mod rows;
mod speech;
mod stored_session;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests;
mod wire;
mod write;

use std::ops::ControlFlow;
use std::path::Path;

use carryover_core::transcript::{Action, Call, Entry, EntryKey, Header, Outcome};

use crate::formats::file::{self, MAX_SETTINGS};
use crate::formats::sqlite;
use crate::{
    Agent, AgentError, Base, Bookmark, Facts, Found, Limits, ModelWindow, PathRule, Sink, Source, Store, TargetView,
    WritePlan, WriteRequest, Writer,
};

/// The client as of 2026.9, and its older stores.
pub(crate) struct OpenClaw;

static FACTS: Facts = Facts {
    id: "openclaw",
    name: "OpenClaw",
    aliases: &["claw"],
    binaries: &["openclaw"],
    start: &["openclaw", "chat", "--message", "{prompt}"],
    packages: &["openclaw"],
    stores: &[
        PathRule { on: &[], base: Base::Variable("OPENCLAW_STATE_DIR"), path: &[] },
        PathRule { on: &[], base: Base::Home, path: &[".openclaw"] },
    ],
    tracks: &[&["agents", "*", "agent", "openclaw-agent.sqlite"], &["agents", "*", "sessions", "*.jsonl"]],
    limits: Limits::Worded,
    keeps_plan_mode: false,
    settings: &["openclaw.json"],
    instruction_files: &["AGENTS.md"],
    versions_seen: ("2026.9.6", "2026.9.6"),
    windows: &[
        ModelWindow { prefix: "claude-", tokens: 200_000 },
        ModelWindow { prefix: "gpt-5", tokens: 272_000 },
        ModelWindow { prefix: "gpt-6", tokens: 272_000 },
        ModelWindow { prefix: "gemini-", tokens: 1_048_576 },
    ],
    windows_as_of: "2026-11-15",
    default_window: 128_000,
    resume_budget: crate::UNKNOWN_RESUME_BUDGET,
};

impl Agent for OpenClaw {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<Source> {
        let named = path.file_name().is_some_and(|name| name == discover::DATABASE);
        let alone = || export::is_export(head) || discover::is_session(path, head);
        let ours = if sqlite::is_database(head) { named } else { alone() };
        ours.then(|| Source { path: path.to_path_buf(), key: None })
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
        read::raw(header, key)
    }

    fn action(&self, call: &Call, outcome: Option<&str>) -> Action {
        dialect::action(call, outcome)
    }

    fn strip(&self, outcome: &mut Outcome) {
        outcome::strip(outcome);
    }

    fn current_model(&self, store: &Store) -> Option<String> {
        let text = file::read_text(&store.root.join("openclaw.json"), MAX_SETTINGS).ok()?;
        // It may hold comments; then the model is not known beforehand.
        let config: wire::WireConfig = serde_json::from_str(&text).ok()?;
        let model = match config.agents.defaults.model? {
            wire::WireModel::Name(model) => model,
            wire::WireModel::Choice { primary } => primary,
        };
        Some(model.split_once('/').map_or(model.clone(), |(_, model)| model.to_owned()))
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Writer for OpenClaw {
    fn plan(&self, request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
        write::plan(request, target)
    }
}
